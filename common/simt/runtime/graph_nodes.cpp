// Nodes of graphs one by one: what they do is asked and changed, and whether
// they take part; what they wait for; and what graphs keep for the program.
#include <algorithm>
#include <fstream>

#include "common/simt/core/conditions.h"
#include "common/simt/runtime/graphs.h"

namespace simt {
namespace {

template <class T>
const T& at(const T* pointer, const char* name) {
  require(pointer != nullptr, cudaErrorInvalidValue, name, " is null");
  return *pointer;
}

// As a node of a graph.
bool touches_memory(const Node& node) {
  return node.work.memory || node.work.frees;
}

// ---- What a node does ------------------------------------------------------

// What it was made from, if it is of that type.
template <class T>
void describe(cudaGraphNode_t handle, cudaGraphNodeType type, T* out) {
  const auto node = node_of(handle);
  require(out != nullptr, cudaErrorInvalidValue, "the result's place is null");
  require(node->work.type == type, cudaErrorInvalidValue,
          "the node is of another type");
  const T* const known = std::get_if<T>(&node->work.description);
  if (known == nullptr)
    throw Lacking{"description of a node that was captured from such a call"};
  *out = *known;
}

const Bodies& bodies_of(cudaGraphNode_t handle) {
  const auto node = node_of(handle);
  require(node->work.bodies != nullptr, cudaErrorInvalidValue,
          "the node consists of no graph");
  return *node->work.bodies;
}

#if CUDART_VERSION >= 13000

Choice choice_of(const cudaConditionalNodeParams& given) {
  using How = Choice::How;
  require(given.type <= cudaGraphCondTypeSwitch, cudaErrorInvalidValue,
          "conditions of the type ", int(given.type));
  const How how = given.type == cudaGraphCondTypeWhile    ? How::kWhile
                  : given.type == cudaGraphCondTypeSwitch ? How::kSwitch
                                                          : How::kIf;
  const bool fits =
      given.size >= 1 &&
      (how == How::kSwitch || given.size <= (how == How::kIf ? 2u : 1u));
  require(fits, cudaErrorInvalidValue, "size = ", given.size,
          ": 'if' has one or two graphs, 'while' has one");
  return {how, given.handle, given.size};
}

// Some of what describes it is filled in: memory, graphs.
Work work_of(cudaGraphNodeParams& given) {
  switch (given.type) {
    case cudaGraphNodeTypeKernel: {
      const auto& kernel = given.kernel;
      return kernel_work({kernel.func, kernel.gridDim, kernel.blockDim,
                          kernel.sharedMemBytes, kernel.kernelParams,
                          kernel.extra});
    }
    case cudaGraphNodeTypeMemcpy:
      return copy_work(given.memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const auto& fill = given.memset;
      return fill_work({fill.dst, fill.pitch, fill.value, fill.elementSize,
                        fill.width, fill.height});
    }
    case cudaGraphNodeTypeHost:
      return host_work({given.host.fn, given.host.userData});
    case cudaGraphNodeTypeGraph:
      return child_work(given.graph.graph);
    case cudaGraphNodeTypeEmpty:
      return {cudaGraphNodeTypeEmpty, [] {}};
    case cudaGraphNodeTypeWaitEvent:
      return wait_work(given.eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return record_work(given.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParams memory = {};
      memory.poolProps = given.alloc.poolProps;
      memory.accessDescs = given.alloc.accessDescs;
      memory.accessDescCount = given.alloc.accessDescCount;
      memory.bytesize = given.alloc.bytesize;
      Work work = allocation_work(memory);
      given.alloc.dptr = memory.dptr;
      return work;
    }
    case cudaGraphNodeTypeMemFree:
      return release_work(given.free.dptr);
    case cudaGraphNodeTypeConditional: {
      Work work = conditional_work(choice_of(given.conditional));
      given.conditional.phGraph_out = work.bodies->handles.data();
      return work;
    }
    default:
      require(given.type <= kConditional, cudaErrorInvalidValue,
              "nodes of type ", int(given.type));
      throw Lacking{text("nodes of type ", int(given.type))};
  }
}

// ---- What it waits for -----------------------------------------------------

void disconnect(const Nodes& from, const Nodes& to) {
  for (const Nodes* some : {&from, &to})
    require(std::ranges::none_of(
                *some, [](const auto& node) { return touches_memory(*node); }),
            cudaErrorNotSupported,
            "what allocates or frees memory keeps its edges");
  for (size_t i = 0; i < from.size(); ++i)
    require(std::ranges::count(to[i]->after, from[i]) > 0,
            cudaErrorInvalidValue, "the nodes are not connected");
  for (size_t i = 0; i < from.size(); ++i) std::erase(to[i]->after, from[i]);
}

#endif

// ---- Whether it takes part -------------------------------------------------

Executable::Step& switchable(Executable& executable, cudaGraphNode_t node) {
  Executable::Step& step = executable.step_of(node);
  const cudaGraphNodeType type = step.work.type;
  require(type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
              type == cudaGraphNodeTypeMemset,
          cudaErrorInvalidValue,
          "only kernels, copies and memsets can be left out");
  return step;
}

// ---- What a kernel's launch is told ----------------------------------------

Node& kernel_node(cudaGraphNode_t handle, const std::shared_ptr<Node>& node) {
  require(node->work.kernel != nullptr, cudaErrorInvalidValue, handle,
          " is no kernel's launch");
  return *node;
}

bool only_tunes(cudaLaunchAttributeID which) {
  return which == cudaLaunchAttributeAccessPolicyWindow ||
         which == cudaLaunchAttributeClusterSchedulingPolicyPreference ||
         which == cudaLaunchAttributePriority ||
         int(which) ==
             14 ||  // cudaLaunchAttributePreferredSharedMemoryCarveout
         which == cudaLaunchAttributeMemSyncDomain ||
         which == cudaLaunchAttributeMemSyncDomainMap;
}

// Nodes have no attributes but these.
void require_of_node(cudaLaunchAttributeID which) {
  switch (int(which)) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeCooperative:
    case cudaLaunchAttributeClusterDimension:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case 13:  // cudaLaunchAttributeDeviceUpdatableKernelNode
    case 14:  // cudaLaunchAttributePreferredSharedMemoryCarveout
      return;
    default:
      throw Refused{cudaErrorInvalidValue,
                    text("attribute ", int(which), " is not one of a node")};
  }
}

// ---- What graphs keep ------------------------------------------------------

struct UserReferences {
  std::weak_ptr<UserObject> object;  // graphs may keep it
  std::vector<std::shared_ptr<UserObject>> own;
};

auto& user_objects() {
  static auto* all = new Handles<cudaUserObject_t, UserReferences>;
  return *all;
}

std::shared_ptr<UserObject> object_of(cudaUserObject_t handle) {
  const auto found = user_objects().find(handle);
  const auto object = found ? found->object.lock() : nullptr;
  require(object != nullptr, cudaErrorInvalidValue, handle,
          " is no user object, or one to which nothing refers any more");
  return object;
}

void retain(cudaUserObject_t handle, unsigned count) {
  const auto object = object_of(handle);
  UserReferences references = *user_objects().find(handle);
  references.own.insert(references.own.end(), count, object);
  user_objects().update(handle, references);
}

void release(cudaUserObject_t handle, unsigned count) {
  const auto last = object_of(handle);  // Ends outside of all locks.
  UserReferences references = *user_objects().find(handle);
  require(count <= references.own.size(), cudaErrorInvalidValue,
          "count = ", count, ": the program has ", references.own.size(),
          " references");
  references.own.resize(references.own.size() - count);
  user_objects().update(handle, references);
}

// ---- Pictures --------------------------------------------------------------

const char* kind_of(const Work& work) {
  switch (work.type) {
    case cudaGraphNodeTypeHost:
      return "the host's function";
    case cudaGraphNodeTypeEmpty:
      return "empty";
    case cudaGraphNodeTypeWaitEvent:
      return "waits for an event";
    case cudaGraphNodeTypeEventRecord:
      return "records an event";
    case kConditional:
      return "the condition";
    default:
      return name_of(work);
  }
}

void draw(const Graph& graph, const char* path) {
  std::ofstream out(path);
  out << "digraph {\n";
  std::map<const Node*, size_t> numbers;
  for (const auto& node : graph.nodes) {
    const size_t number = numbers.size();
    numbers[node.get()] = number;
    out << "  n" << number << " [label=\"" << number << ": "
        << kind_of(node->work) << "\"];\n";
  }
  for (const auto& node : graph.nodes)
    for (const auto& before : node->after)
      out << "  n" << numbers[before.get()] << " -> n" << numbers[node.get()]
          << ";\n";
  out << "}\n";
  require(bool(out.flush()), cudaErrorOperatingSystem, path,
          " cannot be written");
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

// ---- What a node does ------------------------------------------------------

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         cudaMemcpy3DParms* out) {
  return answer([&] { describe(node, cudaGraphNodeTypeMemcpy, out); });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* given) {
  return answer([&] { change(node, copy_work(at(given, "pNodeParams"))); });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to,
                                           const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
  return answer([&] { change(node, copy_work(to, from, bytes, kind)); });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                         cudaMemsetParams* out) {
  return answer([&] { describe(node, cudaGraphNodeTypeMemset, out); });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemsetParams* given) {
  return answer([&] { change(node, fill_work(at(given, "pNodeParams"))); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                       cudaHostNodeParams* out) {
  return answer([&] { describe(node, cudaGraphNodeTypeHost, out); });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const cudaHostNodeParams* given) {
  return answer([&] { change(node, host_work(at(given, "pNodeParams"))); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                            cudaGraph_t* graph) {
  return answer([&] {
    require(graph != nullptr, cudaErrorInvalidValue, "pGraph is null");
    const Bodies& bodies = bodies_of(node);
    require(!bodies.choice, cudaErrorInvalidValue,
            "the node is no child graph, but a condition");
    *graph = bodies.handles.at(0);
  });
}

// Copies between the host and a __device__ variable.
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node,
                                           cudaGraph_t graph,
                                           const cudaGraphNode_t* after,
                                           size_t count, const void* symbol,
                                           const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return answer([&] {
    add(node, graph, after, count,
        to_symbol_work(symbol, from, bytes, offset, kind));
  });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(
    cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
    size_t count, void* to, const void* symbol, size_t bytes, size_t offset,
    cudaMemcpyKind kind) {
  return answer([&] {
    add(node, graph, after, count,
        from_symbol_work(to, symbol, bytes, offset, kind));
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                 const void* symbol,
                                                 const void* from, size_t bytes,
                                                 size_t offset,
                                                 cudaMemcpyKind kind) {
  return answer(
      [&] { change(node, to_symbol_work(symbol, from, bytes, offset, kind)); });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node,
                                                   void* to, const void* symbol,
                                                   size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return answer(
      [&] { change(node, from_symbol_work(to, symbol, bytes, offset, kind)); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t executable, cudaGraphNode_t node, const void* symbol,
    const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return answer([&] {
    change(executable, node, to_symbol_work(symbol, from, bytes, offset, kind));
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
    const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return answer([&] {
    change(executable, node, from_symbol_work(to, symbol, bytes, offset, kind));
  });
}

// ---- Events ----------------------------------------------------------------

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node,
                                        cudaGraph_t graph,
                                        const cudaGraphNode_t* after,
                                        size_t count, cudaEvent_t event) {
  return answer([&] { add(node, graph, after, count, record_work(event)); });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after,
                                      size_t count, cudaEvent_t event) {
  return answer([&] { add(node, graph, after, count, wait_work(event)); });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node,
                                             cudaEvent_t* event) {
  return answer([&] { describe(node, cudaGraphNodeTypeEventRecord, event); });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node,
                                           cudaEvent_t* event) {
  return answer([&] { describe(node, cudaGraphNodeTypeWaitEvent, event); });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node,
                                             cudaEvent_t event) {
  return answer([&] { change(node, record_work(event)); });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node,
                                           cudaEvent_t event) {
  return answer([&] { change(node, wait_work(event)); });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable,
                                                 cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return answer([&] { change(executable, node, record_work(event)); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable,
                                               cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return answer([&] { change(executable, node, wait_work(event)); });
}

// ---- Nodes come and go -----------------------------------------------------

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return answer([&] {
    const auto node = node_of(handle);
    require(!touches_memory(*node), cudaErrorNotSupported,
            "what allocates or frees memory stays in its graph");
    remove_node(*node->graph, node);
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out,
                                     cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return answer([&] {
    require(out != nullptr, cudaErrorInvalidValue, "pNode is null");
    for (const auto& node : graph_of(clone)->nodes) {
      if (node->original != original) continue;
      *out = node->handle;
      return;
    }
    throw Refused{cudaErrorInvalidValue, "the clone has no copy of that node"};
  });
}

#if CUDART_VERSION >= 13000

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, size_t count,
                             cudaGraphNodeParams* given) {
  return answer([&] {
    at(given, "nodeParams");
    require_plain(edges, count);
    add(node, graph, after, count, work_of(*given));
  });
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
                                   cudaGraphNodeParams* given) {
  return answer([&] {
    at(given, "nodeParams");
    change(node, work_of(*given));
  });
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable,
                                       cudaGraphNode_t node,
                                       cudaGraphNodeParams* given) {
  return answer([&] {
    at(given, "nodeParams");
    if (given->type == cudaGraphNodeTypeGraph)
      return change_child(executable, node, given->graph.graph);
    change(executable, node, work_of(*given));
  });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                             cudaGraph_t graph, unsigned value,
                                             unsigned flags) {
  return answer([&] {
    require(handle != nullptr && flags <= cudaGraphCondAssignDefault,
            cudaErrorInvalidValue, "pHandle_out is null, or unknown flags");
    const auto of = graph_of(graph);
    *handle = create_condition(value);
    if (flags == cudaGraphCondAssignDefault)
      of->conditions.push_back({*handle, value});
  });
}

// ---- What it waits for -----------------------------------------------------

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                              cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              size_t* count) {
  return answer([&] {
    Nodes first, second;
    for (const auto& node : graph_of(graph)->nodes)
      for (const auto& before : node->after) {
        first.push_back(before);
        second.push_back(node);
      }
    require((from == nullptr) == (to == nullptr), cudaErrorInvalidValue,
            "one of the arrays is null");
    size_t room = count ? *count : 0;
    list(first, from, count, data);
    list(second, to, &room);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                           cudaGraphNode_t* out,
                                           cudaGraphEdgeData* data,
                                           size_t* count) {
  return answer([&] {
    const auto before = node_of(node);
    Nodes found;
    for (const auto& other : before->graph->nodes)
      if (std::ranges::count(other->after, before) > 0) found.push_back(other);
    list(found, out, count, data);
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                        const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*,
                                        size_t count) {
  return answer([&] {
    graph_of(graph);
    disconnect(nodes_of(from, count), nodes_of(to, count));
  });
}

#endif

// ---- Instantiated graphs ---------------------------------------------------

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable,
                                    cudaGraphNode_t node, unsigned enabled) {
  return answer([&] {
    const auto of = executable_of(executable);
    switchable(*of, node).is_enabled = enabled != 0;
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable,
                                    cudaGraphNode_t node, unsigned* enabled) {
  return answer([&] {
    require(enabled != nullptr, cudaErrorInvalidValue, "isEnabled is null");
    const auto of = executable_of(executable);
    *enabled = switchable(*of, node).is_enabled;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable,
                                  unsigned long long* flags) {
  return answer([&] {
    require(flags != nullptr, cudaErrorInvalidValue, "flags is null");
    // An H200 leaves out that nodes have priorities.
    constexpr unsigned long long kHidden =
        cudaGraphInstantiateFlagUseNodePriority;
    *flags = executable_of(executable)->flags & ~kHidden;
  });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable,
                                           cudaGraph_t graph,
                                           cudaGraphInstantiateParams* given) {
  if (const cudaError_t error = answer([&] { at(given, "instantiateParams"); }))
    return error;
  // When it is uploaded only tunes.
  const cudaError_t error = cudaGraphInstantiate(
      executable, graph, given->flags & ~cudaGraphInstantiateFlagUpload);
  given->errNode_out = nullptr;
  given->result_out =
      error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
  return error;
}

// ---- What a kernel's launch is told ----------------------------------------

cudaError_t cudaGraphKernelNodeSetAttribute(
    cudaGraphNode_t handle, cudaLaunchAttributeID which,
    const cudaLaunchAttributeValue* value) {
  return answer([&] {
    const auto node = node_of(handle);
    Node& kernel = kernel_node(handle, node);
    require_of_node(which);
    if (!only_tunes(which))
      throw Lacking{text("attribute ", int(which), " of a kernel's node")};
    kernel.attributes[which] = at(value, "value_in");
  });
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t handle,
                                            cudaLaunchAttributeID which,
                                            cudaLaunchAttributeValue* value) {
  return answer([&] {
    require(value != nullptr, cudaErrorInvalidValue, "value_out is null");
    const auto node = node_of(handle);
    Node& kernel = kernel_node(handle, node);
    require_of_node(which);
    if (!only_tunes(which))
      throw Lacking{text("attribute ", int(which), " of a kernel's node")};
    const auto known = kernel.attributes.find(which);
    *value = known == kernel.attributes.end() ? cudaLaunchAttributeValue{}
                                              : known->second;
  });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to,
                                              cudaGraphNode_t from) {
  return answer([&] {
    const auto source = node_of(from), target = node_of(to);
    kernel_node(to, target).attributes = kernel_node(from, source).attributes;
  });
}

// ---- What graphs keep ------------------------------------------------------

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer,
                                 cudaHostFn_t destroy, unsigned count,
                                 unsigned flags) {
  return answer([&] {
    require(object != nullptr && destroy != nullptr && count > 0,
            cudaErrorInvalidValue,
            "object_out or destroy is null, or there are no references");
    require(flags == cudaUserObjectNoDestructorSync, cudaErrorInvalidValue,
            "flags must be cudaUserObjectNoDestructorSync");
    const auto made = std::make_shared<UserObject>(destroy, pointer);
    *object = user_objects().create({made, {}});
    retain(*object, count);
  });
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return answer([&] {
    require(count != 0, cudaErrorInvalidValue, "count is 0");
    retain(object, count);
  });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return answer([&] { release(object, count); });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph,
                                      cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return answer([&] {
    const auto of = graph_of(graph);
    const auto kept = object_of(object);
    require(count > 0 && flags <= cudaGraphUserObjectMove,
            cudaErrorInvalidValue, "count is 0, or unknown flags");
    if (flags == cudaGraphUserObjectMove) release(object, count);
    of->objects.insert(of->objects.end(), count, kept);
  });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph,
                                       cudaUserObject_t object,
                                       unsigned count) {
  return answer([&] {
    const auto of = graph_of(graph);
    const auto kept = object_of(object);
    require(std::ranges::count(of->objects, kept) >= std::ptrdiff_t{count},
            cudaErrorInvalidValue, "the graph has fewer references");
    for (unsigned i = 0; i < count; ++i)
      of->objects.erase(std::ranges::find(of->objects, kept));
  });
}

// ---- Pictures --------------------------------------------------------------

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path,
                                   unsigned) {
  return answer([&] {
    at(path, "path");
    draw(*graph_of(graph), path);
  });
}

}  // extern "C"
