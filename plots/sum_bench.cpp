// How a sum is measured: whichever sum() it is linked with, beside a copy of as
// many bytes and beside reading them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/harness/bench.h"
#include "common/sum.h"

namespace {

// The sums of the first m of random_floats(), which go on for ever.
class Prefixes {
 public:
  explicit Prefixes(double (*term)(double)) {
    double sum = 0;
    for (const float v : random_floats()) {
      sums_.push_back(sum);
      sum += term(v);
    }
    period_ = sum;
  }
  double operator()(int64_t m) const {
    const auto length = static_cast<int64_t>(sums_.size());
    return static_cast<double>(m / length) * period_ + sums_[m % length];
  }

 private:
  std::vector<double> sums_;
  double period_ = 0;
};

class Sum : public Work {
 public:
  Sum(int64_t n, int64_t slots)
      : n_(n),
        x_(n, slots),
        out_(1, slots),
        scratch_(std::max<int64_t>(1, sum_scratch_floats(n)), slots) {
    x_.fill(random_floats());
    scratch_.fill({0.f});
  }
  void call(int64_t slot, cudaStream_t stream) override {
    sum(x_[slot], out_[slot], n_, scratch_[slot], stream);
  }
  void poison() override { out_.poison(); }
  void check(int64_t slot) override {
    static const Prefixes values([](double v) { return v; });
    static const Prefixes magnitudes([](double v) { return std::fabs(v); });
    const int64_t first = x_.start(slot), end = first + n_;
    const double exact = values(end) - values(first);
    const double magnitude = magnitudes(end) - magnitudes(first);
    const auto depth = static_cast<double>(sum_promise(n_).depth);

    float got = 0.f;
    CUDA_CHECK(
        cudaMemcpy(&got, out_[slot], sizeof got, cudaMemcpyDeviceToHost));
    const double error = std::fabs(got - exact) / (0x1p-24 * magnitude);
    worst_ = std::max(worst_, error);
    if (error <= depth) return;
    std::fprintf(stderr,
                 "Wrong while measuring: n = %lld, expected %.9g, got %.9g. "
                 "Nothing is timed that is wrong.\n",
                 static_cast<long long>(n_), exact, got);
    std::exit(EXIT_FAILURE);
  }
  // In roundings: 2^-24 of the sum of all magnitudes is the most that one does.
  double worst_error() const override { return worst_; }

 private:
  int64_t n_;
  double worst_ = 0;
  Slots<float> x_, out_, scratch_;
};

}  // namespace

void add_benchmarks() {
  // Scratch may take as much again as x.
  for (const int64_t n : bench_sizes(2 * sizeof(float))) {
    const auto bytes = static_cast<int64_t>((n + 1) * sizeof(float));
    add_copy(n, bytes);
    add_read(n, bytes);
    add_benchmark("sum", n, bytes, [n](int64_t slots) {
      return std::make_unique<Sum>(n, slots);
    });
  }
}
