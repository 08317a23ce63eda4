// A branch that updates parameters or leaves them as they are (a step that is left out when its
// gradients overflow) becomes the updates themselves, each followed by a choice between the new
// value and the old one. Elementwise, so the planner writes in place and runs all parameters in one
// launch, which it cannot do across a call. An optimizer's kernel that chooses does nothing where
// the old value stays; what is assigned or scattered, though, is computed in vain, so much of it
// stays a branch, and so does what may fail.
#include <algorithm>
#include <unordered_map>

#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/fuse/fusable.h"
#include "passes/passes.h"
#include "passes/update_nodes.h"

namespace ms {
namespace {

constexpr int64_t kAssignedInVain = 1 << 16;  // elements

// Of updates, the elementwise ones of optimizers leave their work where the old value stays.
bool IsComputedInVain(const Node& node) {
  return !node.op->updates.empty() && (IsAssignment(*node.op) || !node.op->elementwise);
}

int64_t Elements(const Node& node) {
  int64_t sum = 0;
  for (const Type& t : node.outputs) sum += t.shape().symbolic() ? 0 : t.shape().size();
  return sum;
}

// The two arms of a call, where the pass applies.
struct Branch {
  const Node* arms[2] = {};  // Partial nodes
  Var condition;

  explicit Branch(const Node& call) {
    if (call.op != Control().call || call.inputs[0].node->op != Control().select) return;
    const Node& choice = *call.inputs[0].node;
    bool updates = false, idle = false;
    int64_t assigned = 0;
    for (size_t i = 0; i < 2; ++i) {
      const Node* arm = choice.inputs[i + 1].node;
      const Graph* graph = PartialGraph(arm);
      if (!graph || !graph->finished()) return;
      bool empty = true;
      for (const Node* n : graph->nodes()) {
        if (n->kind != NodeKind::kApply) continue;
        if (!MayUpdate(*n) || MayRefuse(*n)) return;
        empty = false;
        updates |= !n->op->updates.empty();
        if (IsComputedInVain(*n)) assigned += Elements(*n);
      }
      idle |= empty;
      arms[i] = arm;
    }
    if (updates && idle && assigned <= kAssignedInVain &&
        std::all_of(call.outputs.begin(), call.outputs.end(),
                    [](const Type& t) { return t.is_tensor(); }))
      condition = choice.inputs[0];
  }
};

// The results of an arm's body, which is written out at the call.
Vars WriteOut(GraphEmitter& emitter, const Node& arm, const Node& call) {
  const Graph& body = *PartialGraph(&arm);
  std::unordered_map<Var, Var, VarHash> values;
  Vars given = arm.inputs, formal = body.inputs();
  given.insert(given.end(), call.inputs.begin() + 1, call.inputs.end());
  for (size_t i = 0; i < formal.size(); ++i) values[formal[i]] = given[i];
  for (Node* node : body.nodes()) {
    if (node->kind == NodeKind::kConstant)
      values[{node, 0}] = emitter.Constant(node->value, node->outputs[0].weak());
    if (node->kind != NodeKind::kApply) continue;
    Vars inputs;
    for (const Var& v : node->inputs) inputs.push_back(values.at(v));
    emitter.span = node->span;
    Vars outputs = emitter.Emit(*node->op, inputs, node->attrs);
    for (uint32_t i = 0; i < outputs.size(); ++i) values[{node, i}] = outputs[i];
  }
  Vars results;
  for (const Var& v : body.outputs()) results.push_back(values.at(v));
  return results;
}

bool SelectIn(Graph* graph) {
  static const OpDef& select = Ops().Get("Select");
  Rewriter rewriter(graph);
  rewriter.Walk([&](Node& node) {
    if (node.kind != NodeKind::kApply) return;
    Branch branch(node);
    if (!branch.condition) return;
    GraphEmitter& emitter = rewriter.emitter();
    Vars taken = WriteOut(emitter, *branch.arms[0], node);
    Vars left = WriteOut(emitter, *branch.arms[1], node);
    emitter.span = node.span;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      Var value = taken[i];
      if (!(taken[i] == left[i]))
        value = emitter.Emit(select, {branch.condition, taken[i], left[i]}, nullptr)[0];
      MS_ASSERT(value.type().dtype() == node.outputs[i].dtype());
      rewriter.Replace({&node, i}, value);
    }
    rewriter.Drop(node);
  });
  return rewriter.changed();
}

}  // namespace

bool SelectUpdates(Module& module) {
  bool changed = false;
  for (const auto& graph : module.graphs()) changed |= SelectIn(graph.get());
  return changed;
}

}  // namespace ms
