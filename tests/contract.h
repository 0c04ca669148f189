// What the suites of all contracts share.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/check.h"
#include "common/harness/device_array.h"

namespace contract {

using Floats = std::vector<float>;
using Limits = std::numeric_limits<float>;

constexpr float kInf = Limits::infinity();
constexpr float kNan = Limits::quiet_NaN();

constexpr float kGuard = -12345.f;  // Around an output.
constexpr float kStray = 54321.f;   // Around an input; seen in y, it was read.
constexpr int64_t kPeriod = 4'194'301;  // A prime: no shift looks right.

// Every call goes on where the one before stopped.
inline Floats random(int64_t n, float low = -1.f, float high = 1.f) {
  static std::mt19937 bits(1);
  Floats values(n);
  for (float& v : values) {
    v = low + (high - low) * static_cast<float>(bits() >> 8) * 0x1p-24f;
  }
  return values;
}

// `values` with `special` ones strewn in, one in three on average.
template <class T>
std::vector<T> with(const std::vector<T>& special, std::vector<T> values) {
  static std::mt19937 bits(2);
  for (T& v : values) {
    if (bits() % 3 == 0) v = special[bits() % special.size()];
  }
  return values;
}

// Equal bits, or both NaN.
inline bool same(float expected, float got) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(got);
}

inline std::string text(float v) {
  char line[64];
  std::snprintf(line, sizeof line, "%.9g (0x%08x)%s", v,
                std::bit_cast<uint32_t>(v),
                v == kGuard ? ", as before the call" : "");
  return line;
}

// The next boundary of 256 bytes, in elements.
template <class T>
int64_t next_line(size_t size) {
  constexpr int64_t kLine = 256 / sizeof(T);
  return (static_cast<int64_t>(size) + kLine - 1) / kLine * kLine;
}

// The inputs of many calls, side by side in one allocation, with `stray`
// between them. The last one ends where the allocation ends.
template <class T>
class Inputs {
 public:
  explicit Inputs(T stray) : stray_(stray) {}

  // Returns where it begins, `offset` elements behind a 256-byte boundary.
  int64_t add(const std::vector<T>& values, int64_t offset = 0) {
    const int64_t begin = next_line<T>(host_.size()) + offset;
    host_.resize(begin, stray_);
    host_.insert(host_.end(), values.begin(), values.end());
    return begin;
  }

  void upload() { device_ = std::make_unique<DeviceArray<T>>(host_); }
  const T* at(int64_t begin) const { return device_->data() + begin; }

  bool unchanged() const {
    const std::vector<T> now = device_->to_host();
    return std::memcmp(now.data(), host_.data(), now.size() * sizeof(T)) == 0;
  }

 private:
  T stray_;
  std::vector<T> host_;
  std::unique_ptr<DeviceArray<T>> device_;
};

// The outputs of many calls, side by side in one allocation, each among words
// of its own that must stay as they are.
template <class T>
class Outputs {
 public:
  explicit Outputs(T guard) : guard_(guard) {}

  // Returns the output's number.
  size_t add(const std::vector<T>& expected, int64_t offset = 0) {
    Part part;
    part.first = static_cast<int64_t>(host_.size());
    part.begin = next_line<T>(host_.size() + kGuards) + offset;
    host_.resize(part.begin, guard_);
    host_.insert(host_.end(), expected.begin(), expected.end());
    part.end = static_cast<int64_t>(host_.size());
    host_.resize(host_.size() + kGuards, guard_);
    parts_.push_back(part);
    return parts_.size() - 1;
  }

  void upload() {
    device_ =
        std::make_unique<DeviceArray<T>>(std::vector<T>(host_.size(), guard_));
  }
  T* at(size_t number) const { return device_->data() + parts_[number].begin; }

  bool untouched() const {
    const std::vector<T> now = device_->to_host();
    const std::vector<T> before(now.size(), guard_);
    return std::memcmp(now.data(), before.data(), now.size() * sizeof(T)) == 0;
  }

  // For each output its first differences, or nothing. `same(expected, got)`
  // judges an element and `text(v)` prints it.
  template <class Same, class Text>
  std::vector<std::string> differences(const std::string& name, Same same,
                                       Text text) const {
    const std::vector<T> now = device_->to_host();
    std::vector<std::string> found;
    for (const Part& part : parts_) {
      found.push_back(difference(part, now, name, same, text));
    }
    return found;
  }

 private:
  static constexpr int64_t kGuards = 256 / sizeof(T);
  static constexpr int kShown = 5;

  struct Part {
    int64_t first, begin, end;  // Its guards begin at `first`.
  };

  template <class Same, class Text>
  std::string difference(const Part& part, const std::vector<T>& now,
                         const std::string& name, Same same, Text text) const {
    std::string lines;
    int64_t wrong = 0;
    for (int64_t i = part.first; i < part.end + kGuards; ++i) {
      const bool guards = i < part.begin || i >= part.end;
      const bool right = guards
                             ? std::memcmp(&host_[i], &now[i], sizeof(T)) == 0
                             : same(host_[i], now[i]);
      if (right || ++wrong > kShown) continue;
      lines += "\n  " + name + "[" + std::to_string(i - part.begin) +
               "] expected " + (guards ? "to be left alone" : text(host_[i])) +
               ", got " + text(now[i]);
    }
    return wrong ? std::to_string(wrong) + " wrong" + lines : "";
  }

