// The reverse walk over straight-line code: the one place that calls OpDef::grad. The eager tape
// and the backward graphs of the compiler both come from it.
#pragma once

#include <vector>

#include "ir/op.h"

namespace ms {

// How the walk reaches its surroundings; the defaults suit a graph that is extended in place.
class BackwardHost {
 public:
  virtual ~BackwardHost() = default;
  // A forward value, as seen from where gradients are emitted.
  virtual Var Use(const Var& forward) { return forward; }
  // Tangents of the inputs of a node whose op has no rule of its own (calls of functions).
  virtual Vars CallGradient(const Node& node, const Vars& tangents,
                            const std::vector<bool>& needed);
  // The tangent of a value is complete; what is returned takes its place.
  virtual Var Arrived(const Var& forward, const Var& tangent) {
    (void)forward;
    return tangent;
  }
  // `node` is done with: its tangents and what it saved are not asked for again.
  virtual void Finished(const Node&) {}
  // Called around each rule, so that an eager host can drop what the rule made and nobody kept.
  virtual void BeginRule() {}
  virtual void EndRule(const std::vector<Var>&) {}  // the tangents that rule returned
  virtual void Dropped(const Var&) {}               // a tangent nobody refers to any more
};

struct Seed {
  Var output;
  Var tangent;
};

// Tangents of `wrt` (null where there is no path), given tangents of outputs. `nodes` are walked
// from last to first; what lies outside of them counts as constant, but for `wrt` itself.
Vars Backward(Emitter& emitter, const std::vector<Node*>& nodes, const std::vector<Seed>& seeds,
              const Vars& wrt, BackwardHost& host);

// Sum of two tangents: Add for tensors, BoxAdd for boxes.
Var AddTangents(Emitter& emitter, const Var& a, const Var& b);

}  // namespace ms
