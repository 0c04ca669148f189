// Kernels that launch kernels. What a grid launches runs when it has ended: one
// grid after the other, each followed by what it has launched itself, and by
// its tail launches at last. A GPU may do so, too; what it may do besides is
// found by observe/kin.h.
//
// Codes are those that an H200 gave (CUDA 13.0).
#include "common/simt/runtime/nested.h"

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/simt/core/device.h"
#include "common/simt/core/device_calls.h"
#include "common/simt/core/finding.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/kin.h"
#include "common/simt/observe/observers.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

// Streams that every grid has.
constexpr uint64_t kNull = 0, kLegacy = 1, kPerThread = 2, kTail = 3,
                   kForget = 4;
constexpr uint64_t kHandles = 1ull << 32;  // those that it makes: from here on
constexpr uint64_t kForgotten = 1ull << 48;  // numbers of queues of one launch

uint64_t volume(const DeviceCalls::Extent& e) {
  return uint64_t{e.x} * e.y * e.z;
}
std::string text_of(const DeviceCalls::Extent& e) {
  return text('(', e.x, ", ", e.y, ", ", e.z, ')');
}

bool fits(const DeviceCalls::Extent& e, const int (&most)[3]) {
  return volume(e) != 0 && e.x <= unsigned(most[0]) &&
         e.y <= unsigned(most[1]) && e.z <= unsigned(most[2]);
}

// A pointer to what only one block or one thread has.
bool is_private(uint64_t value) {
  const uint64_t window = value & kWindowMask, offset = value & ~kWindowMask;
  return (window == kSharedWindow && offset < 1u << kRankShift) ||
         (window == kLocalWindow && offset < kStackLimit);
}

// A text in device memory, there for good.
uint64_t kept_text(const std::string& words) {
  static auto* known = new std::map<std::string, uint64_t>;
  uint64_t& address = (*known)[words];
  if (address == 0) {
    const size_t bytes = words.size() + 1;
    address = allocations().allocate(bytes, Memory::kConstant,
                                     "the text of an error", current_device());
    std::memcpy(allocations().open(address), words.c_str(), bytes);
    allocations().note_written(address, bytes);
  }
  return address;
}

class Nest final : public DeviceCalls {
 public:
  void run(Kernel* kernel, LaunchShape shape, void** arguments) {
    shape.calls = this;
    shape.kin = &kin_;
    begin(add(kernel, shape, {}));
    run_kernel_now(kernel, shape, arguments);
    for (end(); !waiting_.empty(); end()) {
      const Child next = std::move(waiting_.back());
      waiting_.pop_back();
      begin(next.member);
      next.run();
    }
    add_footprint(std::move(kin_.footprint));
  }

  uint64_t begin_launch(const Caller& caller, uint64_t function,
                        const Shape& shape) override;
  cudaError_t launch(const Caller& caller, uint64_t arguments,
                     uint64_t stream) override;
  cudaError_t last_error(const Caller& caller, bool forget) override;

  cudaError_t create_stream(const Caller& caller, uint64_t& stream,
                            uint32_t flags) override;
  cudaError_t destroy_stream(const Caller& caller, uint64_t stream) override;
  cudaError_t create_event(const Caller& caller, uint64_t& event,
                           uint32_t flags) override;
  cudaError_t destroy_event(const Caller& caller, uint64_t event) override;
  cudaError_t record(const Caller& caller, uint64_t event,
                     uint64_t stream) override;
  cudaError_t await(const Caller& caller, uint64_t stream,
                    uint64_t event) override;

  cudaError_t copy(const Caller& caller, uint64_t to, uint64_t from,
                   uint64_t bytes, int kind, uint64_t stream) override;
  cudaError_t fill(const Caller& caller, uint64_t to, int value, uint64_t bytes,
                   uint64_t stream) override;

  cudaError_t allocate(const Caller& caller, uint64_t& address,
                       uint64_t bytes) override;
  cudaError_t attribute(const Caller& caller, int& value, int which,
                        int device) override;
  cudaError_t attributes(const Caller& caller, cudaFuncAttributes& attributes,
                         uint64_t function) override;
  cudaError_t limit(const Caller& caller, uint64_t& value, int which) override;
  int device_number() override { return current_device(); }
  uint64_t error_text(cudaError_t code, bool name) override {
    return kept_text(name ? cudaGetErrorName(code) : cudaGetErrorString(code));
  }

