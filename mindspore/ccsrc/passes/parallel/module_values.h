// What is known of the values of a module before anything is chosen: which are one, as what a call
// gives and what its function takes; where the program pins them; which are trained, and which come
// from outside.
#pragma once

#include <functional>
#include <unordered_set>

#include "passes/parallel/callees.h"
#include "passes/parallel/hints.h"
#include "passes/parallel/plan.h"
#include "passes/parallel/values.h"

namespace ms::parallel {

class ModuleValues {
 public:
  ModuleValues(const Module& module, const PlanOptions& options, Callees& callees,
               const Hints& hints);

  Values& all() { return values_; }
  // The value that a Var is, if it is one: -1 for what a node computes, and constants.
  int Of(const Var& v);
  // Gradients go to it.
  bool Trained(const Var& v);
  bool Trained(const Node& node) const { return trained_.contains(&node); }
  // It depends on values from outside.
  bool FromData(const Node& node) const { return from_data_.contains(&node); }
  // Every place of the graph that binds a value: what it is given, and by which input of which
  // node; of results, without a node.
  using Binding = std::function<void(const Var&, int value, const Node* node, size_t input)>;
  void ForBindings(const Graph& graph, const Binding& use);

 private:
  void TakeInputs();
  void TakeOutputs();
  void PinEscaped();
  void Pin(const Layout& pin, int value, const char* what, size_t number);
  void PinWhole(int value);
  void PinParameters(const Hints& hints);

  void ForArguments(const Node& call, const Callee& callee, const Binding& use);
  void JoinCalls(const Graph& graph);
  void JoinGraphs(const Graph* a, const Graph* b);
  void JoinOwnGradients(const Graph& graph);
  void JoinOwnGradient(const OwnGradient& own);
  void JoinStates();
  void JoinResults();

  void MarkTrained(int value);
  void FindTrained(const Graph& graph);
  void FindData(const Graph& graph);

  const Module& module_;
  const PlanOptions& options_;
  Callees& callees_;
  Values values_;
  std::unordered_set<const Node*> trained_, from_data_;
  std::unordered_set<const Graph*> own_;  // functions with gradients of their own
};

}  // namespace ms::parallel
