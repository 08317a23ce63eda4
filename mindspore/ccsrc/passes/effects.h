// Which nodes must run even if nobody reads their outputs, and which may fail.
#pragma once

#include <unordered_set>

#include "ir/graph.h"

namespace ms {

// Whether the values of its inputs, not only their types, decide if a node can be computed: it
// takes positions, which may be out of range, or its op is declared so.
bool MayRefuse(const Node& node);

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
