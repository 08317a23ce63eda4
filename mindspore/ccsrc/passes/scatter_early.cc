// ReduceScatter ops of gradients, which the program makes one after the other behind the backward
// pass, go to where their gradients are made: of a gradient that has been added up over processes
// only this one's rows are kept, so that there is never more than one that is whole.
//
// They keep their order among each other and to all else that processes do together: it must be the
// same in all of them, though what they compute between may be ordered otherwise in each.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/applies.h"
#include "passes/effects.h"
#include "passes/passes.h"

namespace ms {
namespace {

bool MoveUp(Graph* graph, const EffectAnalysis& effects) {
  static const OpDef& scatter = Ops().Get("ReduceScatter");
  std::vector<Node*> order, nodes;
  for (Node* node : graph->nodes()) {
    (node->kind == NodeKind::kApply ? nodes : order).push_back(node);
  }
  std::unordered_map<const Node*, size_t> place;
  for (size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
  std::unordered_map<size_t, std::vector<Node*>> before;
  std::unordered_set<const Node*> moved;
  size_t least = 0;  // no op of all processes may go above this place
  for (size_t i = 0; i < nodes.size(); ++i) {
    Node* node = nodes[i];
    // Random numbers are drawn by each process for itself.
    if (!effects.HasEffect(*node) || node->op->effect == Effect::kRandom) continue;
    auto made = place.find(node->inputs.empty() ? nullptr : node->inputs[0].node);
    size_t target = std::max(least, made == place.end() ? 0 : made->second + 1);
    bool is_moved = made != place.end() && moved.contains(made->first);
    if (node->op != &scatter || target >= i || is_moved) {
      least = i + 1;
      continue;
    }
    before[target].push_back(node);
    moved.insert(node);
    least = target;
  }
  if (moved.empty()) return false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (Node* node : before[i]) order.push_back(node);
    if (!moved.contains(nodes[i])) order.push_back(nodes[i]);
  }
  graph->Reorder(std::move(order));
  return true;
}

}  // namespace

bool ScatterEarly(Module& module) {
  bool changed = false;
  EffectAnalysis effects(module);
  for (const auto& graph : module.graphs()) {
    if (Applies(*graph, "ReduceScatter")) changed |= MoveUp(graph.get(), effects);
  }
  return changed;
}

}  // namespace ms
