// Inner loops of normalisation: over runs of neighbouring elements, and over blocks of columns
// where channels are the last dimension. Sums leave in float64.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

inline constexpr int64_t kColumnBlock = 64;  // most columns of one call of the *Columns loops

// A piece of rows x width elements, rows `stride` apart.
struct ColumnBlock {
  int64_t rows, width, stride;
};

MS_DECLARE_ISA(
    template <class T> double RunSum(const T* x, int64_t n);
    // Sum of (x - mean)^2.
    template <class T> double RunSquares(const T* x, int64_t n, T mean);
    // y = (x - mean) * a + b.
    template <class T> void RunAffine(const T* x, int64_t n, T mean, T a, T b, T* y);
    // Sums of dy and of dy (x - mean).
    template <class T> void RunDots(const T* dy, const T* x, int64_t n, T mean, double* sums);
    // dx = (dy - b - (x - mean) c) * a.
    template <class T>
    void RunGrad(const T* dy, const T* x, int64_t n, T mean, T a, T b, T c, T* dx);

    // The same column by column; per-column numbers are arrays.
    template <class T> void ColumnsSum(const ColumnBlock& s, const T* x, double* sums);
    template <class T>
    void ColumnsSquares(const ColumnBlock& s, const T* x, const T* mean, double* sums);
    template <class T> void ColumnsAffine(const ColumnBlock& s, const T* x, const T* mean,
                                          const T* a, const T* b, T* y);
    template <class T> void ColumnsDots(const ColumnBlock& s, const T* dy, const T* x,
                                        const T* mean, double* dy_sums, double* dots);
    template <class T> void ColumnsGrad(const ColumnBlock& s, const T* dy, const T* x,
                                        const T* mean, const T* a, const T* b, const T* c, T* dx);

    // Layer normalisation. y = (x - mean) * r * gamma + beta.
    template <class T>
    void RunScale(const T* x, int64_t n, T mean, T r, const T* gamma, const T* beta, T* y);
    // Sums of a = dy gamma and of a h, with h = (x - mean) r; adds dy h to dgamma and dy to dbeta.
    template <class T> void RunLayerDots(const T* dy, const T* x, const T* gamma, int64_t n, T mean,
                                         T r, double* sums, T* dgamma, T* dbeta);
    // dx = (dy gamma - b - h c) * r.
    template <class T> void RunLayerGrad(const T* dy, const T* x, const T* gamma, int64_t n, T mean,
                                         T r, T b, T c, T* dx);)

}  // namespace ms::cpu
