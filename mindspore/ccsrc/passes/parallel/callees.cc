#include "passes/parallel/callees.h"

#include <algorithm>

#include "ir/control.h"

namespace ms::parallel {
namespace {

constexpr double kTrips = 10;  // of a loop whose count is not known

void Add(CalleeList* list, const Callee& callee) {
  if (std::find(list->begin(), list->end(), callee) == list->end()) list->push_back(callee);
}

}  // namespace

Callees::Callees(const Module& module) {
  for (const auto& graph : module.graphs()) Visit(*graph);
  std::vector<const Graph*> roots(differentiated_.begin(), differentiated_.end());
  for (const Graph* graph : roots) Spread(graph);
  // From main down, each graph as often as the most frequent caller.
  std::vector<const Graph*> todo{module.main()};
  if (module.main()) times_[module.main()] = 1;
  for (size_t i = 0; i < todo.size(); ++i) {
    const Graph* graph = todo[i];
    double here = times_.at(graph);
    if (graph->loop.body) {
      auto trips = static_cast<double>(graph->loop.trip_count);
      here *= graph->loop.trip_count >= 0 ? std::max(1.0, trips) : kTrips;
    }
    for (const Graph* other : ReferencedGraphs(*graph)) {
      if (times_.try_emplace(other, here).second) todo.push_back(other);
    }
  }
}

double Callees::Times(const Graph* graph) const {
  auto found = times_.find(graph);
  return found == times_.end() ? 1 : found->second;
}

const CalleeList& Callees::Of(const Var& function) {
  auto found = known_.find(function);
  if (found != known_.end()) return found->second;
  known_[function] = {};  // what asks itself is not known
  CalleeList list = Find(function);
  return known_[function] = std::move(list);
}

CalleeList Callees::Find(const Var& function) {
  const Node* node = function.node;
  CalleeList list;
  if (const Graph* graph = PartialGraph(node)) {
    list.push_back({graph, Callee::kDirect});
  } else if (node->op == Control().select) {
    for (size_t i : {size_t{1}, size_t{2}}) {
      const CalleeList& arm = Of(node->inputs[i]);
      if (arm.empty()) return {};
      for (const Callee& c : arm) Add(&list, c);
    }
  } else if (node->op == Control().vjp) {
    for (const Callee& c : Of(node->inputs[0])) {
      if (c.role != Callee::kDirect) return {};
      Add(&list, {c.graph, Callee::kForward});
    }
  } else if (node->op == Control().call) {
    for (const Callee& c : CalleeList(Of(node->inputs[0]))) {
      if (c.role == Callee::kBackward) return {};
      if (c.role == Callee::kForward) {
        if (function.index + 1 != node->outputs.size()) return {};
        Add(&list, {c.graph, Callee::kBackward});
        continue;
      }
      const CalleeList& made = Of(c.graph->outputs()[function.index]);
      if (made.empty()) return {};
      for (const Callee& m : made) Add(&list, m);
    }
  }
  return list;
}

// Function values that go where calls are not followed.
void Callees::Visit(const Graph& graph) {
  auto escape = [&](const Var& v) {
    if (!v.type().is_function()) return;
    for (const Callee& c : Of(v)) escaped_.insert(c.graph);
  };
  for (const Node* node : graph.nodes()) {
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      bool followed = (node->op == Control().call && i == 0) ||
                      (node->op == Control().select && i > 0) || node->op == Control().vjp;
      if (!followed) escape(node->inputs[i]);
    }
    if (node->op == Control().vjp) {
      for (const Callee& c : Of(node->inputs[0])) differentiated_.insert(c.graph);
    }
  }
  for (const Var& v : graph.outputs()) escape(v);
}

void Callees::Spread(const Graph* from) {
  for (const Graph* other : ReferencedGraphs(*from)) {
    if (differentiated_.insert(other).second) Spread(other);
  }
}

}  // namespace ms::parallel
