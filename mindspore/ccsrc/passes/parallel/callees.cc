#include "passes/parallel/callees.h"

#include <algorithm>

#include "ir/control.h"

namespace ms::parallel {
namespace {

constexpr double kTrips = 10;  // of a loop whose count is not known

void Add(CalleeList* list, const Callee& callee) {
  if (std::find(list->begin(), list->end(), callee) == list->end()) list->push_back(callee);
}

size_t TangentsOf(const Types& types) {
  return static_cast<size_t>(
      std::count_if(types.begin(), types.end(), [](const Type& t) { return t.has_tangent(); }));
}

}  // namespace

OwnGradient OwnGradientOf(const Node& node) {
  if (node.op != Control().custom_grad) return {};
  OwnGradient own{PartialGraph(node.inputs[0].node), PartialGraph(node.inputs[1].node)};
  if (!own.function || !own.backward) return {};
  Types given, made;
  for (const Node* p : own.function->parameters()) given.push_back(p->outputs[0]);
  for (const Var& v : own.function->outputs()) made.push_back(v.type());
  bool fits = own.backward->parameters().size() == given.size() + made.size() + TangentsOf(made) &&
              own.backward->outputs().size() == TangentsOf(given);
  return fits ? own : OwnGradient{};
}

double Trips(const Graph& loop) {
  auto count = static_cast<double>(loop.loop.trip_count);
  return count >= 0 ? std::max(1.0, count) : kTrips;
}

Callees::Callees(const Module& module) {
  for (const auto& graph : module.graphs()) Visit(*graph);
  std::vector<const Graph*> roots(differentiated_.begin(), differentiated_.end());
  for (const Graph* graph : roots) Spread(graph, &differentiated_);
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (const Graph* backward = OwnGradientOf(*node).backward) FindAgain(*backward);
    }
  }
  if (module.main()) Count(module.main());
}

// The graphs that it refers to, and those it may call.
std::vector<const Graph*> Callees::Below(const Graph* graph) {
  std::vector<const Graph*> all;
  for (const Graph* other : ReferencedGraphs(*graph)) all.push_back(other);
  for (const Node* node : graph->nodes()) {
    if (node->op != Control().call) continue;
    for (const Callee& c : Of(node->inputs[0])) all.push_back(c.graph);
  }
  return all;
}

// Without the calls that close a circle.
std::vector<const Graph*> Callees::CallersFirst(const Graph* main) {
  struct Visit {
    const Graph* graph;
    std::vector<const Graph*> below;
    size_t next = 0;
  };
  std::vector<const Graph*> order;
  std::unordered_set<const Graph*> seen{main};
  std::vector<Visit> stack{{main, Below(main)}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.next == visit.below.size()) {
      order.push_back(visit.graph);
      stack.pop_back();
      continue;
    }
    const Graph* next = visit.below[visit.next++];
    if (seen.insert(next).second) stack.push_back({next, Below(next)});
  }
  std::reverse(order.begin(), order.end());
  return order;
}

void Callees::Count(const Graph* main) {
  std::vector<const Graph*> order = CallersFirst(main);
  for (size_t i = 0; i < order.size(); ++i) order_[order[i]] = static_cast<int>(i);
  times_[main] = 1;
  // Of functions that are only handed on: as often as who hands them on.
  std::unordered_map<const Graph*, double> handed;
  for (const Graph* graph : order) {
    double& here = times_[graph];
    if (here == 0) here = handed.contains(graph) ? handed.at(graph) : 1;
    for (const Graph* other : ReferencedGraphs(*graph))
      handed[other] = std::max(handed[other], here);
    CountCalls(graph, here);
  }
}

void Callees::CountCalls(const Graph* graph, double here) {
  double inside = here;
  if (graph->loop.body) {
    inside *= Trips(*graph);
    times_[graph] = inside;
  }
  for (const Node* node : graph->nodes()) {
    if (node->op != Control().call) continue;
    const Graph* backward = OwnGradientOf(*node->inputs[0].node).backward;
    if (backward && Differentiated(graph)) times_[backward] += inside;
    const CalleeList& list = Of(node->inputs[0]);
    for (const Callee& c : list) {
      bool circle = order_.at(c.graph) <= order_.at(graph);
      if (circle || c.role == Callee::kBackward) continue;
      bool loop = c.graph == graph->loop.body || c.graph == graph->loop.done;
      if (loop)
        times_[c.graph] += c.graph == graph->loop.body ? inside : here;
      else
        times_[c.graph] += inside / static_cast<double>(list.size());
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
  } else if (OwnGradientOf(*node).function) {
    list = Of(node->inputs[0]);
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
                      (node->op == Control().select && i > 0) || node->op == Control().vjp ||
                      OwnGradientOf(*node).function;
      if (!followed) escape(node->inputs[i]);
    }
    if (node->op == Control().vjp) {
      for (const Callee& c : Of(node->inputs[0])) differentiated_.insert(c.graph);
    }
  }
  for (const Var& v : graph.outputs()) escape(v);
}

// What a graph calls is differentiated with it, but for what has a gradient of its own.
void Callees::Spread(const Graph* from, std::unordered_set<const Graph*>* to) const {
  std::unordered_set<const Graph*> own;
  for (const Node* node : from->nodes()) {
    OwnGradient gradient = OwnGradientOf(*node);
    own.insert({gradient.function, gradient.backward});
  }
  for (const Graph* other : ReferencedGraphs(*from)) {
    if (!own.contains(other) && to->insert(other).second) Spread(other, to);
  }
}

void Callees::FindAgain(const Graph& backward) {
  for (const Node* node : backward.nodes()) {
    if (node->op != Control().vjp) continue;
    for (const Callee& c : Of(node->inputs[0])) {
      if (!again_.insert(c.graph).second) continue;
      blocks_.push_back(c.graph);
      Spread(c.graph, &again_);
    }
  }
}

}  // namespace ms::parallel
