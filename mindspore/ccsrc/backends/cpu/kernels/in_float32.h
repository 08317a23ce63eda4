// Kernels through those of wider types: inputs are widened into the workspace, outputs rounded from
// it.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

// Float16 and BFloat16 by a Float32 kernel.
KernelMaker InFloat32(KernelMaker maker);
// Int8 with Int32 results by a Float64 kernel, whose sums of products of bytes are exact.
KernelMaker InFloat64(KernelMaker maker);

}  // namespace ms::cpu
