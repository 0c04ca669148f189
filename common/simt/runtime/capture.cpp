// Capturing streams: their work is recorded in a graph instead of being done.
//
// A capture begins at one stream. Events carry it to others, which wait for an
// event that was recorded in it, and back: in the end, all of its work must
// come before the first stream's last.
#include <algorithm>
#include <set>
#include <thread>

#include "common/simt/runtime/graphs.h"

namespace simt {

// A stream as captures know it: each thread's own default one is another.
struct Captured {
  Captured(cudaStream_t stream)
      : stream(stream),
        thread(stream == cudaStreamPerThread ? number_of_thread() : 0) {}
  auto operator<=>(const Captured&) const = default;

  cudaStream_t stream;
  uint64_t thread;
};

struct Capture {
  Captured origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  cudaGraph_t handle = nullptr;  // of the graph, once the program has it
  size_t first = 0;              // of the graph's nodes that is captured
  unsigned long long number = 0;
  std::map<Captured, Nodes> last;  // of each stream that takes part
  Nodes left;  // that the program has taken from the ends of streams itself
  std::vector<cudaGraphNode_t> told;  // where the program has been pointed to
  bool valid = true;
};
struct CapturePoint {
  std::shared_ptr<Capture> capture;
  Nodes last;
};

namespace {

using Captures = std::vector<std::shared_ptr<Capture>>;

Captures& captures() {
  static auto* all = new Captures;
  return *all;
}
std::recursive_mutex& mutex() {
  static auto* one = new std::recursive_mutex;
  return *one;
}

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

std::shared_ptr<Capture> capture_of(cudaStream_t stream) {
  const std::lock_guard lock(mutex());
  for (const auto& capture : captures()) {
    if (capture->last.contains(stream)) return capture;
  }
  return nullptr;
}

// Who breaks a capture's rules ends it, too.
template <class Breaks>
void require_no_capture(Breaks breaks, cudaError_t code, const char* why) {
  const std::lock_guard lock(mutex());
  bool broken = false;
  for (const auto& capture : captures()) {
    if (!breaks(*capture)) continue;
    capture->valid = false;
    broken = true;
  }
  require(!broken, code, why, "; the capture is invalid from here on");
}

// A stream, and none that would wait for one that is being captured.
void require_known(cudaStream_t stream) {
  require_stream(stream);
  if (is_legacy(stream)) require_legacy_usable();
}

// What the capture mode of CUDA's guide forbids this thread.
bool is_unsafe_in(const Capture& capture) {
  const bool mine = capture.thread == std::this_thread::get_id();
  if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
  if (mine) return capture.mode != cudaStreamCaptureModeRelaxed;
  return thread_mode == cudaStreamCaptureModeGlobal &&
         capture.mode == cudaStreamCaptureModeGlobal;
}

bool is_joined(const Capture& capture) {
  std::set<const Node*> reached;
  Nodes open = capture.last.at(capture.origin);
  open.insert(open.end(), capture.left.begin(), capture.left.end());
  while (!open.empty()) {
    const std::shared_ptr<Node> node = open.back();
    open.pop_back();
    if (!reached.insert(node.get()).second) continue;
    open.insert(open.end(), node->after.begin(), node->after.end());
  }
  return std::all_of(capture.graph->nodes.begin() +
                         std::min(capture.first, capture.graph->nodes.size()),
                     capture.graph->nodes.end(), [&](const auto& node) {
                       return reached.contains(node.get());
                     });
}

// In a graph of its own, or behind some nodes of another.
void begin(cudaStream_t stream, cudaStreamCaptureMode mode,
           cudaGraph_t into = nullptr, const Nodes& after = {}) {
  require(mode <= cudaStreamCaptureModeRelaxed, cudaErrorInvalidValue,
          "unknown mode ", int(mode));
  require_known(stream);
  require(!is_legacy(stream), cudaErrorStreamCaptureUnsupported,
          "the legacy default stream cannot be captured");
  require(!is_capturing(stream), cudaErrorIllegalState,
          "the stream is being captured already");
  const std::lock_guard lock(mutex());
  const auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->mode = mode;
  capture->last[stream] = after;
  static unsigned long long count = 0;
  capture->number = ++count;
  if (into) {
    capture->graph = graph_of(into);
    capture->handle = into;
    capture->first = capture->graph->nodes.size();
  }
  captures().push_back(capture);
}

cudaGraph_t handle_of(Capture& capture) {
  if (capture.handle == nullptr) capture.handle = publish(capture.graph);
  return capture.handle;
}

cudaGraph_t end(cudaStream_t stream) {
  require_known(stream);
  const auto capture = capture_of(stream);
  require(capture != nullptr, cudaErrorIllegalState,
          "the stream is not being captured");
  const std::lock_guard lock(mutex());
  capture->valid &= capture->origin == stream;
  require(capture->origin == stream, cudaErrorStreamCaptureUnmatched,
          "the capture began in another stream");
  std::erase(captures(), capture);
  require(capture->mode == cudaStreamCaptureModeRelaxed ||
              capture->thread == std::this_thread::get_id(),
          cudaErrorStreamCaptureWrongThread,
          "the capture began in another thread");
  require(capture->valid, cudaErrorStreamCaptureInvalidated,
          "the capture became invalid");
  require(is_joined(*capture), cudaErrorStreamCaptureUnjoined,
          "the stream never waited for some work that was captured in others");
  return handle_of(*capture);
}

cudaStreamCaptureStatus status_of(const Capture* capture) {
  return capture == nullptr ? cudaStreamCaptureStatusNone
         : capture->valid   ? cudaStreamCaptureStatusActive
                            : cudaStreamCaptureStatusInvalidated;
}

}  // namespace

bool is_capturing(cudaStream_t stream) { return capture_of(stream) != nullptr; }

bool leave_capture(cudaStream_t stream) {
  const auto capture = capture_of(stream);
  const std::lock_guard lock(mutex());
  if (capture && capture->origin == stream) std::erase(captures(), capture);
  return capture && capture->last.erase(stream);
}

void require_usable(cudaStream_t stream) {
  require_known(stream);
  const auto capture = capture_of(stream);
  require(capture == nullptr || capture->valid,
          cudaErrorStreamCaptureInvalidated, "the capture became invalid");
}

void issue(cudaStream_t stream, Work work) {
  if (work.is_nothing) return;
  require_usable(stream);
  const auto capture = capture_of(stream);
  if (capture == nullptr) return do_work(stream, work);
  require_possible(work);
  const std::lock_guard lock(mutex());
  Nodes& last = capture->last[stream];
  last = {add_node(*capture->graph, std::move(work), last)};
}

void spoil_capture(cudaStream_t stream) {
  if (const auto capture = capture_of(stream)) {
    const std::lock_guard lock(mutex());
    capture->valid = false;
  }
}

void spoil(const CapturePoint& point) {
  const std::lock_guard lock(mutex());
  point.capture->valid = false;
}

bool is_open(const CapturePoint& point) {
  const std::lock_guard lock(mutex());
  return point.capture->valid &&
         std::ranges::count(captures(), point.capture) == 1;
}

void require_waitable(cudaStream_t stream) {
  require_known(stream);
  require_no_capture([&](const Capture& c) { return c.last.contains(stream); },
                     cudaErrorStreamCaptureUnsupported,
                     "the stream is being captured and does no work");
}

void require_all_waitable() {
  require_no_capture([](const Capture&) { return true; },
                     cudaErrorStreamCaptureUnsupported,
                     "a stream is being captured and does no work");
}

void require_legacy_usable() {
  require_no_capture(
      [](const Capture& c) {
        return std::any_of(c.last.begin(), c.last.end(), [](const auto& one) {
          return is_blocking(one.first.stream);
        });
      },
      cudaErrorStreamCaptureImplicit,
      "the legacy default stream waits for a stream that is being captured");
}

void require_safe() {
  require_no_capture(is_unsafe_in, cudaErrorStreamCaptureUnsupported,
                     "it might wait for a stream that is being captured");
}

std::shared_ptr<const CapturePoint> capture_point(cudaStream_t stream) {
  const auto capture = capture_of(stream);
  if (capture == nullptr) return nullptr;
  const std::lock_guard lock(mutex());
  return std::make_shared<CapturePoint>(
      CapturePoint{capture, capture->last.at(stream)});
}

void join_capture(cudaStream_t stream,
                  const std::shared_ptr<const CapturePoint>& point) {
  const auto capture = capture_of(stream);
  if (capture == nullptr && point == nullptr) return;
  require(point != nullptr, cudaErrorStreamCaptureIsolation,
          "the event was recorded outside of the capture");
  if (capture && !is_open(*point)) {
    spoil_capture(stream);
    refuse(cudaErrorInvalidValue,
           {"the event was recorded in a capture that has ended; this one is "
            "invalid from here on"});
  }
  require(capture == nullptr || capture == point->capture,
          cudaErrorStreamCaptureMerge, "the event belongs to another capture");
  const std::lock_guard lock(mutex());
  require(point->capture->valid, cudaErrorInvalidValue,
          "the event was recorded in a capture that is invalid");
  const Captures& open = captures();
  require(std::find(open.begin(), open.end(), point->capture) != open.end(),
          cudaErrorCapturedEvent,
          "the event was recorded in a capture that has ended");
  Nodes& last = point->capture->last[stream];
  last.insert(last.end(), point->last.begin(), point->last.end());
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode) {
  return answer([&] { begin(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return answer([&] {
    if (graph) *graph = nullptr;
    const cudaGraph_t captured = end(stream);
    if (graph) *graph = captured;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus* status) {
  return answer([&] {
    require(status != nullptr, cudaErrorInvalidValue, "pCaptureStatus is null");
    require_known(stream);
    *status = status_of(capture_of(stream).get());
  });
}

#if CUDART_VERSION >= 13000

cudaError_t cudaStreamBeginCaptureToGraph(
    cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
    const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode) {
  return answer([&] {
    graph_of(graph);
    require_plain(edges, count);
    begin(stream, mode, graph, nodes_of(after, count));
  });
}

// What it points to holds until the capture goes on.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     cudaStreamCaptureStatus* status,
                                     unsigned long long* number,
                                     cudaGraph_t* graph,
                                     const cudaGraphNode_t** last,
                                     const cudaGraphEdgeData** edges,
                                     size_t* count) {
  return answer([&] {
    require_stream(stream);
    require(status != nullptr, cudaErrorInvalidValue,
            "captureStatus_out is null");
    if (is_legacy(stream)) require_legacy_usable();
    const auto capture = capture_of(stream);
    *status = status_of(capture.get());
    if (*status != cudaStreamCaptureStatusActive) return;
    const std::lock_guard lock(mutex());
    capture->told.clear();
    for (const auto& node : capture->last.at(stream))
      capture->told.push_back(node->handle);
    if (number) *number = capture->number;
    if (graph) *graph = handle_of(*capture);
    if (last) *last = capture->told.data();
    if (edges) *edges = nullptr;
    if (count) *count = capture->told.size();
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges,
                                                size_t count, unsigned flags) {
  return answer([&] {
    require_stream(stream);
    require_plain(edges, count);
    const auto capture = capture_of(stream);
    require(capture != nullptr, cudaErrorIllegalState,
            "the stream is not being captured");
    require(flags <= cudaStreamSetCaptureDependencies, cudaErrorInvalidValue,
            "unknown flags ", flags);
    const Nodes some = nodes_of(nodes, count);
    const std::lock_guard lock(mutex());
    Nodes& last = capture->last.at(stream);
    if (flags == cudaStreamSetCaptureDependencies) {
      capture->left.insert(capture->left.end(), last.begin(), last.end());
      last.clear();
    }
    last.insert(last.end(), some.begin(), some.end());
  });
}

#endif

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return answer([&] {
    require(mode != nullptr, cudaErrorInvalidValue, "mode is null");
    require(*mode <= cudaStreamCaptureModeRelaxed, cudaErrorInvalidValue,
            "unknown mode ", int(*mode));
    std::swap(*mode, thread_mode);
  });
}

}  // extern "C"
