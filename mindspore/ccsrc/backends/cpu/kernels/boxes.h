// Loops over boxes.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

MS_DECLARE_ISA(
    // For n boxes (x1, y1, x2, y2) whether each stays: none before it that stays shares more than
    // `threshold` of their union with it.
    template <class T> void KeepBoxes(const T* boxes, int64_t n, T threshold, bool* keep);)

}  // namespace ms::cpu
