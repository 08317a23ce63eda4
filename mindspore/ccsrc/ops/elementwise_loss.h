// Losses that compare two tensors element by element.
#pragma once

#include "ir/op.h"

namespace ms {

void DefineElementwiseLoss(OpRegistry& ops);
// The attribute 'reduction' is 'none', 'mean' or 'sum'.
void CheckReduction(const InferContext& c);

}  // namespace ms
