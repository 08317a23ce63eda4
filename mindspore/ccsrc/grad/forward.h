// Forward mode. For a graph g, ▷g takes g's captures and parameters with their tangents, and
// returns its outputs with theirs. Function values carry the tangents of what they captured, so
// branches, loops, recursion and closures need no rule of their own. The rule of an op is its
// gradient, transposed: what maps a tangent of the output to tangents of the inputs is linear, and
// the reverse walk over it maps tangents of the inputs to that of the output.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "ir/emitter.h"

namespace ms {

class ForwardGradients {
 public:
  explicit ForwardGradients(Module* module) : module_(module) {}

  // ▷CustomGrad(f, back) of the plain functions f and back, in the graph of the emitter. A rule of
  // the user's is linear in the tangents of the outputs: its own gradient for them maps tangents
  // of the inputs forward. That is Vjp(back), which is still to be expanded.
  Var OfCustom(GraphEmitter& emitter, const Var& f, const Var& back);

  // ▷g for a g of which no capture has a tangent, with all graphs that it needs. None of the graphs
  // that g reaches may hold a transform.
  Graph* Forward(Graph* g);

 private:
  friend class ForwardGraph;
  using Key = std::pair<Graph*, std::vector<bool>>;

  // `active`: which captures come with a tangent. Those without are constants of the function.
  Graph* Declare(Graph* g, const std::vector<bool>& active);

  Module* module_;
  std::map<Key, Graph*> made_;
  std::deque<const std::pair<const Key, Graph*>*> pending_;  // declared, not filled
};

}  // namespace ms
