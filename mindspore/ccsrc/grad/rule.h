// The gradient rule of an op: its own, or that of the composition it expands to, where it has no
// rule or the rule returns nothing.
#pragma once

#include "ir/op.h"

namespace ms {

bool IsDifferentiable(const OpDef& op);
// Of an op without a rule, integers count as constants: those that it gives (an index, a rank, a
// count) move in steps, and those that it reads say where, not how much.
bool IsStep(const Var& output);
bool IsLeftAside(const Node& node, const Var& input);
// The tangents of the inputs of an op that is differentiable.
Terms ApplyGradientRule(const OpDef& op, GradContext& context);

}  // namespace ms
