// Streams and events. Work is complete when the call that issues it returns,
// unless it waits for another device. So waiting is mostly a matter of checking
// handles, and the time between two events is the executor's own.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "common/simt/core/device.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

struct Stream {
  unsigned flags = cudaStreamDefault;
  int priority = kLeastPriority;
  int device = current_device();
};
using Clock = std::chrono::steady_clock;
struct Event {
  unsigned flags = cudaEventDefault;
  int device = current_device();
  std::optional<Clock::time_point> recorded = {};
  TaskPointer task = nullptr;  // or when it is done
  Past behind = {};            // what comes before it
  Waits waits = {};            // the host's, when it was recorded
  std::shared_ptr<const CapturePoint> captured = nullptr;  // recorded there
};

auto& streams() {
  static auto* all = new Handles<cudaStream_t, Stream>;
  return *all;
}
auto& events() {
  static auto* all = new Handles<cudaEvent_t, Event>;
  return *all;
}

// Streams that do not wait for the default one; and whether any thread has used
// its own default one.
std::atomic<int> non_blocking{0};
std::atomic<bool> per_thread{false};

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy ||
         stream == cudaStreamPerThread;
}

Stream get(cudaStream_t stream) {
  if (is_default(stream)) return {};
  const auto found = streams().find(stream);
  require(found.has_value(), cudaErrorInvalidResourceHandle, stream,
          " is no stream, or one that was destroyed");
  return *found;
}

Event get(cudaEvent_t event) {
  const auto found = events().find(event);
  require(found.has_value(), cudaErrorInvalidResourceHandle, event,
          " is no event, or one that was destroyed");
  return *found;
}

void create(cudaStream_t* stream, unsigned flags, int priority) {
  require(stream != nullptr, cudaErrorInvalidValue, "pStream is null");
  require(flags <= cudaStreamNonBlocking, cudaErrorInvalidValue,
          "unknown flags ", flags);
  const int clamped = std::clamp(priority, kGreatestPriority, kLeastPriority);
  *stream = streams().create({.flags = flags, .priority = clamped});
  non_blocking += flags == cudaStreamNonBlocking;
}

void create(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned known =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  require(event != nullptr, cudaErrorInvalidValue, "event is null");
  require((flags & ~known) == 0, cudaErrorInvalidValue, "unknown flags ",
          flags);
  require((flags & cudaEventInterprocess) == 0 ||
              (flags & cudaEventDisableTiming) != 0,
          cudaErrorInvalidValue,
          "cudaEventInterprocess wants cudaEventDisableTiming");
  *event = events().create({.flags = flags});
}

void record_now(cudaEvent_t handle, const Past& behind,
                TaskPointer task = nullptr) {
  Event event = get(handle);
  event.behind = behind;
  event.waits = host_waits();
  event.recorded = Clock::now();
  event.task = std::move(task);
  event.captured = nullptr;
  events().update(handle, event);
}

Clock::time_point time_of(const Event& event) {
  return event.task ? event.task->end() : *event.recorded;
}

void put_behind(cudaEvent_t handle, const Queue& queue, TaskPointer task) {
  Event event = get(handle);
  event.behind = past_of(queue);
  if (!event.recorded) event.recorded = Clock::now();
  event.task = std::move(task);
  events().update(handle, event);
}

// In the legacy stream it is work as any other: it orders those beside it.
void wait_for(const Queue& queue, cudaEvent_t handle) {
  const Event event = get(handle);
  if (!event.recorded) return;
  come_behind(queue, event.behind);
  perform(
      queue, [] {}, event.task ? Tasks{event.task} : Tasks{});
}

void wait(cudaStream_t stream, cudaEvent_t handle) {
  require_usable(stream);
  const Event event = get(handle);
  wait_for(queue_of(stream), handle);
  if (event.recorded || event.captured) join_capture(stream, event.captured);
}

void require_waitable(const Event& event) {
  if (event.captured)
    refuse(is_open(*event.captured) ? cudaErrorCapturedEvent
                                    : cudaErrorInvalidValue,
           {"the event was last recorded in a stream that was being captured"});
}

// No capture outlives the question whether its work is done.
void require_real_work(const Event& event) {
  const auto captured = event.captured;
  if (captured && is_open(*captured)) {
    spoil(*captured);
    refuse(cudaErrorCapturedEvent,
           {"the event was last recorded in a stream that is being captured; "
            "the capture is invalid from here on"});
  }
  require_waitable(event);
}

bool is_past(const Event& event) {
  return !event.task || event.task->is_done();
}

// Here all work is done at once; a GPU is still at it.
void note_if_early(const Event& event) {
  if (!event.waits.kernel_since || host_waits().count != event.waits.count)
    return;
  simt::complain(
      "note",
      "cudaEventElapsedTime is asked for an event that nothing has waited "
      "for: on a GPU it fails with cudaErrorNotReady while the work in "
      "front of the event is not done. Call cudaEventSynchronize first");
}

