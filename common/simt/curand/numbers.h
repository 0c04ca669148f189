// The numbers that cuRAND makes of its sequences, in its order: as many threads
// as the order says take turns, each with a part of the sequence of its own.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/simt/curand/sequences.h"
#include "common/simt/runtime/runtime.h"

namespace simt::curand {

// What one turn makes. Numbers of 32 bits are the base of floats, too.
enum class Kind { kBits, kNormal, kDouble, kNormalDouble };
constexpr int kMostOfTurn = 4;

inline float uniform(uint32_t x) { return x * 0x1p-32f + 0x1p-33f; }

inline double uniform_double(uint32_t x, uint32_t y) {
  return (x ^ uint64_t{y} << 21) * 0x1p-53 + 0x1p-54;
}

// Box's and Muller's two numbers of a normal distribution.
inline void make_normal(double u, double angle, double* to) {
  const double radius = std::sqrt(-2 * std::log(u));
  to[0] = radius * std::sin(angle);
  to[1] = radius * std::cos(angle);
}

inline void make_normal(uint32_t x, uint32_t y, double* to) {
  constexpr float kTurn = 0x1p-32f * 6.2831855f;
  make_normal(uniform(x), y * kTurn + kTurn / 2, to);
}

inline void make_normal_double(uint32_t x0, uint32_t x1, uint32_t y0,
                               uint32_t y1, double* to) {
  make_normal(uniform_double(x0, x1), 2 * M_PI * uniform_double(y0, y1), to);
}

// ---- A turn: what it makes, how many numbers it returns --------------------

inline int turn(Xorwow& from, Kind kind, double* to) {
  const uint32_t x = from.next();
  if (kind == Kind::kBits) return *to = x, 1;
  const uint32_t y = from.next();
  if (kind == Kind::kDouble) return *to = uniform_double(x, y), 1;
  if (kind == Kind::kNormal) return make_normal(x, y, to), 2;
  const uint32_t z = from.next();
  return make_normal_double(x, y, z, from.next(), to), 2;
}

inline int turn(Mrg32k3a& from, Kind kind, double* to) {
  constexpr double kNorm = 2.3283065498378288e-10;  // To the unit interval.
  const uint32_t x = from.next();
  if (kind == Kind::kBits) return *to = x, 1;
  if (kind == Kind::kDouble) return *to = x * kNorm, 1;
  const double u = x * kNorm, v = from.next() * kNorm;
  if (kind == Kind::kNormal)
    return make_normal(float(u), float(v) * 6.2831855f, to), 2;
  return make_normal(u, 2 * M_PI * v, to), 2;
}

inline int turn(Philox& from, Kind kind, double* to) {
  const Philox::Four x = from.next();
  if (kind == Kind::kBits) {
    std::copy(x.begin(), x.end(), to);
  } else if (kind == Kind::kNormal) {
    make_normal(x[0], x[1], to);
    make_normal(x[2], x[3], to + 2);
  } else {
    const Philox::Four y = from.next();
    if (kind == Kind::kDouble) {
      to[0] = uniform_double(x[0], x[1]);
      to[1] = uniform_double(x[2], x[3]);
      to[2] = uniform_double(y[0], y[1]);
      to[3] = uniform_double(y[2], y[3]);
    } else {
      make_normal_double(x[0], x[1], x[2], x[3], to);
      make_normal_double(y[0], y[1], y[2], y[3], to + 2);
    }
  }
  return 4;
}

// What a number of 32 bits becomes at last.
inline uint32_t bits_of(const Mrg32k3a&, double x) {
  return static_cast<uint32_t>(x * 1.000000048662);  // Over all of them.
}
template <class Sequence>
uint32_t bits_of(const Sequence&, double x) {
  return static_cast<uint32_t>(x);
}
inline float float_of(const Mrg32k3a&, double x) {
  return static_cast<float>(x * 2.3283065498378288e-10);
}
template <class Sequence>
float float_of(const Sequence&, double x) {
  return uniform(static_cast<uint32_t>(x));
}

// ---- Generators ------------------------------------------------------------

class Numbers {
 public:
  virtual ~Numbers() = default;
  virtual void fill(uint32_t* to, size_t count) = 0;
  virtual void fill(float* to, size_t count) = 0;
  // Of any other kind.
  virtual void fill(Kind kind, double* to, size_t count) = 0;
};

template <class Sequence, uint64_t kThreads, uint64_t kOfTurn>
class Interleaved final : public Numbers {
 public:
  Interleaved(uint64_t seed, uint64_t offset)
      : first_(offset / kOfTurn % kThreads),
        passed_(offset % kOfTurn),
        turns_(first_),
        chain_(seed) {
    chain_.skip(offset / kOfTurn / kThreads);
  }
  void fill(uint32_t* to, size_t count) override {
    fill_with(Kind::kBits, to, count,
              [&](double x) { return bits_of(chain_, x); });
  }
  void fill(float* to, size_t count) override {
    fill_with(Kind::kBits, to, count,
              [&](double x) { return float_of(chain_, x); });
  }
  void fill(Kind kind, double* to, size_t count) override {
    fill_with(kind, to, count, [](double x) { return x; });
  }

 private:
  template <class T, class Make>
  void fill_with(Kind kind, T* to, size_t count, Make make) {
    if (rest_ > 0 && kind != kind_)
      throw Lacking{text("numbers of another kind after ", kOfTurn - rest_,
                         " of a turn's ", kOfTurn)};
    for (size_t k = 0; k < count; ++k) {
      double x;
      take(kind, x);
      to[k] = make(x);
    }
  }
  void take(Kind kind, double& to) {
    if (rest_ == 0) {
      kind_ = kind;
      made_ = turn(next_thread(), kind, numbers_);
      rest_ = made_ - std::exchange(passed_, 0);
    }
    to = numbers_[made_ - rest_--];
  }
  // Threads are there when their first turn comes. Those before the first one
  // had theirs already.
  Sequence& next_thread() {
    const uint64_t thread = turns_++ % kThreads;
    while (threads_.size() <= thread) {
      threads_.push_back(chain_);
      if (threads_.size() <= first_) threads_.back().skip(1);
      chain_.skip_sequence();
    }
    return threads_[thread];
  }

  const uint64_t first_;
  int passed_;  // of the first turn's numbers, whatever their kind
  uint64_t turns_;
  Sequence chain_;  // of the thread that comes next
  std::vector<Sequence> threads_;
  // What the last turn made, and what is left of it.
  double numbers_[kMostOfTurn];
  int made_ = 0, rest_ = 0;
  Kind kind_ = Kind::kBits;
};

}  // namespace simt::curand
