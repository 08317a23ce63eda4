// Float16 and BFloat16 through Float32 kernels: inputs are widened into the workspace, outputs
// rounded from it.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

KernelMaker InFloat32(KernelMaker maker);

}  // namespace ms::cpu
