// Graphs that a program puts together by hand, and what becomes of any graph:
// it is instantiated, updated, launched.
#include "common/simt/runtime/graphs.h"

#include <algorithm>
#include <set>

#include "common/simt/runtime/happens_before.h"

namespace simt {
namespace {

// A graph that can run: its nodes, each behind those that it waits for.
struct Executable {
  struct Step {
    cudaGraphNode_t node;
    Work work;
    std::vector<cudaGraphNode_t> after;
  };
  std::vector<Step> steps;
  std::vector<void*> leaves;  // memory that it allocates and does not free
  bool frees_first = false;   // what its last launch left
  Past launched = {};  // its last launch, which the next one comes behind
};

auto& graphs() {
  static auto* all = new Handles<cudaGraph_t, std::shared_ptr<Graph>>;
  return *all;
}
auto& executables() {
  static auto* all = new Handles<cudaGraphExec_t, std::shared_ptr<Executable>>;
  return *all;
}
auto& nodes() {
  static auto* all = new Handles<cudaGraphNode_t, std::shared_ptr<Node>>;
  return *all;
}

template <class All, class Handle>
auto get(const All& all, Handle handle, const char* what) {
  const auto found = all.find(handle);
  require(found.has_value(), cudaErrorInvalidValue, handle, " is no ", what,
          ", or one that was destroyed");
  return *found;
}
std::shared_ptr<Graph> get(cudaGraph_t graph) {
  return get(graphs(), graph, "graph");
}
std::shared_ptr<Executable> get(cudaGraphExec_t executable) {
  return get(executables(), executable, "instantiated graph");
}
std::shared_ptr<Node> get(cudaGraphNode_t node) {
  return get(nodes(), node, "node of a graph");
}

Nodes get(const cudaGraphNode_t* handles, size_t count) {
  require(count == 0 || handles != nullptr, cudaErrorInvalidValue,
          "the array of nodes is null");
  Nodes found;
  for (size_t i = 0; i < count; ++i) found.push_back(get(handles[i]));
  return found;
}

std::vector<cudaGraphNode_t> handles_of(const Nodes& some) {
  std::vector<cudaGraphNode_t> handles;
  for (const auto& node : some) handles.push_back(node->handle);
  return handles;
}

// As CUDA's questions for a list are answered: without an array, how long the
// list is; otherwise as much of it as fits, the rest of the array being null.
void list(const Nodes& some, cudaGraphNode_t* out, size_t* count) {
  require(count != nullptr, cudaErrorInvalidValue, "the count is null");
  if (out == nullptr) {
    *count = some.size();
    return;
  }
  for (size_t i = 0; i < *count; ++i) {
    out[i] = i < some.size() ? some[i]->handle : nullptr;
  }
  *count = std::min(*count, some.size());
}

void add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
         size_t count, Work work) {
  require(out != nullptr, cudaErrorInvalidValue, "pGraphNode is null");
  *out = add_node(*get(graph), std::move(work), get(after, count))->handle;
}

// ---- Work ------------------------------------------------------------------

Work work_of(const cudaKernelNodeParams& given) { return kernel_work(given); }
Work work_of(const cudaMemcpy3DParms& given) { return copy_work(given); }
Work work_of(const cudaMemsetParams& given) { return fill_work(given); }
Work work_of(const cudaHostNodeParams& given) {
  require(given.fn != nullptr, cudaErrorInvalidValue, "fn is null");
  return host_work([given] { given.fn(given.userData); });
}

// Of a node of any kind, by the type of what describes it.
template <class Parameters>
Work work_of(const Parameters* given) {
  require(given != nullptr, cudaErrorInvalidValue, "pNodeParams is null");
  return work_of(*given);
}

// What its steps are while the graph is launched, by their nodes.
using Operations = std::map<cudaGraphNode_t, OperationPointer>;

OperationPointer begin_step(const Executable::Step& step, Operation* graph,
                            Operations& begun) {
  if (graph == nullptr) return nullptr;
  std::vector<OperationPointer> before;
  for (const cudaGraphNode_t node : step.after) before.push_back(begun[node]);
  return begun[step.node] =
             begin_node(*graph, reinterpret_cast<uint64_t>(step.node),
                        name_of(step.work), before);
}

void run(const Executable& executable) {
  Operations begun;
  for (const Executable::Step& step : executable.steps) {
    if (sticky_error() != cudaSuccess) return;
    do_operation(begin_step(step, current_operation(), begun), step.work.run);
  }
}

bool tells_host(const Executable& executable) {
  return std::ranges::any_of(
      executable.steps, [](const auto& step) { return step.work.tells_host; });
}

// The graph may change or end afterwards: the executable stays what it is.
std::shared_ptr<Executable> instantiate(const Graph& graph) {
  auto executable = std::make_shared<Executable>();
  std::set<const Node*> done;
  const auto ready = [&](const Node& node) {
    return std::all_of(
        node.after.begin(), node.after.end(),
        [&](const auto& before) { return done.contains(before.get()); });
  };
  while (done.size() < graph.nodes.size()) {
    const size_t before = done.size();
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get()) || !ready(*node)) continue;
      executable->steps.push_back(
          {node->handle, node->work, handles_of(node->after)});
      done.insert(node.get());
    }
    require(done.size() > before, cudaErrorInvalidValue,
            "nodes of the graph wait for one another in a circle");
  }
  return executable;
}

