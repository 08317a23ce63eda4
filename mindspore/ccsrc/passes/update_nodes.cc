#include "passes/update_nodes.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "ir/uses.h"
#include "ops/fused.h"

namespace ms {

bool MayUpdate(const Node& node) {
  if (IsFused(node)) {
    const auto& body = FusedGraph(node)->nodes();
    return std::none_of(body.begin(), body.end(), [](const Node* n) {
      return n->kind == NodeKind::kApply && IsFusableReduction(*n->op);
    });
  }
  const OpDef& op = *node.op;
  return op.effect == Effect::kNone && !op.structural &&
         (op.scalar || op.view || !op.updates.empty());
}

std::vector<bool> FindUpdateNodes(const Graph& graph, const std::function<bool(const Node&)>& may) {
  size_t count = graph.nodes().size();
  std::vector<bool> update(count, false), used(count, false), used_elsewhere(count, false);
  std::vector<bool> of_parameter(graph.outputs().size(), false);
  for (auto [output, input] : graph.updates) of_parameter[static_cast<size_t>(output)] = true;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    uint32_t id = graph.outputs()[i].node->id;
    used[id] = true;
    if (!of_parameter[i]) used_elsewhere[id] = true;
  }
  for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
    const Node& node = **it;
    if (node.kind != NodeKind::kApply) continue;
    update[node.id] = used[node.id] && !used_elsewhere[node.id] && may(node);
    VisitUses(node, [&](const Var& v, Use) {
      used[v.node->id] = true;
      if (!update[node.id]) used_elsewhere[v.node->id] = true;
    });
  }
  return update;
}

namespace {

// What the positions in input `index` must be in, as a key: the tensor that they point into, which
// a gradient has as an attribute, and how.
std::string Bounds(const Node& node, size_t index) {
  std::string key;
  bool has_shape = node.op->AttrIndex("shape") >= 0;
  if (!has_shape && index != 0) key = node.inputs[0].type().shape().ToString();
  for (const char* name : {"shape", "axis", "dim", "batch_dims", "dtype", "of"}) {
    int at = node.op->AttrIndex(name);
    if (at >= 0) key += fmt::format("{} ", ToString((*node.attrs)[static_cast<size_t>(at)]));
  }
  return key;
}

}  // namespace

std::vector<bool> FindGuards(const Graph& graph, const EffectAnalysis& effects) {
  std::vector<bool> guards(graph.nodes().size(), false);
  std::set<std::tuple<const Node*, uint32_t, std::string>> taken;
  for (const Node* node : graph.nodes()) {
    if (node->kind != NodeKind::kApply) continue;
    bool refuses = node->op->refuses;
    for (size_t i = 0; MayRefuse(*node) && i < node->inputs.size(); ++i) {
      if (node->op->InputTypes(i) != kIndex) continue;
      const Var& index = node->inputs[i];
      refuses |= taken.emplace(index.node, index.index, Bounds(*node, i)).second;
    }
    guards[node->id] = refuses || effects.HasEffect(*node);
  }
  return guards;
}

}  // namespace ms
