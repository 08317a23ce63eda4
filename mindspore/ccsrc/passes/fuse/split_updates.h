// Elementwise values that updates of Parameters and others read, such as a gradient without its
// loss scale, which is also tested for overflow.
#pragma once

#include "ir/graph.h"

namespace ms {

// Computes them once for the updates and once for the others where what they are made of is in
// memory anyway: then neither stores them. The updates may run much later than the others.
bool SplitUpdates(Graph* graph);

}  // namespace ms
