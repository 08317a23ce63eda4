#include "passes/function_classes.h"

#include "ir/control.h"

namespace ms {

FunctionClasses::FunctionClasses(const Module& module) {
  for (const auto& graph : module.graphs()) {
    graphs_[graph.get()] = static_cast<int>(parent_.size());
    parent_.push_back(static_cast<int>(parent_.size()));
  }
  if (module.main()) Join(graphs_.at(module.main()), kOpen);
  for (const auto& graph : module.graphs()) Visit(*graph);
}

void FunctionClasses::Visit(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const Var& v = node->inputs[i];
      if (!v.type().is_function()) continue;
      bool called = node->op == Control().call && i == 0;
      bool chosen = node->op == Control().select && i > 0;
      if (!called && !chosen) Join(Of(v), kOpen);
    }
    if (node->op != Control().select || !node->outputs[0].is_function()) continue;
    Join(Of(node->inputs[1]), Of(node->inputs[2]));
    switches_[node] = Of(node->inputs[1]);
  }
  for (const Var& v : graph.outputs()) {
    if (v.type().is_function()) Join(Of(v), kOpen);
  }
}

int FunctionClasses::Of(const Var& function) const {
  if (const Graph* graph = PartialGraph(function.node)) return Of(graph);
  auto it = switches_.find(function.node);
  return it == switches_.end() ? kOpen : Find(it->second);
}

int FunctionClasses::Of(const Graph* graph) const { return Find(graphs_.at(graph)); }

int FunctionClasses::Find(int element) const {
  while (parent_[element] != element) element = parent_[element] = parent_[parent_[element]];
  return element;
}

// The smaller element leads, so that kOpen always does.
void FunctionClasses::Join(int a, int b) {
  a = Find(a);
  b = Find(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

}  // namespace ms