std::vector<const Work*> works_of(const Executable& executable) {
  std::vector<const Work*> all;
  for (const Executable::Step& step : executable.steps)
    all.push_back(&step.work);
  return all;
}

bool uses_memory(const Executable& executable) {
  return std::ranges::any_of(executable.steps, [](const auto& step) {
    return step.work.memory || step.work.frees;
  });
}

Work graph_work(std::shared_ptr<Executable> executable) {
  Work work = {cudaGraphNodeTypeGraph, [executable] { run(*executable); }};
  work.tells_host = tells_host(*executable);
  return work;
}

// Its nodes as tasks of their own: some may wait for others of the graph. Each
// comes behind what the stream did before, and the stream goes on behind all.
void launch_as_tasks(const Executable& executable, const Work& work,
                     cudaStream_t stream) {
  const Queue queue = queue_of(stream);
  std::map<cudaGraphNode_t, TaskPointer> done;
  const OperationPointer graph = begin_operation(queue, work);
  Operations begun;
  Tasks all = {perform(queue, [] {})};
  for (const Executable::Step& step : executable.steps) {
    Tasks after = {all[0]};
    for (const cudaGraphNode_t node : step.after) after.push_back(done[node]);
    const auto of_its_own = reinterpret_cast<cudaStream_t>(step.node);
    const OperationPointer operation = begin_step(step, graph.get(), begun);
    done[step.node] = perform({queue.device, of_its_own, false},
                              as_operation(operation, step.work.run), after);
    all.push_back(done[step.node]);
  }
  perform(
      queue, [] {}, all);
}

void launch_graph(const std::shared_ptr<Executable>& executable,
                  cudaStream_t stream) {
  if (is_legacy(stream)) require_legacy_usable();
  const Work work = graph_work(executable);
  const bool captured = is_capturing(stream);
  if (!captured)
    clear_for_launch(executable->leaves, executable->frees_first, stream);
  if (!captured) come_behind(queue_of(stream), executable->launched);
  if (there_are_tasks() && !captured)
    launch_as_tasks(*executable, work, stream);
  else
    issue(stream, work);
  if (!captured) executable->launched = past_of(queue_of(stream));
}

// The other flags only tune: when it is uploaded, and by what priorities.
void instantiate(cudaGraphExec_t* out, cudaGraph_t graph,
                 unsigned long long flags) {
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
    throw Lacking{"graphs that kernels launch"};
  }
  require(out != nullptr, cudaErrorInvalidValue, "pGraphExec is null");
  const auto executable = instantiate(*get(graph));
  executable->leaves = left_by(works_of(*executable));
  executable->frees_first = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
  *out = executables().create(executable);
}

// Gives a node other work of the same type.
void replace(Work& old, Work work) {
  require(old.type == work.type, cudaErrorInvalidValue,
          "the node is of another type");
  if (old.launches_clusters)
    throw Lacking{"way to change a node that launches clusters"};
  old = std::move(work);
}

void change(cudaGraphExec_t handle, cudaGraphNode_t node, Work work) {
  const auto executable = get(handle);
  for (Executable::Step& step : executable->steps) {
    if (step.node != node) continue;
    return replace(step.work, std::move(work));
  }
  throw Refused{cudaErrorInvalidValue,
                "the graph was instantiated without that node"};
}

void change(cudaGraphNode_t handle, Work work) {
  replace(get(handle)->work, std::move(work));
}

