// Matrix products and convolutions of bytes.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

// After the kernels of Conv2D for other types.
void AddInteger(KernelTable& table);

}  // namespace ms::cpu
