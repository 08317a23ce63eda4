// The activations that may follow a matrix product or a convolution inside one op, as the
// activations declare it (OpDef::Joins).
#pragma once

#include <string_view>

#include "ir/op.h"

namespace ms {

// What the node does, if an op before it may do that too; null otherwise. A null node does nothing.
const JoinedActivation* JoinedActivationOf(const Node* node);
// The names of all, in the order of their ops.
std::vector<std::string> JoinedActivations();

// Refuses another attribute 'activation'.
void CheckActivation(const InferContext& c);
// The activation that the attribute names, as an op of its own.
Term Activated(ExpandContext& c, const Term& x);

}  // namespace ms
