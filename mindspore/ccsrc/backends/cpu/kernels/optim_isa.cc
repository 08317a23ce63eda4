// Optimiser updates of float32 with wide vectors. Multiplications and additions are not fused: what
// the gradient goes through on its way has the bits of the ops that it stands for.
#pragma GCC optimize("fp-contract=off")

#include "backends/cpu/kernels/optim_rules.h"

namespace ms::cpu::MS_ISA {

void UpdateFloat(UpdateKind kind, const double* scalars, const OnTheWay* way, const void* const* in,
                 void* const* out, int64_t begin, int64_t end) {
  RunUpdate<float>(kind, scalars, way, in, out, begin, end);
}

}  // namespace ms::cpu::MS_ISA
