// Graphs node by node: what a node does is asked and changed, nodes and edges
// come and go, some take no part; events inside; captures into a graph that is
// there already; what a graph keeps for its program. As an H200 does it.

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

__global__ void add_kernel(int* x, int value) { *x += value; }
__global__ void multiply_kernel(int* x, int value) { *x *= value; }
__device__ int variable;
__device__ int numbers[4];

// A graph under way, with an int on the device, which is 0, and a stream.
struct Fixture {
  int* x = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;

  Fixture() {
    ok(cudaMalloc(&x, 4 * sizeof(int)));
    ok(cudaMemset(x, 0, 4 * sizeof(int)));
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(cudaGraphCreate(&graph, 0));
    ok(cudaDeviceSynchronize());
  }
  ~Fixture() {
    cudaGetLastError();
    ok(cudaGraphDestroy(graph));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(x));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  cudaGraphNode_t add(cudaGraphNodeParams& given,
                      std::vector<cudaGraphNode_t> after = {}) const {
    cudaGraphNode_t node = nullptr;
    ok(cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(),
                        &given));
    return node;
  }
  // x = x + value or x * value
  cudaGraphNode_t kernel(void (*function)(int*, int), int value,
                         std::vector<cudaGraphNode_t> after = {}) const {
    cudaGraphNodeParams given = {};
    int* to = x;
    void* arguments[] = {&to, &value};
    given.type = cudaGraphNodeTypeKernel;
    given.kernel.func = reinterpret_cast<void*>(function);
    given.kernel.gridDim = given.kernel.blockDim = dim3(1);
    given.kernel.kernelParams = arguments;
    return add(given, std::move(after));
  }
  cudaGraphExec_t instantiate() const {
    cudaGraphExec_t executable = nullptr;
    ok(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
  }
  int run(cudaGraphExec_t executable) const {
    ok(cudaGraphLaunch(executable, stream));
    return value();
  }
  int run_once() const {
    const cudaGraphExec_t executable = instantiate();
    const int got = run(executable);
    ok(cudaGraphExecDestroy(executable));
    return got;
  }
  int value(int which = 0) const {
    int got = 0;
    ok(cudaStreamSynchronize(stream));
    ok(cudaMemcpy(&got, x + which, sizeof got, cudaMemcpyDeviceToHost));
    return got;
  }
  void set(int value) const {
    ok(cudaMemcpy(x, &value, sizeof value, cudaMemcpyHostToDevice));
    ok(cudaDeviceSynchronize());
  }
};

// ---- Nodes of any kind -----------------------------------------------------

void count_call(void* calls) { ++*static_cast<int*>(calls); }

