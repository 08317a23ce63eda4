#include "passes/call_graph.h"

#include "ir/control.h"
#include "passes/passes.h"

#include <algorithm>
#include <unordered_map>

namespace ms {
namespace {

struct Visit {
  Graph* graph;
  std::vector<Graph*> callees;
  size_t next = 0;
};

struct Mark {
  int index = 0;  // order of discovery, from 1
  int low = 0;    // the earliest graph on the path that is reached from here
  bool on_path = false;
};

}  // namespace

// Tarjan's strongly connected components, with a stack of our own.
CallGraph::CallGraph(const Module& module) {
  std::unordered_map<const Graph*, Mark> marks;
  std::vector<Graph*> path;
  std::vector<Visit> stack;
  auto enter = [&](Graph* graph) {
    int index = static_cast<int>(marks.size()) + 1;
    marks[graph] = {index, index, true};
    path.push_back(graph);
    stack.push_back({graph, ReferencedGraphs(*graph)});
  };
  auto leave = [&] {
    Graph* graph = stack.back().graph;
    stack.pop_back();
    Mark& mark = marks[graph];
    if (!stack.empty()) {
      Mark& caller = marks[stack.back().graph];
      caller.low = std::min(caller.low, mark.low);
    }
    if (mark.low != mark.index) return;
    size_t start =
        static_cast<size_t>(std::find(path.rbegin(), path.rend(), graph).base() - path.begin()) - 1;
    for (size_t i = start; i < path.size(); ++i) {
      marks[path[i]].on_path = false;
      order_.push_back(path[i]);
      if (path.size() - start > 1) recursive_.insert(path[i]);
    }
    path.resize(start);
  };
  for (const auto& root : module.graphs()) {
    if (marks.contains(root.get())) continue;
    enter(root.get());
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next == visit.callees.size()) {
        leave();
        continue;
      }
      Graph* callee = visit.callees[visit.next++];
      if (callee == visit.graph) recursive_.insert(callee);
      auto known = marks.find(callee);
      if (known == marks.end()) {
        enter(callee);
      } else if (known->second.on_path) {
        Mark& mark = marks[visit.graph];
        mark.low = std::min(mark.low, known->second.index);
      }
    }
  }
}

// From the function values that transforms take, through all that these refer to. A function that
// is not known may be any graph but main.
GraphSet GraphsToTransform(const Module& module) {
  GraphSet found;
  std::vector<const Graph*> pending;
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> functions;
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (node->kind == NodeKind::kApply && IsTransform(*node))
        functions.push_back(node->inputs[0].node);
    }
  }
  while (!functions.empty()) {
    const Node* node = functions.back();
    functions.pop_back();
    if (!seen.insert(node).second) continue;
    if (const Graph* graph = PartialGraph(node)) {
      pending.push_back(graph);
    } else if (node->op != Control().select && !IsTransform(*node)) {
      for (const auto& graph : module.graphs()) {
        if (graph.get() != module.main()) pending.push_back(graph.get());
      }
    }
    for (const Var& v : node->inputs) {
      if (v.type().is_function()) functions.push_back(v.node);
    }
  }
  while (!pending.empty()) {
    const Graph* graph = pending.back();
    pending.pop_back();
    if (!found.insert(graph).second) continue;
    for (const Graph* used : ReferencedGraphs(*graph)) pending.push_back(used);
  }
  return found;
}

}  // namespace ms
