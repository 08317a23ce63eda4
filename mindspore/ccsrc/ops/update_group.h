// The op UpdateGroup: updates of many Parameters, and the steps that lead to them, as one launch.
// They are many small loops that do not depend on each other; as one they wake the threads once,
// share the work evenly whatever the sizes, and what leads to an update (decay, scaling, clipping)
// passes through the first-level cache.
//
// Its attribute `body` is a straight graph; the node's inputs are the body's parameters, its
// outputs the body's. The nodes of the body are views, and others of which element i of the
// outputs, at least two, is made of elements i of the inputs, and of single elements. They lie
// chain after chain: `chains` says how many nodes each has. Different chains have no value of more
// than one element in common, nor the memory that a Parameter's old and new value may share.
#pragma once

#include "ir/graph.h"

namespace ms {

// Inputs and outputs of the nodes of a chain: kernels keep a table of them on the stack.
inline constexpr size_t kMaxChainPlaces = 128;

bool IsUpdateGroup(const Node& node);

}  // namespace ms
