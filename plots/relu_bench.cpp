// How ReLU is measured: whichever relu() it is linked with, beside a copy.
#include <algorithm>
#include <memory>
#include <vector>

#include "common/harness/bench.h"
#include "common/relu.h"

namespace {

constexpr int64_t kBytes = 2 * sizeof(float);  // One read, one write.

const std::vector<float>& expected() {
  static const std::vector<float> values = [] {
    std::vector<float> y = random_floats();
    for (float& v : y) v = v > 0.f ? v : 0.f;
    return y;
  }();
  return values;
}

// x and y start `offset` floats past an aligned address.
class Relu : public Work {
 public:
  Relu(int64_t n, int64_t slots, int64_t offset)
      : n_(n), x_(n, slots, offset), y_(n, slots, offset) {
    x_.fill(random_floats());
  }
  void call(int64_t slot, cudaStream_t stream) override {
    relu(x_[slot], y_[slot], n_, stream);
  }
  void poison() override { y_.poison(); }
  void check(int64_t slot) override { y_.check(slot, expected()); }

 private:
  int64_t n_;
  Slots<float> x_, y_;
};

void add_relu(const char* series, int64_t n, int64_t offset) {
  add_benchmark(series, n, n * kBytes, [=](int64_t slots) {
    return std::make_unique<Relu>(n, slots, offset);
  });
}

}  // namespace

void add_benchmarks() {
  const std::vector<int64_t> sizes = bench_sizes(kBytes);
  for (const int64_t n : sizes) {
    add_copy(n, n * kBytes);
    add_relu("relu", n, 0);
  }
  for (const int64_t n : sizes) {
    if (n >= 1 << 20) add_relu("relu misaligned by one element", n, 1);
  }
}