 private:
  // What waits for its turn.
  struct Child {
    uint32_t member = 0;
    std::function<void()> run;
  };
  struct Begun {
    Kernel* kernel = nullptr;
    LaunchShape shape;
  };
  using Thread = std::pair<uint64_t, uint32_t>;  // of a block

  static Thread thread_of(const Caller& caller) {
    return {caller.warp.block->number,
            caller.warp.index * kLanes + caller.lane};
  }

  static void run_kernel_now(Kernel* kernel, const LaunchShape& shape,
                             void** arguments) {
    const TimeLimit limit(kernel->name);
    run_kernel(kernel, shape, arguments);
  }

  uint32_t add(Kernel* kernel, LaunchShape& shape, Relative relative);
  void begin(uint32_t member) { member_ = member; }
  void end();

  // The answer to a call: what it returns, and the thread's last error. `why`
  // is said.
  template <class... Part>
  cudaError_t refuse(const Caller& caller, cudaError_t code,
                     const Part&... why) {
    errors_[thread_of(caller)] = code;
    const std::string where =
        caller.warp.block->grid->program.location(caller.ins.where);
    simt::complain("a call in a kernel" + (where.empty() ? "" : " at " + where),
                   text(why..., " (", cudaGetErrorName(code), ")"));
    return code;
  }

  std::string why_not(const Kernel& kernel, const KernelInfo& facts,
                      const Shape& shape) const;
  void require_public(const Caller& caller, const Kernel& kernel,
                      const std::vector<std::byte>& arguments) const;
  Kernel* kernel_at(const Caller& caller, uint64_t function) const;

  bool is_stream(uint64_t stream) const {
    return stream <= kForget || streams_.contains(stream);
  }
  // The queue that a stream is. A block's default stream has a number below all
  // handles, what is launched and forgotten one that nothing else has.
  uint64_t queue_of(const Caller& caller, uint64_t stream);
  // Where work stands that is put into that stream now; false if there is no
  // room.
  bool enqueue(const Caller& caller, uint64_t stream, Relative& relative);
  cudaError_t issue(const Caller& caller, uint64_t stream,
                    std::function<void()> run);
  bool is_array(uint64_t address, uint64_t bytes) const;

  Kin kin_;
  std::vector<Child> waiting_;  // the next one last
  // Of the grid that runs:
  uint32_t member_ = 0;
  std::vector<Child> children_, tails_;
  std::map<uint64_t, Begun> begun_;  // by the address of the arguments
  std::map<Thread, cudaError_t> errors_;
  std::map<Thread, cudaError_t> unasked_;  // of launches
  std::set<uint64_t> streams_;
  std::map<uint64_t, Past> queues_, events_;
  uint64_t handles_ = 0, issued_ = 0;
};

uint32_t Nest::add(Kernel* kernel, LaunchShape& shape, Relative relative) {
  relative.parent = member_;
  relative.kernel = kernel;
  std::copy_n(shape.grid, 3, relative.blocks);
  std::copy_n(shape.block, 3, relative.threads);
  return shape.member = kin_.add(std::move(relative));
}

// The grid has ended: what it launched comes next, and its tail launches behind
// that.
void Nest::end() {
  const auto queue_up = [&](std::vector<Child>& list) {
    waiting_.insert(waiting_.end(), std::make_move_iterator(list.rbegin()),
                    std::make_move_iterator(list.rend()));
    list.clear();
  };
  queue_up(tails_);
  queue_up(children_);
  if (!unasked_.empty()) note_finding();
  for (const auto& [address, one] : begun_) allocations().release(address);
  begun_.clear();
  errors_.clear();
  unasked_.clear();
  streams_.clear();
  queues_.clear();
  events_.clear();
}

// ---- Launches --------------------------------------------------------------

Kernel* Nest::kernel_at(const Caller& caller, uint64_t function) const {
  Module* const module = caller.warp.block->grid->program.module;
  const std::string* name = module->function_at(function);
  return name ? find_kernel(module, *name) : nullptr;
}

