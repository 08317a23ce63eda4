// Which nodes of a graph run, and in which order. A Call that knows its function (a Partial, or a
// Switch between two) applies it on the spot, so that branches and loops make no closures.
#pragma once

#include <vector>

#include "ir/control.h"

namespace ms {

// What a Call applies: leaves[0], or with a condition one of two. A leaf is a Partial or any other
// function value.
struct Callee {
  Var condition;
  Var leaves[2];
  int count = 1;
};
Callee CalleeOf(const Node& call);
bool IsPartial(const Var& function);

// How a node uses a value: reads its elements, or holds it beyond its own run (so it needs memory
// of its own).
enum class Use : uint8_t { kRead, kHold };

// Calls f(var, use) for all that running the node needs.
template <class F>
void VisitUses(const Node& node, F&& f) {
  if (node.op == Control().call) {
    Callee callee = CalleeOf(node);
    if (callee.condition) f(callee.condition, Use::kRead);
    for (int i = 0; i < callee.count; ++i) {
      const Var& leaf = callee.leaves[i];
      if (IsPartial(leaf)) {
        for (const Var& v : leaf.node->inputs) f(v, Use::kHold);
      } else {
        f(leaf, Use::kHold);
      }
    }
    for (size_t i = 1; i < node.inputs.size(); ++i) f(node.inputs[i], Use::kHold);
  } else if (node.op == Control().select) {
    f(node.inputs[0], Use::kRead);
    f(node.inputs[1], Use::kHold);
    f(node.inputs[2], Use::kHold);
  } else {
    Use use = node.op->structural ? Use::kHold : Use::kRead;
    for (const Var& v : node.inputs) f(v, use);
  }
}

// The nodes that run, views included, in program order but for one freedom: elementwise ops and
// updates that only make new values of parameters run as soon as what they need is there, a few
// megabytes of gradients at a time, so that gradients die early.
struct StepOrder {
  std::vector<const Node*> nodes;
  std::vector<std::pair<size_t, size_t>> updates;  // [begin, end): steps of such a batch
};
StepOrder PlanOrder(const Graph& graph);

}  // namespace ms
