// Sums, products and extremes over processes, element by element, in the order of the ranks.
#pragma once

#include <span>

#include "kernel/collectives.h"

namespace ms::cpu {

// out[i] = parts[0][i] + parts[1][i] + ...; `out` may be one of the parts. Half types add up in
// Float32 and are rounded once. TypeError for complex extremes.
void Combine(std::span<const void* const> parts, void* out, int64_t count, DType dtype,
             Reduction reduction);

}  // namespace ms::cpu
