// Streams and events: order, handles, callbacks, times.

#include <atomic>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

bool on_executor() {
  cudaDeviceProp device = {};
  ok(cudaGetDeviceProperties(&device, 0));
  return std::strstr(device.name, "CPU executor") != nullptr;
}

__global__ void add_kernel(int* x, int value) { *x += value; }

void order() {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t done = nullptr;
  ok(cudaStreamCreate(&first));
  ok(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  ok(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  int* x = nullptr;
  ok(cudaMallocAsync(&x, sizeof(int), first));
  ok(cudaMemsetAsync(x, 0, sizeof(int), first));
  add_kernel<<<1, 1, 0, first>>>(x, 1);
  ok(cudaEventRecord(done, first));
  ok(cudaStreamWaitEvent(second, done, 0));
  add_kernel<<<1, 1, 0, second>>>(x, 2);
  int got = 0;
  ok(cudaMemcpyAsync(&got, x, sizeof got, cudaMemcpyDeviceToHost, second));
  ok(cudaStreamSynchronize(second));
  equal(got, 3);
  equal(cudaEventSynchronize(done), cudaSuccess);
  equal(cudaEventQuery(done), cudaSuccess);
  equal(cudaStreamQuery(first), cudaSuccess);
  ok(cudaFreeAsync(x, second));
  ok(cudaEventDestroy(done));
  ok(cudaStreamDestroy(first));
  ok(cudaStreamDestroy(second));
}

void default_streams() {
  int* x = nullptr;
  ok(cudaMalloc(&x, sizeof(int)));
  ok(cudaMemset(x, 0, sizeof(int)));
  add_kernel<<<1, 1, 0, cudaStreamLegacy>>>(x, 1);
  ok(cudaStreamSynchronize(cudaStreamLegacy));
  add_kernel<<<1, 1, 0, cudaStreamPerThread>>>(x, 1);
  ok(cudaStreamSynchronize(cudaStreamPerThread));
  add_kernel<<<1, 1>>>(x, 1);
  ok(cudaStreamSynchronize(nullptr));
  int got = 0;
  ok(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
  equal(got, 3);
  equal(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  ok(cudaFree(x));
}

void properties() {
  cudaStream_t stream = nullptr;
  int least = 1, greatest = 1, priority = 1;
  ok(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  is_true(greatest <= least, "smaller numbers are more urgent");
  ok(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1000));
  ok(cudaStreamGetPriority(stream, &priority));
  equal(priority, greatest);
  unsigned flags = 0;
  ok(cudaStreamGetFlags(stream, &flags));
  equal(flags, cudaStreamNonBlocking);
  ok(cudaStreamDestroy(stream));
  equal(cudaStreamCreateWithFlags(&stream, 77), cudaErrorInvalidValue);
  cudaEvent_t event = nullptr;
  equal(cudaEventCreateWithFlags(&event, 0x80), cudaErrorInvalidValue);
  equal(cudaEventCreateWithFlags(&event, cudaEventInterprocess),
        cudaErrorInvalidValue);
  ok(cudaEventCreateWithFlags(&event,
                              cudaEventInterprocess | cudaEventDisableTiming));
  ok(cudaEventDestroy(event));
  cudaGetLastError();
}

void callbacks() {
  int calls = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  ok(cudaLaunchHostFunc(nullptr, count, &calls));
  const auto counted = [](cudaStream_t, cudaError_t error, void* data) {
    *static_cast<int*>(data) += error == cudaSuccess ? 10 : 0;
  };
  ok(cudaStreamAddCallback(nullptr, counted, &calls, 0));
  ok(cudaDeviceSynchronize());
  equal(calls, 11);
}

// A function may wait for what its issuer does after the call. From then on the
// executor's streams take turns, so this comes last.
void function_that_waits() {
  std::atomic<bool> open = false;
  const auto wait = [](void* data) {
    while (!*static_cast<std::atomic<bool>*>(data)) std::this_thread::yield();
  };
  cudaStream_t stream = nullptr;
  int* x = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaMalloc(&x, sizeof(int)));
  for (int round = 1; round <= 2; ++round) {
    open = false;
    ok(cudaMemsetAsync(x, 0, sizeof(int), stream));
    ok(cudaLaunchHostFunc(stream, wait, &open));
    add_kernel<<<1, 1, 0, stream>>>(x, round);
    equal(cudaStreamQuery(stream), cudaErrorNotReady);
    open = true;
    ok(cudaStreamSynchronize(stream));
    int got = 0;
    ok(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
    equal(got, round);
  }
  ok(cudaFree(x));
  ok(cudaStreamDestroy(stream));
}

void timing() {
  cudaEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
  ok(cudaEventCreate(&start));
  ok(cudaEventCreate(&stop));
  ok(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float ms = -1;
  equal(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);
  ok(cudaEventRecord(start));
  ok(cudaEventRecord(untimed));
  ok(cudaEventRecord(stop));
  ok(cudaEventSynchronize(stop));
  equal(cudaEventElapsedTime(&ms, start, untimed),
        cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  ok(cudaEventElapsedTime(&ms, start, stop));
  is_true(ms >= 0, "time passes forwards");
  ok(cudaEventElapsedTime(&ms, stop, start));
  is_true(ms <= 0, "or backwards");
  equal(cudaEventElapsedTime(nullptr, start, stop), cudaErrorInvalidValue);
  equal(cudaGetLastError(), cudaErrorInvalidValue);
  const float before = -ms;
  ok(cudaEventRecord(stop));
  ok(cudaEventSynchronize(stop));
  ok(cudaEventElapsedTime(&ms, start, stop));
  is_true(ms > before, "the later record counts");
  ok(cudaEventDestroy(start));
  ok(cudaEventDestroy(stop));
  ok(cudaEventDestroy(untimed));
}

// A GPU's driver may crash on these; the executor recognises them.
void stale_handles() {
  if (!on_executor()) return;
  cudaStream_t stream = nullptr, other = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaStreamDestroy(stream));
  ok(cudaStreamCreate(&other));
  is_true(stream != other, "no handle is used twice");
  equal(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  equal(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  add_kernel<<<1, 1, 0, stream>>>(nullptr, 1);
  equal(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  equal(cudaEventRecord(reinterpret_cast<cudaEvent_t>(0x1234)),
        cudaErrorInvalidResourceHandle);
  cudaEvent_t destroyed = nullptr, live = nullptr;
  ok(cudaEventCreate(&destroyed));
  ok(cudaEventCreate(&live));
  ok(cudaEventRecord(destroyed));
  ok(cudaEventRecord(live));
  ok(cudaEventDestroy(destroyed));
  float ms = -1;
  equal(cudaEventElapsedTime(&ms, destroyed, live),
        cudaErrorInvalidResourceHandle);
  equal(ms, -1.0f);
  ok(cudaEventDestroy(live));
  cudaGetLastError();
  ok(cudaStreamDestroy(other));
}

// Nor is a GPU's runtime asked for this.
void places_that_are_missing() {
  if (!on_executor()) return;
  equal(cudaStreamGetFlags(nullptr, nullptr), cudaErrorInvalidValue);
  equal(cudaStreamGetPriority(nullptr, nullptr), cudaErrorInvalidValue);
  const auto* const kernel = reinterpret_cast<const void*>(add_kernel);
  equal(cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr),
        cudaErrorInvalidValue);
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = 1;
  config.numAttrs = 1;
  int* x = nullptr;
  int n = 0;
  void* arguments[] = {&x, &n};
  equal(cudaLaunchKernelExC(&config, kernel, arguments), cudaErrorInvalidValue);
  equal(cudaSetValidDevices(&n, -1), cudaErrorInvalidValue);
  cudaGetLastError();
}

// What was captured can be asked like what was made node by node.
void captured_events() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr, told = nullptr;
  ok(cudaStreamCreate(&stream));
  ok(cudaEventCreate(&event));
  cudaGraph_t graph = nullptr;
  ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  ok(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  ok(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
  ok(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t nodes[2] = {};
  size_t count = 2;
  ok(cudaGraphGetNodes(graph, nodes, &count));
  equal(count, 2);
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    ok(cudaGraphNodeGetType(node, &type));
    told = nullptr;
    ok(type == cudaGraphNodeTypeEventRecord
           ? cudaGraphEventRecordNodeGetEvent(node, &told)
           : cudaGraphEventWaitNodeGetEvent(node, &told));
    is_true(told == event, "the node is of the event");
  }
  ok(cudaGraphDestroy(graph));
  ok(cudaEventDestroy(event));
  ok(cudaStreamDestroy(stream));
}

__global__ void count_kernel(int* x) { atomicAdd(x, 1); }

// Each may have handed something over to all others, by that word: what is
// known of that must not grow with their number squared.
void many_streams_at_one_word() {
  constexpr int kStreams = 600;
  int* x = nullptr;
  ok(cudaMalloc(&x, sizeof(int)));
  ok(cudaMemset(x, 0, sizeof(int)));
  ok(cudaDeviceSynchronize());
  std::vector<cudaStream_t> streams(kStreams);
  for (cudaStream_t& one : streams)
    ok(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  const std::clock_t before = std::clock();
  for (cudaStream_t one : streams) count_kernel<<<1, 32, 0, one>>>(x);
  ok(cudaDeviceSynchronize());
  is_true(std::clock() - before < 3 * CLOCKS_PER_SEC, "three seconds do");
  int got = 0;
  ok(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
  equal(got, 32 * kStreams);
  for (cudaStream_t one : streams) ok(cudaStreamDestroy(one));
  ok(cudaFree(x));
}

}  // namespace

int main() {
  order();
  default_streams();
  properties();
  callbacks();
  timing();
  stale_handles();
  places_that_are_missing();
  captured_events();
  many_streams_at_one_word();
  function_that_waits();
  return expect::report();
}
