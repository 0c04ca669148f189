// Graphs that allocate and free memory: by nodes, by what is captured, left
// behind for others, and freed before the next launch.
#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::ok;

constexpr int kN = 1000;
constexpr size_t kBytes = kN * sizeof(int);

__global__ void fill_kernel(int* x, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) x[i] = value + i;
}
__global__ void add_kernel(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) y[i] += x[i];
}

struct Fixture {
  cudaStream_t stream = nullptr;
  int* y = nullptr;

  Fixture() {
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(cudaMalloc(&y, kBytes));
    ok(cudaMemset(y, 0, kBytes));
    ok(cudaDeviceSynchronize());
  }
  ~Fixture() {
    cudaGetLastError();
    ok(cudaFree(y));
    ok(cudaStreamDestroy(stream));
  }
  std::vector<int> sums() const {
    std::vector<int> got(kN);
    ok(cudaStreamSynchronize(stream));
    ok(cudaMemcpy(got.data(), y, kBytes, cudaMemcpyDeviceToHost));
    return got;
  }
  cudaGraph_t end() const {
    cudaGraph_t graph = nullptr;
    ok(cudaStreamEndCapture(stream, &graph));
    return graph;
  }
};

uint64_t memory_of_graphs(cudaGraphMemAttributeType which) {
  uint64_t value = 0;
  ok(cudaDeviceGetGraphMemAttribute(0, which, &value));
  return value;
}

cudaMemAllocNodeParams parameters(size_t bytes) {
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.poolProps.location.id = 0;
  p.bytesize = bytes;
  return p;
}

cudaKernelNodeParams kernel(void* function, void** arguments) {
  cudaKernelNodeParams p = {};
  p.func = function;
  p.gridDim = dim3(4);
  p.blockDim = dim3(256);
  p.kernelParams = arguments;
  return p;
}

// Allocated and freed on the way: it can be launched again and again.
void captured() {
  const Fixture f;
  int* x = nullptr;
  ok(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  ok(cudaMallocAsync(&x, kBytes, f.stream));
  expect::is_true(x != nullptr, "the address is known at once");
  fill_kernel<<<4, 256, 0, f.stream>>>(x, 5);
  add_kernel<<<4, 256, 0, f.stream>>>(x, f.y);
  ok(cudaFreeAsync(x, f.stream));
  const cudaGraph_t graph = f.end();
  size_t count = 0;
  ok(cudaGraphGetNodes(graph, nullptr, &count));
  equal(count, 4u);
  cudaGraphNode_t nodes[4];
  ok(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphNodeType type = {};
  ok(cudaGraphNodeGetType(nodes[0], &type));
  equal(type, cudaGraphNodeTypeMemAlloc);
  cudaMemAllocNodeParams p = {};
  ok(cudaGraphMemAllocNodeGetParams(nodes[0], &p));
  equal(p.bytesize, kBytes);
  equal(p.dptr, static_cast<void*>(x));
  void* freed = nullptr;
  ok(cudaGraphMemFreeNodeGetParams(nodes[3], &freed));
  equal(freed, static_cast<void*>(x));
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, graph, 0));
  ok(cudaGraphDestroy(graph));
  for (int k = 0; k < 3; ++k) ok(cudaGraphLaunch(executable, f.stream));
  expect::each(f.sums(), [](int i) { return 3 * (5 + i); });
  ok(cudaDeviceGraphMemTrim(0));
  equal(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent), 0u);
  expect::is_true(memory_of_graphs(cudaGraphMemAttrUsedMemHigh) >= kBytes,
                  "the graph had memory");
  ok(cudaGraphExecDestroy(executable));
  ok(cudaDeviceGraphMemTrim(0));
}

// Put together by hand: allocate, fill, add, free.
void by_hand() {
  const Fixture f;
  cudaGraph_t graph = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t allocates, fills, adds, frees;
  cudaMemAllocNodeParams p = parameters(kBytes);
  ok(cudaGraphAddMemAllocNode(&allocates, graph, nullptr, 0, &p));
  int *x = static_cast<int*>(p.dptr), *y = f.y, value = 7;
  void* fill[] = {&x, &value};
  void* add[] = {&x, &y};
  cudaKernelNodeParams k = kernel(reinterpret_cast<void*>(fill_kernel), fill);
  ok(cudaGraphAddKernelNode(&fills, graph, &allocates, 1, &k));
  k = kernel(reinterpret_cast<void*>(add_kernel), add);
  ok(cudaGraphAddKernelNode(&adds, graph, &fills, 1, &k));
  ok(cudaGraphAddMemFreeNode(&frees, graph, &adds, 1, x));
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, graph, 0));
  ok(cudaGraphLaunch(executable, f.stream));
  ok(cudaGraphLaunch(executable, f.stream));
  expect::each(f.sums(), [](int i) { return 2 * (7 + i); });
  cudaGraphExec_t second = nullptr;  // At its place, while the first one lives.
  equal(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported);
  cudaGetLastError();
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphInstantiate(&second, graph, 0));
  ok(cudaGraphExecDestroy(second));
  ok(cudaGraphDestroy(graph));
}

// A graph that only allocates and fills.
struct Leaving {
  int* x = nullptr;
  cudaGraphExec_t executable = nullptr;