std::string Nest::why_not(const Kernel& kernel, const KernelInfo& facts,
                          const Shape& shape) const {
  const auto shared = dynamic_shared_limit(entry_of(kernel), facts);
  if (!fits(shape.grid, kMaxGrid))
    return text("a grid of ", text_of(shape.grid), " is empty or too large");
  if (!fits(shape.block, kMaxBlock) || volume(shape.block) > kMaxThreads)
    return text("a block of ", text_of(shape.block), " is empty or too large");
  if (volume(shape.block) > facts.max_threads)
    return text("a block of ", volume(shape.block),
                " threads exceeds the kernel's __launch_bounds__(",
                facts.max_threads, ')');
  if (shape.dynamic_shared > uint32_t(shared))
    return text(shape.dynamic_shared, " bytes of dynamic shared memory exceed ",
                shared);
  return "";
}

uint64_t Nest::begin_launch(const Caller& caller, uint64_t function,
                            const Shape& shape) {
  Kernel* const kernel = kernel_at(caller, function);
  const auto refused = [&](cudaError_t code, const std::string& why) {
    refuse(caller, code, why);
    unasked_[thread_of(caller)] = code;
    return 0;
  };
  if (kernel == nullptr)
    return refused(cudaErrorInvalidDeviceFunction, "this is no kernel");
  const KernelInfo facts = info(kernel);
  if (facts.block[0] != 0)
    throw Error(facts.name +
                " is launched by a kernel, and says how large its blocks are: "
                "the executor has no such launches");
  if (facts.cluster[0] != 0 || facts.wants_cluster)
    throw Error(facts.name +
                " is launched by a kernel, and in clusters: the "
                "executor has no such launches");
  const std::string why = why_not(*kernel, facts, shape);
  if (!why.empty())
    return refused(cudaErrorInvalidConfiguration, facts.name + ": " + why);
  const size_t bytes = std::max<size_t>(parameter_bytes(kernel), 1);
  const LaunchShape& mine = caller.warp.block->grid->shape;
  const uint64_t address = allocations().allocate(
      bytes, Memory::kDevice, "cudaGetParameterBuffer", mine.device);
  if (address == 0)
    return refused(cudaErrorMemoryAllocation, "no memory is left for it");
  kin_.forget(address, bytes);
  LaunchShape next = mine;
  const auto set = [](unsigned(&to)[3], const Extent& from) {
    to[0] = from.x, to[1] = from.y, to[2] = from.z;
  };
  set(next.grid, shape.grid);
  set(next.block, shape.block);
  next.dynamic_shared = shape.dynamic_shared;
  next.cooperative = false;
  std::fill_n(next.cluster, 3, 1);
  next.explicit_cluster = false;
  begun_[address] = {kernel, next};
  return address;
}

// Shared and local memory of the launching thread is not the child's.
void Nest::require_public(const Caller& caller, const Kernel& kernel,
                          const std::vector<std::byte>& arguments) const {
  for (size_t at = 0; at + 8 <= arguments.size(); at += 8) {
    uint64_t value = 0;
    std::memcpy(&value, &arguments[at], sizeof value);
    if (is_private(value))
      fault(caller.warp, caller.ins, caller.lane, "bad argument",
            text("a launch of ", kernel.name, " passes a pointer to ",
                 (value & kWindowMask) == kLocalWindow ? "local" : "shared",
                 " memory, which is the launching ",
                 (value & kWindowMask) == kLocalWindow ? "thread" : "block",
                 "'s own; only global memory is the child's, too"),
            kIllegalAddress);
  }
}

