// What writing to a view writes to the tensor behind it, as `.Shows(...)` in the declarations.
#pragma once

#include "ir/op.h"

namespace ms::put {

Put Reshaped(const ViewStep& step);
Put Transposed(const ViewStep& step);
Put Repeated(const ViewStep& step);  // a broadcast
Put Box(const ViewStep& step);       // Slice
Put Strided(const ViewStep& step);   // StridedSlice
Put Pieces(const ViewStep& step);    // Split, SplitV, Unstack

}  // namespace ms::put
