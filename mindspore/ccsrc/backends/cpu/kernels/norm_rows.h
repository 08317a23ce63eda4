// Batch normalisation of images with the channels last, alone and with what follows it.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

// These refuse other layouts.
KernelChoice BatchNormRows(const KernelRequest& r);
KernelChoice BatchNormInferenceRows(const KernelRequest& r);
KernelChoice BatchNormGradRows(const KernelRequest& r);
// BatchNormRelu, BatchNormAddRelu and their gradients.
void AddNormRelu(KernelTable& table);

}  // namespace ms::cpu
