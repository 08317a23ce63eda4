// The gradient of a convolution's filter as a sum of parts of the batch.
//
// oneDNN shares the batch out too, and its threads wait for each other inside of their parts to add
// up what they have. Where other processes use the processors, that costs a time slice in every
// step, many times what a short convolution takes. Here a part is a convolution of one thread,
// which waits for nobody.
#pragma once

#include <functional>

#include "kernel/kernel.h"
#include "ops/window.h"

namespace ms::cpu {

// `make` gives the kernel for a smaller batch of images of this shape.
KernelChoice FilterGradInParts(const KernelRequest& r,
                               const std::function<KernelChoice(const Shape& images)>& make);

}  // namespace ms::cpu