float milliseconds_between(cudaEvent_t start, cudaEvent_t end) {
  for (const cudaEvent_t handle : {start, end}) {
    const Event event = get(handle);
    require((event.flags & cudaEventDisableTiming) == 0,
            cudaErrorInvalidResourceHandle,
            "an event was created with cudaEventDisableTiming");
    require_waitable(event);
    require(event.recorded.has_value(), cudaErrorInvalidResourceHandle,
            "an event was never recorded");
    require(is_past(event), cudaErrorNotReady, "");
    note_if_early(event);
  }
  // From here on the host has waited for both.
  for (const cudaEvent_t handle : {start, end})
    note_awaited(get(handle).behind);
  require(get(start).device == get(end).device, cudaErrorInvalidResourceHandle,
          "the events are of two devices");
  say("cudaEventElapsedTime gives the executor's own time on this CPU, not a "
      "GPU's");
  return std::chrono::duration<float, std::milli>(time_of(get(end)) -
                                                  time_of(get(start)))
      .count();
}

}  // namespace

void require_stream(cudaStream_t stream) { get(stream); }

// In a stream that is being captured an event marks a place, and no time.
void record(cudaEvent_t handle, cudaStream_t stream) {
  require_usable(stream);
  auto event = get(handle);
  const Queue queue = queue_of(stream);
  require(event.device == queue.device, cudaErrorInvalidResourceHandle,
          "the event is device ", event.device, "'s, and the stream device ",
          queue.device, "'s");
  if (!is_capturing(stream)) {
    const Past behind = past_of(queue);
    come_behind(queue, behind);
    return record_now(handle, behind, perform(queue, [] {}));
  }
  event.captured = capture_point(stream);
  events().update(handle, event);
}

bool is_untimed(cudaEvent_t event) {
  return (get(event).flags & cudaEventDisableTiming) != 0;
}

void set_priority(cudaStream_t stream, int priority) {
  if (is_default(stream)) return;
  Stream changed = get(stream);
  changed.priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  streams().update(stream, changed);
}

Work record_work(cudaEvent_t event) {
  require(event != nullptr, cudaErrorInvalidValue, "event is null");
  get(event);
  Work work = {cudaGraphNodeTypeEventRecord, [event] {
                 if (events().find(event)) record_now(event, {});
               }};
  work.description = event;
  return work;
}

Work wait_work(cudaEvent_t event) {
  require(event != nullptr, cudaErrorInvalidValue, "event is null");
  get(event);
  Work work = {cudaGraphNodeTypeWaitEvent, [] {}};
  work.description = event;
  return work;
}

void note_recorded(cudaEvent_t event, const Queue& queue, TaskPointer task) {
  put_behind(event, queue, std::move(task));
}

void come_behind(const Queue& queue, cudaEvent_t event) {
  wait_for(queue, event);
}

Queue queue_of(cudaStream_t stream) {
  const int device = get(stream).device;
  if (is_legacy(stream)) return {device, nullptr, false};
  if (stream != cudaStreamPerThread)
    return {device, stream, is_blocking(stream)};
  per_thread = true;
  return {device, stream, true, number_of_thread()};
}

uint64_t number_of_thread() {
  static std::atomic<uint64_t> count{0};
  thread_local const uint64_t mine = ++count;
  return mine;
}

Work host_work(std::function<void()> function) {
  const auto call = [function] { run_function(function); };
  Work work = {cudaGraphNodeTypeHost, [call] {
                 begin_function();
                 Task* const task = current_task();
                 task ? task->without_turn(call) : call();
               }};
  work.tells_host = work.is_function = true;
  return work;
}

Work host_work(const cudaHostNodeParams& given) {
  require(given.fn != nullptr, cudaErrorInvalidValue, "fn is null");
  Work work = host_work([given] { given.fn(given.userData); });
  work.description = given;
  return work;
}

void do_work(cudaStream_t stream, const Work& work) {
  if (there_are_tasks() && work.check) work.check();
  const Queue queue = queue_of(stream);
  const OperationPointer operation = begin_operation(queue, work);
  const auto run = as_operation(operation, work.run);
  if (work.is_pageable)
    perform_now(queue, run);
  else if (work.is_function)
    perform_function(queue, run);
  else
    perform(queue, run);
  if (work.is_awaited) note_awaited(queue);
}

void do_now(const Work& work, const Tasks& after) {
  const Queue queue = queue_of(default_stream());
  const OperationPointer operation = begin_operation(queue, work);
  perform_now(queue, as_operation(operation, work.run), after);
  if (!work.is_left_alone) note_awaited(queue);
}

