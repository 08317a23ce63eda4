// The arithmetic of strided slices, shared by inference and kernels.
#pragma once

#include "ir/op.h"

namespace ms {

// A slice resolved against a shape: along axis i of the input, elements begin[i] + k * step[i], k <
// size[i].
struct SliceSpec {
  Dims begin, size;  // one entry for each axis of the input
  Ints step;
  Shape result;           // after new axes were added and single elements lost their axis
  std::vector<int> axes;  // of the input, one for each axis of the result; -1: a new one
};

// Reads the attributes begin, end, strides and the five masks; throws ValueError or IndexError with
// what must hold.
SliceSpec ResolveSlice(const OpDef& op, const Attrs& attrs, const Shape& shape);

}  // namespace ms
