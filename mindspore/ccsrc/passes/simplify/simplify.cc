// One walk over each graph, applying the rules to every node until none fits. A node sees inputs
// that are already simplified, so that a chain collapses in one walk.
#include "ir/verify.h"
#include "passes/passes.h"
#include "passes/simplify/rules.h"

namespace ms {
namespace {

constexpr int kMaxSteps =
    16;  // rules in a row for one node: a bound, should two rules undo each other

// The end of a chain of rules that starts at the node; null when no rule fits.
Var ApplyRules(const Node& node, Emitter& emitter, bool fast) {
  Var best;
  const Node* current = &node;
  for (int step = 0; step < kMaxSteps && current->kind == NodeKind::kApply; ++step) {
    Var next = AlgebraRules().Apply(*current, emitter);
    if (!next) next = ArrayRules().Apply(*current, emitter);
    if (!next && fast) next = FastRules().Apply(*current, emitter);
    if (!next) break;
    best = next;
    if (next.index != 0) break;
    current = next.node;
  }
  return best;
}

bool SimplifyIn(Graph* graph, bool values, bool fast) {
  Rewriter rewriter(graph);
  rewriter.Walk([&](Node& node) {
    if (node.kind != NodeKind::kApply || node.op->effect != Effect::kNone) return;
    bool replaced = false;
    if (node.op->structural) {
      replaced = SimplifyControl(rewriter, node);
    } else if (!values) {
      return;
    } else if (Var v = ApplyRules(node, rewriter.emitter(), fast)) {
      rewriter.Replace({&node, 0}, v);
      replaced = true;
    } else {
      replaced = SimplifyArrays(rewriter, node);
    }
    if (replaced) rewriter.Drop(node);
  });
  return rewriter.changed();
}

}  // namespace

bool Simplify(Module& module, const GraphSet& kept, bool fast) {
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    changed |= SimplifyIn(graph.get(), !kept.contains(graph.get()), fast);
    if (graph->loop.body && !HasLoopShape(*graph))
      graph->loop = {};  // its condition turned out to be known
  }
  return changed;
}

}  // namespace ms