// A call without a stream uses the default one, and waits for it.
void run_now(const Work& work, const Tasks& after) {
  if (work.is_nothing) return;
  require_waitable(default_stream());
  do_now(work, after);
}

const char* name_of(const Work& work) {
  switch (work.type) {
    case cudaGraphNodeTypeMemcpy:
      return "the copy";
    case cudaGraphNodeTypeMemset:
      return "the memset";
    case cudaGraphNodeTypeKernel:
      return "the kernel";
    case cudaGraphNodeTypeGraph:
      return "the graph";
    case cudaGraphNodeTypeMemAlloc:
      return "the allocation";
    case cudaGraphNodeTypeMemFree:
      return "the node that frees";
    default:
      return "the library's work";
  }
}

Nature nature_of(const Work& work) {
  return {name_of(work), work.type == cudaGraphNodeTypeGraph,
          work.type == cudaGraphNodeTypeKernel, work.begins_early};
}

OperationPointer begin_operation(const Queue& queue, const Work& work) {
  if (work.tells_host) note_function(queue);
  return begin_operation(queue, nature_of(work));
}

uint64_t number_of(cudaStream_t stream) { return streams().id(stream); }

bool streams_may_overlap() {
  return device_count() > 1 || non_blocking > 0 || per_thread ||
         streams().count() >= 2;
}

size_t live_streams_and_events() {
  return streams().count() + events().count();
}

bool is_legacy(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy;
}

bool is_blocking(cudaStream_t stream) {
  if (is_default(stream)) return !is_legacy(stream);
  const auto found = streams().find(stream);
  return found && (found->flags & cudaStreamNonBlocking) == 0;
}

}  // namespace simt

using namespace simt;

extern "C" {

// ---- Streams ---------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return answer([&] { create(stream, cudaStreamDefault, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return answer([&] { create(stream, flags, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                         int priority) {
  return answer([&] { create(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return answer([&] {
    require(!is_default(stream), cudaErrorInvalidResourceHandle,
            "a default stream cannot be destroyed");
    if (!leave_capture(stream)) require_waitable(stream);
    non_blocking -= get(stream).flags == cudaStreamNonBlocking;
    streams().destroy(stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return answer([&] {
    require_waitable(stream);
    require_safe();
    await(queue_of(stream));
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return answer([&] {
    require_waitable(stream);
    require_safe();
    require(is_idle(queue_of(stream)), cudaErrorNotReady, "");
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return answer([&] {
    require(flags != nullptr, cudaErrorInvalidValue, "flags is null");
    require_waitable(stream);  // So an H100, though nothing waits.
    *flags = get(stream).flags;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return answer([&] {
    require(priority != nullptr, cudaErrorInvalidValue, "priority is null");
    require_usable(stream);
    *priority = get(stream).priority;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return answer([&] {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags) {
  return answer([&] {
    require_usable(stream);
    require(flags <= cudaEventWaitExternal, cudaErrorInvalidValue,
            "unknown flags ", flags);
    get(event);
    if (flags == cudaEventWaitDefault) return wait(stream, event);
    require(is_capturing(stream), cudaErrorIllegalState,
            "external waits belong to streams that are being captured");
    Work work = wait_work(event);
    overlaps().give_up();  // It is not known what each launch waits for.
    issue(stream, std::move(work));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void* data) {
  return answer([&] {
    issue(stream, host_work(cudaHostNodeParams{function, data}));
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return answer([&] {
    require_waitable(stream);
    require(callback != nullptr && flags == 0, cudaErrorInvalidValue,
            "callback is null, or flags are not 0");
    issue(stream, host_work([=] { callback(stream, cudaSuccess, data); }));
  });
}

// ---- Events ----------------------------------------------------------------

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return answer([&] { create(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return answer([&] { create(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return answer([&] {
    get(event);
    events().destroy(event);
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return answer([&] { record(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags) {
  return answer([&] {
    require_usable(stream);
    get(event);
    require(flags <= cudaEventRecordExternal, cudaErrorInvalidValue,
            "unknown flags ", flags);
    if (flags == cudaEventRecordDefault) return record(event, stream);
    require(is_capturing(stream), cudaErrorIllegalState,
            "external records belong to streams that are being captured");
    Work work = record_work(event);
    overlaps().give_up();  // Nor what its waits come behind.
    issue(stream, std::move(work));
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return answer([&] {
    require_real_work(get(event));
    require_safe();
    if (get(event).task) want(get(event).task);
    require(is_past(get(event)), cudaErrorNotReady, "");
    note_awaited(get(event).behind);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return answer([&] {
    require_real_work(get(event));
    require_safe();
    if (get(event).task) await(get(event).task);
    note_awaited(get(event).behind);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
  return answer([&] {
    require(milliseconds != nullptr, cudaErrorInvalidValue, "ms is null");
    *milliseconds = milliseconds_between(start, end);
  });
}

}  // extern "C"
