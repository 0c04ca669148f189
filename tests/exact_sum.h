// A sum that nobody rounded, and how far from it a rounded one may be.
#pragma once

#include "tests/every_contract.h"

namespace contract {

class ExactSum {
 public:
  void add(long double v) {
    sum_ += v;
    magnitude_ += std::fabs(v);
    is_whole_ = is_whole_ && v == std::floor(v);
    ++count_;
  }

  // Whether a sum is right if no number went through more than so many
  // roundings, and what is nearer to 0 than 2^-126 counted as 0.
  bool allows(float got, int64_t roundings) const {
    if (std::isnan(sum_)) return std::isnan(got);
    if (std::isinf(sum_)) return got == sum_;
    return std::fabs(got - sum_) <= slack(roundings);
  }
  float rounded() const { return static_cast<float>(sum_); }

 private:
  // Whole numbers, as long as a float can count them, are added up exactly.
  long double slack(int64_t roundings) const {
    if (is_whole_ && magnitude_ <= 0x1p24L) return 0;
    return roundings * 0x1p-24L * magnitude_ + count_ * 0x1p-125L;
  }

  long double sum_ = 0, magnitude_ = 0;
  bool is_whole_ = true;
  int64_t count_ = 0;
};

// Whole numbers but 0, so that one more or one less is noticed.
inline Floats whole(int64_t n) {
  Floats values = random(n, 1.f, 5.f);
  for (float& v : values) v = std::floor(v);
  return values;
}

// Numbers that tell a good order of additions from a bad one.
inline std::vector<Floats> delicate(int64_t n) {
  Floats alternating(n), cancelling = random(n), huge = random(n, 0.f);
  for (int64_t i = 0; i < n; ++i) alternating[i] = i % 2 ? -0.1f : 0.1f;
  for (int64_t i = 0; i < n / 2; ++i) cancelling[n - 1 - i] = -cancelling[i];
  huge[n / 3] = 1e9f;
  Floats grains(n, 0x1p-24f);  // One and one of these is 1.
  grains[0] = 1.f;
  return {random(n), Floats(n, 0.1f), alternating, cancelling, huge, grains};
}

}  // namespace contract