cudaError_t Nest::launch(const Caller& caller, uint64_t arguments,
                         uint64_t stream) {
  const auto found = begun_.find(arguments);
  if (found == begun_.end())
    return refuse(caller, cudaErrorInvalidValue,
                  "this is not what cudaGetParameterBuffer gave");
  const auto [kernel, shape] = found->second;
  std::vector<std::byte> bytes(parameter_bytes(kernel));
  std::memcpy(bytes.data(), allocations().open(arguments), bytes.size());
  begun_.erase(found);
  allocations().release(arguments);
  require_public(caller, *kernel, bytes);
  Relative relative;
  if (!is_stream(stream) || !enqueue(caller, stream, relative)) {
    const cudaError_t code = is_stream(stream)
                                 ? cudaErrorLaunchPendingCountExceeded
                                 : cudaErrorInvalidValue;
    unasked_[thread_of(caller)] = code;
    return refuse(caller, code, kernel->name, ": ",
                  is_stream(stream) ? "there are too many tail launches"
                                    : "the stream is none of this grid's");
  }
  LaunchShape next = shape;
  const bool is_tail = relative.is_tail;
  Child child{add(kernel, next, std::move(relative)), nullptr};
  child.run = [kernel = kernel, next, bytes = std::move(bytes)]() mutable {
    std::vector<void*> pointers;
    for (const uint32_t at : parameter_offsets(kernel))
      pointers.push_back(&bytes[at]);
    run_kernel_now(kernel, next, pointers.data());
  };
  (is_tail ? tails_ : children_).push_back(std::move(child));
  return cudaSuccess;
}

cudaError_t Nest::last_error(const Caller& caller, bool forget) {
  const Thread thread = thread_of(caller);
  unasked_.erase(thread);
  const auto found = errors_.find(thread);
  if (found == errors_.end()) return cudaSuccess;
  const cudaError_t code = found->second;
  if (forget) errors_.erase(found);
  return code;
}

// ---- Streams and events ----------------------------------------------------

uint64_t Nest::queue_of(const Caller& caller, uint64_t stream) {
  if (stream == kForget) return kForgotten + issued_;
  if (stream == kTail || stream >= kHandles) return stream;
  return kHandles - 1 - caller.warp.block->number % (kHandles / 2);
}

bool Nest::enqueue(const Caller& caller, uint64_t stream, Relative& relative) {
  relative.is_tail = stream == kTail;
  if (relative.is_tail) {
    size_t most = 0;
    cudaDeviceGetLimit(&most, cudaLimitDevRuntimePendingLaunchCount);
    if (tails_.size() >= most) return false;
  }
  ++issued_;
  relative.launched = observe::launches(caller.warp, caller.lane);
  relative.queue = queue_of(caller, stream);
  relative.number = issued_;
  Past& known = queues_[relative.queue];
  relative.past = known;
  known.learn(relative.queue, relative.number);
  return true;
}

cudaError_t Nest::create_stream(const Caller& caller, uint64_t& stream,
                                uint32_t flags) {
  if (flags > cudaStreamNonBlocking)
    return refuse(caller, cudaErrorInvalidValue, "unknown flags ", flags);
  stream = kHandles + 16 * ++handles_;
  streams_.insert(stream);
  return cudaSuccess;
}

cudaError_t Nest::destroy_stream(const Caller& caller, uint64_t stream) {
  if (streams_.erase(stream) == 0)
    return refuse(caller, cudaErrorInvalidValue,
                  "cudaStreamDestroy: this grid has made no such stream");
  return cudaSuccess;
}

cudaError_t Nest::create_event(const Caller& caller, uint64_t& event,
                               uint32_t flags) {
  if (flags != cudaEventDisableTiming)
    return refuse(caller, cudaErrorInvalidValue,
                  "events of a kernel take no time: their flags are "
                  "cudaEventDisableTiming");
  event = kHandles + 16 * ++handles_;
  events_[event] = {};
  return cudaSuccess;
}

cudaError_t Nest::destroy_event(const Caller& caller, uint64_t event) {
  if (events_.erase(event) == 0)
    return refuse(caller, cudaErrorInvalidValue,
                  "cudaEventDestroy: this grid has made no such event");
  return cudaSuccess;
}

cudaError_t Nest::record(const Caller& caller, uint64_t event,
                         uint64_t stream) {
  if (!is_stream(stream) || !events_.contains(event))
    return refuse(caller, cudaErrorInvalidValue,
                  "cudaEventRecord: this grid has made no such event or "
                  "stream");
  events_[event] = queues_[queue_of(caller, stream)];
  return cudaSuccess;
}

cudaError_t Nest::await(const Caller& caller, uint64_t stream, uint64_t event) {
  if (!is_stream(stream) || !events_.contains(event))
    return refuse(caller, cudaErrorInvalidValue,
                  "cudaStreamWaitEvent: this grid has made no such event or "
                  "stream");
  queues_[queue_of(caller, stream)].join(events_[event]);
  return cudaSuccess;
}

