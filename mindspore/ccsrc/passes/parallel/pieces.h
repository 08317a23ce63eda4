// Pieces of tensors on the host: what a process takes of a whole one, and back.
#pragma once

#include "passes/parallel/layout.h"
#include "tensor/tensor.h"

namespace ms::parallel {

// A copy of the box.
Tensor Cutout(const Tensor& whole, const Box& box);
// Writes a piece to its box; `whole` is not shared.
void Insert(const Tensor& piece, const Box& box, Tensor* whole);

}  // namespace ms::parallel
