// Memory that somebody outside may write to at any time: arrays of NumPy that share it. Who keeps
// results computed from a tensor asks here whether it may have changed.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace ms {

// An array shares the tensor's memory, until Conceal.
void Expose(const Tensor& tensor);
void Conceal(const Tensor& tensor);
bool IsExposed(const Tensor& tensor);
// How often memory with a second holder, as somebody is who keeps results, was exposed.
uint64_t Exposures();

}  // namespace ms
