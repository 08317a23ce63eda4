// Constant folding through a function that is passed in (the host's kernels), so that passes know
// no backend.
#include <algorithm>

#include "ir/rewrite.h"
#include "passes/passes.h"

namespace ms {
namespace {

constexpr size_t kFreeBytes = 1024;  // results up to this size are worth it whatever they replace

bool IsFoldable(const Node& node) {
  if (node.kind != NodeKind::kApply || node.inputs.empty() || node.op->structural) return false;
  if (node.op->effect != Effect::kNone || !node.op->updates.empty()) return false;
  size_t read = 0, made = 0;
  for (const Var& v : node.inputs) {
    if (v.node->kind != NodeKind::kConstant) return false;
    read += v.type().bytes();
  }
  for (const Type& t : node.outputs) {
    if (t.shape().symbolic()) return false;
    made += t.bytes();
  }
  return made <= std::max(kFreeBytes, read);
}

bool FoldIn(Graph* graph, const Evaluator& evaluate) {
  Rewriter rewriter(graph);
  rewriter.Walk([&](Node& node) {
    if (!IsFoldable(node)) return;
    std::vector<Tensor> values = evaluate(node);
    if (values.empty()) return;
    MS_ASSERT(values.size() == node.outputs.size());
    for (uint32_t i = 0; i < values.size(); ++i) {
      const Type& type = node.outputs[i];
      MS_ASSERT(values[i].dtype() == type.dtype() && values[i].shape() == type.shape());
      rewriter.Replace({&node, i}, rewriter.emitter().Constant(std::move(values[i]), type.weak()));
    }
    rewriter.Drop(node);
  });
  return rewriter.changed();
}

}  // namespace

bool FoldConstants(Module& module, const Evaluator& evaluate) {
  bool changed = false;
  for (const auto& graph : module.graphs()) changed |= FoldIn(graph.get(), evaluate);
  return changed;
}

}  // namespace ms
