// How a chapter is timed, beside a plain copy.
//
// plots/<op>_bench.cpp defines add_benchmarks(); the linker does the rest.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/check.h"

// Something to time: it owns `slots` copies of its arrays, so that each call
// can meet one that has left the L2 cache since it was last used.
class Work {
 public:
  virtual ~Work() = default;

  // Queues the work on copy `slot` of its arrays.
  virtual void call(int64_t slot, cudaStream_t stream) = 0;

  // Fills every output with a value that no right answer holds.
  virtual void poison() {}

  // Stops the program if the output of a call on `slot` is wrong.
  virtual void check(int64_t) {}

  // How far the outputs checked so far were off at worst, in a unit of the
  // contract's; negative where they have to be exact.
  virtual double worst_error() const { return -1; }
};

using WorkMaker = std::function<std::unique_ptr<Work>(int64_t slots)>;

// Times `series` on n elements. `bytes` is what the operation must move, each
// operand once; make(slots) builds its arrays when its turn comes.
void add_benchmark(const std::string& series, int64_t n, int64_t bytes,
                   WorkMaker make);

// Times a device-to-device copy that reads and writes `bytes` together: the
// roof that later benchmarks of as many bytes are compared with. Under another
// name it is a series of its own.
void add_copy(int64_t n, int64_t bytes, const std::string& series = "copy");

// Times reading as many bytes and writing none: the roof of what only reads.
void add_read(int64_t n, int64_t bytes);

// The numbers of elements to measure, up to a quarter of the free memory.
std::vector<int64_t> bench_sizes(int64_t bytes_per_element);

// Defined by plots/<op>_bench.cpp.
void add_benchmarks();

// Defined by common/harness/empty_kernel.cu: the least that a launch can cost.
void launch_empty_kernel(cudaStream_t stream);

// Defined by common/harness/read_kernel.cu: reads n floats of random_floats(),
// aligned, but for the last n % 4. It never writes to *never.
void launch_read_kernel(const float* x, int64_t n, float* never,
                        cudaStream_t stream);

// Runs the benchmarks, prints their table; common/harness/main.cpp calls it
// when every check has passed. Returns the exit status.
int measure(int argc, char** argv);

// A few million values in [-1, 1). Their number is prime, so that an output
// shifted by any round number of elements cannot look right.
const std::vector<float>& random_floats();

// Device memory from cudaMalloc; pinned host memory from cudaMallocHost.
struct DeviceFree {
  void operator()(void* p) const { cudaFree(p); }
};
struct PinnedFree {
  void operator()(void* p) const { cudaFreeHost(p); }
};

// `count` device arrays of n elements, each starting `offset` elements past a
// 256-byte boundary, side by side in one allocation.
template <class T>
class Slots {
 public:
  Slots(int64_t n, int64_t count, int64_t offset = 0)
      : n_(n), offset_(offset), stride_(round_up(n + offset)) {
    void* p = nullptr;
    bytes_ = count * stride_ * sizeof(T);
    CUDA_CHECK(cudaMalloc(&p, bytes_));
    data_.reset(static_cast<T*>(p));
  }

  T* operator[](int64_t slot) const { return data_.get() + start(slot); }

  // Where slot begins in the allocation, which fill() fills from its beginning.
  int64_t start(int64_t slot) const { return slot * stride_ + offset_; }

  // Repeats `period` over the whole allocation.
  void fill(const std::vector<T>& period) {
    size_t done = std::min(bytes_, period.size() * sizeof(T));
    auto* to = reinterpret_cast<char*>(data_.get());
    CUDA_CHECK(cudaMemcpy(to, period.data(), done, cudaMemcpyHostToDevice));
    while (done < bytes_) {
      const size_t more = std::min(done, bytes_ - done);
      CUDA_CHECK(cudaMemcpy(to + done, to, more, cudaMemcpyDeviceToDevice));
      done += more;
    }
  }

  void poison() { CUDA_CHECK(cudaMemset(data_.get(), 0xff, bytes_)); }

  // Stops the program unless slot holds, bit for bit, what fill(period) would
  // have put there; or, where the period is at its element `first` there.
  void check(int64_t slot, const std::vector<T>& period) const {
    check(slot, period, start(slot));
  }
  void check(int64_t slot, const std::vector<T>& period, int64_t first) const {
    const auto same = [](const T* got, const T* expected, int64_t count) {
      return std::memcmp(got, expected, count * sizeof(T)) == 0;
    };
    check(slot, period, first, same);
  }

  // The same for results that need not be equal in every bit: stops the program
  // unless right(got, expected, count), where `expected` repeats, too.
  template <class Expected, class Right>
  void check(int64_t slot, const std::vector<Expected>& period, int64_t first,
             Right right) const {
    const auto length = static_cast<int64_t>(period.size());
    void* p = nullptr;
    CUDA_CHECK(cudaMallocHost(&p, std::min(n_, length) * sizeof(T)));
    const std::unique_ptr<T, PinnedFree> got(static_cast<T*>(p));
    for (int64_t i = 0; i < n_;) {
      const int64_t phase = (first + i) % length;
      const int64_t part = std::min(n_ - i, length - phase);
      CUDA_CHECK(cudaMemcpy(got.get(), (*this)[slot] + i, part * sizeof(T),
                            cudaMemcpyDeviceToHost));
      if (!right(got.get(), &period[phase], part)) {
        std::fprintf(stderr,
                     "Wrong while measuring: n = %lld, somewhere in elements "
                     "%lld to %lld. Nothing is timed that is wrong.\n",
                     static_cast<long long>(n_), static_cast<long long>(i),
                     static_cast<long long>(i + part - 1));
        std::exit(EXIT_FAILURE);
      }
      i += part;
    }
  }

 private:
  static int64_t round_up(int64_t n) {
    constexpr int64_t kLine = 256 / sizeof(T);
    return (n + kLine - 1) / kLine * kLine;
  }

  int64_t n_, offset_, stride_;
  size_t bytes_;
  std::unique_ptr<T, DeviceFree> data_;
};
