// Memory that somebody outside may write to at any time: arrays of NumPy that share it. Who keeps
// results computed from a tensor asks Tensor::exposed() whether it may have changed, and who needs
// its present value for some time takes a snapshot.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace ms {

// An array shares the tensor's memory, until Conceal.
void Expose(const Tensor& tensor);
void Conceal(const Tensor& tensor);
// How often memory with a second holder, as somebody is who keeps results, was exposed.
uint64_t Exposures();

// The present value of a tensor, which nobody changes. Our own code writes in place only where no
// other handle is, so the memory is shared where it can be: where it is exposed, this is a copy.
Tensor Snapshot(const Tensor& tensor);

}  // namespace ms
