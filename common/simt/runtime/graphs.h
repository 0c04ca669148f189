// Graphs: work that is put together once and launched many times. Its parts are
// added by hand (graphs.cpp) or recorded from streams
// (capture.cpp).
#pragma once
#include <memory>
#include <vector>

#include "common/simt/runtime/runtime.h"

namespace simt {

struct Node {
  Work work;
  std::vector<std::shared_ptr<Node>> after;  // what must be done before it
  cudaGraphNode_t handle = nullptr;          // its own
};
using Nodes = std::vector<std::shared_ptr<Node>>;

struct Graph {
  Nodes nodes;  // in the order in which they were added
};

// Adds a node that comes after others.
std::shared_ptr<Node> add_node(Graph& graph, Work work, Nodes after);

// What a node of a graph does; refuses what is none.
const Work& work_of_node(cudaGraphNode_t node);

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
Work copy_work(const cudaMemcpy3DParms& parameters);
Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work fill_work(const cudaMemsetParams& parameters);

}  // namespace simt
