// Optimiser updates of float32 with wide vectors.
#include "backends/cpu/kernels/optim_rules.h"

namespace ms::cpu::MS_ISA {

void UpdateFloat(UpdateKind kind, const double* scalars, const void* const* in, void* const* out,
                 int64_t begin, int64_t end) {
  RunUpdate<float>(kind, scalars, in, out, begin, end);
}

}  // namespace ms::cpu::MS_ISA
