// Batch normalisation of images with the channels last, alone and with what follows it.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

// Inputs and outputs of a kernel as arrays, for all kernels of batch normalisation.
template <class T>
const T* In(const KernelArgs& args, int i) {
  return static_cast<const T*>(args.in[i]);
}
template <class T>
T* Out(const KernelArgs& args, int i) {
  return static_cast<T*>(args.out[i]);
}

// These refuse other layouts.
KernelChoice BatchNormRows(const KernelRequest& r);
KernelChoice BatchNormInferenceRows(const KernelRequest& r);
KernelChoice BatchNormGradRows(const KernelRequest& r);
// BatchNormRelu, BatchNormAddRelu and their gradients.
void AddNormRelu(KernelTable& table);

}  // namespace ms::cpu
