// Streams and events. Work is complete when the call that issues it returns, so
// waiting is a matter of checking handles, and no time can be measured.
#include <algorithm>

#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

struct Stream {
  unsigned flags = cudaStreamDefault;
  int priority = kLeastPriority;
};
struct Event {
  unsigned flags = cudaEventDefault;
  bool recorded = false;
};

auto& streams() {
  static auto* all = new Handles<cudaStream_t, Stream>;
  return *all;
}
auto& events() {
  static auto* all = new Handles<cudaEvent_t, Event>;
  return *all;
}

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
  *stream = streams().create({flags, clamped});
}

void create(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned known =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  require(event != nullptr, cudaErrorInvalidValue, "event is null");
  require((flags & ~known) == 0, cudaErrorInvalidValue, "unknown flags ",
          flags);
  *event = events().create({flags});
}

void record(cudaEvent_t handle, cudaStream_t stream) {
  require_stream(stream);
  Event event = get(handle);
  event.recorded = true;
  events().update(handle, event);
}

void refuse_graphs() {
  throw Refused{cudaErrorNotSupported,
                "the CPU executor does not record graphs; issue the work "
                "itself"};
}

}  // namespace

void require_stream(cudaStream_t stream) { get(stream); }

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
    require_stream(stream);
    streams().destroy(stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return answer([&] { require_stream(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return answer([&] { require_stream(stream); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return answer([&] { *flags = get(stream).flags; });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return answer([&] { *priority = get(stream).priority; });
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
    require(flags == cudaEventWaitDefault, cudaErrorInvalidValue,
            "unknown flags ", flags);
    require_stream(stream);
    get(event);
  });
}

// Runs now: everything before it in the stream has.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void* data) {
  return answer([&] {
    require_stream(stream);
    require(function != nullptr, cudaErrorInvalidValue, "fn is null");
    function(data);
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return answer([&] {
    require_stream(stream);
    require(callback != nullptr && flags == 0, cudaErrorInvalidValue,
            "callback is null, or flags are not 0");
    callback(stream, cudaSuccess, data);
  });
}

// ---- Graphs ----------------------------------------------------------------
// Refused, all of the way from recording to running.

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return answer([] { refuse_graphs(); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) {
  return answer([] { refuse_graphs(); });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t,
                                 unsigned long long) {
  return answer([] { refuse_graphs(); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return answer([] { refuse_graphs(); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return answer([] { refuse_graphs(); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return answer([] { refuse_graphs(); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus* status) {
  return answer([&] {
    require_stream(stream);
    *status = cudaStreamCaptureStatusNone;
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
    require(flags == cudaEventRecordDefault, cudaErrorInvalidValue,
            "external records belong to graphs");
    record(event, stream);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return answer([&] { get(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return answer([&] { get(event); });
}

// No GPU ran, so there is no time to tell, and a number would be believed.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
  return answer([&] {
    require(milliseconds != nullptr, cudaErrorInvalidValue, "ms is null");
    for (const cudaEvent_t handle : {start, end}) {
      const Event event = get(handle);
      require((event.flags & cudaEventDisableTiming) == 0,
              cudaErrorInvalidResourceHandle,
              "an event was created with cudaEventDisableTiming");
      require(event.recorded, cudaErrorInvalidResourceHandle,
              "an event was never recorded");
    }
    require(false, cudaErrorNotSupported,
            "a CPU cannot know how long a GPU takes; run on a GPU to measure");
  });
}

// ---- The names under --default-stream per-thread ---------------------------

decltype(cudaStreamSynchronize) cudaStreamSynchronize_ptsz
    __attribute__((alias("cudaStreamSynchronize")));
decltype(cudaStreamQuery) cudaStreamQuery_ptsz
    __attribute__((alias("cudaStreamQuery")));
decltype(cudaStreamGetFlags) cudaStreamGetFlags_ptsz
    __attribute__((alias("cudaStreamGetFlags")));
decltype(cudaStreamGetPriority) cudaStreamGetPriority_ptsz
    __attribute__((alias("cudaStreamGetPriority")));
decltype(cudaStreamWaitEvent) cudaStreamWaitEvent_ptsz
    __attribute__((alias("cudaStreamWaitEvent")));
decltype(cudaLaunchHostFunc) cudaLaunchHostFunc_ptsz
    __attribute__((alias("cudaLaunchHostFunc")));
decltype(cudaStreamAddCallback) cudaStreamAddCallback_ptsz
    __attribute__((alias("cudaStreamAddCallback")));
decltype(cudaStreamBeginCapture) cudaStreamBeginCapture_ptsz
    __attribute__((alias("cudaStreamBeginCapture")));
decltype(cudaStreamEndCapture) cudaStreamEndCapture_ptsz
    __attribute__((alias("cudaStreamEndCapture")));
decltype(cudaGraphLaunch) cudaGraphLaunch_ptsz
    __attribute__((alias("cudaGraphLaunch")));
decltype(cudaStreamIsCapturing) cudaStreamIsCapturing_ptsz
    __attribute__((alias("cudaStreamIsCapturing")));
decltype(cudaEventRecord) cudaEventRecord_ptsz
    __attribute__((alias("cudaEventRecord")));
decltype(cudaEventRecordWithFlags) cudaEventRecordWithFlags_ptsz
    __attribute__((alias("cudaEventRecordWithFlags")));

}  // extern "C"
