// Which nodes must run even if nobody reads their outputs.
#pragma once

#include <unordered_set>

#include "ir/graph.h"

namespace ms {

class EffectAnalysis {
 public:
  explicit EffectAnalysis(const Module& module);

  // Random numbers, I/O, communication; and calls of functions that have such nodes, or may have.
  bool HasEffect(const Node& node) const;
  bool HasEffect(const Graph* graph) const { return graphs_.contains(graph); }

 private:
  // Graphs that have effects, refer to graphs that have, or call a function that they were given
  // while some graph has.
  std::unordered_set<const Graph*> graphs_;
};

}  // namespace ms