void every_kind() {
  const Fixture f;
  int calls = 0, host = 5;
  cudaGraphNodeParams copy = {}, fill = {}, call = {}, empty = {};
  fill.type = cudaGraphNodeTypeMemset;
  fill.memset = {f.x, 0, 0x01010101, 4, 1, 1};
  copy.type = cudaGraphNodeTypeMemcpy;
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(&host, 4, 4, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(f.x + 1, 4, 4, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
  call.type = cudaGraphNodeTypeHost;
  call.host.fn = count_call;
  call.host.userData = &calls;
  empty.type = cudaGraphNodeTypeEmpty;
  const auto first = f.add(fill), second = f.add(copy, {first});
  const auto third = f.kernel(add_kernel, 2, {first});
  const auto last = f.add(empty, {second, third});
  f.add(call, {last});
  equal(f.run_once(), 0x01010103);
  equal(f.value(1), 5);
  equal(calls, 1);

  cudaGraphNodeType type = {};
  ok(cudaGraphNodeGetType(last, &type));
  equal(type, cudaGraphNodeTypeEmpty);
}

void descriptions() {
  const Fixture f;
  int calls = 0, more = 0;
  cudaGraphNode_t fill = nullptr, copy = nullptr, call = nullptr;
  const cudaMemsetParams zero = {f.x, 0, 7, 1, 4, 1};
  ok(cudaGraphAddMemsetNode(&fill, f.graph, nullptr, 0, &zero));
  ok(cudaGraphAddMemcpyNode1D(&copy, f.graph, &fill, 1, f.x + 1, f.x, 4,
                              cudaMemcpyDeviceToDevice));
  const cudaHostNodeParams count = {count_call, &calls};
  ok(cudaGraphAddHostNode(&call, f.graph, &copy, 1, &count));

  cudaMemsetParams of_fill = {};
  ok(cudaGraphMemsetNodeGetParams(fill, &of_fill));
  is_true(of_fill.dst == f.x && of_fill.value == 7 && of_fill.width == 4,
          "what the memset is");
  cudaMemcpy3DParms of_copy = {};
  ok(cudaGraphMemcpyNodeGetParams(copy, &of_copy));
  is_true(of_copy.dstPtr.ptr == f.x + 1 && of_copy.srcPtr.ptr == f.x &&
              of_copy.extent.width == 4 && of_copy.extent.height == 1,
          "what the copy is");
  cudaHostNodeParams of_call = {};
  ok(cudaGraphHostNodeGetParams(call, &of_call));
  is_true(of_call.fn == count_call && of_call.userData == &calls,
          "what the function is");
  equal(cudaGraphHostNodeGetParams(copy, &of_call), cudaErrorInvalidValue);
  cudaGetLastError();

  of_fill.value = 9;
  of_call.userData = &more;
  ok(cudaGraphMemsetNodeSetParams(fill, &of_fill));
  ok(cudaGraphHostNodeSetParams(call, &of_call));
  ok(cudaGraphMemcpyNodeSetParams1D(copy, f.x + 2, f.x, 4,
                                    cudaMemcpyDeviceToDevice));
  f.run_once();
  equal(f.value(1), 0);
  equal(f.value(2), 0x09090909);
  equal(calls, 0);
  equal(more, 1);
}

void variables() {
  const Fixture f;
  int seven = 7, eight = 8;
  cudaGraphNode_t there = nullptr, back = nullptr;
  ok(cudaGraphAddMemcpyNodeToSymbol(&there, f.graph, nullptr, 0, variable,
                                    &seven, 4, 0, cudaMemcpyHostToDevice));
  ok(cudaGraphAddMemcpyNodeFromSymbol(&back, f.graph, &there, 1, f.x, variable,
                                      4, 0, cudaMemcpyDeviceToDevice));
  const cudaGraphExec_t executable = f.instantiate();
  equal(f.run(executable), 7);
  ok(cudaGraphExecMemcpyNodeSetParamsToSymbol(
      executable, there, variable, &eight, 4, 0, cudaMemcpyHostToDevice));
  equal(f.run(executable), 8);
  ok(cudaGraphExecDestroy(executable));
}

void changed_by_one_call() {
  const Fixture f;
  const auto node = f.kernel(add_kernel, 1);
  const cudaGraphExec_t executable = f.instantiate();
  int* to = f.x;
  int value = 20;
  void* arguments[] = {&to, &value};
  cudaGraphNodeParams given = {};
  given.type = cudaGraphNodeTypeKernel;
  given.kernel.func = reinterpret_cast<void*>(add_kernel);
  given.kernel.gridDim = given.kernel.blockDim = dim3(1);
  given.kernel.kernelParams = arguments;
  equal(f.run(executable), 1);
  ok(cudaGraphExecNodeSetParams(executable, node, &given));
  equal(f.run(executable), 21);
  value = 300;
  ok(cudaGraphNodeSetParams(node, &given));
  equal(f.run(executable), 41);  // It has what it was instantiated with.
  equal(f.run_once(), 341);
  ok(cudaGraphExecDestroy(executable));
}

// ---- Edges -----------------------------------------------------------------

size_t edges_of(cudaGraph_t graph) {
  size_t count = 0;
  ok(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

void edges() {
  const Fixture f;
  const auto a = f.kernel(add_kernel, 3);
  const auto b = f.kernel(multiply_kernel, 5, {a});
  const auto c = f.kernel(add_kernel, 1, {b});
  equal(edges_of(f.graph), 2);
  cudaGraphNode_t from[3] = {a, a, a}, to[3] = {a, a, a}, next[2] = {};
  size_t count = 3;
  ok(cudaGraphGetEdges(f.graph, from, to, nullptr, &count));
  equal(count, 2);
  is_true(from[2] == nullptr && to[2] == nullptr, "nothing is behind the last");
  const bool first_is_a = from[0] == a;
  is_true(to[!first_is_a] == b && from[first_is_a] == b && to[first_is_a] == c,
          "from a to b, and from b to c");
  count = 2;
  ok(cudaGraphNodeGetDependentNodes(a, next, nullptr, &count));
  is_true(count == 1 && next[0] == b, "b waits for a");
  equal(f.run_once(), (0 + 3) * 5 + 1);

  // b goes before a instead.
  ok(cudaGraphRemoveDependencies(f.graph, &a, &b, nullptr, 1));
  ok(cudaGraphAddDependencies(f.graph, &b, &a, nullptr, 1));
  ok(cudaGraphAddDependencies(f.graph, &a, &c, nullptr, 1));
  f.set(1);
  equal(f.run_once(), 1 * 5 + 3 + 1);

  ok(cudaGraphDestroyNode(b));
  equal(edges_of(f.graph), 1);
  f.set(1);
  equal(f.run_once(), 1 + 3 + 1);
  cudaGraphNodeType type = {};
  equal(cudaGraphRemoveDependencies(f.graph, &c, &a, nullptr, 1),
        cudaErrorInvalidValue);
  cudaGetLastError();
  ok(cudaGraphNodeGetType(c, &type));
}

void clones() {
  const Fixture f;
  const auto a = f.kernel(add_kernel, 3), b = f.kernel(add_kernel, 4, {a});
  cudaGraph_t clone = nullptr;
  ok(cudaGraphClone(&clone, f.graph));
  cudaGraphNode_t twin = nullptr;
  ok(cudaGraphNodeFindInClone(&twin, b, clone));
  is_true(twin != nullptr && twin != b, "a node of its own");
  ok(cudaGraphDestroyNode(twin));
  size_t count = 0;
  ok(cudaGraphGetNodes(clone, nullptr, &count));
  equal(count, 1);
  equal(f.run_once(), 7);
  equal(cudaGraphNodeFindInClone(&twin, b, clone), cudaErrorInvalidValue);
  cudaGetLastError();
  ok(cudaGraphDestroy(clone));
}

// An instantiated child graph gets the parameters of another graph like it.
void child_changes() {
  const Fixture f, ten, longer;
  ten.kernel(add_kernel, 10);
  longer.kernel(add_kernel, 1, {longer.kernel(add_kernel, 1)});
  const cudaGraph_t part = ten.graph;
  cudaGraphNode_t node = nullptr;
  ok(cudaGraphAddChildGraphNode(&node, f.graph, nullptr, 0, part));
  const cudaGraphExec_t executable = f.instantiate();
  f.run(executable);
  ok(cudaDeviceSynchronize());
  equal(ten.value(), 10);
  cudaGraphNode_t changed = nullptr;
  size_t count = 1;
  ok(cudaGraphGetNodes(part, &changed, &count));
  int *to = f.x, value = 7;
  void* arguments[] = {&to, &value};
  cudaKernelNodeParams given = {};
  given.func = reinterpret_cast<void*>(add_kernel);
  given.gridDim = given.blockDim = dim3(1);
  given.kernelParams = arguments;
  ok(cudaGraphKernelNodeSetParams(changed, &given));
  ok(cudaGraphExecChildGraphNodeSetParams(executable, node, part));
  equal(f.run(executable), 7);
  value = 8;
  ok(cudaGraphKernelNodeSetParams(changed, &given));
  cudaGraphNodeParams by_one_call = {};
  by_one_call.type = cudaGraphNodeTypeGraph;
  by_one_call.graph.graph = part;
  ok(cudaGraphExecNodeSetParams(executable, node, &by_one_call));
  equal(f.run(executable), 15);
  is_true(cudaGraphExecChildGraphNodeSetParams(executable, node,
                                               longer.graph) != cudaSuccess,
          "the other graph has more nodes");
  equal(f.run(executable), 23);
  cudaGetLastError();
  ok(cudaGraphExecDestroy(executable));
}

void child() {
  const Fixture f;
  cudaGraph_t part = nullptr, inside = nullptr;
  {
    const Fixture other;  // Of it only the graph counts.
    int* to = f.x;
    int value = 6;
    void* arguments[] = {&to, &value};
    cudaKernelNodeParams given = {};
    given.func = reinterpret_cast<void*>(add_kernel);
    given.gridDim = given.blockDim = dim3(1);
    given.kernelParams = arguments;
    ok(cudaGraphCreate(&part, 0));
    cudaGraphNode_t node = nullptr;
    ok(cudaGraphAddKernelNode(&node, part, nullptr, 0, &given));
  }
  cudaGraphNode_t node = nullptr, of_child = nullptr;
  ok(cudaGraphAddChildGraphNode(&node, f.graph, nullptr, 0, part));
  ok(cudaGraphDestroy(part));
  ok(cudaGraphChildGraphNodeGetGraph(node, &inside));
  size_t count = 1;
  ok(cudaGraphGetNodes(inside, &of_child, &count));
  equal(count, 1);
  equal(f.run_once(), 6);
  // What it is made of may change before it is instantiated.
  cudaKernelNodeParams given = {};
  int* to = f.x;
  int value = 100;
  void* arguments[] = {&to, &value};
  given.func = reinterpret_cast<void*>(add_kernel);
  given.gridDim = given.blockDim = dim3(1);
  given.kernelParams = arguments;
  ok(cudaGraphKernelNodeSetParams(of_child, &given));
  equal(f.run_once(), 106);
}

// ---- Instantiated ----------------------------------------------------------

void left_out() {
  const Fixture f;
  const auto a = f.kernel(add_kernel, 3), b = f.kernel(add_kernel, 40, {a});
  cudaGraphNodeParams empty = {};
  empty.type = cudaGraphNodeTypeEmpty;
  const auto c = f.add(empty, {b});
  const cudaGraphExec_t executable = f.instantiate();
  unsigned enabled = 7;
  ok(cudaGraphNodeGetEnabled(executable, b, &enabled));
  equal(enabled, 1);
  ok(cudaGraphNodeSetEnabled(executable, b, 0));
  ok(cudaGraphNodeGetEnabled(executable, b, &enabled));
  equal(enabled, 0);
  equal(f.run(executable), 3);
  ok(cudaGraphNodeSetEnabled(executable, b, 1));
  equal(f.run(executable), 46);
  equal(cudaGraphNodeSetEnabled(executable, c, 0), cudaErrorInvalidValue);
  cudaGetLastError();
  ok(cudaGraphExecDestroy(executable));
}

void flags() {
  const Fixture f;
  f.kernel(add_kernel, 3);
  cudaGraphInstantiateParams how = {};
  how.flags = cudaGraphInstantiateFlagAutoFreeOnLaunch |
              cudaGraphInstantiateFlagUseNodePriority;
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiateWithParams(&executable, f.graph, &how));
  equal(how.result_out, cudaGraphInstantiateSuccess);
  unsigned long long got = 0;
  ok(cudaGraphExecGetFlags(executable, &got));
  equal(got, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  equal(f.run(executable), 3);
  ok(cudaGraphExecDestroy(executable));
}

void attributes() {
  const Fixture f;
  const auto a = f.kernel(add_kernel, 1), b = f.kernel(add_kernel, 2, {a});
  cudaLaunchAttributeValue value = {}, got = {};
  value.accessPolicyWindow = {f.x, 16, 0.5f, cudaAccessPropertyPersisting,
                              cudaAccessPropertyStreaming};
  ok(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributeAccessPolicyWindow,
                                     &value));
  ok(cudaGraphKernelNodeCopyAttributes(b, a));
  ok(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributeAccessPolicyWindow,
                                     &got));
  is_true(got.accessPolicyWindow.base_ptr == f.x &&
              got.accessPolicyWindow.num_bytes == 16,
          "the other node has it, too");
  equal(f.run_once(), 3);
}

// ---- Events ----------------------------------------------------------------

void events() {
  const Fixture f;
  cudaEvent_t before = nullptr, after = nullptr, other = nullptr;
  for (cudaEvent_t* one : {&before, &after, &other}) ok(cudaEventCreate(one));
  cudaGraphNode_t begin = nullptr, end = nullptr;
  ok(cudaGraphAddEventRecordNode(&begin, f.graph, nullptr, 0, before));
  const auto work = f.kernel(add_kernel, 3, {begin});
  ok(cudaGraphAddEventRecordNode(&end, f.graph, &work, 1, after));
  cudaEvent_t known = nullptr;
  ok(cudaGraphEventRecordNodeGetEvent(end, &known));
  is_true(known == after, "the event that it records");
  const cudaGraphExec_t executable = f.instantiate();
  ok(cudaGraphLaunch(executable, f.stream));
  ok(cudaEventSynchronize(after));
  float milliseconds = -1;
  ok(cudaEventElapsedTime(&milliseconds, before, after));
  is_true(milliseconds >= 0, "time goes on");
  ok(cudaGraphExecEventRecordNodeSetEvent(executable, end, other));
  ok(cudaGraphLaunch(executable, f.stream));
  ok(cudaEventSynchronize(other));
  equal(f.value(), 6);
  ok(cudaGraphExecDestroy(executable));
  for (const cudaEvent_t one : {before, after, other})
    ok(cudaEventDestroy(one));
}

void waits() {
  const Fixture f;
  cudaStream_t first = nullptr;
  cudaEvent_t event = nullptr;
  ok(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  ok(cudaEventCreate(&event));
  cudaGraphNode_t wait = nullptr;
  ok(cudaGraphAddEventWaitNode(&wait, f.graph, nullptr, 0, event));
  f.kernel(multiply_kernel, 10, {wait});
  const cudaGraphExec_t executable = f.instantiate();
  add_kernel<<<1, 1, 0, first>>>(f.x, 4);
  ok(cudaEventRecord(event, first));
  equal(f.run(executable), 40);
  ok(cudaGraphExecDestroy(executable));
  ok(cudaEventDestroy(event));
  ok(cudaStreamDestroy(first));
}

// ---- Captures --------------------------------------------------------------

void capture_into_a_graph() {
  const Fixture f;
  const auto a = f.kernel(add_kernel, 3);
  ok(cudaStreamBeginCaptureToGraph(f.stream, f.graph, &a, nullptr, 1,
                                   cudaStreamCaptureModeGlobal));
  multiply_kernel<<<1, 1, 0, f.stream>>>(f.x, 10);
  cudaGraph_t same = nullptr;
  ok(cudaStreamEndCapture(f.stream, &same));
  is_true(same == f.graph, "the graph that it was captured into");
  equal(edges_of(f.graph), 1);
  equal(f.run_once(), 30);
}

void ask_a_capture() {
  const Fixture f;
  cudaStreamCaptureStatus status = {};
  ok(cudaStreamGetCaptureInfo(f.stream, &status));
  equal(status, cudaStreamCaptureStatusNone);
  ok(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  add_kernel<<<1, 1, 0, f.stream>>>(f.x, 3);
  unsigned long long number = 0;
  cudaGraph_t graph = nullptr, ended = nullptr;
  const cudaGraphNode_t* last = nullptr;
  const cudaGraphEdgeData* data = nullptr;
  size_t count = 0;
  ok(cudaStreamGetCaptureInfo(f.stream, &status, &number, &graph, &last, &data,
                              &count));
  equal(status, cudaStreamCaptureStatusActive);
  is_true(graph != nullptr && number != 0, "a graph, and its number");
  equal(count, 1);

  // A node of one's own, which the stream's next work comes behind.
  cudaGraphNode_t mine = nullptr;
  const cudaMemsetParams ones = {f.x, 0, 1, 4, 1, 1};
  ok(cudaGraphAddMemsetNode(&mine, graph, last, count, &ones));
  ok(cudaStreamUpdateCaptureDependencies(f.stream, &mine, nullptr, 1,
                                         cudaStreamSetCaptureDependencies));
  multiply_kernel<<<1, 1, 0, f.stream>>>(f.x, 10);
  ok(cudaStreamEndCapture(f.stream, &ended));
  is_true(ended == graph, "the graph that it told of");
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, ended, 0));
  equal(f.run(executable), 10);
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(ended));
}

// ---- What a graph keeps ----------------------------------------------------

int ends = 0;
void end_object(void*) { ++ends; }

void objects() {
  cudaUserObject_t object = nullptr;
  int anything = 0;
  ok(cudaUserObjectCreate(&object, &anything, end_object, 1,
                          cudaUserObjectNoDestructorSync));
  {
    const Fixture f;
    f.kernel(add_kernel, 1);
    ok(cudaGraphRetainUserObject(f.graph, object, 1, cudaGraphUserObjectMove));
    const cudaGraphExec_t executable = f.instantiate();
    equal(f.run(executable), 1);
    ok(cudaGraphExecDestroy(executable));
    equal(ends, 0);
  }
  // The graph is gone; a GPU's driver may take its time.
  for (int i = 0; i < 1000 && ends == 0; ++i) ok(cudaDeviceSynchronize());
  is_true(ends <= 1, "once at most");

  ok(cudaUserObjectCreate(&object, &anything, end_object, 2,
                          cudaUserObjectNoDestructorSync));
  ok(cudaUserObjectRetain(object, 1));
  ok(cudaUserObjectRelease(object, 2));
  equal(cudaUserObjectCreate(&object, nullptr, nullptr, 1,
                             cudaUserObjectNoDestructorSync),
        cudaErrorInvalidValue);
  cudaGetLastError();
}

void picture() {
  const Fixture f;
  const auto a = f.kernel(add_kernel, 3);
  f.kernel(add_kernel, 4, {a});
  const std::string path = std::filesystem::temp_directory_path() /
                           ("graph." + std::to_string(getpid()) + ".dot");
  ok(cudaGraphDebugDotPrint(f.graph, path.c_str(), 0));
  std::ifstream file(path);
  std::string text, line;
  while (std::getline(file, line)) text += line + "\n";
  is_true(text.starts_with("digraph"), "it is written in DOT");
  is_true(text.find("->") != text.npos, "with an arrow");
  std::remove(path.c_str());
}

// What a node could never do is refused when it is added.
void impossible_nodes() {
  int *x = nullptr, host[8] = {};
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  ok(cudaMalloc(&x, 64));
  ok(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fits = {};
  fits.dst = x;
  fits.elementSize = 2;
  fits.width = 4;
  fits.height = 1;
  fits.pitch = 16;
  const auto filled = [&](auto change) {
    cudaMemsetParams given = fits;
    change(given);
    return cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &given);
  };
  ok(filled([](auto&) {}));
  const cudaError_t refused = cudaErrorInvalidValue;
  equal(filled([](auto& p) { p.elementSize = 3; }), refused);
  equal(filled([](auto& p) { p.elementSize = 8; }), refused);
  equal(filled([](auto& p) { p.dst = static_cast<char*>(p.dst) + 1; }),
        refused);
  equal(filled([](auto& p) { p.width = 0; }), refused);
  equal(filled([](auto& p) { p.height = 0; }), refused);
  equal(filled([](auto& p) { p.height = 2, p.pitch = 4; }), refused);
  equal(filled([](auto& p) { p.dst = nullptr; }), refused);
  equal(filled([&](auto& p) { p.dst = host; }), refused);

  const auto copied = [&](void* to, const void* from, size_t bytes, int kind) {
    return cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, bytes,
                                    cudaMemcpyKind(kind));
  };
  ok(copied(host, x, 32, cudaMemcpyDeviceToHost));
  equal(copied(host, x, 0, cudaMemcpyDeviceToHost), refused);
  equal(copied(x, nullptr, 4, cudaMemcpyDeviceToDevice), refused);
  equal(copied(host, x, 4, 7), cudaErrorInvalidMemcpyDirection);
  equal(cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, numbers, x,
                                       sizeof numbers, 4,
                                       cudaMemcpyDeviceToDevice),
        refused);
  equal(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, host,
                                         numbers, sizeof numbers + 1, 0,
                                         cudaMemcpyDeviceToHost),
        refused);
  equal(cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr),
        refused);
  size_t count = 0;
  ok(cudaGraphGetNodes(graph, nullptr, &count));
  equal(count, 2);
  ok(cudaGraphDestroy(graph));
  ok(cudaFree(x));
  cudaGetLastError();
}

