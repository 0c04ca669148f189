// Graphs: recorded from streams or put together by hand, launched many times,
// changed in between; and what may not be called while a stream is captured.

#include <functional>
#include <thread>

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

__global__ void set_kernel(int* x, int value) { *x = value; }
__global__ void add_kernel(int* x, int value) { *x += value; }
__global__ void multiply_kernel(int* x, int value) { *x *= value; }
__global__ void sum_kernel(int* to, const int* a, const int* b) {
  *to = *a + *b;
}

// An int on the device, and two streams.
struct Fixture {
  int* x = nullptr;
  cudaStream_t stream = nullptr, other = nullptr;

  Fixture() {
    ok(cudaMalloc(&x, 4 * sizeof(int)));
    ok(cudaMemset(x, 0, 4 * sizeof(int)));
    ok(cudaDeviceSynchronize());
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  }
  ~Fixture() {
    cudaGetLastError();
    ok(cudaStreamDestroy(stream));
    ok(cudaStreamDestroy(other));
    ok(cudaFree(x));
  }
  int value(int which = 0) const {
    int got = 0;
    ok(cudaStreamSynchronize(stream));
    ok(cudaMemcpy(&got, x + which, sizeof got, cudaMemcpyDeviceToHost));
    return got;
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) const {
    ok(cudaStreamBeginCapture(stream, mode));
  }
  cudaGraph_t end() const {
    cudaGraph_t graph = nullptr;
    ok(cudaStreamEndCapture(stream, &graph));
    return graph;
  }
  void end_invalid(cudaError_t why = cudaErrorStreamCaptureInvalidated) const {
    cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(1);
    equal(cudaStreamEndCapture(stream, &graph), why);
    is_true(graph == nullptr, "there is no graph");
    cudaGetLastError();
  }
  cudaStreamCaptureStatus status() const {
    cudaStreamCaptureStatus status = {};
    ok(cudaStreamIsCapturing(stream, &status));
    return status;
  }
  void launch(cudaGraph_t graph, int times = 1) const {
    cudaGraphExec_t executable = nullptr;
    ok(cudaGraphInstantiate(&executable, graph, 0));
    ok(cudaGraphDestroy(graph));  // what was made of it stays
    for (int i = 0; i < times; ++i) ok(cudaGraphLaunch(executable, stream));
    ok(cudaStreamSynchronize(stream));
    ok(cudaGraphExecDestroy(executable));
  }
};