  Leaving(const Fixture& f, unsigned long long flags) {
    ok(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
    ok(cudaMallocAsync(&x, kBytes, f.stream));
    fill_kernel<<<4, 256, 0, f.stream>>>(x, 1);
    const cudaGraph_t graph = f.end();
    ok(cudaGraphInstantiate(&executable, graph, flags));
    ok(cudaGraphDestroy(graph));
  }
  ~Leaving() { ok(cudaGraphExecDestroy(executable)); }
};

// What it leaves is used and freed by others: in a stream, by cudaFree.
void left_behind() {
  const Fixture f;
  const Leaving one(f, 0);
  ok(cudaGraphLaunch(one.executable, f.stream));
  add_kernel<<<4, 256, 0, f.stream>>>(one.x, f.y);
  ok(cudaStreamSynchronize(f.stream));
  expect::is_true(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent) >= kBytes,
                  "the graph has left memory");
  equal(cudaGraphLaunch(one.executable, f.stream), cudaErrorInvalidValue);
  cudaGetLastError();
  ok(cudaFreeAsync(one.x, f.stream));
  ok(cudaGraphLaunch(one.executable, f.stream));
  add_kernel<<<4, 256, 0, f.stream>>>(one.x, f.y);
  ok(cudaStreamSynchronize(f.stream));
  ok(cudaFree(one.x));
  expect::each(f.sums(), [](int i) { return 2 * (1 + i); });
  ok(cudaDeviceGraphMemTrim(0));
  equal(memory_of_graphs(cudaGraphMemAttrUsedMemCurrent), 0u);
}

// It is freed by another graph.
void freed_by_another() {
  const Fixture f;
  const Leaving one(f, 0);
  ok(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  add_kernel<<<4, 256, 0, f.stream>>>(one.x, f.y);
  ok(cudaFreeAsync(one.x, f.stream));
  const cudaGraph_t graph = f.end();
  cudaGraphExec_t other = nullptr;
  ok(cudaGraphInstantiate(&other, graph, 0));
  for (int k = 0; k < 3; ++k) {
    ok(cudaGraphLaunch(one.executable, f.stream));
    ok(cudaGraphLaunch(other, f.stream));
  }
  expect::each(f.sums(), [](int i) { return 3 * (1 + i); });
  ok(cudaGraphExecDestroy(other));
  ok(cudaGraphDestroy(graph));
}

// What its last launch left is freed first.
void freed_on_launch() {
  const Fixture f;
  const Leaving one(f, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int k = 0; k < 3; ++k) {
    ok(cudaGraphLaunch(one.executable, f.stream));
    add_kernel<<<4, 256, 0, f.stream>>>(one.x, f.y);
  }
  expect::each(f.sums(), [](int i) { return 3 * (1 + i); });
  ok(cudaFree(one.x));
}

// A stream that took part in a capture may end before that does.
void second_stream() {
  const Fixture f;
  int* x = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;
  ok(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  ok(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  ok(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  ok(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  ok(cudaEventRecord(forked, f.stream));
  ok(cudaStreamWaitEvent(second, forked, 0));
  ok(cudaMallocAsync(&x, kBytes, second));
  fill_kernel<<<4, 256, 0, second>>>(x, 9);
  ok(cudaEventRecord(joined, second));
  ok(cudaStreamWaitEvent(f.stream, joined, 0));
  add_kernel<<<4, 256, 0, f.stream>>>(x, f.y);
  ok(cudaFreeAsync(x, f.stream));
  ok(cudaStreamDestroy(second));
  const cudaGraph_t graph = f.end();
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, graph, 0));
  ok(cudaGraphLaunch(executable, f.stream));
  expect::each(f.sums(), [](int i) { return 9 + i; });
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(graph));
  ok(cudaEventDestroy(forked));
  ok(cudaEventDestroy(joined));
}

void refused() {
  const Fixture f;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node;
  ok(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams p = parameters(0);
  equal(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p),
        cudaErrorInvalidValue);
  equal(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, nullptr),
        cudaErrorInvalidValue);
  p = parameters(64);
  cudaGraphNode_t freed = nullptr;
  ok(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p));
  ok(cudaGraphAddMemFreeNode(&freed, graph, &node, 1, p.dptr));
  cudaGraphNode_t again = nullptr;
  equal(cudaGraphAddMemFreeNode(&again, graph, &node, 1, p.dptr),
        cudaErrorInvalidValue);
  cudaGraph_t clone = nullptr;
  equal(cudaGraphClone(&clone, graph), cudaErrorNotSupported);
  equal(cudaGraphDestroyNode(freed), cudaErrorNotSupported);
  equal(cudaGraphRemoveDependencies(graph, &node, &freed, nullptr, 1),
        cudaErrorNotSupported);
  equal(cudaGetLastError(), cudaErrorNotSupported);
  uint64_t zero = 0;
  equal(
      cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero),
      cudaErrorInvalidValue);
  ok(cudaDeviceGraphMemTrim(0));
  ok(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  equal(memory_of_graphs(cudaGraphMemAttrUsedMemHigh), 0u);
  cudaGetLastError();
  ok(cudaGraphDestroy(graph));
}

// A graph that allocates is another than one that does not, and so no update.
void no_update() {
  const Fixture f;
  cudaGraph_t plain = nullptr, graph = nullptr;
  cudaGraphNode_t node, freed;
  ok(cudaGraphCreate(&plain, 0));
  ok(cudaGraphAddEmptyNode(&node, plain, nullptr, 0));
  ok(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams p = parameters(64);
  ok(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p));
  ok(cudaGraphAddMemFreeNode(&freed, graph, &node, 1, p.dptr));
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, plain, 0));
  cudaGraphExecUpdateResultInfo info = {};
  equal(cudaGraphExecUpdate(executable, graph, &info),
        cudaErrorGraphExecUpdateFailure);
  cudaGetLastError();
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(graph));
  ok(cudaGraphDestroy(plain));
}

}  // namespace

int main() {
  captured();
  by_hand();
  left_behind();
  freed_by_another();
  freed_on_launch();
  second_stream();
  no_update();
  refused();
  return expect::report();
}
