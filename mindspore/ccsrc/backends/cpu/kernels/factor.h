// Kernels that treat the matrices of a batch alike.
#pragma once

#include "kernel/kernel.h"
#include "kernel/parallel.h"

namespace ms::cpu {

// What a matrix must be that is not so, "be invertible"; null where all is well.
using Refusal = const char*;
// Computes matrix `at` of the batch.
using OneMatrix = Refusal (*)(const KernelRequest& request, const KernelArgs& args, int64_t at);

// One after the other, or side by side where there are many. `steps`: products and sums for each
// element, as often as the smaller side is long.
KernelChoice OverMatrices(const KernelRequest& request, OneMatrix one, double steps);

void AddComplexFactor(KernelTable& table);

}  // namespace ms::cpu
