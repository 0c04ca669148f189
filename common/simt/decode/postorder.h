// The order in which a search of a graph is done with its nodes.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace simt {

// What can be reached from `first`: each behind all that is found through it.
template <class Node>
std::vector<Node> postorder(const std::vector<std::vector<Node>>& next,
                            Node first) {
  std::vector<Node> order;
  std::vector<bool> seen(next.size());
  std::vector<std::pair<Node, size_t>> stack{{first, 0}};
  seen[first] = true;
  while (!stack.empty()) {
    auto& [node, k] = stack.back();
    if (k == next[node].size()) {
      order.push_back(node);
      stack.pop_back();
    } else if (const Node to = next[node][k++]; !seen[to]) {
      seen[to] = true;
      stack.push_back({to, 0});
    }
  }
  return order;
}

}  // namespace simt
