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

// A sum over several runs. Lanes are independent, so that additions need not wait for each other,
// and a lane goes to `total` before it has seen so many numbers that roundings add up.
inline constexpr int64_t kLanes = 64;
template <class T>
struct LaneSums {
  T lanes[kLanes] = {};
  double total = 0;
  int64_t pending = 0;  // elements in the lanes
};

MS_DECLARE_ISA(
    template <class T> double Total(const LaneSums<T>& sums);
    template <class T> void RunSum(const T* x, int64_t n, LaneSums<T>* sum);
    // Adds (x - mean)^2.
    template <class T> void RunSquares(const T* x, int64_t n, T mean, LaneSums<T>* sum);
    // Adds dy to sums[0] and dy (x - mean) to sums[1].
    template <class T> void RunDots(const T* dy, const T* x, int64_t n, T mean, LaneSums<T>* sums);
    // y = (x - mean) * a + b.
    template <class T> void RunAffine(const T* x, int64_t n, T mean, T a, T b, T* y);
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
    // Adds a = dy gamma to sums[0] and a h to sums[1], with h = (x - mean) r; dy h to dgamma and dy
    // to dbeta.
    template <class T> void RunLayerDots(const T* dy, const T* x, const T* gamma, int64_t n, T mean,
                                         T r, LaneSums<T>* sums, T* dgamma, T* dbeta);
    // dx = (dy gamma - b - h c) * r.
    template <class T> void RunLayerGrad(const T* dy, const T* x, const T* gamma, int64_t n, T mean,
                                         T r, T b, T c, T* dx);)

}  // namespace ms::cpu
