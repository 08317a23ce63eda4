// Kernels of the op Fused.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

void AddFused(KernelTable& table);

}  // namespace ms::cpu
