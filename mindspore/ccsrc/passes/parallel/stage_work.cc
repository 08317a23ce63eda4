#include "passes/parallel/stage_work.h"

#include "ir/control.h"

namespace ms::parallel {

StageWork::Seconds StageWork::Of(const Node& node) const {
  if (node.op == Control().call) return OfCall(node);
  if (node.kind != NodeKind::kApply || node.op->structural) return {};
  Strategy strategy;
  ComputeKind(node, {}, device_).Build({}, AllAlike(), &strategy);
  return {strategy.seconds, trains_ ? kBackward * strategy.seconds : 0};
}

StageWork::Seconds StageWork::OfCall(const Node& call) const {
  if (OwnGradient own = OwnGradientOf(*call.inputs[0].node); own.function)
    return {OfGraph(own.function).forward, trains_ ? OfGraph(own.backward).forward : 0};
  Seconds sum;
  const CalleeList& list = callees_.Of(call.inputs[0]);
  for (const Callee& callee : list) {
    Seconds one = OfGraph(callee.graph);
    if (callee.role == Callee::kBackward) one = {one.backward, kBackward * one.backward};
    auto share = static_cast<double>(list.size());  // one of them runs
    sum.forward += one.forward / share;
    sum.backward += one.backward / share;
  }
  return sum;
}

StageWork::Seconds StageWork::OfGraph(const Graph* graph) const {
  auto [place, fresh] = known_.try_emplace(graph);  // what calls itself counts nothing
  if (!fresh) return place->second;
  double times = graph->loop.body ? Trips(*graph) : 1;
  Seconds sum;
  for (const Node* node : graph->nodes()) {
    Seconds one = Of(*node);
    sum.forward += times * one.forward;
    sum.backward += times * one.backward;
  }
  return known_[graph] = sum;
}

}  // namespace ms::parallel
