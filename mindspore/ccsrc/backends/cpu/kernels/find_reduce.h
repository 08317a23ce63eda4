// The loops of reductions, for kernels that reduce parts of something.
#pragma once

#include "backends/cpu/kernels/reduce_plan.h"
#include "base/dtype.h"

namespace ms::cpu {

// The fastest loop there is for elements of this type; null where there is none.
ReduceFn FindReduceLoop(ReduceKind kind, DType dtype);

}  // namespace ms::cpu
