// The functions of a batch: for each graph g that a Vmap reaches, the graph that does for all items
// what g does for one. A condition that differs between items runs both arms and selects; a loop of
// that kind runs while any item does, and the others keep what they have.
#pragma once

#include <deque>
#include <unordered_map>

#include "grad/batch_analysis.h"
#include "ir/emitter.h"

namespace ms {

class BatchedFunctions {
 public:
  BatchedFunctions(Module* module, const BatchAnalysis& analysis);

  // What becomes of a Partial or Switch node, given what became of its inputs; `emitter` is of the
  // graph that the Vmap stands in.
  Var Make(GraphEmitter& emitter, const Node& source, const Vars& inputs);
  // The function as the type of the Vmap says. After this everything is made.
  Var Finish(GraphEmitter& emitter, const Var& function);

 private:
  friend class BatchedGraph;
  Graph* Declare(const Graph* g);
  // A function of the type of both that calls those that any item wants and selects. `condition`:
  // one element per item.
  Var Choose(GraphEmitter& emitter, const Var& condition, const Var& if_true, const Var& if_false);
  Graph* Zeros(const FunctionType& type);  // a function that returns zeros

  Module* module_;
  const BatchAnalysis& analysis_;
  std::unordered_map<const Graph*, Graph*> made_;
  std::unordered_map<const Graph*, const Graph*> loop_of_body_;  // masked loops
  std::deque<const Graph*> pending_;
};

}  // namespace ms
