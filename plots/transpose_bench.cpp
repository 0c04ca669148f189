// How a transpose is measured: whichever transpose() and transpose_half() it is
// linked with, beside a copy of as many bytes.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/harness/bench.h"
#include "common/transpose.h"

namespace {

// What is only moved may be any bits: the numbers of random_floats(), or their
// upper halves.
using Half = uint16_t;

template <class T>
const std::vector<T>& elements();
template <>
const std::vector<float>& elements() {
  return random_floats();
}
template <>
const std::vector<Half>& elements() {
  static const std::vector<Half> halves = [] {
    std::vector<Half> upper;
    for (const float v : random_floats())
      upper.push_back(std::bit_cast<uint32_t>(v) >> 16);
    return upper;
  }();
  return halves;
}

void call_it(const float* x, float* y, int64_t rows, int64_t columns,
             cudaStream_t stream) {
  transpose(x, y, rows, columns, stream);
}
void call_it(const Half* x, Half* y, int64_t rows, int64_t columns,
             cudaStream_t stream) {
  transpose_half(reinterpret_cast<const __half*>(x),
                 reinterpret_cast<__half*>(y), rows, columns, stream);
}

// x and y start `offset` elements past an aligned address.
template <class T>
class Transpose : public Work {
 public:
  Transpose(int64_t rows, int64_t columns, int64_t slots, int64_t offset)
      : rows_(rows),
        columns_(columns),
        x_(rows * columns, slots, offset),
        y_(rows * columns, slots, offset) {
    x_.fill(elements<T>());
  }
  void call(int64_t slot, cudaStream_t stream) override {
    call_it(x_[slot], y_[slot], rows_, columns_, stream);
  }
  void poison() override { y_.poison(); }
  // All of a small y and, of a large one, stretches that lie evenly apart.
  void check(int64_t slot) override {
    constexpr int64_t kStretches = 64, kMost = 1 << 12;
    const int64_t n = rows_ * columns_, length = std::min(n, kMost);
    const int64_t stretches = std::min(kStretches, (n + kMost - 1) / kMost);
    std::vector<T> got(length);
    for (int64_t k = 0; k < stretches; ++k) {
      const int64_t begin =
          (n - length) * k / std::max<int64_t>(1, stretches - 1);
      CUDA_CHECK(cudaMemcpy(got.data(), y_[slot] + begin, length * sizeof(T),
                            cudaMemcpyDeviceToHost));
      for (int64_t i = 0; i < length; ++i) check(slot, begin + i, got[i]);
    }
  }

 private:
  void check(int64_t slot, int64_t i, T got) const {
    const auto period = static_cast<int64_t>(elements<T>().size());
    const int64_t r = i % rows_, c = i / rows_;
    const int64_t from = (x_.start(slot) + r * columns_ + c) % period;
    if (std::memcmp(&got, &elements<T>()[from], sizeof(T)) == 0) return;
    std::fprintf(stderr,
                 "Wrong while measuring: %lld rows of %lld, y[%lld]. Nothing "
                 "is timed that is wrong.\n",
                 static_cast<long long>(rows_),
                 static_cast<long long>(columns_), static_cast<long long>(i));
    std::exit(EXIT_FAILURE);
  }

  int64_t rows_, columns_;
  Slots<T> x_, y_;
};

template <class T>
void add(const std::string& series, int64_t rows, int64_t columns,
         int64_t offset = 0) {
  const int64_t n = rows * columns;
  const auto bytes = static_cast<int64_t>(2 * n * sizeof(T));
  add_benchmark(series, n, bytes, [=](int64_t slots) {
    return std::make_unique<Transpose<T>>(rows, columns, slots, offset);
  });
}

// As many rows as columns, or fewer: half as many where n is a power of two.
int64_t rows_of(int64_t n) {
  int64_t rows = int64_t{1}
                 << (std::bit_width(static_cast<uint64_t>(n)) - 1) / 2;
  while (n % rows != 0) --rows;
  return rows;
}

// Neither rows nor columns of these fill whole tiles.
struct Shape {
  int64_t rows, columns;
};
constexpr Shape kShapes[] = {
    {1000, 1'000'003}, {10'007, 10'009}, {3, 100'000'007}};

}  // namespace

void add_benchmarks() {
  constexpr int64_t kBytes = 2 * sizeof(float);
  const std::vector<int64_t> sizes = bench_sizes(kBytes);
  for (const int64_t n : sizes) {
    add_copy(n, n * kBytes);
    add<float>("transpose", rows_of(n), n / rows_of(n));
  }
  for (const auto& [rows, columns] : kShapes) {
    if (rows * columns > sizes.back()) continue;
    add_copy(rows * columns, rows * columns * kBytes);
    add<float>("transpose wide", rows, columns);
    add<float>("transpose tall", columns, rows);
  }
  for (const int64_t n : sizes) {
    if (n >= 1 << 20)
      add<float>("transpose misaligned by one element", rows_of(n),
                 n / rows_of(n), 1);
  }
  // As many bytes as in half as many floats, of which there is a copy.
  for (const int64_t n : sizes) {
    if (n >= 1 << 20 && std::has_single_bit(static_cast<uint64_t>(n)))
      add<Half>("transpose half", rows_of(n), n / rows_of(n));
  }
}