void edges_that_lead_nowhere() {
  cudaGraph_t graph = nullptr, other = nullptr;
  cudaGraphNode_t node = nullptr, far = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  ok(cudaGraphCreate(&other, 0));
  ok(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  ok(cudaGraphAddEmptyNode(&far, other, nullptr, 0));
  equal(cudaGraphAddDependencies(graph, &node, &node, nullptr, 1),
        cudaErrorInvalidValue);
  equal(cudaGraphAddDependencies(graph, &node, &far, nullptr, 1),
        cudaErrorInvalidValue);
  ok(cudaGraphDestroy(graph));
  ok(cudaGraphDestroy(other));
  cudaGetLastError();
}

// A graph of one node, which an instantiated one may become, or not.
template <class Add>
cudaGraph_t graph_of_one(Add add) {
  cudaGraph_t graph = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  add(graph);
  return graph;
}
template <class Old, class Fresh>
void updated(Old old, Fresh fresh, cudaGraphExecUpdateResult result,
             bool names_node) {
  const cudaGraph_t first = graph_of_one(old), second = graph_of_one(fresh);
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, first, 0));
  cudaGraphExecUpdateResultInfo info = {};
  equal(cudaGraphExecUpdate(executable, second, &info),
        result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                             : cudaErrorGraphExecUpdateFailure);
  equal(info.result, result);
  equal(info.errorNode != nullptr, names_node);
  is_true(info.errorFromNode == nullptr, "no edge is named");
  cudaGetLastError();
  ok(cudaGraphExecDestroy(executable));
  ok(cudaGraphDestroy(first));
  ok(cudaGraphDestroy(second));
}

