// Kernels of LayerNorm, a part of AddNorm.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

void AddLayerNorm(KernelTable& table);

}  // namespace ms::cpu
