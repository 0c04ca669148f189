// Graphs that decide for themselves: kernels say whether a part of the graph
// runs, which one, and how often. As an H200 does it.
#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

__global__ void append_kernel(int* x, int digit) { *x = 10 * *x + digit; }
__global__ void decide_kernel(cudaGraphConditionalHandle handle,
                              const int* value) {
  cudaGraphSetConditional(handle, *value);
}
// Counts down, and says whether there is more to do.
__global__ void count_kernel(cudaGraphConditionalHandle handle, int* left) {
  cudaGraphSetConditional(handle, --*left > 0);
}

__global__ void store_kernel(int* x, const int* at) { x[*at] = *at; }

struct Fixture {
  int *x = nullptr, *input = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStream_t stream = nullptr;

  Fixture() {
    ok(cudaMalloc(&x, sizeof(int)));
    ok(cudaMalloc(&input, sizeof(int)));
    ok(cudaGraphCreate(&graph, 0));
    ok(cudaStreamCreate(&stream));
  }
  ~Fixture() {
    if (executable) ok(cudaGraphExecDestroy(executable));
    ok(cudaGraphDestroy(graph));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(x));
    ok(cudaFree(input));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  template <class... Values, class... Parameters>
  static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after,
                                void (*function)(Parameters...),
                                Values... values) {
    void* arguments[] = {&values...};
    cudaKernelNodeParams given = {};
    given.func = reinterpret_cast<void*>(function);
    given.gridDim = given.blockDim = dim3(1);
    given.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    ok(cudaGraphAddKernelNode(&node, graph, &after, after != nullptr, &given));
    return node;
  }
  // The node, and its graphs.
  cudaGraphNode_t condition(cudaGraph_t in, cudaGraphNode_t after,
                            cudaGraphConditionalHandle handle,
                            cudaGraphConditionalNodeType type, unsigned size,
                            cudaGraph_t* bodies) const {
    cudaGraphNodeParams given = {};
    given.type = cudaGraphNodeTypeConditional;
    given.conditional.handle = handle;
    given.conditional.type = type;
    given.conditional.size = size;
    cudaGraphNode_t node = nullptr;
    ok(cudaGraphAddNode(&node, in, &after, nullptr, after != nullptr, &given));
    for (unsigned i = 0; i < size; ++i)
      bodies[i] = given.conditional.phGraph_out[i];
    return node;
  }
  int run(int value) {
    if (!executable) ok(cudaGraphInstantiate(&executable, graph, 0));
    const int zero = 0;
    ok(cudaMemcpy(x, &zero, sizeof zero, cudaMemcpyHostToDevice));
    ok(cudaMemcpy(input, &value, sizeof value, cudaMemcpyHostToDevice));
    ok(cudaDeviceSynchronize());
    ok(cudaGraphLaunch(executable, stream));
    ok(cudaStreamSynchronize(stream));
    int got = 0;
    ok(cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost));
    return got;
  }
};

// 1, then 2 or 3, then 4.
void if_else(unsigned size) {
  Fixture f;
  cudaGraphConditionalHandle handle = 0;
  ok(cudaGraphConditionalHandleCreate(&handle, f.graph));
  const auto first = f.kernel(f.graph, nullptr, append_kernel, f.x, 1);
  const auto decide = f.kernel(f.graph, first, decide_kernel, handle, f.input);
  cudaGraph_t bodies[2] = {};
  const auto node =
      f.condition(f.graph, decide, handle, cudaGraphCondTypeIf, size, bodies);
  for (unsigned i = 0; i < size; ++i)
    f.kernel(bodies[i], nullptr, append_kernel, f.x, 2 + int(i));
  f.kernel(f.graph, node, append_kernel, f.x, 4);
  equal(f.run(1), 124);
  equal(f.run(0), size == 2 ? 134 : 14);
  equal(f.run(7), 124);
  cudaGraphNodeType type = {};
  ok(cudaGraphNodeGetType(node, &type));
  equal(type, cudaGraphNodeTypeConditional);
}

