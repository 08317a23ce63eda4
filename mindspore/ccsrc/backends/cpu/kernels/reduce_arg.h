// Positions of extremes of rows that lie one behind the other, and of rows that lie side by side.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

inline constexpr int64_t kFindColumns = 256;  // columns at once, at most

MS_DECLARE_ISA(
    // where[r] of `rows` rows of n elements each; n below 2^31 or one row at a time.
    template <class T>
    void FindInRows(bool largest, const T* x, int64_t rows, int64_t n, int64_t* where);
    // The first of n elements that is not up to a bound, as no nan is; n where all are.
    template <class T> int64_t FindAbove(const T* x, int64_t n, T bound);
    // where[c] of n <= kFindColumns columns, of which the rows lie `stride` apart.
    template <class T> void FindInColumns(bool largest, const T* x, int64_t rows, int64_t stride,
                                          int64_t n, int32_t* where);)

}  // namespace ms::cpu
