// f(x) beside grad(f)(x), as training steps have it, must run f once - also when f draws random
// numbers, for the gradient is that of the run the user sees. Equal functions must be one Var
// already (MergeEqualNodes).
#include <algorithm>
#include <map>

#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

namespace ms {
namespace {

struct VarLess {
  bool operator()(const Vars& a, const Vars& b) const {
    auto key = [](const Var& v) { return std::pair(v.node->id, v.index); };
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [&](const Var& x, const Var& y) { return key(x) < key(y); });
  }
};

struct Calls {
  std::vector<Node*> plain;
  std::vector<Node*> vjp;
};

// By (function, arguments).
std::map<Vars, Calls, VarLess> FindCalls(const Graph& graph) {
  std::map<Vars, Calls, VarLess> calls;
  for (Node* node : graph.nodes()) {
    if (node->op != Control().call) continue;
    Vars key = node->inputs;
    const Node& f = *key[0].node;
    if (f.op == Control().vjp) {
      key[0] = f.inputs[0];
      calls[std::move(key)].vjp.push_back(node);
    } else {
      calls[std::move(key)].plain.push_back(node);
    }
  }
  return calls;
}

// Every plain call with its partner: the nearest earlier call of Vjp, else the next one; each
// partner has one.
std::map<const Node*, Node*> Pair(const std::map<Vars, Calls, VarLess>& calls) {
  std::map<const Node*, Node*> partner;
  for (const auto& [key, both] : calls) {
    for (Node* vjp : both.vjp) {
      Node* best = nullptr;
      for (Node* plain : both.plain) {
        if (partner.contains(plain)) continue;
        if (!best || plain->id < vjp->id) best = plain;
      }
      if (!best) continue;
      partner[best] = vjp;
      partner[vjp] = best;
    }
  }
  return partner;
}

bool MergeIn(Graph* graph) {
  auto partner = Pair(FindCalls(*graph));
  if (partner.empty()) return false;
  Rewriter rewriter(graph);
  std::map<const Node*, Vars> merged;  // by the call of Vjp
  rewriter.Walk([&](Node& node) {
    auto it = partner.find(&node);
    if (it == partner.end()) return;
    bool plain = node.inputs[0].node->op != Control().vjp;
    const Node* vjp = plain ? it->second : &node;
    auto [made, first] = merged.try_emplace(vjp);
    if (first) {
      Var f = plain ? node.inputs[0] : node.inputs[0].node->inputs[0];
      Var both = rewriter.emitter().Emit(*Control().vjp, {f}, nullptr)[0];
      made->second =
          rewriter.emitter().CallFunction(both, Vars(node.inputs.begin() + 1, node.inputs.end()));
    }
    for (uint32_t i = 0; i < node.outputs.size(); ++i)
      rewriter.Replace({&node, i}, made->second[i]);
    rewriter.Drop(node);
  });
  return true;
}

}  // namespace

bool MergeCalls(Module& module) {
  bool changed = false;
  for (const auto& graph : module.graphs()) changed |= MergeIn(graph.get());
  return changed;
}

}  // namespace ms
