// The gradient rule of an op: its own, or that of the composition it expands to, where it has no
// rule or the rule returns nothing.
#pragma once

#include "ir/op.h"

namespace ms {

bool IsDifferentiable(const OpDef& op);
// The tangents of the inputs of an op that is differentiable.
Terms ApplyGradientRule(const OpDef& op, GradContext& context);

}  // namespace ms