// ---- Updates ---------------------------------------------------------------

// Whether the steps at `at` wait for steps at the same places.
bool are_alike(const Executable& a, const Executable& b, size_t at) {
  const auto places = [](const Executable& in, const Executable::Step& step) {
    std::set<size_t> found;
    for (size_t i = 0; i < in.steps.size(); ++i) {
      if (std::find(step.after.begin(), step.after.end(), in.steps[i].node) !=
          step.after.end()) {
        found.insert(i);
      }
    }
    return found;
  };
  return places(a, a.steps[at]) == places(b, b.steps[at]);
}

cudaGraphExecUpdateResult compare(const Executable& old,
                                  const Executable& fresh) {
  if (old.steps.size() != fresh.steps.size()) {
    return cudaGraphExecUpdateErrorTopologyChanged;
  }
  for (size_t i = 0; i < old.steps.size(); ++i) {
    if (old.steps[i].work.type != fresh.steps[i].work.type) {
      return cudaGraphExecUpdateErrorNodeTypeChanged;
    }
    if (!are_alike(old, fresh, i)) {
      return cudaGraphExecUpdateErrorTopologyChanged;
    }
  }
  return cudaGraphExecUpdateSuccess;
}

cudaGraphExecUpdateResult update(Executable& old, const Executable& fresh) {
  if (uses_memory(old) || uses_memory(fresh))
    throw Lacking{"way to update graphs that allocate memory"};
  const cudaGraphExecUpdateResult result = compare(old, fresh);
  if (result != cudaGraphExecUpdateSuccess) return result;
  for (size_t i = 0; i < old.steps.size(); ++i) {
    old.steps[i].work = fresh.steps[i].work;
  }
  return result;
}

// ---- Edges -----------------------------------------------------------------

void require_plain(const cudaGraphEdgeData* edges, size_t count) {
  for (size_t i = 0; edges != nullptr && i < count; ++i) {
    if (edges[i].from_port != 0 || edges[i].to_port != 0 ||
        edges[i].type != 0) {
      throw Lacking{"edges of graphs that let a kernel begin early"};
    }
  }
}

void connect(cudaGraph_t graph, const cudaGraphNode_t* from,
             const cudaGraphNode_t* to, size_t count) {
  get(graph);
  const Nodes first = get(from, count), second = get(to, count);
  for (size_t i = 0; i < count; ++i) {
    Nodes& after = second[i]->after;
    require(std::find(after.begin(), after.end(), first[i]) == after.end(),
            cudaErrorInvalidValue, "the nodes are connected already");
    after.push_back(first[i]);
  }
}

Nodes roots_of(const Graph& graph) {
  Nodes roots;
  for (const auto& node : graph.nodes) {
    if (node->after.empty()) roots.push_back(node);
  }
  return roots;
}

std::shared_ptr<Graph> copy_of(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  std::map<const Node*, std::shared_ptr<Node>> copies;
  for (const auto& node : graph.nodes) {
    copies[node.get()] = add_node(*copy, node->work, {});
  }
  for (const auto& node : graph.nodes) {
    for (const auto& before : node->after) {
      copies[node.get()]->after.push_back(copies[before.get()]);
    }
  }
  return copy;
}

}  // namespace

std::shared_ptr<Node> add_node(Graph& graph, Work work, Nodes after) {
  const auto node =
      std::make_shared<Node>(Node{std::move(work), std::move(after)});
  node->handle = nodes().create(node);
  graph.nodes.push_back(node);
  return node;
}

const Work& work_of_node(cudaGraphNode_t node) { return get(node)->work; }

size_t live_graphs() { return graphs().count() + executables().count(); }

cudaGraph_t publish(std::shared_ptr<Graph> graph) {
  return graphs().create(std::move(graph));
}

}  // namespace simt

using namespace simt;

