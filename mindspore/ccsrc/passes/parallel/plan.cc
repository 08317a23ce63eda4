#include "passes/parallel/plan.h"

namespace ms::parallel {

Layout Plan::LayoutOf(const Var& value) const {
  if (value.node->kind == NodeKind::kParameter) return parameters.at(value.node);
  if (value.node->kind == NodeKind::kApply) return of(value.node).outputs[value.index];
  return Layout::Replicated(value.type().shape().rank());
}

Plan MakePlan(const Module&, const PlanOptions&) {
  Throw(ErrorKind::kNotImplemented, "there is no planner yet");
}

}  // namespace ms::parallel
