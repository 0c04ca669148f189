// Graphs that a program puts together by hand, and what becomes of any graph:
// it is instantiated, updated, launched.
#include "common/simt/runtime/graphs.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "common/simt/core/conditions.h"

namespace simt {
namespace {

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
std::vector<cudaGraphNode_t> handles_of(const Nodes& some) {
  std::vector<cudaGraphNode_t> handles;
  for (const auto& node : some) handles.push_back(node->handle);
  return handles;
}

// ---- Work ------------------------------------------------------------------

Work work_of(const cudaKernelNodeParams& given) { return kernel_work(given); }
Work work_of(const cudaMemcpy3DParms& given) { return copy_work(given); }
Work work_of(const cudaMemsetParams& given) { return fill_work(given); }
Work work_of(const cudaHostNodeParams& given) { return host_work(given); }

// Of a node of any kind, by the type of what describes it.
template <class Parameters>
Work work_of(const Parameters* given) {
  require(given != nullptr, cudaErrorInvalidValue, "pNodeParams is null");
  return work_of(*given);
}

// What its steps are while the graph is launched, by their nodes.
using Operations = std::map<cudaGraphNode_t, OperationPointer>;

// A chain of nodes shares one queue: what an operation comes behind is told by
// queues, and would grow with the graph. One that begins early comes behind
// none.
uint64_t queue_behind(const Executable::Step& step,
                      const std::vector<OperationPointer>& before,
                      const Nature& nature) {
  for (const OperationPointer& one : before)
    if (!nature.begins_early && !std::exchange(one->continued, true))
      return one->queue;
  return reinterpret_cast<uint64_t>(step.node);
}

OperationPointer begin_step(const Executable::Step& step, Operation* graph,
                            Operations& begun) {
  if (graph == nullptr) return nullptr;
  std::vector<OperationPointer> before;
  for (const cudaGraphNode_t node : step.after) before.push_back(begun[node]);
  const Nature nature = nature_of(step.work);
  return begun[step.node] = begin_node(
             *graph, queue_behind(step, before, nature), nature, before);
}

// One that takes no part still has its place in the order.
std::function<void()> run_of(const Executable::Step& step) {
  return step.is_enabled ? step.work.run : [] {};
}

void run(const Executable& executable) {
  Operations begun;
  for (const Executable::Step& step : executable.steps) {
    if (sticky_error() != cudaSuccess) return;
    do_operation(begin_step(step, current_operation(), begun), run_of(step));
  }
}

bool tells_host(const Executable& executable) {
  return std::ranges::any_of(
      executable.steps, [](const auto& step) { return step.work.tells_host; });
}

std::vector<const Work*> works_of(const Executable& executable) {
  std::vector<const Work*> all;
  for (const Executable::Step& step : executable.steps)
    all.push_back(&step.work);
  return all;
}

bool has_type(const Graph& graph,
              std::initializer_list<cudaGraphNodeType> any) {
  return std::ranges::any_of(graph.nodes, [&](const auto& node) {
    return std::ranges::count(any, node->work.type) > 0;
  });
}

void set_all(const std::vector<Condition>& conditions) {
  for (const Condition& one : conditions) set_condition(one.handle, one.value);
}

// Which of the graphs runs for that value, if any does.
std::optional<size_t> chosen(const Choice& by, uint32_t value) {
  const size_t which = by.how == Choice::How::kSwitch ? value : value == 0;
  return which < by.count ? std::optional(which) : std::nullopt;
}

// Of a loop: all of a turn is done before the next one begins, so they share a
// queue.
OperationPointer begin_turn(Operation* loop) {
  if (loop == nullptr) return nullptr;
  constexpr uint64_t kQueue = 0;
  const OperationPointer turn =
      begin_node(*loop, kQueue, {"the turn", true}, {});
  turn->where = loop->where;
  return turn;
}

void run_chosen(const Choice& by,
                const std::vector<std::shared_ptr<Executable>>& graphs) {
  do {
    const auto which = chosen(by, find_condition(by.condition).value_or(0));
    if (!which) return;
    do_operation(begin_turn(current_operation()),
                 [&] { run(*graphs[*which]); });
  } while (by.how == Choice::How::kWhile && sticky_error() == cudaSuccess);
}

// CUDA's list of what a condition's graph may consist of.
void require_usable_by_choice(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    const cudaGraphNodeType type = node->work.type;
    require(type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeEmpty ||
                type == cudaGraphNodeTypeGraph ||
                type == cudaGraphNodeTypeMemset ||
                type == cudaGraphNodeTypeMemcpy || type == kConditional,
            cudaErrorInvalidValue,
            "a condition's graph consists of kernels, copies, memsets, empty "
            "nodes and other graphs");
  }
}

// What a node does once its graph is instantiated as part of `whole`: with the
// graphs that it consists of, as they are then.
Work work_now(const Node& node, Executable& whole) {
  if (!node.work.bodies) return node.work;
  const Bodies& bodies = *node.work.bodies;
  std::vector<std::shared_ptr<Executable>> graphs;
  for (const cudaGraph_t body : bodies.handles) {
    if (bodies.choice) require_usable_by_choice(*graph_of(body));
    graphs.push_back(instantiate(*graph_of(body)));
    std::ranges::copy(graphs.back()->conditions,
                      std::back_inserter(whole.conditions));
  }
  if (!bodies.choice) return graph_work(graphs.at(0));
  Work work = node.work;
  work.run = [by = *bodies.choice, graphs] { run_chosen(by, graphs); };
  return work;
}

// Before it is launched: events that it waits for.
void come_behind_events(const Executable& executable, const Queue& queue) {
  for (const Executable::Step& step : executable.steps)
    if (step.work.type == cudaGraphNodeTypeWaitEvent)
      come_behind(queue, std::get<cudaEvent_t>(step.work.description));
}

// What happens with those that it records, whose work is queued as `tasks`.
void note_events(const Executable& executable, const Queue& queue,
                 std::map<cudaGraphNode_t, TaskPointer>& tasks) {
  for (const Executable::Step& step : executable.steps)
    if (step.work.type == cudaGraphNodeTypeEventRecord)
      note_recorded(std::get<cudaEvent_t>(step.work.description), queue,
                    tasks[step.node]);
}

// No stream's: a node comes behind those that it names, and no others.
cudaStream_t queue_of_its_own() {
  static std::atomic<uint64_t> count{0};
  constexpr uint64_t kFirst = 3;  // Handles are even, or the default streams'.
  return reinterpret_cast<cudaStream_t>(kFirst + 2 * count++);
}

// Its nodes as tasks of their own: some may wait for others of the graph. Each
// comes behind what the stream did before, and the stream goes on behind all.
std::map<cudaGraphNode_t, TaskPointer> launch_as_tasks(
    const Executable& executable, const Work& work, cudaStream_t stream) {
  const Queue queue = queue_of(stream);
  std::map<cudaGraphNode_t, TaskPointer> done;
  const OperationPointer graph = begin_operation(queue, work);
  Operations begun;
  Tasks all = {perform(queue, [all = executable.conditions] { set_all(all); })};
  for (const Executable::Step& step : executable.steps) {
    Tasks after = {all[0]};
    for (const cudaGraphNode_t node : step.after) after.push_back(done[node]);
    const OperationPointer operation = begin_step(step, graph.get(), begun);
    done[step.node] = perform({queue.device, queue_of_its_own(), false},
                              as_operation(operation, run_of(step)), after);
    all.push_back(done[step.node]);
  }
  perform(
      queue, [] {}, all);
  return done;
}

void launch_graph(const std::shared_ptr<Executable>& executable,
                  cudaStream_t stream) {
  const Work work = graph_work(executable);
  const Queue queue = queue_of(stream);
  clear_for_launch(executable->leaves,
                   executable->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch,
                   stream);
  come_behind(queue, executable->launched);
  come_behind_events(*executable, queue);
  // A function may wait for what the host does after this call.
  if (work.tells_host) begin_tasks();
  std::map<cudaGraphNode_t, TaskPointer> tasks;
  if (there_are_tasks()) {
    tasks = launch_as_tasks(*executable, work, stream);
  } else {
    set_all(executable->conditions);
    issue(stream, work);
  }
  note_events(*executable, queue, tasks);
  executable->launched = past_of(queue);
}

// By what priorities it runs only tunes.
void instantiate(cudaGraphExec_t* out, cudaGraph_t graph,
                 unsigned long long flags) {
  constexpr auto kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                          cudaGraphInstantiateFlagDeviceLaunch |
                          cudaGraphInstantiateFlagUseNodePriority;
  require((flags & ~kKnown) == 0, cudaErrorInvalidValue, "unknown flags ",
          flags);
  require_safe();
  const auto plan = graph_of(graph);
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
    throw Lacking{"graphs that kernels launch"};
  }
  require(out != nullptr, cudaErrorInvalidValue, "pGraphExec is null");
  require(!executables().find(plan->executable), cudaErrorNotSupported,
          "a graph that allocates or frees memory is instantiated once at a "
          "time: call cudaGraphExecDestroy for the other one before");
  const auto executable = instantiate(*plan);
  executable->leaves = left_by(works_of(*executable));
  executable->flags = flags;
  *out = executables().create(executable);
  if (uses_memory(*executable)) plan->executable = *out;
}

