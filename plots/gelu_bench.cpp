// How GELU is measured: whichever gelu() it is linked with, beside a copy.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "common/gelu.h"
#include "common/harness/bench.h"
#include "common/harness/gelu_reference.h"

namespace {

constexpr int64_t kBytes = 2 * sizeof(__half);  // One read, one write.

const std::vector<__half>& random_halves() {
  static const std::vector<__half> values = [] {
    std::mt19937 bits(2026);
    std::normal_distribution<float> random(0.f, 2.f);
    std::vector<__half> drawn(random_floats().size());
    for (__half& v : drawn) v = __float2half_rn(random(bits));
    return drawn;
  }();
  return values;
}

// Where random_halves() lead: the place of each result among the halves.
const std::vector<int16_t>& places() {
  static const std::vector<int16_t> values = [] {
    std::vector<int16_t> y;
    for (const __half x : random_halves())
      y.push_back(place(gelu_in_double(x)));
    return y;
  }();
  return values;
}

// By how many places the worst of `count` results is off.
int farthest(const __half* got, const int16_t* expected, int64_t count) {
  int worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    worst = std::max(worst, std::abs(place(got[i]) - expected[i]));
  }
  return worst;
}

// x and y start `offset` halves past an aligned address.
class Gelu : public Work {
 public:
  Gelu(int64_t n, int64_t slots, int64_t offset)
      : n_(n), x_(n, slots, offset), y_(n, slots, offset) {
    x_.fill(random_halves());
  }
  void call(int64_t slot, cudaStream_t stream) override {
    gelu(x_[slot], y_[slot], n_, stream);
  }
  void poison() override { y_.poison(); }
  void check(int64_t slot) override {
    const auto as_promised = [this](const __half* got, const int16_t* expected,
                                    int64_t count) {
      worst_ = std::max(worst_, farthest(got, expected, count));
      return worst_ <= gelu_ulps();
    };
    y_.check(slot, places(), y_.start(slot), as_promised);
  }
  double worst_error() const override { return worst_; }  // In ulps.

 private:
  int64_t n_;
  int worst_ = 0;
  Slots<__half> x_, y_;
};

void add_gelu(const char* series, int64_t n, int64_t offset) {
  add_benchmark(series, n, n * kBytes, [=](int64_t slots) {
    return std::make_unique<Gelu>(n, slots, offset);
  });
}

}  // namespace

void add_benchmarks() {
  const std::vector<int64_t> sizes = bench_sizes(kBytes);
  for (const int64_t n : sizes) {
    add_copy(n, n * kBytes);
    add_gelu("gelu", n, 0);
  }
  for (const int64_t n : sizes) {
    if (n >= 1 << 20) add_gelu("gelu misaligned by one element", n, 1);
  }
}
