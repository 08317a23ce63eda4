// Which graph refers to which: an order from the leaves upwards, and who is recursive.
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace ms {

class CallGraph {
 public:
  explicit CallGraph(const Module& module);

  // Graphs come after those that they refer to, as far as recursion allows.
  const std::vector<Graph*>& bottom_up() const { return order_; }
  bool IsRecursive(const Graph* graph) const { return recursive_.contains(graph); }

 private:
  std::vector<Graph*> order_;
  std::unordered_set<const Graph*> recursive_;
};

}  // namespace ms
