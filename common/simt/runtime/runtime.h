// What the files runtime/ share: how a call answers, and what handles,
// kernels and variables it may be given.
#pragma once
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/simt/core/error.h"
#include "common/simt/core/settings.h"
#include "common/simt/machine/launch.h"
#include "common/simt/runtime/older_cuda.h"
#include "common/simt/runtime/tasks.h"

namespace simt {

// ---- Answers ---------------------------------------------------------------

// A call that CUDA would refuse: the code it returns, and the reason in a
// sentence. No reason for outcomes that are no mistake.
struct Refused {
  cudaError_t code;
  std::string why;
};

// A call that a GPU would carry out and the executor cannot: what it has none
// of. The program exits non-zero for it, but its last error stays what it was.
struct Lacking {
  std::string what;
};

// Of a sentence: words, a number or an address. All are of one type, so that
// sentences are put together in one place, whatever they are made of.
class Part {
 public:
  Part(std::string_view words) : kind_(kWords), words_(words) {}
  Part(const std::string& words) : kind_(kWords), words_(words) {}
  Part(const char* words) : kind_(kWords), words_(words) {}
  Part(long long number) : kind_(kSigned), number_(number) {}
  Part(long number) : kind_(kSigned), number_(number) {}
  Part(int number) : kind_(kSigned), number_(number) {}
  Part(unsigned long long number) : kind_(kUnsigned), number_(number) {}
  Part(unsigned long number) : kind_(kUnsigned), number_(number) {}
  Part(unsigned number) : kind_(kUnsigned), number_(number) {}
  Part(const void* address)
      : kind_(kAddress), number_(reinterpret_cast<uint64_t>(address)) {}
  Part(char letter) : kind_(kLetter), number_(letter) {}

  void add_to(std::string& sentence) const;

 private:
  enum { kWords, kLetter, kSigned, kUnsigned, kAddress } kind_;
  std::string_view words_;
  uint64_t number_ = 0;
};
using Parts = std::initializer_list<Part>;

std::string join(Parts parts);
[[noreturn]] void refuse(cudaError_t code, Parts why);

template <class... Each>
std::string text(const Each&... part) {
  return join({part...});
}

template <class... Each>
void require(bool holds, cudaError_t otherwise, const Each&... why) {
  if (!holds) refuse(otherwise, {why...});
}

// One line on stderr, "simt: ...". The same line is said once a process, so
// that a mistake in a loop stays readable.
void say(const std::string& line);

// The same for what is wrong with a call, of which no more than a few lines are
// said, however many different ones there are.
void complain(const std::string& call, const std::string& why);

// What a kernel left behind when it failed: from then on every call that
// touches the device returns it, as CUDA's does. It is no thread's last error
// until such a call has returned it.
cudaError_t sticky_error();
void set_sticky_error(cudaError_t code);

// The calling thread's last error. cudaGetLastError takes it, so that the next
// one finds none.
cudaError_t remember(cudaError_t code);
cudaError_t last_error();
cudaError_t take_last_error();

// A launch written <<<...>>> returns nothing, so only last_error() can tell the
// program that it failed. One that never asks must not exit with 0.
void remember_failed_launch();

// A call of the driver API, while it does what calls of the runtime's do: it is
// named in what they say, and the runtime's last error stays what it was.
class DriverCall {
 public:
  explicit DriverCall(const char* name);
  ~DriverCall();
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