void updates_of_parameters() {
  int *x = nullptr, host[16] = {};
  ok(cudaMalloc(&x, 4096));
  const auto fill = [&](size_t width, size_t height) {
    return [=](cudaGraph_t graph) {
      cudaMemsetParams p = {};
      p.dst = x;
      p.elementSize = 4;
      p.width = width;
      p.height = height;
      p.pitch = 512;
      cudaGraphNode_t node = nullptr;
      ok(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &p));
    };
  };
  const auto copy = [&](void* to, size_t bytes, cudaMemcpyKind kind) {
    return [=](cudaGraph_t graph) {
      cudaGraphNode_t node = nullptr;
      ok(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, x + 512, bytes,
                                  kind));
    };
  };
  const auto child = [&](int nodes) {
    return [=](cudaGraph_t graph) {
      const cudaGraph_t inner = graph_of_one([](cudaGraph_t) {});
      cudaGraphNode_t node = nullptr;
      for (int k = 0; k < nodes; ++k)
        ok(cudaGraphAddEmptyNode(&node, inner, nullptr, 0));
      ok(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner));
      ok(cudaGraphDestroy(inner));
    };
  };
  const auto changed = cudaGraphExecUpdateErrorParametersChanged;
  const auto same = cudaMemcpyDeviceToDevice;
  updated(fill(4, 1), fill(8, 1), cudaGraphExecUpdateSuccess, false);
  updated(fill(4, 1), fill(4, 4), changed, true);
  updated(fill(4, 4), fill(8, 4), changed, true);
  updated(copy(x, 8, same), copy(x, 16, same), cudaGraphExecUpdateSuccess,
          false);
  updated(copy(x, 8, same), copy(host, 8, cudaMemcpyDeviceToHost), changed,
          true);
  updated(copy(x, 8, same), copy(x, 8, cudaMemcpyDefault), changed, true);
  updated(fill(4, 1), copy(x, 8, same), cudaGraphExecUpdateErrorNodeTypeChanged,
          true);
  updated(child(1), child(1), cudaGraphExecUpdateSuccess, false);
  updated(child(1), child(2), cudaGraphExecUpdateErrorTopologyChanged, false);
  ok(cudaFree(x));
}

