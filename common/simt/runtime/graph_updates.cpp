// Other work for nodes of graphs: of the same type, as far as CUDA allows it.
#include <algorithm>
#include <set>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/graphs.h"

namespace simt {
namespace {

// Gives a node other work of the same type.
void replace(Work& old, Work work) {
  require(old.type == work.type, cudaErrorInvalidValue,
          "the node is of another type");
  if (old.launches_clusters)
    throw Lacking{"way to change a node that launches clusters"};
  if (work.type == kConditional)
    throw Refused{cudaErrorNotSupported,
                  "what depends on a condition cannot be changed"};
  require_possible(work);
  old = std::move(work);
}

// ---- Within an instantiated graph ------------------------------------------

bool is_row(const cudaMemsetParams& p) { return p.height <= 1; }
bool is_row(const cudaMemcpy3DParms& p) {
  return p.extent.height <= 1 && p.extent.depth <= 1;
}

bool are_as_large(const cudaMemsetParams& a, const cudaMemsetParams& b) {
  return a.width == b.width && a.height == b.height &&
         a.elementSize == b.elementSize;
}
bool are_as_large(const cudaMemcpy3DParms& a, const cudaMemcpy3DParms& b) {
  return a.extent.width == b.extent.width &&
         a.extent.height == b.extent.height && a.extent.depth == b.extent.depth;
}

bool go_the_same_way(const cudaMemsetParams&, const cudaMemsetParams&) {
  return true;
}
bool go_the_same_way(const cudaMemcpy3DParms& a, const cudaMemcpy3DParms& b) {
  return a.kind == b.kind;
}

// Of fills and copies, rows may change, but for the kind of a copy.
template <class T>
bool may_become(const Work& old, const Work& fresh) {
  const T* const before = std::get_if<T>(&old.description);
  const T* const now = std::get_if<T>(&fresh.description);
  if (before == nullptr || now == nullptr) return true;
  return go_the_same_way(*before, *now) &&
         ((is_row(*before) && is_row(*now)) || are_as_large(*before, *now));
}

bool may_become(const Work& old, const Work& fresh) {
  return may_become<cudaMemsetParams>(old, fresh) &&
         may_become<cudaMemcpy3DParms>(old, fresh);
}

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

// What keeps the one graph from becoming the other, and at which of its nodes.
struct Difference {
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  cudaGraphNode_t node = nullptr;
};
Difference compare(const Executable& old, const Executable& fresh) {
  if (old.steps.size() != fresh.steps.size())
    return {cudaGraphExecUpdateErrorTopologyChanged};
  for (size_t i = 0; i < old.steps.size(); ++i) {
    const Work &before = old.steps[i].work, &now = fresh.steps[i].work;
    const cudaGraphNode_t node = fresh.steps[i].node;
    if (before.type != now.type)
      return {cudaGraphExecUpdateErrorNodeTypeChanged, node};
    if (!are_alike(old, fresh, i))
      return {cudaGraphExecUpdateErrorTopologyChanged, node};
    if (!may_become(before, now))
      return {cudaGraphExecUpdateErrorParametersChanged, node};
    if (!before.parts || !now.parts) continue;
    const Difference within = compare(*before.parts, *now.parts);
    if (within.result != cudaGraphExecUpdateSuccess) return within;
  }
  return {};
}

Difference update(Executable& old, const Executable& fresh) {
  const Difference difference = compare(old, fresh);
  if (difference.result != cudaGraphExecUpdateSuccess) return difference;
  if (uses_memory(fresh))
    throw Lacking{"way to update graphs that allocate memory"};
  for (size_t i = 0; i < old.steps.size(); ++i)
    old.steps[i].work = fresh.steps[i].work;
  return difference;
}

bool is_of_graph(const void* pointer) {
  const auto found = allocations().find(reinterpret_cast<uint64_t>(pointer));
  return found && found->kept;
}

}  // namespace

// Memory that a graph allocates is not there yet.
void require_possible(const Work& work) {
  if (const auto* fill = std::get_if<cudaMemsetParams>(&work.description)) {
    require(fill->width != 0 && fill->height != 0, cudaErrorInvalidValue,
            "there is nothing to fill");
    if (is_of_graph(fill->dst)) return;
  }
  if (const auto* copy = std::get_if<cudaMemcpy3DParms>(&work.description))
    if (is_of_graph(copy->srcPtr.ptr) || is_of_graph(copy->dstPtr.ptr)) return;
  require(!work.is_nothing, cudaErrorInvalidValue, "there is nothing to copy");
  if (work.check) work.check();
}

void change(cudaGraphNode_t node, Work work) {
  replace(node_of(node)->work, std::move(work));
}

void change(cudaGraphExec_t executable, cudaGraphNode_t node, Work work) {
  Work& old = executable_of(executable)->step_of(node).work;
  require(may_become(old, work), cudaErrorInvalidValue,
          "only the rows of copies and memsets change, and no copy's kind");
  replace(old, std::move(work));
}

void change_child(cudaGraphExec_t executable, cudaGraphNode_t node,
                  cudaGraph_t child) {
  const auto bodies = node_of(node)->work.bodies;
  require(bodies && !bodies->choice, cudaErrorInvalidValue,
          "the node is no child graph");
  const auto graph = graph_of(child);
  require_usable_within(*graph);
  const auto fresh = instantiate(*graph);
  require(compare(*instantiate(*graph_of(bodies->handles[0])), *fresh).result ==
              cudaGraphExecUpdateSuccess,
          cudaErrorGraphExecUpdateFailure,
          "the other graph has other nodes or edges");
  change(executable, node, graph_work(fresh));
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return answer([&] {
    const Difference difference =
        update(*executable_of(executable), *instantiate(*graph_of(graph)));
    if (info != nullptr) {
      *info = {};
      info->result = difference.result;
      info->errorNode = difference.node;
    }
    require(difference.result != cudaGraphExecUpdateErrorParametersChanged,
            cudaErrorGraphExecUpdateFailure,
            "only the rows of copies and memsets change, and no copy's kind");
    require(difference.result == cudaGraphExecUpdateSuccess,
            cudaErrorGraphExecUpdateFailure,
            "the other graph has other nodes or edges");
  });
}

}  // extern "C"