 private:
  const char* outer_;
  cudaError_t last_;
};

// Whether the program has called the runtime, and this thread has: that makes
// the primary context its own, until it gives that up.
void note_runtime_call();
bool runtime_was_called();
bool runtime_has_context();
void leave_runtime_context();

// As the API calls it whose call this is.
const char* error_name(cudaError_t code);

// The process will not exit with 0.
void note_finding();

// From now on host code that touches device memory ends the program with a
// message that says so. So does a fault within what this thread copies.
void watch_host();
struct BytesCopied {
  uint64_t to = 0, from = 0;
  size_t count = 0;  // 0: it copies nothing just now
};
extern thread_local BytesCopied bytes_copied;

// Tells what launches found that was not found before, as far as it is not too
// much to read; at the end, how often it was found, and how much was not told.
void tell_findings();
void sum_up_findings();

// Lists what the program never freed, if SIMT_LEAKS=1 asks for it: on a device,
// or on all.
void report_leaks(std::optional<int> device = {});

// For the suites of contracts, which ask weakly, because no GPU can tell: from
// now on nothing may write to the array around `address`, and how many arrays,
// streams, events and graphs the program has not given back.
void make_read_only(const void* address);
size_t things_held();

// Its parts.
size_t live_streams_and_events();
size_t live_graphs();

// The body of an API call: a lambda that the call waits for. One type for all
// of them, because there are hundreds, and each would have an answer of its
// own.
class Body {
 public:
  template <class F>
  Body(const F& f)
      : function_(&f),
        run_([](const void* f) { (*static_cast<const F*>(f))(); }) {}
  void operator()() const { run_(function_); }

 private:
  const void* function_;
  void (*run_)(const void*);
};

// Runs it and turns what it throws into CUDA's answer. `call` is the caller's
// own name.
cudaError_t answer_always(Body body,
                          const char* call = __builtin_FUNCTION()) noexcept;

// The same for calls that touch the device: a failed kernel makes them
// impossible, and functions of the host that a stream calls must not make them.
cudaError_t answer(Body body, const char* call = __builtin_FUNCTION()) noexcept;

// The same for calls of the runtime that ask the device for nothing.
cudaError_t answer_apart(Body body,
                         const char* call = __builtin_FUNCTION()) noexcept;

// ---- Handles ---------------------------------------------------------------

// Streams and events. Handles are numbers that look like pointers and are never
// used twice, so that a destroyed or made-up one is always recognised.
template <class Handle, class State>
class Handles {
 public:
  Handle create(const State& state) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = ++count_;
    live_[id] = state;
    return reinterpret_cast<Handle>(kBase + kStep * id);
  }
  std::optional<State> find(Handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(id(handle));
    if (found == live_.end()) return std::nullopt;
    return found->second;
  }
  bool update(Handle handle, const State& state) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(id(handle));
    if (found == live_.end()) return false;
    found->second = state;
    return true;
  }
  bool destroy(Handle handle) {
    const std::lock_guard lock(mutex_);
    return live_.erase(id(handle)) == 1;
  }

  size_t count() const {
    const std::lock_guard lock(mutex_);
    return live_.size();
  }

  static uint64_t id(Handle handle) {
    const uint64_t value = reinterpret_cast<uint64_t>(handle);
    return value < kBase || value % kStep != 0 ? 0 : (value - kBase) / kStep;
  }

 private:
  static constexpr uint64_t kBase = 1ull << 32, kStep = 16;
  mutable std::mutex mutex_;
  std::map<uint64_t, State> live_;
  uint64_t count_ = 0;
};

// Refuses with cudaErrorInvalidResourceHandle what is no stream.
void require_stream(cudaStream_t stream);
// Nor one that would wait for a stream that is being captured, or whose capture
// has become invalid.
void require_usable(cudaStream_t stream);

// Keeps the nearest priority that there is. A default stream's stays.
void set_priority(cudaStream_t stream, int priority);

// The device that the calling thread has chosen.
int current_device();
void set_current_device(int device);

// Refuses with cudaErrorInvalidDevice what is none of them.
void require_device(int device);

// Where the work of a stream is queued; refuses what is no stream.
Queue queue_of(cudaStream_t stream);

// Where work is queued by a call that names no stream.
cudaStream_t default_stream();

// Which thread of the host calls: each has a default stream of its own, which
// all of them call cudaStreamPerThread.
uint64_t number_of_thread();

