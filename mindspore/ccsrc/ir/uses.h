// How nodes use values when they run. A Call that knows its function (a Partial, or a Switch
// between two) applies it on the spot, so that branches and loops make no closures.
#pragma once

#include "ir/control.h"

namespace ms {

// What a Call applies: leaves[0], or with a condition one of two. A leaf is a Partial or any other
// function value.
struct Callee {
  Var condition;
  Var leaves[2];
  int count = 1;
};

inline Callee CalleeOf(const Node& call) {
  const Var& function = call.inputs[0];
  const Node& node = *function.node;
  if (node.op && node.op == Control().select) {
    return {node.inputs[0], {node.inputs[1], node.inputs[2]}, 2};
  }
  return {{}, {function, {}}, 1};
}

inline bool IsPartial(const Var& function) {
  return function.node->op && function.node->op == Control().partial;
}

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

inline Vars OutputsOf(const Node& node) {
  Vars outputs;
  for (uint32_t i = 0; i < node.outputs.size(); ++i)
    outputs.push_back({const_cast<Node*>(&node), i});
  return outputs;
}

// The value whose memory a view shows.
inline Var WithoutViews(Var v) {
  while (v.node->op && v.node->op->view) v = v.node->inputs[0];
  return v;
}

}  // namespace ms