// ---- Edges -----------------------------------------------------------------

void connect(cudaGraph_t graph, const cudaGraphNode_t* from,
             const cudaGraphNode_t* to, size_t count) {
  const auto whole = graph_of(graph);
  const Nodes first = nodes_of(from, count), second = nodes_of(to, count);
  for (size_t i = 0; i < count; ++i) {
    require(first[i]->graph == whole.get() && second[i]->graph == whole.get(),
            cudaErrorInvalidValue, "a node is of another graph");
    require(first[i] != second[i], cudaErrorInvalidValue,
            "a node cannot wait for itself");
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

}  // namespace

bool uses_memory(const Executable& executable) {
  return std::ranges::any_of(executable.steps, [](const auto& step) {
    return step.work.memory || step.work.frees;
  });
}

void require_usable_within(const Graph& graph) {
  if (uses_memory(*instantiate(graph)))
    throw Lacking{"graphs that allocate memory within other graphs"};
  if (has_type(graph,
               {cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord}))
    throw Lacking{"graphs with events within other graphs"};
}

Work nothing(cudaGraphNodeType type) {
  Work work = {type, [] {}};
  work.is_nothing = true;
  return work;
}

Work graph_work(std::shared_ptr<Executable> executable) {
  Work work = {cudaGraphNodeTypeGraph, [executable] { run(*executable); }};
  work.tells_host = tells_host(*executable);
  work.parts = executable;
  return work;
}

std::shared_ptr<Node> add_node(Graph& graph, Work work, Nodes after) {
  const auto node =
      std::make_shared<Node>(Node{std::move(work), std::move(after)});
  node->handle = nodes().create(node);
  node->graph = &graph;
  graph.nodes.push_back(node);
  return node;
}

void remove_node(Graph& graph, const std::shared_ptr<Node>& node) {
  std::erase(graph.nodes, node);
  for (const auto& other : graph.nodes) std::erase(other->after, node);
  nodes().destroy(node->handle);
}

Graph::~Graph() {
  for (const auto& node : nodes) simt::nodes().destroy(node->handle);
}

Bodies::~Bodies() {
  for (const cudaGraph_t graph : handles) {
    const auto last = graphs().find(graph);
    graphs().destroy(graph);
  }
}

void Bodies::add(std::shared_ptr<Graph> graph) {
  handles.push_back(publish(std::move(graph)));
}

Executable::Step& Executable::step_of(cudaGraphNode_t node) {
  for (Step& step : steps)
    if (step.node == node) return step;
  throw Refused{cudaErrorInvalidValue,
                "the graph was instantiated without that node"};
}

// What no two nodes of a graph may do: free the same memory, go by the same
// condition.
static void require_first(const Work& work, const Graph& graph) {
  const auto condition_of = [](const Work& one) {
    return one.bodies && one.bodies->choice
               ? std::optional(one.bodies->choice->condition)
               : std::nullopt;
  };
  for (const auto& node : graph.nodes) {
    require(work.frees == nullptr || node->work.frees != work.frees,
            cudaErrorInvalidValue, "another node frees that memory");
    require(
        !condition_of(work) || condition_of(node->work) != condition_of(work),
        cudaErrorInvalidValue, "another node goes by that condition");
  }
}

void add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
         size_t count, Work work) {
  require(out != nullptr, cudaErrorInvalidValue, "pGraphNode is null");
  Nodes before = nodes_of(after, count);
  const std::set distinct(before.begin(), before.end());
  require(distinct.size() == before.size(), cudaErrorInvalidValue,
          "a node is named twice among those in front of it");
  require_possible(work);
  const auto whole = graph_of(graph);
  for (const auto& node : before)
    require(node->graph == whole.get(), cudaErrorInvalidValue,
            "a node in front of it is of another graph");
  require_first(work, *whole);
  *out = add_node(*whole, std::move(work), std::move(before))->handle;
}

