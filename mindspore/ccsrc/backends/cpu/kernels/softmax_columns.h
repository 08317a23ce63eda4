// Softmax and its kin of rows that lie side by side: element i of row l is x[i * stride + l].
// Float32 and Float64. Results may lie over an operand.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

inline constexpr int64_t kSideBySide = 64;  // rows at once, at most

MS_DECLARE_ISA(
    template <class T>
    void ColumnsSoftmax(const T* x, const T*, int64_t n, int64_t stride, int64_t rows, T* y);
    template <class T>
    void ColumnsLogSoftmax(const T* x, const T*, int64_t n, int64_t stride, int64_t rows, T* y);
    template <class T> void ColumnsSoftmaxGrad(const T* y, const T* dy, int64_t n, int64_t stride,
                                               int64_t rows, T* dx);
    template <class T> void ColumnsLogSoftmaxGrad(const T* y, const T* dy, int64_t n,
                                                  int64_t stride, int64_t rows, T* dx);
    // to[i][l] = from[l][i] and back, for rows of n elements; a row of `to` has kSideBySide.
    template <class T> void GatherColumns(const T* from, int64_t n, int64_t rows, T* to);
    template <class T> void ScatterColumns(const T* from, int64_t n, int64_t rows, T* to);)

}  // namespace ms::cpu