size_t nodes_of(cudaGraph_t graph) {
  size_t count = 0;
  ok(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

size_t roots_of(cudaGraph_t graph) {
  size_t count = 0;
  ok(cudaGraphGetRootNodes(graph, nullptr, &count));
  return count;
}

void capture() {
  const Fixture f;
  int value = 3;
  f.begin();
  equal(f.status(), cudaStreamCaptureStatusActive);
  add_kernel<<<1, 1, 0, f.stream>>>(f.x, value);
  value = 1000;  // the graph has a copy
  multiply_kernel<<<1, 1, 0, f.stream>>>(f.x, 2);
  equal(cudaGetLastError(), cudaSuccess);
  const cudaGraph_t graph = f.end();
  equal(f.status(), cudaStreamCaptureStatusNone);
  equal(nodes_of(graph), 2);
  equal(roots_of(graph), 1);
  equal(f.value(), 0);  // nothing has run yet
  f.launch(graph, 3);
  equal(f.value(), (((0 + 3) * 2 + 3) * 2 + 3) * 2);
}

void kinds_of_work() {
  const Fixture f;
  int calls = 0, got[2] = {};
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  f.begin();
  ok(cudaMemsetAsync(f.x, 0, 2 * sizeof(int), f.stream));
  add_kernel<<<1, 1, 0, f.stream>>>(f.x, 7);
  ok(cudaMemcpyAsync(f.x + 1, f.x, sizeof(int), cudaMemcpyDeviceToDevice,
                     f.stream));
  ok(cudaMemcpyAsync(got, f.x, sizeof got, cudaMemcpyDeviceToHost, f.stream));
  ok(cudaLaunchHostFunc(f.stream, count, &calls));
  const cudaGraph_t graph = f.end();
  cudaGraphNode_t nodes[6] = {};
  size_t room = 6;
  ok(cudaGraphGetNodes(graph, nodes, &room));
  equal(room, 5);
  cudaGraphNodeType type = {};
  ok(cudaGraphNodeGetType(nodes[0], &type));
  equal(type, cudaGraphNodeTypeMemset);
  ok(cudaGraphNodeGetType(nodes[4], &type));
  equal(type, cudaGraphNodeTypeHost);
  equal(calls, 0);
  f.launch(graph, 2);
  equal(calls, 2);
  equal(got[0], 7);
  equal(got[1], 7);
}

void fork_and_join() {
  const Fixture f;
  cudaEvent_t forked = nullptr, joined = nullptr;
  ok(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  ok(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  f.begin();
  ok(cudaEventRecord(forked, f.stream));
  ok(cudaStreamWaitEvent(f.other, forked, 0));
  set_kernel<<<1, 1, 0, f.stream>>>(f.x + 1, 10);
  set_kernel<<<1, 1, 0, f.other>>>(f.x + 2, 20);
  ok(cudaEventRecord(joined, f.other));
  ok(cudaStreamWaitEvent(f.stream, joined, 0));
  sum_kernel<<<1, 1, 0, f.stream>>>(f.x + 3, f.x + 1, f.x + 2);
  const cudaGraph_t graph = f.end();
  equal(nodes_of(graph), 3);
  equal(roots_of(graph), 2);
  f.launch(graph);
  equal(f.value(3), 30);
  equal(cudaEventSynchronize(joined), cudaErrorInvalidValue);
  cudaGetLastError();
  ok(cudaEventDestroy(forked));
  ok(cudaEventDestroy(joined));
}

void not_joined() {
  const Fixture f;
  cudaEvent_t forked = nullptr;
  ok(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  f.begin();
  ok(cudaEventRecord(forked, f.stream));
  ok(cudaStreamWaitEvent(f.other, forked, 0));
  set_kernel<<<1, 1, 0, f.other>>>(f.x, 1);
  f.end_invalid(cudaErrorStreamCaptureUnjoined);
  ok(cudaEventDestroy(forked));
}

// Each breaks the capture.
void forbidden() {
  const Fixture f;
  f.begin();
  equal(cudaStreamSynchronize(f.stream), cudaErrorStreamCaptureUnsupported);
  equal(f.status(), cudaStreamCaptureStatusInvalidated);
  add_kernel<<<1, 1, 0, f.stream>>>(f.x, 1);
  equal(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
  f.end_invalid();

  f.begin();
  equal(cudaStreamQuery(f.stream), cudaErrorStreamCaptureUnsupported);
  f.end_invalid();

  f.begin();
  equal(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  f.end_invalid();

  void* memory = nullptr;
  f.begin();
  equal(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported);
  f.end_invalid();

  f.begin(cudaStreamCaptureModeRelaxed);
  ok(cudaMalloc(&memory, 16));
  ok(cudaFree(memory));
  ok(cudaGraphDestroy(f.end()));

  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ok(cudaThreadExchangeStreamCaptureMode(&mode));
  equal(mode, cudaStreamCaptureModeGlobal);
  f.begin();
  ok(cudaMalloc(&memory, 16));
  ok(cudaFree(memory));
  ok(cudaGraphDestroy(f.end()));
  ok(cudaThreadExchangeStreamCaptureMode(&mode));
}

// What a capture that is not relaxed forbids its thread.
void unsafe() {
  const Fixture f;
  cudaEvent_t event = nullptr;
  ok(cudaEventCreate(&event));
  cudaArray_t array = nullptr;
  const auto channels = cudaCreateChannelDesc<float>();
  const std::vector<std::function<cudaError_t()>> calls = {
      [&] { return cudaStreamSynchronize(f.other); },
      [&] { return cudaStreamQuery(f.other); },
      [&] { return cudaEventQuery(event); },
      [&] { return cudaEventSynchronize(event); },
      [&] { return cudaHostRegister(&array, sizeof array, 0); },
      [&] { return cudaDeviceSetLimit(cudaLimitStackSize, 1024); },
      [&] { return cudaMallocArray(&array, &channels, 4, 4); },
  };
  for (const auto& call : calls) {
    f.begin();
    equal(call(), cudaErrorStreamCaptureUnsupported);
    f.end_invalid();
  }
  f.begin(cudaStreamCaptureModeRelaxed);
  ok(cudaStreamQuery(f.other));
  ok(cudaEventQuery(event));
  ok(cudaGraphDestroy(f.end()));
  ok(cudaEventDestroy(event));
}

// What no stream can do while it is captured, in whatever mode.
void no_work_of_a_capture() {
  const Fixture f;
  int* managed = nullptr;
  ok(cudaMallocManaged(&managed, sizeof *managed));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  ok(cudaGraphInstantiate(&executable, graph, 0));
  const std::vector<std::function<cudaError_t()>> calls = {
    [&] { return cudaStreamAttachMemAsync(f.stream, managed); },
    [&] { return cudaGraphLaunch(executable, f.stream); },
#if CUDART_VERSION >= 13000
    [&] {
      return cudaMemPrefetchAsync(managed, sizeof *managed,
                                  {cudaMemLocationTypeDevice, 0}, 0, f.stream);
    },
#endif
  };
  for (const auto& call : calls) {
    f.begin(cudaStreamCaptureModeRelaxed);
    equal(call(), cudaErrorStreamCaptureUnsupported);
    f.end_invalid();
  }
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(graph));
  ok(cudaFree(managed));
}

// What is wrong with a call may end the capture, too.
void spoiled() {
  const Fixture f;
  f.begin();
  add_kernel<<<1, 5000, 0, f.stream>>>(f.x, 1);
  is_true(cudaGetLastError() != cudaSuccess, "the block is too large");
  f.end_invalid();

  cudaEvent_t event = nullptr;
  ok(cudaEventCreate(&event));
  f.begin(cudaStreamCaptureModeRelaxed);
  ok(cudaEventRecord(event, f.stream));
  ok(cudaStreamWaitEvent(f.other, event, 0));
  cudaGraph_t graph = nullptr;
  equal(cudaStreamEndCapture(f.other, &graph), cudaErrorStreamCaptureUnmatched);
  f.end_invalid();

  f.begin(cudaStreamCaptureModeRelaxed);
  ok(cudaEventRecord(event, f.stream));
  equal(cudaEventQuery(event), cudaErrorCapturedEvent);
  equal(f.status(), cudaStreamCaptureStatusInvalidated);
  equal(cudaStreamWaitEvent(f.other, event, 0), cudaErrorInvalidValue);
  f.end_invalid();

  f.begin(cudaStreamCaptureModeRelaxed);
  ok(cudaEventRecord(event, f.stream));
  float milliseconds = 0;
  equal(cudaEventElapsedTime(&milliseconds, event, event),
        cudaErrorCapturedEvent);
  equal(f.status(), cudaStreamCaptureStatusActive);
  equal(cudaEventSynchronize(event), cudaErrorCapturedEvent);
  equal(f.status(), cudaStreamCaptureStatusInvalidated);
  f.end_invalid();
  equal(cudaEventQuery(event), cudaErrorInvalidValue);

  f.begin();
  equal(cudaStreamWaitEvent(f.stream, event, 0), cudaErrorInvalidValue);
  f.end_invalid();
  ok(cudaEventDestroy(event));

  // From another thread, whose last error it is.
  f.begin();
  std::thread([&] {
    equal(cudaStreamEndCapture(f.stream, &graph),
          cudaErrorStreamCaptureWrongThread);
  }).join();
  equal(f.status(), cudaStreamCaptureStatusNone);
  equal(cudaStreamEndCapture(f.stream, &graph), cudaErrorIllegalState);
  equal(cudaStreamBeginCapture(f.stream, cudaStreamCaptureMode(5)),
        cudaErrorInvalidValue);
  cudaGetLastError();
}

void nothing_copied() {
  const Fixture f;
  f.begin();
  ok(cudaMemcpyAsync(f.x + 1, f.x, 0, cudaMemcpyDeviceToDevice, f.stream));
  const cudaGraph_t graph = f.end();
  equal(nodes_of(graph), 0);
  ok(cudaGraphDestroy(graph));
}

#if CUDART_VERSION >= 13000
// Nodes that the program itself has taken from the stream's end.
void left_behind() {
  const Fixture f;
  f.begin(cudaStreamCaptureModeRelaxed);
  add_kernel<<<1, 1, 0, f.stream>>>(f.x, 1);
  ok(cudaStreamUpdateCaptureDependencies(f.stream, nullptr, nullptr, 0,
                                         cudaStreamSetCaptureDependencies));
  const cudaGraph_t graph = f.end();
  equal(nodes_of(graph), 1);
  ok(cudaGraphDestroy(graph));
}
#endif

void legacy_stream() {
  cudaStream_t blocking = nullptr;
  int* x = nullptr;
  ok(cudaMalloc(&x, sizeof(int)));
  ok(cudaStreamCreate(&blocking));
  ok(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
  add_kernel<<<1, 1>>>(x, 1);
  equal(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  equal(cudaStreamEndCapture(blocking, &graph),
        cudaErrorStreamCaptureInvalidated);
  equal(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
        cudaErrorStreamCaptureUnsupported);
  cudaGetLastError();
  ok(cudaStreamDestroy(blocking));
  ok(cudaFree(x));
}

void begin_and_end() {
  const Fixture f;
  cudaGraph_t graph = nullptr;
  equal(cudaStreamEndCapture(f.stream, &graph), cudaErrorIllegalState);
  f.begin();
  equal(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal),
        cudaErrorIllegalState);
  cudaGetLastError();
  cudaStreamEndCapture(f.stream, &graph);
}

cudaKernelNodeParams kernel(void (*function)(int*, int), void** arguments) {
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(function);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  return params;
}

void connect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
  ok(cudaGraphAddDependencies(graph, &from, &to, nullptr, 1));
#else
  ok(cudaGraphAddDependencies(graph, &from, &to, 1));
#endif
}

// x = (5 + 2) * 3, copied to x[1]; in an order that is not that of adding.
void by_hand() {
  const Fixture f;
  cudaGraph_t graph = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  int* x = f.x;
  int two = 2, three = 3, calls = 0;
  void *add[] = {&x, &two}, *multiply[] = {&x, &three};
  cudaGraphNode_t multiplied, added, filled, copied, told, empty;
  const cudaKernelNodeParams first = kernel(add_kernel, add),
                             second = kernel(multiply_kernel, multiply);
  ok(cudaGraphAddKernelNode(&multiplied, graph, nullptr, 0, &second));
  ok(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &first));
  two = 1000;  // the node has a copy
  cudaMemsetParams fill = {};
  fill.dst = x;
  fill.value = 5;
  fill.elementSize = sizeof(int);
  fill.width = 2;
  fill.height = 1;
  ok(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  ok(cudaGraphAddMemcpyNode1D(&copied, graph, &multiplied, 1, x + 1, x,
                              sizeof(int), cudaMemcpyDeviceToDevice));
  cudaHostNodeParams call = {};
  call.fn = [](void* data) { ++*static_cast<int*>(data); };
  call.userData = &calls;
  ok(cudaGraphAddHostNode(&told, graph, &copied, 1, &call));
  ok(cudaGraphAddEmptyNode(&empty, graph, &told, 1));
  connect(graph, filled, added);
  connect(graph, added, multiplied);
  equal(nodes_of(graph), 6);
  equal(roots_of(graph), 1);

  cudaGraph_t clone = nullptr, whole = nullptr;
  ok(cudaGraphClone(&clone, graph));
  f.launch(graph);
  equal(f.value(0), 21);
  equal(f.value(1), 21);
  equal(calls, 1);

  cudaGraphNode_t child;
  ok(cudaGraphCreate(&whole, 0));
  ok(cudaGraphAddChildGraphNode(&child, whole, nullptr, 0, clone));
  ok(cudaGraphDestroy(clone));
  f.launch(whole);
  equal(calls, 2);
}

// Each node that another comes behind is named once.
void named_twice() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  ok(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  const cudaGraphNode_t both[] = {first, first};
  equal(cudaGraphAddEmptyNode(&second, graph, both, 2), cudaErrorInvalidValue);
  ok(cudaGraphAddEmptyNode(&second, graph, both, 1));
  ok(cudaGraphDestroy(graph));
  cudaGetLastError();
}

void circle() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second;
  ok(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  ok(cudaGraphAddEmptyNode(&second, graph, &first, 1));
  connect(graph, second, first);
  equal(cudaGraphInstantiate(&executable, graph, 0), cudaErrorInvalidValue);
  cudaGetLastError();
  ok(cudaGraphDestroy(graph));
}

// However its launch came about, a node says which function it launches by that
// function's own address.
void function_of_a_node() {
  const Fixture f;
  void* const function = reinterpret_cast<void*>(add_kernel);
  cudaKernel_t handle = nullptr;
  ok(cudaGetKernel(&handle, function));
  int *x = f.x, one = 1;
  void* arguments[] = {&x, &one};
  f.begin();
  add_kernel<<<1, 1, 0, f.stream>>>(f.x, 1);
  ok(cudaLaunchKernel(function, dim3(1), dim3(1), arguments, 0, f.stream));
  const cudaGraph_t graph = f.end();
  cudaKernelNodeParams params = kernel(add_kernel, arguments);
  cudaGraphNode_t nodes[4];
  ok(cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &params));
  params.func = handle;
  ok(cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &params));
  size_t count = 4;
  ok(cudaGraphGetNodes(graph, nodes, &count));
  equal(count, size_t{4});
  for (const cudaGraphNode_t node : nodes) {
    ok(cudaGraphKernelNodeGetParams(node, &params));
    is_true(params.func == function, "the function's own address");
  }
  ok(cudaGraphDestroy(graph));
}

cudaGraph_t captured(const Fixture& f, int kernels, int value) {
  f.begin();
  for (int i = 0; i < kernels; ++i) {
    add_kernel<<<1, 1, 0, f.stream>>>(f.x, value);
  }
  return f.end();
}

void changes() {
  const Fixture f;
  const cudaGraph_t graph = captured(f, 1, 1);
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, graph, 0));
  ok(cudaGraphLaunch(executable, f.stream));
  equal(f.value(), 1);

  cudaGraphNode_t node = nullptr;
  size_t room = 1;
  ok(cudaGraphGetNodes(graph, &node, &room));
  cudaKernelNodeParams params = {};
  ok(cudaGraphKernelNodeGetParams(node, &params));
  is_true(
      params.gridDim.x == 1 && *static_cast<int*>(params.kernelParams[1]) == 1,
      "the node's parameters are the launch's");
  int* x = f.x;
  int ten = 10;
  void* arguments[] = {&x, &ten};
  params = kernel(add_kernel, arguments);
  ok(cudaGraphExecKernelNodeSetParams(executable, node, &params));
  ok(cudaGraphLaunch(executable, f.stream));
  equal(f.value(), 11);

  cudaGraphExecUpdateResultInfo info = {};
  const cudaGraph_t alike = captured(f, 1, 100), longer = captured(f, 2, 1);
  ok(cudaGraphExecUpdate(executable, alike, &info));
  equal(info.result, cudaGraphExecUpdateSuccess);
  ok(cudaGraphLaunch(executable, f.stream));
  equal(f.value(), 111);
  equal(cudaGraphExecUpdate(executable, longer, &info),
        cudaErrorGraphExecUpdateFailure);
  equal(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  cudaGetLastError();
  for (const cudaGraph_t one : {graph, alike, longer})
    ok(cudaGraphDestroy(one));
  ok(cudaGraphExecDestroy(executable));
}

}  // namespace

int main() {
  capture();
  kinds_of_work();
  fork_and_join();
  not_joined();
  forbidden();
  unsafe();
  no_work_of_a_capture();
  spoiled();
  nothing_copied();
#if CUDART_VERSION >= 13000
  left_behind();
#endif
  legacy_stream();
  begin_and_end();
  by_hand();
  named_twice();
  circle();
  function_of_a_node();
  changes();
  return expect::report();
}
