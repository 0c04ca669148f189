// How ReLU with a mask is measured, forward and backward: whichever relu_mask()
// and relu_mask_backward() it is linked with, beside a copy.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "common/harness/bench.h"
#include "common/relu_mask.h"

namespace {

// One float read, one written, and a bit of the mask.
int64_t bytes_of(int64_t n) {
  return 2 * n * static_cast<int64_t>(sizeof(float)) +
         mask_words(n) * static_cast<int64_t>(sizeof(uint32_t));
}

const std::vector<float>& x_values() { return random_floats(); }

const std::vector<float>& dy_values() {
  static const std::vector<float> values = [] {
    std::vector<float> dy(x_values().size());
    std::mt19937 random(2027);
    for (float& v : dy) v = static_cast<float>(random()) * 0x1p-31f - 1.f;
    return dy;
  }();
  return values;
}

const std::vector<float>& expected_y() {
  static const std::vector<float> values = [] {
    std::vector<float> y = x_values();
    for (float& v : y) v = v > 0.f ? v : 0.f;
    return y;
  }();
  return values;
}

const std::vector<float>& expected_dx() {
  static const std::vector<float> values = [] {
    std::vector<float> dx = dy_values();
    for (size_t i = 0; i < dx.size(); ++i) {
      if (x_values()[i] <= 0.f) dx[i] = 0.f;
    }
    return dx;
  }();
  return values;
}

// The mask of x repeated for ever: the number of floats is odd, so the words
// begin anew when as many words have passed.
const std::vector<uint32_t>& expected_mask() {
  static const std::vector<uint32_t> words = [] {
    const std::vector<float>& x = x_values();
    std::vector<uint32_t> mask(x.size());
    for (size_t i = 0; i < 32 * mask.size(); ++i) {
      mask[i / 32] |= uint32_t{x[i % x.size()] > 0.f} << (i % 32);
    }
    return mask;
  }();
  return words;
}

// The word of expected_mask() that begins with element i of x repeated.
int64_t word_from(int64_t i) {
  const auto period = static_cast<int64_t>(x_values().size());
  while (i % 32 != 0) i += period;
  return i / 32;
}

// x and y start `offset` floats past an aligned address.
class Forward : public Work {
 public:
  Forward(int64_t n, int64_t slots, int64_t offset)
      : n_(n),
        x_(n, slots, offset),
        y_(n, slots, offset),
        mask_(mask_words(n), slots) {
    x_.fill(x_values());
  }
  void call(int64_t slot, cudaStream_t stream) override {
    relu_mask(x_[slot], y_[slot], mask_[slot], n_, stream);
  }
  void poison() override {
    y_.poison();
    mask_.poison();
  }
  // Every size that is measured is a number of whole words.
  void check(int64_t slot) override {
    y_.check(slot, expected_y());
    mask_.check(slot, expected_mask(), word_from(x_.start(slot)));
  }

 private:
  int64_t n_;
  Slots<float> x_, y_;
  Slots<uint32_t> mask_;
};

class Backward : public Work {
 public:
  Backward(int64_t n, int64_t slots, int64_t offset)
      : n_(n),
        dy_(n, slots, offset),
        dx_(n, slots, offset),
        mask_(mask_words(n), slots) {
    dy_.fill(dy_values());
    for (int64_t slot = 0; slot < slots; ++slot) fill_mask(slot);
  }
  void call(int64_t slot, cudaStream_t stream) override {
    relu_mask_backward(dy_[slot], mask_[slot], dx_[slot], n_, stream);
  }
  void poison() override { dx_.poison(); }
  void check(int64_t slot) override { dx_.check(slot, expected_dx()); }

 private:
  // With the mask of the x that would lie where dy lies.
  void fill_mask(int64_t slot) {
    const std::vector<uint32_t>& words = expected_mask();
    const auto period = static_cast<int64_t>(words.size());
    const int64_t first = word_from(dy_.start(slot));
    for (int64_t w = 0; w < mask_words(n_);) {
      const int64_t phase = (first + w) % period;
      const int64_t part = std::min(mask_words(n_) - w, period - phase);
      CUDA_CHECK(cudaMemcpy(mask_[slot] + w, &words[phase],
                            part * sizeof(uint32_t), cudaMemcpyHostToDevice));
      w += part;
    }
  }

  int64_t n_;
  Slots<float> dy_, dx_;
  Slots<uint32_t> mask_;
};

template <class Direction>
void add(const char* series, int64_t n, int64_t offset) {
  add_benchmark(series, n, bytes_of(n), [=](int64_t slots) {
    return std::make_unique<Direction>(n, slots, offset);
  });
}

}  // namespace

void add_benchmarks() {
  const std::vector<int64_t> sizes = bench_sizes(12);
  for (const int64_t n : sizes) {
    add_copy(n, bytes_of(n));
    add<Forward>("relu_mask", n, 0);
  }
  for (const int64_t n : sizes) add<Backward>("relu_mask backward", n, 0);
  // What a backward pass that reads y could reach at best: it moves dy, y, dx.
  for (const int64_t n : sizes) {
    const auto bytes = 3 * n * static_cast<int64_t>(sizeof(float));
    add_copy(n, bytes, "relu_mask copy of 12 bytes an element");
  }
  for (const int64_t n : sizes) {
    if (n < 1 << 20) continue;
    add<Forward>("relu_mask misaligned by one element", n, 1);
    add<Backward>("relu_mask backward misaligned by one element", n, 1);
  }
}