void attributes_of_nodes() {
  const Fixture f;
  const cudaGraphNode_t node = f.kernel(add_kernel, 1);
  cudaLaunchAttributeValue value = {};
  for (const int which : {1, 5, 8, 9, 10, 14})
    ok(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeID(which),
                                       &value));
  for (const int which : {0, 3, 6, 7, 11, 12, 15, 16})
    equal(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeID(which),
                                          &value),
          cudaErrorInvalidValue);
  equal(cudaGraphKernelNodeSetAttribute(
            node, cudaLaunchAttributeSynchronizationPolicy, &value),
        cudaErrorInvalidValue);
}

void flags_of_instantiation() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphCreate(&graph, 0));
  for (const unsigned flags : {2u, 10u, 16u, 32u})
    equal(cudaGraphInstantiate(&executable, graph, flags),
          cudaErrorInvalidValue);
  cudaGraphInstantiateParams given = {};
  given.flags = cudaGraphInstantiateFlagUpload;
  ok(cudaGraphInstantiateWithParams(&executable, graph, &given));
  ok(cudaGraphExecDestroy(executable));
  given.flags = 64;
  equal(cudaGraphInstantiateWithParams(&executable, graph, &given),
        cudaErrorInvalidValue);
  equal(given.result_out, cudaGraphInstantiateError);
  ok(cudaGraphDestroy(graph));
  cudaGetLastError();
}

