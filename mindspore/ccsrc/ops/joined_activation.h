// Which activations may follow a matrix product or a convolution inside one op.
#pragma once

#include <string_view>

#include "ir/op.h"

namespace ms {

struct Node;

struct JoinedActivation {
  std::string_view name;         // the attribute 'activation'
  std::string_view op;           // what it does
  std::string_view approximate;  // the attribute of op, if it has one
  bool cheap = false;  // a few instructions: what follows a convolution costs nothing in it
};
// Null where there is none of that name; the empty name stands for none.
const JoinedActivation* FindJoinedActivation(std::string_view name);
// What the node does, if an op before it may do that too; null otherwise. A null node does nothing.
const JoinedActivation* JoinedActivationOf(const Node* node);

// Refuses another attribute 'activation'.
void CheckActivation(const InferContext& c);
// The activation that the attribute names, as an op of its own.
Term Activated(ExpandContext& c, const Term& x);

}  // namespace ms
