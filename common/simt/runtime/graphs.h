// Graphs: work that is put together once and launched many times. Its parts are
// added by hand (graphs.cpp), looked at and changed (graph_nodes.cpp), or
// recorded from streams (capture.cpp).
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/runtime.h"

namespace simt {

struct Graph;
struct Node {
  Work work;
  std::vector<std::shared_ptr<Node>> after;  // what must be done before it
  cudaGraphNode_t handle = nullptr;          // its own
  Graph* graph = nullptr;
  cudaGraphNode_t original = nullptr;  // of which it is a copy
  // What only tunes.
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes = {};
};
using Nodes = std::vector<std::shared_ptr<Node>>;

// A pointer of the program's, and who is told when nobody needs it any more.
struct UserObject {
  UserObject(cudaHostFn_t destroy, void* pointer)
      : destroy(destroy), pointer(pointer) {}
  ~UserObject() { destroy(pointer); }
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

  const cudaHostFn_t destroy;
  void* const pointer;
};

// What kernels set to choose: it has this value whenever the graph is launched.
struct Condition {
  uint64_t handle;
  uint32_t value;
};

struct Graph {
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Nodes nodes;  // in the order in which they were added
  std::vector<std::shared_ptr<UserObject>> objects;  // one for each reference
  std::vector<Condition> conditions;
  cudaGraphExec_t executable = nullptr;  // the last one that uses memory
};

// Which of a node's graphs runs, as a number says: the first where it is not 0,
// and else the second, if there is one; the first until it is 0; the
// how-many-th.
struct Choice {
  enum class How { kIf, kWhile, kSwitch } how;
  uint64_t condition;
  unsigned count;  // of graphs
};
// cudaGraphNodeTypeConditional, which CUDA 12.0 does not know.
constexpr auto kConditional = static_cast<cudaGraphNodeType>(13);

// The graphs that a node consists of; the program may ask for them.
struct Bodies {
  Bodies() = default;
  ~Bodies();
  Bodies(const Bodies&) = delete;
  Bodies& operator=(const Bodies&) = delete;
  // It is this one's from now on.
  void add(std::shared_ptr<Graph> graph);

  std::vector<cudaGraph_t> handles;
  std::optional<Choice> choice;  // none: the one there is
};

// A graph that can run: its nodes, each behind those that it waits for.
struct Executable {
  struct Step {
    cudaGraphNode_t node;
    Work work;
    std::vector<cudaGraphNode_t> after;
    bool is_enabled = true;
  };
  std::vector<Step> steps;
  std::vector<void*> leaves;  // memory that it allocates and does not free
  std::vector<Condition> conditions;
  unsigned long long flags = 0;
  std::vector<std::shared_ptr<UserObject>> objects;
  Past launched = {};  // its last launch, which the next one comes behind

  Step& step_of(cudaGraphNode_t node);
};

// What a handle means; refuse what is none.
std::shared_ptr<Graph> graph_of(cudaGraph_t graph);
std::shared_ptr<Node> node_of(cudaGraphNode_t node);
Nodes nodes_of(const cudaGraphNode_t* handles, size_t count);
std::shared_ptr<Executable> executable_of(cudaGraphExec_t executable);

// Adds a node that comes after others.
std::shared_ptr<Node> add_node(Graph& graph, Work work, Nodes after);

// Gives a node other work of the same type: in a graph, or in an instantiated
// one.
void change(cudaGraphNode_t node, Work work);
void change(cudaGraphExec_t executable, cudaGraphNode_t node, Work work);
// The same for one that consists of a graph: of an instantiated one, whose
// other graph has the same nodes and edges.
void change_child(cudaGraphExec_t executable, cudaGraphNode_t node,
                  cudaGraph_t child);

// Refuses at the call what a node could never do.
void require_possible(const Work& work);

// Refuses a graph of which another one cannot be made here.
void require_usable_within(const Graph& graph);

bool uses_memory(const Executable& executable);
Work graph_work(std::shared_ptr<Executable> executable);

// It is no node any more, nor do others wait for it.
void remove_node(Graph& graph, const std::shared_ptr<Node>& node);

std::shared_ptr<Graph> copy_of(const Graph& graph);
std::shared_ptr<Executable> instantiate(const Graph& graph);

// The same for a call, which is told of the node.
void add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
         size_t count, Work work);
// As CUDA's questions for a list are answered: without an array, how long the
// list is; otherwise as much of it as fits, the rest of the array being null.
// `edges` lead to them, and wait for all that is before.
void list(const Nodes& some, cudaGraphNode_t* out, size_t* count,
          cudaGraphEdgeData* edges = nullptr);
// Refuses edges behind which a kernel begins before the other has ended.
void require_plain(const cudaGraphEdgeData* edges, size_t count);

// Hands a graph to the program.
cudaGraph_t publish(std::shared_ptr<Graph> graph);

// Memory that a graph allocates whenever it is launched, always at one place.
struct GraphMemory {
  explicit GraphMemory(const cudaMemAllocNodeParams& parameters);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  cudaMemAllocNodeParams parameters;  // with its address
};
// Allocates in a graph; the address is known at once.
Work allocation_work(size_t bytes, void** address);
Work allocation_work(cudaMemAllocNodeParams& parameters);
Work release_work(void* address);
// What nodes allocate and none of them frees.
std::vector<void*> left_by(const std::vector<const Work*>& nodes);
// A graph that leaves memory is launched: frees what is still there from the
// last time, or refuses.
void clear_for_launch(const std::vector<void*>& left, bool frees,
                      cudaStream_t stream);

struct Allocation;
// A call or a node has freed it.
void note_graph_memory_freed(const Allocation& freed);

// A kernel's launch, checked and with copies of its arguments.
Work kernel_work(const cudaKernelNodeParams& parameters);
Work nothing(cudaGraphNodeType type);  // No bytes: all else may be wrong.
Work copy_work(const cudaMemcpy3DParms& parameters);
Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work to_symbol_work(const void* symbol, const void* from, size_t bytes,
                    size_t offset, cudaMemcpyKind kind);
Work from_symbol_work(void* to, const void* symbol, size_t bytes, size_t offset,
                      cudaMemcpyKind kind);
// Another graph; and graphs that a condition chooses from, empty at first.
Work child_work(cudaGraph_t child);
Work conditional_work(const Choice& choice);
Work fill_work(const cudaMemsetParams& parameters);

}  // namespace simt
