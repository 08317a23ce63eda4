// Vjp(Partial(g, captures)) becomes Partial(▶g, captures); Vjp of a Switch, the Switch of the ▶ of
// its arms. A function can be differentiated once nothing that it reaches holds a Vjp, so nested
// gradients unfold from the inside.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "grad/closure.h"
#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

namespace ms {
namespace {

using NodeSet = std::unordered_set<const Node*>;

std::vector<Node*> VjpNodes(const Graph& graph) {
  std::vector<Node*> found;
  for (Node* n : graph.nodes()) {
    if (n->op == Control().vjp) found.push_back(n);
  }
  return found;
}

// Graphs from which a Vjp can be reached.
std::unordered_set<const Graph*> GraphsWithVjp(const Module& module) {
  std::unordered_map<const Graph*, std::vector<const Graph*>> users;
  std::vector<const Graph*> pending;
  for (const auto& graph : module.graphs()) {
    for (const Graph* used : ReferencedGraphs(*graph)) users[used].push_back(graph.get());
    if (!VjpNodes(*graph).empty()) pending.push_back(graph.get());
  }
  std::unordered_set<const Graph*> found;
  while (!pending.empty()) {
    const Graph* graph = pending.back();
    pending.pop_back();
    if (!found.insert(graph).second) continue;
    for (const Graph* user : users[graph]) pending.push_back(user);
  }
  return found;
}

// The nodes whose functions must be turned into ▶ functions for `vjp`; nothing when one is not
// known or not ready.
std::optional<std::vector<const Node*>> Sources(const Node& vjp,
                                                const std::unordered_set<const Graph*>& with_vjp) {
  std::vector<const Node*> found;
  NodeSet seen;
  std::vector<const Node*> pending{vjp.inputs[0].node};
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    found.push_back(node);
    if (const Graph* g = PartialGraph(node)) {
      if (with_vjp.contains(g)) return std::nullopt;
    } else if (node->op != Control().select) {
      return std::nullopt;
    }
    for (const Var& v : node->inputs) {
      if (v.type().is_function()) pending.push_back(v.node);
    }
  }
  return found;
}

[[noreturn]] void Refuse(const Node& vjp, std::string_view why) {
  throw Error(ErrorKind::kRuntime, fmt::format("For 'grad', {}.", why)).WithSpan(vjp.span);
}

class GraphExpansion {
 public:
  GraphExpansion(Graph* graph, ClosureGradients& gradients)
      : rewriter_(graph), gradients_(gradients) {}

  void Add(const Node* vjp, const std::vector<const Node*>& sources) {
    vjps_.insert(vjp);
    sources_.insert(sources.begin(), sources.end());
  }

  bool Run() {
    if (vjps_.empty()) return false;
    for (const Node* node : rewriter_.graph()->nodes()) {
      if (node->op == Control().call && vjps_.contains(node->inputs[0].node)) runs_.insert(node);
    }
    rewriter_.Walk([&](Node& node) {
      if (sources_.contains(&node)) MakeForward(node);
      if (node.op == Control().call && runs_.contains(node.inputs[0].node)) MarkZeros(node);
      if (!vjps_.contains(&node)) return;
      Var forward = forward_.at(node.inputs[0].node);
      if (!(forward.type() == node.outputs[0])) {
        Refuse(node, "a function that takes or returns functions cannot be differentiated");
      }
      rewriter_.Replace({&node, 0}, forward);
      rewriter_.Drop(node);
    });
    return true;
  }

 private:
  void MakeForward(const Node& node) {
    Vars inputs = node.inputs;
    for (Var& v : inputs) {
      if (v.type().is_function()) v = forward_.at(v.node);
    }
    GraphEmitter& emitter = rewriter_.emitter();
    Graph* g = PartialGraph(&node);
    forward_[&node] = g ? emitter.Partial(gradients_.Forward(g), inputs)
                        : emitter.Switch(inputs[0], inputs[1], inputs[2]);
  }

  // `node` calls a backward closure.
  void MarkZeros(Node& node) {
    static const OpDef* const zeros = Ops().Find("Zeros");
    static const OpDef* const zeros_like = Ops().Find("ZerosLike");
    for (Var& v : node.inputs) {
      bool zero = v.node->op && (v.node->op == zeros || v.node->op == zeros_like);
      if (zero && !v.type().weak()) v = rewriter_.emitter().Full(0, v.type()).var;
    }
  }

  Rewriter rewriter_;
  ClosureGradients& gradients_;
  NodeSet runs_;  // calls of the functions in vjps_: their last result is a backward closure
  NodeSet vjps_;
  NodeSet sources_;
  std::unordered_map<const Node*, Var> forward_;
};

}  // namespace

bool ExpandGradients(Module& module) {
  module.SweepGraphs();
  auto with_vjp = GraphsWithVjp(module);
  if (with_vjp.empty()) return false;
  ClosureGradients gradients(&module);
  std::vector<Graph*> graphs;  // of now: expansion adds more
  for (const auto& graph : module.graphs()) graphs.push_back(graph.get());
  bool changed = false;
  const Node* stuck = nullptr;
  for (Graph* graph : graphs) {
    if (!with_vjp.contains(graph)) continue;
    GraphExpansion expansion(graph, gradients);
    for (const Node* vjp : VjpNodes(*graph)) {
      auto sources = Sources(*vjp, with_vjp);
      if (sources)
        expansion.Add(vjp, *sources);
      else if (!stuck)
        stuck = vjp;
    }
    changed |= expansion.Run();
  }
  if (!changed && stuck) {
    Refuse(*stuck,
           "the function must be known when the program is compiled and must not take its own "
           "gradient");
  }
  return changed;
}

}  // namespace ms
