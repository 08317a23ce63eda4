// Vjp(Partial(g, captures)) becomes Partial(▶g, captures), Jvp of it Partial(▷g, captures); that of
// a Switch, the Switch of the ▶ or ▷ of its arms. A function can be differentiated once nothing
// that it reaches holds a transform, so nested gradients unfold from the inside.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "grad/closure.h"
#include "grad/forward.h"
#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

namespace ms {
namespace {

using NodeSet = std::unordered_set<const Node*>;

std::vector<Node*> TransformNodes(const Graph& graph) {
  std::vector<Node*> found;
  for (Node* n : graph.nodes()) {
    if (IsTransform(*n)) found.push_back(n);
  }
  return found;
}

// Graphs from which a transform can be reached.
std::unordered_set<const Graph*> GraphsWithTransforms(const Module& module) {
  std::unordered_map<const Graph*, std::vector<const Graph*>> users;
  std::vector<const Graph*> pending;
  for (const auto& graph : module.graphs()) {
    for (const Graph* used : ReferencedGraphs(*graph)) users[used].push_back(graph.get());
    if (!TransformNodes(*graph).empty()) pending.push_back(graph.get());
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

// The nodes whose functions must be turned into ▶ or ▷ functions for `transform`; nothing when one
// is not known or not ready.
std::optional<std::vector<const Node*>> Sources(
    const Node& transform, const std::unordered_set<const Graph*>& with_transforms) {
  std::vector<const Node*> found;
  NodeSet seen;
  std::vector<const Node*> pending{transform.inputs[0].node};
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    found.push_back(node);
    if (const Graph* g = PartialGraph(node)) {
      if (with_transforms.contains(g)) return std::nullopt;
    } else if (node->op == Control().custom_grad && transform.op == Control().jvp) {
      continue;  // its functions stay as they are
    } else if (node->op != Control().select && node->op != Control().custom_grad) {
      return std::nullopt;
    }
    for (const Var& v : node->inputs) {
      if (v.type().is_function()) pending.push_back(v.node);
    }
  }
  return found;
}

[[noreturn]] void Refuse(const Node& node, std::string_view why) {
  std::string_view name = node.op == Control().jvp ? "jvp" : "grad";
  throw Error(ErrorKind::kRuntime, fmt::format("For '{}', {}.", name, why)).WithSpan(node.span);
}

// ▶ and ▷ graphs of a module.
struct Gradients {
  explicit Gradients(Module* module) : backward(module), forward(module) {}
  Graph* Of(const OpDef* transform, Graph* g) {
    return transform == Control().vjp ? backward.Forward(g) : forward.Forward(g);
  }
  ClosureGradients backward;
  ForwardGradients forward;
};

class GraphExpansion {
 public:
  GraphExpansion(Graph* graph, Gradients& gradients) : rewriter_(graph), gradients_(gradients) {}

  void Add(const Node* transform, const std::vector<const Node*>& sources) {
    transforms_.insert(transform);
    sources_[transform->op].insert(sources.begin(), sources.end());
  }

  bool Run() {
    if (transforms_.empty()) return false;
    for (const Node* node : rewriter_.graph()->nodes()) {
      if (node->op == Control().call && node->inputs[0].node->op == Control().vjp &&
          transforms_.contains(node->inputs[0].node))
        runs_.insert(node);
    }
    rewriter_.Walk([&](Node& node) {
      for (const auto& [transform, sources] : sources_) {
        if (sources.contains(&node)) MakeForward(node, transform);
      }
      if (node.op == Control().call && runs_.contains(node.inputs[0].node)) MarkZeros(node);
      if (!transforms_.contains(&node)) return;
      Var forward = forward_[node.op].at(node.inputs[0].node);
      if (!(forward.type() == node.outputs[0])) {
        Refuse(node, "a function that takes or returns functions cannot be differentiated");
      }
      rewriter_.Replace({&node, 0}, forward);
      rewriter_.Drop(node);
    });
    return true;
  }

 private:
  void MakeForward(const Node& node, const OpDef* transform) {
    auto& forward = forward_[transform];
    GraphEmitter& emitter = rewriter_.emitter();
    Vars inputs = node.inputs;
    if (node.op == Control().custom_grad && transform == Control().jvp) {
      forward[&node] = gradients_.forward.OfCustom(emitter, inputs[0], inputs[1]);
      return;
    }
    for (Var& v : inputs) {
      if (v.type().is_function()) v = forward.at(v.node);
    }
    Var made;
    if (Graph* g = PartialGraph(&node)) {
      made = emitter.Partial(gradients_.Of(transform, g), inputs);
    } else if (node.op == Control().custom_grad) {
      made = gradients_.backward.ForwardCustom(emitter, inputs[0], inputs[1]);
    } else {
      made = emitter.Switch(inputs[0], inputs[1], inputs[2]);
    }
    forward[&node] = made;
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
  Gradients& gradients_;
  NodeSet runs_;  // calls of Vjp functions: their last result is a backward closure
  NodeSet transforms_;
  std::map<const OpDef*, NodeSet> sources_;  // by transform
  std::map<const OpDef*, std::unordered_map<const Node*, Var>> forward_;
};

}  // namespace

bool DropCustomGradients(Module& module) {
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    const auto& nodes = graph->nodes();
    auto custom = [](const Node* n) { return n->op == Control().custom_grad; };
    if (std::none_of(nodes.begin(), nodes.end(), custom)) continue;
    Rewriter rewriter(graph.get());
    rewriter.Walk([&](Node& node) {
      if (!custom(&node)) return;
      rewriter.Replace({&node, 0}, node.inputs[0]);
      rewriter.Drop(node);
    });
    changed = true;
  }
  return changed;
}

bool ExpandGradients(Module& module) {
  module.SweepGraphs();
  auto with_transforms = GraphsWithTransforms(module);
  if (with_transforms.empty()) return false;
  Gradients gradients(&module);
  std::vector<Graph*> graphs;  // of now: expansion adds more
  for (const auto& graph : module.graphs()) graphs.push_back(graph.get());
  bool changed = false;
  const Node* stuck = nullptr;
  for (Graph* graph : graphs) {
    if (!with_transforms.contains(graph)) continue;
    GraphExpansion expansion(graph, gradients);
    for (const Node* node : TransformNodes(*graph)) {
      auto sources = node->op == Control().vmap ? std::nullopt : Sources(*node, with_transforms);
      if (sources)
        expansion.Add(node, *sources);
      else if (!stuck && node->op != Control().vmap)
        stuck = node;
    }
    changed |= expansion.Run();
  }
  if (changed || UnrollBatches(module)) return true;
  if (stuck) {
    Refuse(*stuck,
           "the function must be known when the program is compiled and must not take its own "
           "gradient");
  }
  return false;
}

}  // namespace ms