// The how many-th of the program's it is.
uint64_t number_of(cudaStream_t stream);

// Whether work of two streams may run at the same time.
bool streams_may_overlap();

// Whether work in the legacy default stream waits for that of this one.
bool is_blocking(cudaStream_t stream);
bool is_legacy(cudaStream_t stream);

// ---- Work ------------------------------------------------------------------

// What a node of a graph was made from, as the program may ask: a copy, a fill,
// a function of the host, an event.
using Description =
    std::variant<std::monostate, cudaMemcpy3DParms, cudaMemsetParams,
                 cudaHostNodeParams, cudaEvent_t>;

// What a stream is given to do.
struct Work {
  cudaGraphNodeType type;
  std::function<void()> run;
  std::shared_ptr<const cudaKernelNodeParams> kernel = nullptr;  // if it is one
  // Copies from or to memory of the host that is not page-locked: the call
  // returns when the bytes have been moved.
  bool is_pageable = false;
  // Refuses at the call what run() would refuse later.
  std::function<void()> check = nullptr;
  // A launch in clusters for which nobody but the call asked: its parameters do
  // not tell of them.
  bool launches_clusters = false;
  // An asynchronous call, too, returns when it is done: something is moved to
  // the host's own memory.
  bool is_awaited = false;
  // A call without a stream returns before it is done: no host takes part.
  bool is_left_alone = false;
  // A kernel that may begin before the one in front of it is done.
  bool begins_early = false;
  // A function of the host runs, which may tell its threads.
  bool tells_host = false;
  // It is one of the program's, which may wait for who issues it.
  bool is_function = false;
  // No byte is moved: nobody takes notice of it.
  bool is_nothing = false;
  // Of a graph: the memory that is allocated, or freed.
  std::shared_ptr<const struct GraphMemory> memory = nullptr;
  void* frees = nullptr;
  // Of a graph: it consists of others. Of an instantiated one: of this.
  std::shared_ptr<struct Bodies> bodies = nullptr;
  std::shared_ptr<struct Executable> parts = nullptr;
  Description description = {};
};

// "the copy": as findings call it.
const char* name_of(const Work& work);

// What it is among all work, if it is put into this queue now: see
// happens_before.h.
struct Operation;
struct Nature;
Nature nature_of(const Work& work);
std::shared_ptr<Operation> begin_operation(const Queue& queue,
                                           const Work& work);

// Whether some kernel may begin before the one in front of it is done: the
// program has instructions for that, or was seen to launch one so.
bool kernels_may_begin_early();
void note_early_launch();

// A function of the host, which may wait for other threads.
Work host_work(std::function<void()> function);
Work host_work(const cudaHostNodeParams& given);

// Of a graph: it records an event, or waits for one that was recorded
// elsewhere.
Work record_work(cudaEvent_t event);
Work wait_work(cudaEvent_t event);
// cudaEventRecord; and whether the event was made with cudaEventDisableTiming.
void record(cudaEvent_t event, cudaStream_t stream);
bool is_untimed(cudaEvent_t event);

// Where that work was queued, and what does it: what waits for the event from
// now on comes behind all that is in the queue.
void note_recorded(cudaEvent_t event, const Queue& queue, TaskPointer task);
void come_behind(const Queue& queue, cudaEvent_t event);

// Does it in its stream, and a copy without a stream before it returns; `after`
// other work, too.
void do_work(cudaStream_t stream, const Work& work);
void do_now(const Work& work, const Tasks& after = {});

// Does the work now or, where the stream is being captured, adds it to the
// graph, to be done whenever that is launched.
void issue(cudaStream_t stream, Work work);
bool is_capturing(cudaStream_t stream);

// A stream that joined another's capture ends: what it recorded stays. False
// if it is in none, or the capture began there.
bool leave_capture(cudaStream_t stream);

// Refuse what would wait for a stream that is being captured, or for all; use
// the legacy default stream, which waits for others; or may do either inside.
void require_waitable(cudaStream_t stream);
void require_all_waitable();
void require_legacy_usable();
void require_safe();