  T guard_;
  std::vector<T> host_;  // What must be there after the calls.
  std::vector<Part> parts_;
  std::unique_ptr<DeviceArray<T>> device_;
};

struct Stream {
  Stream() {
    CUDA_CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
  }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void finish() const { CUDA_CHECK(cudaStreamSynchronize(handle)); }
  operator cudaStream_t() const { return handle; }

  cudaStream_t handle = nullptr;
};

// Holds a stream's work back until it is opened or two seconds have passed.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) {
    CUDA_CHECK(cudaLaunchHostFunc(stream, wait, this));
  }
  void open() { opened_.set_value(); }

  // The CPU executor does work when it is queued: nothing can be held back.
  bool holds() const { return !ran_at_once_; }
  bool gave_up() const { return gave_up_; }

 private:
  static void wait(void* p) {
    auto* gate = static_cast<Gate*>(p);
    gate->ran_at_once_ = std::this_thread::get_id() == gate->maker_;
    if (gate->ran_at_once_) return;
    gate->gave_up_ = gate->open_.wait_for(std::chrono::seconds(2)) ==
                     std::future_status::timeout;
  }

  const std::thread::id maker_ = std::this_thread::get_id();
  std::atomic<bool> ran_at_once_ = false, gave_up_ = false;
  std::promise<void> opened_;
  std::future<void> open_ = opened_.get_future();
};

inline bool work_is_done_when_queued() {
  const Stream stream;
  Gate gate(stream);
  gate.open();
  stream.finish();
  return !gate.holds();
}

// Whether the GPU has so much memory left; if not, says so.
inline bool has_memory(size_t needed) {
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  needed += 64 << 20;  // For whatever else is allocated meanwhile.
  if (free >= needed) return true;
  std::printf("Left out: %zu MiB are needed and %zu MiB free.\n", needed >> 20,
              free >> 20);
  return false;
}

// For a while, a GPU that fewer threads fill: where there is none, it is only
// the executor that takes long.
class SmallGpu {
 public:
  SmallGpu() {
    if (!chosen_) setenv("SIMT_SMS", "16", 1);
  }
  ~SmallGpu() {
    if (!chosen_) unsetenv("SIMT_SMS");
  }
  SmallGpu(const SmallGpu&) = delete;
  SmallGpu& operator=(const SmallGpu&) = delete;

  // For so many elements a grid of 32 waves, the most that a capped one has,
  // must come back for more even if each of its threads handles `each`.
  int64_t more_than_a_grid(int64_t each) const {
    cudaDeviceProp gpu;
    CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
    const int64_t threads =
        int64_t{gpu.multiProcessorCount} * gpu.maxThreadsPerMultiProcessor;
    return 32 * threads * each + 17;
  }

 private:
  const bool chosen_ = std::getenv("SIMT_SMS") != nullptr;  // By the reader.
};

// Repeats `period` over n elements of device memory.
template <class T>
void fill(T* x, int64_t n, const std::vector<T>& period) {
  const auto length = static_cast<int64_t>(period.size());
  for (int64_t i = 0; i < n; i += length) {
    CUDA_CHECK(cudaMemcpy(x + i, period.data(),
                          std::min(length, n - i) * sizeof(T),
                          cudaMemcpyHostToDevice));
  }
}

// The first of n elements of device memory whose bits are not those of
// `period`, repeated; n if there is none.
template <class T>
int64_t first_difference(const T* y, int64_t n, const std::vector<T>& period) {
  const auto length = static_cast<int64_t>(period.size());
  std::vector<T> part(std::min(n, length));
  for (int64_t i = 0; i < n; i += length) {
    const int64_t count = std::min(length, n - i);
    CUDA_CHECK(cudaMemcpy(part.data(), y + i, count * sizeof(T),
                          cudaMemcpyDeviceToHost));
    if (std::memcmp(part.data(), period.data(), count * sizeof(T)) == 0)
      continue;
    int64_t j = 0;
    while (std::memcmp(&part[j], &period[j], sizeof(T)) == 0) ++j;
    return i + j;
  }
  return n;
}

// Gives see(i, i % kPeriod, v) n elements of device memory, one after the
// other, which the host never holds whole.
template <class T, class See>
void each(const T* y, int64_t n, See see) {
  std::vector<T> part(std::min(n, kPeriod));
  for (int64_t i = 0; i < n; i += kPeriod) {
    const int64_t length = std::min(kPeriod, n - i);
    CUDA_CHECK(cudaMemcpy(part.data(), y + i, length * sizeof(T),
                          cudaMemcpyDeviceToHost));
    for (int64_t j = 0; j < length; ++j) see(i + j, j, part[j]);
  }
}

}  // namespace contract
