// Choices that are known, and boxes that are made and opened in one graph.
#include "ir/control.h"

#include "grad/backward.h"
#include "passes/simplify/rules.h"

namespace ms {
namespace {

bool SimplifySwitch(Rewriter& rewriter, Node& node) {
  static const OpDef* const logical_not = Ops().Find("LogicalNot");
  const Node& condition = *node.inputs[0].node;
  Var chosen;
  if (node.inputs[1] == node.inputs[2]) {
    chosen = node.inputs[1];
  } else if (condition.kind == NodeKind::kConstant) {
    chosen = node.inputs[*condition.value.data<bool>() ? 1 : 2];
  } else if (condition.op && condition.op == logical_not) {
    chosen = rewriter.emitter().Switch(condition.inputs[0], node.inputs[2], node.inputs[1]);
  } else {
    return false;
  }
  rewriter.Replace({&node, 0}, chosen);
  return true;
}

bool SimplifyBoxGet(Rewriter& rewriter, Node& node) {
  const Node& box = *node.inputs[0].node;
  if (box.op == Control().box_zero) {
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      rewriter.Replace({&node, i}, rewriter.emitter().Full(0, node.outputs[i]).var);
    }
    return true;
  }
  if (box.op != Control().box_make) return false;
  MS_ASSERT(box.inputs.size() == node.outputs.size());
  for (uint32_t i = 0; i < node.outputs.size(); ++i) rewriter.Replace({&node, i}, box.inputs[i]);
  return true;
}

bool SimplifyBoxAdd(Rewriter& rewriter, Node& node) {
  const Node& a = *node.inputs[0].node;
  const Node& b = *node.inputs[1].node;
  if (a.op == Control().box_zero || b.op == Control().box_zero) {
    rewriter.Replace({&node, 0}, node.inputs[a.op == Control().box_zero ? 1 : 0]);
    return true;
  }
  if (a.op != Control().box_make || b.op != Control().box_make) return false;
  MS_ASSERT(a.inputs.size() == b.inputs.size());
  Vars sums;
  for (size_t i = 0; i < a.inputs.size(); ++i)
    sums.push_back(AddTangents(rewriter.emitter(), a.inputs[i], b.inputs[i]));
  rewriter.Replace({&node, 0}, rewriter.emitter().Emit(*Control().box_make, sums, nullptr)[0]);
  return true;
}

}  // namespace

bool SimplifyControl(Rewriter& rewriter, Node& node) {
  if (node.op == Control().select) return SimplifySwitch(rewriter, node);
  if (node.op == Control().box_get) return SimplifyBoxGet(rewriter, node);
  if (node.op == Control().box_add) return SimplifyBoxAdd(rewriter, node);
  return false;
}

}  // namespace ms