void loop() {
  Fixture f;
  cudaGraphConditionalHandle handle = 0;
  ok(cudaGraphConditionalHandleCreate(&handle, f.graph, 1,
                                      cudaGraphCondAssignDefault));
  cudaGraph_t body = nullptr;
  f.condition(f.graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
  const auto work = f.kernel(body, nullptr, append_kernel, f.x, 5);
  f.kernel(body, work, count_kernel, handle, f.input);
  equal(f.run(4), 5555);
  equal(f.run(1), 5);  // Whatever the last launch left: it begins with 1.
}

// A turn begins when the one before is done, whatever its kernels do.
void turns_are_ordered() {
  Fixture f;
  constexpr int kTurns = 5;
  int* stored = nullptr;
  ok(cudaMalloc(&stored, (kTurns + 1) * sizeof(int)));
  cudaGraphConditionalHandle handle = 0;
  ok(cudaGraphConditionalHandleCreate(&handle, f.graph, 1,
                                      cudaGraphCondAssignDefault));
  cudaGraph_t body = nullptr;
  f.condition(f.graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
  const auto store = f.kernel(body, nullptr, store_kernel, stored, f.input);
  f.kernel(body, store, count_kernel, handle, f.input);
  f.run(kTurns);
  int got[kTurns + 1];
  ok(cudaMemcpy(got, stored, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 1; i <= kTurns; ++i) equal(got[i], i);
  ok(cudaFree(stored));
}

void choose() {
  Fixture f;
  cudaGraphConditionalHandle handle = 0;
  ok(cudaGraphConditionalHandleCreate(&handle, f.graph));
  const auto decide =
      f.kernel(f.graph, nullptr, decide_kernel, handle, f.input);
  cudaGraph_t bodies[3] = {};
  f.condition(f.graph, decide, handle, cudaGraphCondTypeSwitch, 3, bodies);
  for (int i = 0; i < 3; ++i)
    f.kernel(bodies[i], nullptr, append_kernel, f.x, 7 + i);
  for (int i = 0; i < 3; ++i) equal(f.run(i), 7 + i);
  equal(f.run(3), 0);
}

// A part that is captured, with a condition of its own.
void captured_and_nested() {
  Fixture f;
  cudaGraphConditionalHandle outer = 0, inner = 0;
  ok(cudaGraphConditionalHandleCreate(&outer, f.graph, 1,
                                      cudaGraphCondAssignDefault));
  ok(cudaGraphConditionalHandleCreate(&inner, f.graph, 0,
                                      cudaGraphCondAssignDefault));
  cudaGraph_t body = nullptr, inside = nullptr, same = nullptr;
  f.condition(f.graph, nullptr, outer, cudaGraphCondTypeIf, 1, &body);
  ok(cudaStreamBeginCaptureToGraph(f.stream, body, nullptr, nullptr, 0,
                                   cudaStreamCaptureModeGlobal));
  append_kernel<<<1, 1, 0, f.stream>>>(f.x, 1);
  decide_kernel<<<1, 1, 0, f.stream>>>(inner, f.input);
  ok(cudaStreamEndCapture(f.stream, &same));
  is_true(same == body, "the body");
  cudaGraphNode_t nodes[2] = {};
  size_t count = 2;
  ok(cudaGraphGetNodes(body, nodes, &count));
  f.condition(body, nodes[1], inner, cudaGraphCondTypeIf, 1, &inside);
  f.kernel(inside, nullptr, append_kernel, f.x, 2);
  equal(f.run(1), 12);
  equal(f.run(0), 1);
}

void refused() {
  Fixture f;
  cudaGraphConditionalHandle handle = 0;
  ok(cudaGraphConditionalHandleCreate(&handle, f.graph));
  cudaGraphNodeParams given = {};
  given.type = cudaGraphNodeTypeConditional;
  given.conditional.handle = handle;
  given.conditional.type = cudaGraphCondTypeWhile;
  given.conditional.size = 2;
  cudaGraphNode_t node = nullptr;
  equal(cudaGraphAddNode(&node, f.graph, nullptr, nullptr, 0, &given),
        cudaErrorInvalidValue);
  given.conditional.size = 1;
  ok(cudaGraphAddNode(&node, f.graph, nullptr, nullptr, 0, &given));
  cudaGraph_t clone = nullptr;
  is_true(cudaGraphClone(&clone, f.graph) != cudaSuccess,
          "graphs with conditions cannot be copied");
  cudaGraphNode_t second = nullptr;
  equal(cudaGraphAddNode(&second, f.graph, nullptr, nullptr, 0, &given),
        cudaErrorInvalidValue);
  equal(cudaGraphNodeSetParams(node, &given), cudaErrorNotSupported);
  given.conditional.type = cudaGraphConditionalNodeType(5);
  equal(cudaGraphAddNode(&second, f.graph, nullptr, nullptr, 0, &given),
        cudaErrorInvalidValue);
  cudaGetLastError();
}

// No function of the host's may be in a condition's graph.
void body_with_a_function() {
  Fixture f;
  cudaGraphConditionalHandle handle = 0;
  ok(cudaGraphConditionalHandleCreate(&handle, f.graph));
  cudaGraph_t body = nullptr;
  f.condition(f.graph, nullptr, handle, cudaGraphCondTypeIf, 1, &body);
  cudaHostNodeParams function = {[](void*) {}, nullptr};
  cudaGraphNode_t node = nullptr;
  ok(cudaGraphAddHostNode(&node, body, nullptr, 0, &function));
  cudaGraphExec_t executable = nullptr;
  equal(cudaGraphInstantiate(&executable, f.graph, 0), cudaErrorInvalidValue);
  cudaGetLastError();
}

}  // namespace

int main() {
  if_else(1);
  if_else(2);
  loop();
  turns_are_ordered();
  choose();
  captured_and_nested();
  refused();
  body_with_a_function();
  return expect::report();
}
