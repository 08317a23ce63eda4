// Embeddings: where the gradient of a Gather along the first axis feeds nothing but an update that
// leaves elements without a gradient as they are, the update takes the gathered rows' gradients,
// and touches no other row. The table of zeros with some rows added, as large as the Parameter
// itself, is never made. Results keep their bits: rows are added up in the same order.
#include <unordered_map>

#include "ir/rewrite.h"
#include "passes/applies.h"
#include "passes/passes.h"

namespace ms {
namespace {

constexpr int64_t kWorthwhile = 4;  // elements of the table for each one of the rows

struct SparseOps {
  const OpDef& gather_grad = Ops().Get("GatherGrad");
  const OpDef& sgd = Ops().Get("SGD");
  const OpDef& sgd_rows = Ops().Get("SGDRows");
};
const SparseOps& Sparse() {
  static const SparseOps ops;
  return ops;
}

std::unordered_map<const Node*, int> CountReaders(const Graph& graph) {
  std::unordered_map<const Node*, int> readers;
  for (const Node* node : graph.nodes()) {
    for (const Var& v : node->inputs) {
      if (v.node->op == &Sparse().gather_grad) ++readers[v.node];
    }
  }
  for (const Var& v : graph.outputs()) ++readers[v.node];
  return readers;
}

bool IsSparseRows(const Node& gradient) {
  if (gradient.op != &Sparse().gather_grad) return false;
  const Shape& table = gradient.outputs[0].shape();
  const Shape& rows = gradient.inputs[0].type().shape();
  if (table.symbolic() || rows.symbolic() || table.rank() < 1) return false;
  int64_t axis = gradient.attr<int64_t>("axis");
  return (axis == 0 || axis == -table.rank()) && gradient.attr<int64_t>("batch_dims") == 0 &&
         table.size() >= kWorthwhile * rows.size();
}

bool UpdateRowsIn(Graph* graph) {
  auto readers = CountReaders(*graph);
  Rewriter rewriter(graph);
  rewriter.Walk([&](Node& node) {
    if (node.op != &Sparse().sgd || node.attr<double>("weight_decay") != 0) return;
    const Node& gradient = *node.inputs[1].node;
    if (!IsSparseRows(gradient) || readers[&gradient] != 1) return;
    Vars inputs = node.inputs;
    inputs[1] = gradient.inputs[0];
    inputs.push_back(gradient.inputs[1]);
    NamedAttrs attrs;
    for (const char* name : {"dampening", "weight_decay"})
      attrs.emplace_back(name, node.attr<double>(name));
    attrs.emplace_back("nesterov", node.attr<bool>("nesterov"));
    Terms in, made;
    for (const Var& v : inputs) in.push_back(rewriter.emitter().Wrap(v));
    made = rewriter.emitter().CallMany(Sparse().sgd_rows.name, in, attrs);
    for (uint32_t i = 0; i < made.size(); ++i) rewriter.Replace({&node, i}, made[i].var);
    rewriter.Drop(node);
  });
  return rewriter.changed();
}

}  // namespace

bool UpdateRows(Module& module) {
  bool changed = false;
  for (const auto& graph : module.graphs()) {
    if (Applies(*graph, Sparse().sgd.name)) changed |= UpdateRowsIn(graph.get());
  }
  return changed;
}

}  // namespace ms
