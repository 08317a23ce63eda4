// What the declarations of ops that write to a Parameter share.
#pragma once

#include "ir/op.h"

namespace ms {

// Input `value` becomes of the dtype of the Parameter, which loses no part of a complex number.
inline void CheckBecomes(const InferContext& c, size_t value) {
  DType target = c.dtype(0), dtype = c.dtype(value);
  bool fits = Promote(target, false, dtype, c.in(value).weak()) == target;
  fits = fits && (!IsComplex(dtype) || target == dtype);
  c.CheckType(fits, "'{}' must be of the dtype of '{}' or one that promotes to it, {}, but got {}",
              c.input_name(value), c.input_name(0), Name(target), Name(dtype));
}

}  // namespace ms
