// The parts of Simplify: tables of rules for one output, and rewrites that need code. Each rewrite
// says whether it replaced all outputs of the node.
#pragma once

#include "ir/rewrite.h"

namespace ms {

const RuleTable& AlgebraRules();  // numbers: x * 1, x + 0, zeros of gradients
const RuleTable& ArrayRules();    // shapes, casts, transpositions that undo each other
// Products of transposed matrices: another kernel, which may add up in another order.
const RuleTable& FastRules();

bool SimplifyArrays(Rewriter& rewriter, Node& node);   // fills, broadcasts, sums of sums
bool SimplifyControl(Rewriter& rewriter, Node& node);  // Switch, boxes

}  // namespace ms
