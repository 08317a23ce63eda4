// Sums over processes that begin as their tensors are made and are waited for together.
#pragma once

#include "ir/op.h"

namespace ms {

// Output i is input i, which the sums have been written to since StartSum: its memory is in use
// from there on, whatever else runs.
bool IsAwaitSums(const Node& node);

}  // namespace ms