// The capture in which the stream takes part, if any, is invalid from here on.
void spoil_capture(cudaStream_t stream);

// Where a stream that is being captured stood when an event was recorded there;
// whether that capture goes on.
struct CapturePoint;
bool is_open(const CapturePoint& point);
// That capture is invalid from here on.
void spoil(const CapturePoint& point);
std::shared_ptr<const CapturePoint> capture_point(cudaStream_t stream);
// From here on the stream's work comes after that point, and is captured, too.
void join_capture(cudaStream_t stream,
                  const std::shared_ptr<const CapturePoint>& point);

// ---- Kernels and variables -------------------------------------------------

struct FatBinary;

// A __global__ function of the program, as registered before main.
struct Entry {
  const void* function = nullptr;  // of the host, which stands for it
  FatBinary* binary = nullptr;
  std::string mangled;
  // cudaFuncSetAttribute's, by device.
  std::array<std::optional<int>, settings::kMostDevices> max_dynamic_shared;
  std::array<bool, settings::kMostDevices> non_portable_cluster = {};
  // Hints, which are only told, or change how many blocks fit.
  std::array<std::optional<int>, settings::kMostDevices> carveout = {};
  std::array<cudaFuncCache, settings::kMostDevices> cache = {};
  std::array<std::optional<int>, settings::kMostDevices> policy = {};

  // The current device's: loads the module; throws Refused or Error.
  Kernel* kernel();
  int ptx_version() const;  // 90 for compute_90
};

// Of a fat binary, by the handle that it was registered under.
std::vector<std::string> kernel_names(void** handle);
// Decodes them all. Throws Error for what the executor cannot run.
void read_kernels(void** handle);

// The device's kernels and variables are loaded anew, by who next needs them.
void forget_modules(int device);

// CUDA 13 refuses with another code than its documents name and CUDA 11 and 12
// use (measured on an H200: CUDA 13.0, driver 580).
constexpr cudaError_t kNoKernel = CUDART_VERSION >= 13000
                                      ? cudaErrorInvalidResourceHandle
                                      : cudaErrorInvalidDeviceFunction;

// `function` is the address of the host's stub, or a cudaKernel_t; `otherwise`
// is what to refuse anything else with, but for null
// (cudaErrorInvalidDeviceFunction).
Entry& find_entry(const void* function, cudaError_t otherwise = kNoKernel);

// That of a kernel which has been loaded.
Entry& entry_of(const Kernel& kernel);

cudaFuncAttributes attributes_of(const Entry& entry, Kernel& of);

// `symbol` is the address of the host's shadow of a device variable.
DeviceVariable find_symbol(const void* symbol, int device);

// The most dynamic shared memory a launch may ask for.
int dynamic_shared_limit(const Entry& entry, const KernelInfo& kernel);

// While it lives, a kernel runs on the processor time that SIMT_SECONDS allows
// to all; when that is over, the process ends.
class TimeLimit {
 public:
  explicit TimeLimit(const std::string& kernel);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
};

// What the program has said of L1 cache and shared memory.
cudaFuncCache device_cache_preference();

// Whether an attribute names domains of memory that there are.
bool are_domains(cudaLaunchAttributeID which,
                 const cudaLaunchAttributeValue& value);

// How many blocks fit on a multiprocessor, by threads, blocks and so many bytes
// of shared memory, or all that there can be.
int blocks_per_multiprocessor(const KernelInfo& kernel, unsigned threads,
                              size_t dynamic_shared,
                              uint64_t shared_of_multiprocessor);
int blocks_per_multiprocessor(const KernelInfo& kernel, unsigned threads,
                              size_t dynamic_shared);
// And how many of those by their registers, too, if they are known by now.
int limit_by_registers(int blocks, Kernel& kernel, unsigned threads);

}  // namespace simt