// ---- Memory ----------------------------------------------------------------

bool Nest::is_array(uint64_t address, uint64_t bytes) const {
  const auto found = allocations().find(address);
  return found && !found->freed &&
         is_inside(address, bytes, found->begin, found->end);
}

cudaError_t Nest::issue(const Caller& caller, uint64_t stream,
                        std::function<void()> run) {
  Relative relative;
  if (!is_stream(stream) || !enqueue(caller, stream, relative))
    return refuse(caller, cudaErrorInvalidValue,
                  "the stream is none of this grid's, or full");
  relative.parent = member_;
  const bool is_tail = relative.is_tail;
  Child child{kin_.add(std::move(relative)), std::move(run)};
  (is_tail ? tails_ : children_).push_back(std::move(child));
  return cudaSuccess;
}

cudaError_t Nest::copy(const Caller& caller, uint64_t to, uint64_t from,
                       uint64_t bytes, int kind, uint64_t stream) {
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return refuse(caller, cudaErrorInvalidMemcpyDirection,
                  "cudaMemcpyAsync: a kernel copies from device to device");
  if (bytes == 0) return cudaSuccess;
  if (!is_array(to, bytes) || !is_array(from, bytes))
    return refuse(caller, cudaErrorInvalidValue, "cudaMemcpyAsync: ", bytes,
                  " bytes are in no array of the device's: ",
                  allocations().describe(is_array(to, bytes) ? from : to));
  return issue(caller, stream, [=] {
    std::memmove(allocations().open(to), allocations().open(from), bytes);
    allocations().note_copied(to, from, bytes);
  });
}

cudaError_t Nest::fill(const Caller& caller, uint64_t to, int value,
                       uint64_t bytes, uint64_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!is_array(to, bytes))
    return refuse(
        caller, cudaErrorInvalidValue, "cudaMemsetAsync: ", bytes,
        " bytes are in no array of the device's: ", allocations().describe(to));
  return issue(caller, stream, [=] {
    std::memset(allocations().open(to), value, bytes);
    allocations().note_written(to, bytes);
  });
}

cudaError_t Nest::allocate(const Caller& caller, uint64_t& address,
                           uint64_t bytes) {
  if (bytes == 0)
    return refuse(caller, cudaErrorInvalidValue, "cudaMalloc of 0 bytes");
  address = allocations().allocate(bytes, Memory::kHeap,
                                   "cudaMalloc in a kernel", current_device());
  if (address == 0)
    return refuse(caller, cudaErrorMemoryAllocation, "cudaMalloc: ", bytes,
                  " bytes; cudaLimitMallocHeapSize says how many there are");
  kin_.forget(address, bytes);
  return cudaSuccess;
}

// ---- Questions -------------------------------------------------------------

cudaError_t Nest::attribute(const Caller& caller, int& value, int which,
                            int device) {
  if (device < 0 || device >= device_count())
    return refuse(caller, cudaErrorInvalidDevice, "there is no device ",
                  device);
  const auto known =
      simt::attribute(model_device(), static_cast<cudaDeviceAttr>(which));
  if (!known)
    return refuse(caller, cudaErrorInvalidValue, "attribute ", which,
                  " is not known");
  value = *known;
  return cudaSuccess;
}

cudaError_t Nest::attributes(const Caller& caller,
                             cudaFuncAttributes& attributes,
                             uint64_t function) {
  Kernel* const kernel = kernel_at(caller, function);
  if (kernel == nullptr)
    return refuse(caller, cudaErrorInvalidValue,
                  "cudaFuncGetAttributes: this is no kernel");
  attributes = attributes_of(entry_of(*kernel), *kernel);
  return cudaSuccess;
}

cudaError_t Nest::limit(const Caller& caller, uint64_t& value, int which) {
  size_t known = 0;
  const cudaError_t error =
      cudaDeviceGetLimit(&known, static_cast<cudaLimit>(which));
  if (error != cudaSuccess)
    return refuse(caller, error, "limit ", which, " is not known");
  value = known;
  return cudaSuccess;
}

}  // namespace

void run_nested(Kernel* kernel, const LaunchShape& shape, void** arguments) {
  Nest().run(kernel, shape, arguments);
}

}  // namespace simt
