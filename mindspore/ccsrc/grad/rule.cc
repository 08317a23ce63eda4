#include "grad/rule.h"

#include <unordered_set>

#include "grad/backward.h"

namespace ms {
namespace {

// Applies ops elsewhere and notes the nodes.
class Recorder : public Emitter {
 public:
  explicit Recorder(Emitter& inner) : inner_(inner) { span = inner.span; }
  Vars Emit(const OpDef& op, const Vars& inputs, AttrsRef attrs) override {
    Vars outputs = inner_.Emit(op, inputs, std::move(attrs));
    if (!outputs.empty()) nodes_.push_back(outputs[0].node);
    return outputs;
  }
  Var Constant(Tensor value, bool weak) override { return inner_.Constant(std::move(value), weak); }
  const std::vector<Node*>& nodes() const { return nodes_; }

 private:
  Emitter& inner_;
  std::vector<Node*> nodes_;
};

// The composition is applied once more, and walked in reverse.
Terms ExpansionGradient(const OpDef& op, GradContext& g) {
  static const Attrs kNone;
  Recorder recorder(g.emitter());
  Terms inputs;
  Vars wrt;
  for (size_t i = 0; i < g.inputs(); ++i) {
    inputs.push_back(recorder.Wrap(g.in(i).var));
    wrt.push_back(inputs.back().var);
  }
  ExpandContext context(recorder, inputs, op, g.node().attrs ? *g.node().attrs : kNone);
  Terms outputs = op.expand(context);
  std::vector<Node*> composed = recorder.nodes();
  std::vector<Seed> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (g.has_dout(i)) seeds.push_back({outputs[i].var, g.dout(i).var});
  }
  BackwardHost host;
  Vars tangents = Backward(g.emitter(), composed, seeds, wrt, host);
  Terms results(wrt.size());
  std::unordered_set<Var, VarHash> given;  // a value that comes in twice gets all of it once
  for (size_t i = 0; i < wrt.size(); ++i) {
    if (g.needs(i) && tangents[i] && given.insert(wrt[i]).second)
      results[i] = g.emitter().Wrap(tangents[i]);
  }
  return results;
}

}  // namespace

bool IsDifferentiable(const OpDef& op) { return op.grad || op.expand; }

bool IsLeftAside(const Node& node, const Var& value) {
  return node.kind == NodeKind::kApply && !IsDifferentiable(*node.op) && !node.op->structural &&
         !IsContinuous(value.type().dtype());
}

bool IsStep(const Var& output) { return IsLeftAside(*output.node, output); }

Terms ApplyGradientRule(const OpDef& op, GradContext& context) {
  Terms result;
  if (op.grad) result = op.grad(context);
  if (result.empty() && op.expand) result = ExpansionGradient(op, context);
  for (size_t i = 0; i < result.size(); ++i) {
    if (!result[i] || !context.in_type(i).is_tensor()) continue;
    DType dtype = context.in_type(i).dtype();
    if (IsInteger(dtype)) result[i] = CastTo(result[i], dtype);
  }
  return result;
}

}  // namespace ms
