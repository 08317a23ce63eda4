// Ops with kernels of their own as elementwise ops and reductions, where that lets them join a
// group.
#pragma once

#include "ir/graph.h"

namespace ms {

// Expands softmax, layer norm and their gradients beside elementwise work; where they stand alone
// their kernels are better. Only along rows that lie together in memory. Tests of all elements of a
// computed tensor are expanded too, whose Bool elements would be stored for them alone.
bool ExpandForFusion(Graph* graph);

}  // namespace ms
