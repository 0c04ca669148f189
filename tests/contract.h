// What the suites of all contracts share.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

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
#include <vector>

#include "common/check.h"
#include "common/harness/checks.h"
#include "common/harness/device_array.h"

namespace simt {
// What only the executor can do and tell; on a GPU there is neither.
__attribute__((weak)) void make_read_only(const void* address);
__attribute__((weak)) size_t things_held();
}  // namespace simt

namespace contract {

using Floats = std::vector<float>;
using Limits = std::numeric_limits<float>;

constexpr float kInf = Limits::infinity();
constexpr float kNan = Limits::quiet_NaN();

constexpr float kGuard = -12345.f;  // Around an output.
constexpr float kStray = 54321.f;   // Around an input; seen in y, it was read.
constexpr int64_t kPeriod = 4'194'301;  // A prime: no shift looks right.

// Whoever grades chooses other numbers and lengths: CHECK_SEED=n.
inline unsigned seed() {
  const char* const chosen = std::getenv("CHECK_SEED");
  return chosen ? static_cast<unsigned>(std::atoll(chosen)) : 0;
}

// How many random cases are drawn: fewer on the executor, which takes longer.
inline int rounds(int on_a_gpu) {
  return simt::make_read_only ? (2 * on_a_gpu + 4) / 5 : on_a_gpu;
}

// `usual` lengths and, with a seed, some that nobody knows beforehand.
inline std::vector<int64_t> lengths(std::vector<int64_t> usual) {
  std::mt19937 bits(seed());
  for (int k = 0; seed() != 0 && k < 3; ++k) usual.push_back(bits() % 5000);
  return usual;
}

// Every call goes on where the one before stopped.
inline Floats random(int64_t n, float low = -1.f, float high = 1.f) {
  static std::mt19937 bits(seed() + 1);
  Floats values(n);
  for (float& v : values) {
    v = low + (high - low) * static_cast<float>(bits() >> 8) * 0x1p-24f;
  }
  return values;
}

// `values` with `special` ones strewn in, one in three on average.
template <class T>
std::vector<T> with(const std::vector<T>& special, std::vector<T> values) {
  static std::mt19937 bits(seed() + 2);
  for (T& v : values) {
    if (bits() % 3 == 0) v = special[bits() % special.size()];
  }
  return values;
}

// Finite numbers of every size, and where a formula for small ones gives up.
inline Floats sizes() {
  constexpr float kMost = Limits::max();
  Floats values = {1.f, 6.f, 0x1p24f, 0x1p31f, 0x1p63f, kMost / 2, kMost};
  for (int exponent = -126; exponent < 128; ++exponent)
    values.push_back(std::ldexp(1.f + random(1, 0.f)[0], exponent));
  const Floats positive = values;
  for (const float v : positive) values.push_back(-v);
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

// Where it was, if it was there.
template <class T>
void upload_to(std::unique_ptr<DeviceArray<T>>& device,
               const std::vector<T>& host) {
  if (!device || device->size() != std::ssize(host))
    device = std::make_unique<DeviceArray<T>>(std::ssize(host));
  CUDA_CHECK(cudaMemcpy(device->data(), host.data(), host.size() * sizeof(T),
                        cudaMemcpyHostToDevice));
}

// The inputs of many calls, side by side in one allocation, with `stray`
// between them. The last one ends where the allocation ends.
template <class T>
class Inputs {
 public:
  explicit Inputs(T stray) : stray_(stray) {}

  // Returns where it begins, `offset` elements past a 256-byte boundary.
  int64_t add(const std::vector<T>& values, int64_t offset = 0) {
    const int64_t begin = next_line<T>(host_.size()) + offset;
    host_.resize(begin, stray_);
    host_.insert(host_.end(), values.begin(), values.end());
    return begin;
  }

  void upload() { upload_to(device_, host_); }
  void blank() const {
    CUDA_CHECK(cudaMemset(device_->data(), 0, host_.size() * sizeof(T)));
  }
  const T* at(int64_t begin) const { return device_->data() + begin; }

  // From now on a store ends the program. On a GPU nobody can ask for that.
  void close() const { simt::make_read_only(device_->data()); }

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

  // Returns the output's number. Before the calls it holds the guards' value.
  size_t add(const std::vector<T>& expected, int64_t offset = 0) {
    return add(expected, std::vector<T>(expected.size(), guard_), offset);
  }
  size_t add(const std::vector<T>& expected, const std::vector<T>& before,
             int64_t offset) {
    Part part;
    part.first = static_cast<int64_t>(host_.size());
    part.begin = next_line<T>(host_.size() + kGuards) + offset;
    host_.resize(part.begin, guard_);
    host_.insert(host_.end(), expected.begin(), expected.end());
    part.end = static_cast<int64_t>(host_.size());
    host_.resize(host_.size() + kGuards, guard_);
    before_.resize(part.begin, guard_);
    before_.insert(before_.end(), before.begin(), before.end());
    before_.resize(host_.size(), guard_);
    parts_.push_back(part);
    return parts_.size() - 1;
  }

  void upload() { upload_to(device_, before_); }
  T* at(size_t number) const { return device_->data() + parts_[number].begin; }

  bool untouched() const {
    const std::vector<T> now = device_->to_host();
    return std::memcmp(now.data(), before_.data(), now.size() * sizeof(T)) == 0;
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
  std::vector<T> before_;
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

// The CPU executor does work when it is queued, as long as it need not wait.
inline bool work_is_done_when_queued() {
  if (!simt::make_read_only) return false;
  const auto note = [](void* done) {
    *static_cast<std::atomic<bool>*>(done) = true;
  };
  std::atomic<bool> done = false;
  const Stream stream;
  CUDA_CHECK(cudaLaunchHostFunc(stream, note, &done));
  const bool at_once = done;
  stream.finish();
  return at_once;
}

// Holds a stream's work back until it is opened or two seconds have passed: 50
// milliseconds where one gate has given up. Who waits for a stream does so at
// every gate: of eight devices, in every check.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) : holds_(!work_is_done_when_queued()) {
    CUDA_CHECK(cudaLaunchHostFunc(stream, wait, this));
  }
  void open() { opened_.set_value(); }

  bool holds() const { return holds_; }
  bool gave_up() const { return gave_up_; }

 private:
  static void wait(void* p) {
    static std::atomic<bool> one_gave_up = false;
    auto* gate = static_cast<Gate*>(p);
    if (!gate->holds_) return;
    const std::chrono::milliseconds patience(one_gave_up ? 50 : 2000);
    if (gate->open_.wait_for(patience) == std::future_status::timeout)
      one_gave_up = gate->gave_up_ = true;
  }

  const bool holds_;
  std::atomic<bool> gave_up_ = false;
  std::promise<void> opened_;
  std::future<void> open_ = opened_.get_future();
};

// Checks that only one of the two can make say so, and count as skipped.
inline bool is_left_to_a_gpu() {
  if (!work_is_done_when_queued()) return false;
  MESSAGE("Skipped: it takes a GPU");
  return true;
}
inline bool is_left_to_the_executor() {
  if (simt::make_read_only) return false;
  MESSAGE("Skipped: only the executor can see it; build with BACKEND=cpu");
  return true;
}

// What a call queues on a stream, recorded in a CUDA graph instead of done.
class Recording {
 public:
  template <class Calls>
  Recording(const Calls& calls, const std::string& name, const Stream& stream)
      : stream_(stream) {
    said_if_interrupted() =
        "What " + name + " queued was recorded in a CUDA graph, to be done " +
        "later:\na call may not wait for it, copy to the host or allocate.";
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    calls.launch(stream);
    said_if_interrupted().clear();
    if (cudaStreamEndCapture(stream, &graph_) != cudaSuccess) graph_ = nullptr;
    cudaGetLastError();  // The caller is told by succeeded().
    // What was not recorded may be under way elsewhere.
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  ~Recording() {
    if (graph_) cudaGraphDestroy(graph_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool succeeded() const { return graph_ != nullptr; }

  bool has_host_work() const {
    size_t count = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph_, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    CUDA_CHECK(cudaGraphGetNodes(graph_, nodes.data(), &count));
    return std::any_of(nodes.begin(), nodes.end(), [](cudaGraphNode_t node) {
      cudaGraphNodeType type;
      CUDA_CHECK(cudaGraphNodeGetType(node, &type));
      return type == cudaGraphNodeTypeHost;
    });
  }

  void replay() const {
    cudaGraphExec_t work;
    CUDA_CHECK(cudaGraphInstantiate(&work, graph_, 0));
    CUDA_CHECK(cudaGraphLaunch(work, stream_));
    stream_.finish();
    CUDA_CHECK(cudaGraphExecDestroy(work));
  }

 private:
  const Stream& stream_;
  cudaGraph_t graph_ = nullptr;
};

// `calls` of the function of that name leave all of their work to the stream:
// held back there, or recorded, it is not done.
template <class Calls>
void check_queueing(Calls& calls, const std::string& name) {
  const Stream stream;
  calls.prepare();
  calls.launch(stream);  // Loading a kernel for the first time may wait.
  stream.finish();
  calls.prepare();

  Gate gate(stream);
  calls.launch(stream);
  // Where nothing can be held back, there is nothing to see but the result.
  const bool worked_outside = gate.holds() && !calls.untouched();
  gate.open();
  stream.finish();
  CHECK_MESSAGE(!gate.gave_up(), name, " waited for the stream's work");
  CHECK_MESSAGE(!worked_outside, name, " worked outside of the stream");
  calls.check();

  calls.prepare();
  const Recording recording(calls, name, stream);
  REQUIRE_MESSAGE(recording.succeeded(), name, " cannot be recorded");
  CHECK_MESSAGE(calls.untouched(), name, " worked outside of the stream");
  recording.replay();
  calls.check();
}

// Two sets of calls, on two streams whose work may be done at the same time.
template <class Calls>
void check_side_by_side(Calls& of_one, Calls& of_two) {
  const Stream one, two;
  of_one.prepare();
  of_two.prepare();
  Gate gate_of_one(one), gate_of_two(two);
  of_one.launch(one);
  of_two.launch(two);
  gate_of_one.open();
  gate_of_two.open();
  one.finish();
  two.finish();
  of_one.check();
  of_two.check();
}

template <class Calls>
void check_gpu_works(Calls& calls, const std::string& name) {
  const Stream stream;
  calls.prepare();
  calls.launch(stream);
  stream.finish();
  const Recording recording(calls, name, stream);
  REQUIRE_MESSAGE(recording.succeeded(), name, " cannot be recorded");
  CHECK_MESSAGE(!recording.has_host_work(), name,
                " has the host work, by cudaLaunchHostFunc() or the like");
}

// Nothing is stored to an input, not even what was there.
template <class Calls>
void check_inputs_are_read_only(Calls& calls) {
  const Stream stream;
  calls.prepare();
  calls.close();
  calls.launch(stream);
  stream.finish();
  calls.check();
}

inline int64_t gpu_bytes_taken() {
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<int64_t>(total - free);
}

// A GPU tells of memory in steps of 2 MiB, and of other programs' too. The
// least that cudaMalloc() takes is 256 bytes or more, which so many calls make
// 8 MiB; and other programs do not take more in every round.
template <class Calls>
int64_t bytes_kept_per_call(const Calls& calls, const Stream& stream) {
  constexpr int kRounds = 3, kCalls = 32768;
  constexpr int64_t kStep = 2 << 20;
  int64_t kept = std::numeric_limits<int64_t>::max();
  for (int round = 0; round < kRounds; ++round) {
    const int64_t before = gpu_bytes_taken();
    for (int call = 0; call < kCalls; ++call) calls.launch(stream);
    stream.finish();
    kept = std::min(kept, gpu_bytes_taken() - before);
  }
  return kept < kStep ? 0 : kept / kCalls;
}

// What a call takes, such as memory, it gives back, and it keeps no result for
// the next one, whose arrays hold something else. `calls` is one call.
template <class Calls>
void check_gives_back(Calls& calls, const std::string& name) {
  const Stream stream;
  calls.prepare();
  calls.blank();
  calls.launch(stream);  // What is kept for all calls comes with the first.
  stream.finish();
  calls.prepare();
  if (simt::things_held) {
    const size_t before = simt::things_held();
    calls.launch(stream);
    const size_t after = simt::things_held();
    CHECK_MESSAGE(after <= before, name, " kept ", after - before,
                  " of what it took: memory, streams, events or graphs");
    stream.finish();
  } else {
    const int64_t bytes = bytes_kept_per_call(calls, stream);
    CHECK_MESSAGE(bytes == 0, name, " kept ", bytes, " bytes of GPU memory");
  }
  calls.check();
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

// For a while, one of the executor's settings; the reader's own goes first.
class Setting {
 public:
  Setting(const char* name, const char* value)
      : name_(name), chosen_(std::getenv(name) != nullptr) {
    if (!chosen_) setenv(name_, value, 1);
  }
  ~Setting() {
    if (!chosen_) unsetenv(name_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
  const bool chosen_;
};

// For a while, a GPU that fewer threads fill: where there is none, it is only
// the executor that takes long.
class SmallGpu {
 public:
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
  const Setting sms_{"SIMT_SMS", "16"};
};

// Repeats `period` over n elements of device memory.
template <class T>
void fill(T* x, int64_t n, const std::vector<T>& period) {
  int64_t done = std::min(n, static_cast<int64_t>(period.size()));
  CUDA_CHECK(
      cudaMemcpy(x, period.data(), done * sizeof(T), cudaMemcpyHostToDevice));
  while (done < n) {  // Whole periods, so the next begins a period, too.
    const int64_t more = std::min(done, n - done);
    CUDA_CHECK(
        cudaMemcpy(x + done, x, more * sizeof(T), cudaMemcpyDeviceToDevice));
    done += more;
  }
  CUDA_CHECK(cudaDeviceSynchronize());  // Copies within the GPU do not wait.
}

struct Stretch {
  int64_t begin, end;
};

// Which of n elements to look at: all of them or, where that would take long,
// those at the ends, where an index overflows, and in some places between.
inline std::vector<Stretch> stretches(int64_t n) {
  constexpr int64_t kAll = 1 << 26, kReach = 1 << 16;
  constexpr int kBetween = 64;
  if (n <= kAll) return {{0, n}};
  std::vector<int64_t> middles = {0, int64_t{1} << 31, int64_t{1} << 32, n};
  std::mt19937_64 bits(seed() + 4);
  for (int k = 0; k < kBetween; ++k)
    middles.push_back(static_cast<int64_t>(bits() % n));
  std::vector<Stretch> some;
  for (const int64_t i : middles) {
    if (i > n) continue;
    some.push_back({std::max<int64_t>(0, i - kReach), std::min(n, i + kReach)});
  }
  return some;
}

// The first of n elements of device memory, as far as they are looked at, whose
// bits are not those of `period`, repeated; n if there is none.
template <class T>
int64_t first_difference(const T* y, int64_t n, const std::vector<T>& period) {
  const auto length = static_cast<int64_t>(period.size());
  std::vector<T> part(std::min(n, length));
  for (const Stretch& stretch : stretches(n)) {
    for (int64_t i = stretch.begin, count = 0; i < stretch.end; i += count) {
      const T* expected = &period[i % length];
      count = std::min(length - i % length, stretch.end - i);
      CUDA_CHECK(cudaMemcpy(part.data(), y + i, count * sizeof(T),
                            cudaMemcpyDeviceToHost));
      if (std::memcmp(part.data(), expected, count * sizeof(T)) == 0) continue;
      int64_t j = 0;
      while (std::memcmp(&part[j], expected + j, sizeof(T)) == 0) ++j;
      return i + j;
    }
  }
  return n;
}

// Gives see(i, i % kPeriod, v) n elements of device memory, as far as they are
// looked at, which the host never holds whole.
template <class T, class See>
void each(const T* y, int64_t n, See see) {
  std::vector<T> part(std::min(n, kPeriod));
  for (const Stretch& stretch : stretches(n)) {
    for (int64_t i = stretch.begin; i < stretch.end; i += kPeriod) {
      const int64_t length = std::min(kPeriod, stretch.end - i);
      CUDA_CHECK(cudaMemcpy(part.data(), y + i, length * sizeof(T),
                            cudaMemcpyDeviceToHost));
      for (int64_t j = 0; j < length; ++j)
        see(i + j, (i + j) % kPeriod, part[j]);
    }
  }
}

}  // namespace contract
