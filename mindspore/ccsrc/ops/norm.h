// What the declarations of batch normalisation share.
#pragma once

#include "ir/op.h"

namespace ms {

// Checks input x and the per-channel inputs [first, last); returns the type of the latter.
Type CheckBatchNorm(const InferContext& c, size_t x, size_t first, size_t last);
// Of BatchNorm, and of ops with the same first inputs and outputs.
Types InferBatchNorm(InferContext& c);

}  // namespace ms