// What a node comes behind must not grow with the graph.
void long_chain() {
  constexpr int kNodes = 8000;
  Fixture f;
  cudaGraphNode_t last = nullptr;
  for (int k = 0; k < kNodes; ++k) {
    cudaKernelNodeParams one = {};
    int value = 1;
    void* arguments[] = {&f.x, &value};
    one.func = reinterpret_cast<void*>(add_kernel);
    one.gridDim = one.blockDim = dim3(1);
    one.kernelParams = arguments;
    ok(cudaGraphAddKernelNode(&last, f.graph, last ? &last : nullptr,
                              last != nullptr, &one));
  }
  cudaGraphExec_t executable = nullptr;
  ok(cudaGraphInstantiate(&executable, f.graph, 0));
  const std::clock_t before = std::clock();
  ok(cudaGraphLaunch(executable, f.stream));
  ok(cudaStreamSynchronize(f.stream));
  is_true(std::clock() - before < 3 * CLOCKS_PER_SEC, "three seconds do");
  int sum = 0;
  ok(cudaMemcpy(&sum, f.x, sizeof sum, cudaMemcpyDeviceToHost));
  equal(sum, kNodes);
  ok(cudaGraphExecDestroy(executable));
}

}  // namespace

int main() {
  every_kind();
  descriptions();
  variables();
  changed_by_one_call();
  edges();
  clones();
  child();
  child_changes();
  left_out();
  flags();
  attributes();
  events();
  waits();
  capture_into_a_graph();
  ask_a_capture();
  objects();
  picture();
  impossible_nodes();
  edges_that_lead_nowhere();
  updates_of_parameters();
  flags_of_instantiation();
  attributes_of_nodes();
  long_chain();
  return expect::report();
}
