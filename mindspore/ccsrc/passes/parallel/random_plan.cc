#include "passes/parallel/random_plan.h"

#include <algorithm>
#include <random>

#include "ir/shard_rule.h"

namespace ms::parallel {
namespace {

class Drawing {
 public:
  Drawing(const Module& module, const PlanOptions& options, uint64_t seed)
      : module_(module), options_(options), random_(seed) {
    plan_.mesh = options.mesh;
  }

  Plan Draw() {
    plan_.stages.resize(static_cast<size_t>(options_.stages.count()));  // nothing is counted
    for (const auto& graph : module_.graphs()) {
      for (const Node* node : graph->nodes()) {
        if (node->kind == NodeKind::kParameter)
          plan_.parameters[node] = Any(node->outputs[0]);
        else if (node->kind == NodeKind::kApply && !node->op->structural)
          plan_.nodes[node] = Of(*node);
      }
      std::vector<Layout>& results = plan_.results[graph.get()];
      for (const Type& type : graph->OutputTypes()) results.push_back(Any(type));
    }
    return std::move(plan_);
  }

 private:
  size_t Pick(size_t n) { return random_() % n; }

  std::vector<int> Axes() {
    std::vector<int> axes;
    for (int axis = 0; axis < options_.mesh.count(); ++axis) axes.push_back(axis);
    std::shuffle(axes.begin(), axes.end(), random_);
    return axes;
  }

  Layout Any(const Type& type) {
    if (!type.is_tensor()) return Layout::Replicated(0);
    int rank = type.shape().rank();
    Layout layout = Layout::Replicated(rank);
    if (rank == 0 || type.shape().symbolic()) return layout;
    for (int axis : Axes()) {
      auto dim = static_cast<int>(Pick(static_cast<size_t>(rank)));
      if (Pick(2) == 0) layout = layout.Cut(dim, axis);
    }
    return layout;
  }

  NodePlan Of(const Node& node) {
    NodePlan plan;
    plan.factor_of_axis.assign(static_cast<size_t>(options_.mesh.count()), -1);
    static const Attrs kNone;
    Types types;
    for (const Var& v : node.inputs) types.push_back(v.type());
    std::optional<ShardRule> rule = ShardRuleOf(*node.op, types, node.attrs ? *node.attrs : kNone);
    if (!rule) return plan;
    std::vector<int> factors;
    for (size_t f = 0; f < rule->factors.size(); ++f) {
      if (rule->factors[f].splits()) factors.push_back(static_cast<int>(f));
    }
    std::vector<int> order = Axes();
    for (int axis : order) {
      if (factors.empty() || Pick(5) == 0) continue;
      plan.factor_of_axis[static_cast<size_t>(axis)] = factors[Pick(factors.size())];
    }
    for (const ShardOperand& operand : rule->operands)
      plan.inputs.push_back(Cut(operand, order, plan.factor_of_axis));
    for (const ShardOperand& result : rule->results)
      plan.outputs.push_back(Cut(result, order, plan.factor_of_axis));
    bool linear = node.op->view || node.op->name == "Transpose";
    if (linear && node.inputs.size() == 1 && node.outputs.size() == 1) Pass(&plan);
    return plan;
  }

  // Parts of a sum may go through.
  void Pass(NodePlan* plan) {
    for (size_t axis = 0; axis < plan->factor_of_axis.size(); ++axis) {
      if (plan->factor_of_axis[axis] >= 0 || Pick(2) == 0) continue;
      for (Layout* layout : {&plan->inputs[0], &plan->outputs[0]})
        *layout = layout->With(static_cast<int>(axis), Partial::kSum);
    }
  }

  static Layout Cut(const ShardOperand& operand, const std::vector<int>& order,
                    const std::vector<int>& factor_of_axis) {
    Layout layout = Layout::Replicated(static_cast<int>(operand.size()));
    for (int axis : order) {
      int factor = factor_of_axis[static_cast<size_t>(axis)];
      for (size_t d = 0; d < operand.size(); ++d) {
        bool cut = factor >= 0 && !operand[d].empty() && operand[d][0] == factor;
        if (cut) layout = layout.Cut(static_cast<int>(d), axis);
      }
    }
    return layout;
  }

  const Module& module_;
  const PlanOptions& options_;
  std::mt19937_64 random_;
  Plan plan_;
};

}  // namespace

Plan RandomPlan(const Module& module, const PlanOptions& options, uint64_t seed) {
  return Drawing(module, options, seed).Draw();
}

}  // namespace ms::parallel
