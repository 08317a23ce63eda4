#include "passes/effects.h"

#include <algorithm>
#include <unordered_map>

#include "ir/control.h"

namespace ms {

namespace {

bool HasOwnEffect(const Node& node) {
  return node.kind == NodeKind::kApply && node.op->effect != Effect::kNone;
}

// What a call may call: graphs, and whether there may be others.
struct Callees {
  std::vector<const Graph*> graphs;
  bool unknown = false;  // a parameter, or what another call returned
};

Callees CalleesOf(const Node& call) {
  Callees callees;
  std::vector<const Node*> functions{call.inputs[0].node};
  while (!functions.empty()) {
    const Node& f = *functions.back();
    functions.pop_back();
    if (const Graph* graph = PartialGraph(&f)) {
      callees.graphs.push_back(graph);
    } else if (f.op == Control().select) {
      functions.insert(functions.end(), {f.inputs[1].node, f.inputs[2].node});
    } else if (IsTransform(f)) {
      functions.push_back(f.inputs[0].node);
    } else {
      callees.unknown = true;
    }
  }
  return callees;
}

}  // namespace

bool MayRefuse(const Node& node) {
  if (node.kind != NodeKind::kApply || node.op->effect != Effect::kNone) return false;
  if (node.op->refuses) return true;
  for (const InputDef& input : node.op->inputs) {
    if (input.types == kIndex) return true;
  }
  return false;
}

EffectAnalysis::EffectAnalysis(const Module& module) {
  std::unordered_map<const Graph*, std::vector<const Graph*>> users;
  std::vector<const Graph*> pending, with_unknown_calls;
  for (const auto& graph : module.graphs()) {
    for (const Graph* used : ReferencedGraphs(*graph)) users[used].push_back(graph.get());
    const auto& nodes = graph->nodes();
    auto calls_unknown = [](const Node* n) {
      return n->op == Control().call && CalleesOf(*n).unknown;
    };
    if (std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return HasOwnEffect(*n); })) {
      pending.push_back(graph.get());
    } else if (std::any_of(nodes.begin(), nodes.end(), calls_unknown)) {
      with_unknown_calls.push_back(graph.get());
    }
  }
  if (pending.empty()) return;
  pending.insert(pending.end(), with_unknown_calls.begin(), with_unknown_calls.end());
  while (!pending.empty()) {
    const Graph* graph = pending.back();
    pending.pop_back();
    if (!graphs_.insert(graph).second) continue;
    for (const Graph* user : users[graph]) pending.push_back(user);
  }
}

bool EffectAnalysis::HasEffect(const Node& node) const {
  if (HasOwnEffect(node)) return true;
  if (node.op != Control().call || graphs_.empty()) return false;
  Callees callees = CalleesOf(node);
  return callees.unknown || std::any_of(callees.graphs.begin(), callees.graphs.end(),
                                        [this](const Graph* g) { return HasEffect(g); });
}

}  // namespace ms
