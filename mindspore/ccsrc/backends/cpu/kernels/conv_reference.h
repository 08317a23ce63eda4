// Convolution by its definition, for Float32 and Float64: the truth that the fast kernels are
// tested against.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

KernelChoice ReferenceConv(const KernelRequest& request);
KernelChoice ReferenceConvInputGrad(const KernelRequest& request);
KernelChoice ReferenceConvFilterGrad(const KernelRequest& request);

}  // namespace ms::cpu
