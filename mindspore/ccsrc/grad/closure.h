// Gradients of functions that stay values. For a graph g, ▶g returns g's outputs and, last, the
// closure back = Partial(◀g, saved values), which maps output tangents to (Box of the tangents of
// g's captures, tangents of its parameters). Branches, loops, recursion and closures all follow
// from that one rule; straight code is inlined later.
#pragma once

#include <deque>
#include <unordered_map>

#include "ir/emitter.h"

namespace ms {

class ClosureGradients {
 public:
  explicit ClosureGradients(Module* module) : module_(module) {}

  // ▶g, made once per g, with all graphs that it needs. None of the graphs that g reaches may hold
  // a Vjp.
  Graph* Forward(Graph* g);

  // ▶ of CustomGrad(f, back), given ▶f and ▶back, emitted where these stand.
  Var ForwardCustom(GraphEmitter& emitter, const Var& f, const Var& back);

  // What becomes of a type in ▶ graphs: functions return their backward closure too.
  static Type ForwardType(const Type& type);

 private:
  Graph* Declare(Graph* g);
  void Fill(Graph* g, Graph* forward);

  Module* module_;
  std::unordered_map<Graph*, Graph*> forward_;
  std::deque<Graph*>
      pending_;  // declared, not filled: no recursion, however deep graphs are nested
};

}  // namespace ms