extern "C" {

// ---- Graphs and their nodes ------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return answer([&] {
    require(graph != nullptr && flags == 0, cudaErrorInvalidValue,
            "pGraph is null, or flags are not 0");
    *graph = publish(std::make_shared<Graph>());
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return answer([&] {
    for (const auto& node : get(graph)->nodes) nodes().destroy(node->handle);
    graphs().destroy(graph);
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return answer([&] {
    require(clone != nullptr, cudaErrorInvalidValue, "pGraphClone is null");
    if (uses_memory(*instantiate(*get(graph))))
      throw Lacking{"copies of graphs that allocate memory"};
    *clone = publish(copy_of(*get(graph)));
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return answer([&] { add(node, graph, after, count, work_of(parameters)); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return answer([&] { add(node, graph, after, count, work_of(parameters)); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     void* to, const void* from, size_t bytes,
                                     cudaMemcpyKind kind) {
  return answer([&] {
    add(node, graph, after, count, copy_work(to, from, bytes, kind));
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
  return answer([&] { add(node, graph, after, count, work_of(parameters)); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return answer([&] { add(node, graph, after, count, work_of(parameters)); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  return answer([&] {
    const auto part = instantiate(*get(child));
    if (uses_memory(*part))
      throw Lacking{"graphs that allocate memory within other graphs"};
    add(node, graph, after, count, graph_work(part));
  });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return answer([&] {
    require(parameters != nullptr, cudaErrorInvalidValue, "nodeParams is null");
    add(node, graph, after, count, allocation_work(*parameters));
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count,
                                    void* address) {
  return answer([&] { add(node, graph, after, count, release_work(address)); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return answer([&] {
    add(node, graph, after, count, {cudaGraphNodeTypeEmpty, [] {}});
  });
}

// The arguments that it points to are the node's, as long as that lives.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         cudaKernelNodeParams* out) {
  return answer([&] {
    require(out != nullptr, cudaErrorInvalidValue, "pNodeParams is null");
    const auto kernel = get(node)->work.kernel;
    require(kernel != nullptr, cudaErrorInvalidValue,
            "the node is no kernel's launch");
    *out = *kernel;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* given) {
  return answer([&] { change(node, work_of(given)); });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node,
                                 cudaGraphNodeType* type) {
  return answer([&] {
    require(type != nullptr, cudaErrorInvalidValue, "pType is null");
    *type = get(node)->work.type;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out,
                              size_t* count) {
  return answer([&] { list(get(graph)->nodes, out, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out,
                                  size_t* count) {
  return answer([&] { list(roots_of(*get(graph)), out, count); });
}

#if CUDART_VERSION >= 13000

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                     const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edges,
                                     size_t count) {
  return answer([&] {
    require_plain(edges, count);
    connect(graph, from, to, count);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t* out,
                                         cudaGraphEdgeData* edges,
                                         size_t* count) {
  return answer([&] {
    list(get(node)->after, out, count);
    if (edges != nullptr && out != nullptr)
      std::fill_n(edges, *count, cudaGraphEdgeData{});
  });
}

#else

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                     const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
  return answer([&] { connect(graph, from, to, count); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t* out, size_t* count) {
  return answer([&] { list(get(node)->after, out, count); });
}

#endif

// ---- Instantiated graphs ---------------------------------------------------

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return answer([&] { instantiate(executable, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable,
                                          cudaGraph_t graph,
                                          unsigned long long flags) {
  return answer([&] { instantiate(executable, graph, flags); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return answer([&] {
    get(executable);
    executables().destroy(executable);
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return answer([&] {
    const cudaGraphExecUpdateResult result =
        update(*get(executable), *instantiate(*get(graph)));
    if (info != nullptr) {
      *info = {};
      info->result = result;
    }
    require(result == cudaGraphExecUpdateSuccess,
            cudaErrorGraphExecUpdateFailure,
            "the other graph has other nodes or edges");
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node,
    const cudaKernelNodeParams* parameters) {
  return answer([&] { change(executable, node, work_of(parameters)); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node,
    const cudaMemcpy3DParms* parameters) {
  return answer([&] { change(executable, node, work_of(parameters)); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable,
                                               cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return answer(
      [&] { change(executable, node, copy_work(to, from, bytes, kind)); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node,
    const cudaMemsetParams* parameters) {
  return answer([&] { change(executable, node, work_of(parameters)); });
}

cudaError_t cudaGraphExecHostNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node,
    const cudaHostNodeParams* parameters) {
  return answer([&] { change(executable, node, work_of(parameters)); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return answer([&] {
    get(executable);
    require_stream(stream);
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return answer([&] { launch_graph(get(executable), stream); });
}

// ---- The names under --default-stream per-thread ---------------------------

decltype(cudaGraphUpload) cudaGraphUpload_ptsz
    __attribute__((alias("cudaGraphUpload")));
decltype(cudaGraphLaunch) cudaGraphLaunch_ptsz
    __attribute__((alias("cudaGraphLaunch")));

}  // extern "C"
