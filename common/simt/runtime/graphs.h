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

// Hands a graph to the program.
cudaGraph_t publish(std::shared_ptr<Graph> graph);

// A kernel's launch, checked and with copies of its arguments.
Work kernel_work(const cudaKernelNodeParams& parameters);
Work copy_work(const cudaMemcpy3DParms& parameters);
Work copy_work(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work fill_work(const cudaMemsetParams& parameters);

}  // namespace simt