void list(const Nodes& some, cudaGraphNode_t* out, size_t* count,
          cudaGraphEdgeData* edges) {
  require(count != nullptr, cudaErrorInvalidValue, "the count is null");
  if (out == nullptr) {
    *count = some.size();
    return;
  }
  for (size_t i = 0; i < *count; ++i) {
    out[i] = i < some.size() ? some[i]->handle : nullptr;
  }
  *count = std::min(*count, some.size());
  if (edges != nullptr) std::fill_n(edges, *count, cudaGraphEdgeData{});
}

std::shared_ptr<Graph> graph_of(cudaGraph_t graph) {
  return get(graphs(), graph, "graph");
}
std::shared_ptr<Executable> executable_of(cudaGraphExec_t executable) {
  return get(executables(), executable, "instantiated graph");
}
std::shared_ptr<Node> node_of(cudaGraphNode_t node) {
  return get(nodes(), node, "node of a graph");
}
Nodes nodes_of(const cudaGraphNode_t* handles, size_t count) {
  require(count == 0 || handles != nullptr, cudaErrorInvalidValue,
          "the array of nodes is null");
  Nodes found;
  for (size_t i = 0; i < count; ++i) found.push_back(node_of(handles[i]));
  return found;
}

// The graph may change or end afterwards: the executable stays what it is.
std::shared_ptr<Executable> instantiate(const Graph& graph) {
  auto executable = std::make_shared<Executable>();
  executable->conditions = graph.conditions;
  executable->objects = graph.objects;
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
      executable->steps.push_back({node->handle, work_now(*node, *executable),
                                   handles_of(node->after)});
      done.insert(node.get());
    }
    require(done.size() > before, cudaErrorInvalidValue,
            "nodes of the graph wait for one another in a circle");
  }
  return executable;
}

