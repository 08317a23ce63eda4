// The last pass of the fast stage.
#pragma once

#include "ir/graph.h"

namespace ms {

// Groups of elementwise ops, views and reductions become Fused nodes (ops/fused.h).
bool Fuse(Module& module);

}  // namespace ms
