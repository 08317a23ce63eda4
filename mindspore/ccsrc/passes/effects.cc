#include "passes/effects.h"

#include <algorithm>
#include <unordered_map>

#include "ir/control.h"

namespace ms {

EffectAnalysis::EffectAnalysis(const Module& module) {
  std::unordered_map<const Graph*, std::vector<const Graph*>> users;
  std::vector<const Graph*> pending;
  for (const auto& graph : module.graphs()) {
    for (const Graph* used : ReferencedGraphs(*graph)) users[used].push_back(graph.get());
    bool own = std::any_of(graph->nodes().begin(), graph->nodes().end(), [](const Node* n) {
      return n->kind == NodeKind::kApply && n->op->effect != Effect::kNone;
    });
    if (own) pending.push_back(graph.get());
  }
  while (!pending.empty()) {
    const Graph* graph = pending.back();
    pending.pop_back();
    if (!graphs_.insert(graph).second) continue;
    for (const Graph* user : users[graph]) pending.push_back(user);
  }
}

bool EffectAnalysis::HasEffect(const Node& node) const {
  if (node.kind != NodeKind::kApply) return false;
  if (node.op->effect != Effect::kNone) return true;
  if (node.op != Control().call || graphs_.empty()) return false;
  std::vector<const Node*> functions{node.inputs[0].node};
  while (!functions.empty()) {
    const Node& f = *functions.back();
    functions.pop_back();
    if (const Graph* graph = PartialGraph(&f)) {
      if (HasEffect(graph)) return true;
    } else if (f.op == Control().select) {
      functions.insert(functions.end(), {f.inputs[1].node, f.inputs[2].node});
    } else if (f.op == Control().vjp) {
      functions.push_back(f.inputs[0].node);
    } else {
      return true;  // a parameter, or what a call returned: some function of a module that has
                    // effects
    }
  }
  return false;
}

}  // namespace ms