std::shared_ptr<Graph> copy_of(const Graph& graph) {
  if (has_type(graph, {kConditional}))
    throw Refused{cudaErrorNotSupported,
                  "graphs with conditions cannot be copied"};
  auto copy = std::make_shared<Graph>();
  copy->objects = graph.objects;
  std::map<const Node*, std::shared_ptr<Node>> copies;
  for (const auto& node : graph.nodes) {
    const auto twin = add_node(*copy, node->work, {});
    twin->original = node->handle;
    twin->attributes = node->attributes;
    if (node->work.bodies)
      twin->work = child_work(node->work.bodies->handles[0]);
    copies[node.get()] = twin;
  }
  for (const auto& node : graph.nodes) {
    for (const auto& before : node->after) {
      copies[node.get()]->after.push_back(copies[before.get()]);
    }
  }
  return copy;
}

void require_plain(const cudaGraphEdgeData* edges, size_t count) {
  for (size_t i = 0; edges != nullptr && i < count; ++i) {
    if (edges[i].from_port != 0 || edges[i].to_port != 0 ||
        edges[i].type != 0) {
      throw Lacking{"edges of graphs that let a kernel begin early"};
    }
  }
}

Work child_work(cudaGraph_t child) {
  const auto graph = graph_of(child);
  require_usable_within(*graph);
  Work work = {cudaGraphNodeTypeGraph, [] {}};
  work.bodies = std::make_shared<Bodies>();
  work.bodies->add(copy_of(*graph));
  return work;
}

Work conditional_work(const Choice& choice) {
  require(find_condition(choice.condition).has_value(), cudaErrorInvalidValue,
          "the handle is none from cudaGraphConditionalHandleCreate");
  Work work = {kConditional, [] {}};
  work.bodies = std::make_shared<Bodies>();
  work.bodies->choice = choice;
  for (unsigned i = 0; i < choice.count; ++i)
    work.bodies->add(std::make_shared<Graph>());
  return work;
}

size_t live_graphs() { return graphs().count() + executables().count(); }

cudaGraph_t publish(std::shared_ptr<Graph> graph) {
  return graphs().create(std::move(graph));
}

}  // namespace simt

using namespace simt;

extern "C" {

// ---- Graphs and their nodes ------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return answer_apart([&] {
    require(graph != nullptr && flags == 0, cudaErrorInvalidValue,
            "pGraph is null, or flags are not 0");
    *graph = publish(std::make_shared<Graph>());
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return answer([&] {
    const auto last = graph_of(graph);  // Ends when the handle is gone.
    graphs().destroy(graph);
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return answer([&] {
    require(clone != nullptr, cudaErrorInvalidValue, "pGraphClone is null");
    if (uses_memory(*instantiate(*graph_of(graph))))
      throw Refused{cudaErrorNotSupported,
                    "graphs that allocate memory cannot be copied"};
    *clone = publish(copy_of(*graph_of(graph)));
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
  return answer([&] { add(node, graph, after, count, child_work(child)); });
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
    const auto kernel = node_of(node)->work.kernel;
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
    *type = node_of(node)->work.type;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out,
                              size_t* count) {
  return answer([&] { list(graph_of(graph)->nodes, out, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out,
                                  size_t* count) {
  return answer([&] { list(roots_of(*graph_of(graph)), out, count); });
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
  return answer([&] { list(node_of(node)->after, out, count, edges); });
}

#else

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                     const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
  return answer([&] { connect(graph, from, to, count); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t* out, size_t* count) {
  return answer([&] { list(node_of(node)->after, out, count); });
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
    executable_of(executable);
    executables().destroy(executable);
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

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable,
                                                 cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return answer([&] { change_child(executable, node, child); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return answer([&] {
    require_waitable(stream);
    executable_of(executable);
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return answer([&] {
    require_waitable(stream);  // A capture has no launches of graphs.
    launch_graph(executable_of(executable), stream);
  });
}

}  // extern "C"
