// Batch normalisation where the channels lie next to each other, with the activation that follows
// and, before it, the addition of a second image (a residual connection). Rows are pixels; all of
// them have `channels` elements and lie one behind the other.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

enum class RowActivation { kNone, kRelu, kRelu6 };

struct PixelRows {
  int64_t rows, channels;
};

// z = (x - mean) * a + b, and y = activation(z + residual), which may be null.
template <class T>
struct NormApply {
  const T *x, *mean, *a, *b, *residual;
  T* y;
};

// What reaches z is g: dy where the activation passes it on. With a residual, y tells where, and g
// is written as well; otherwise z is computed again.
template <class T>
struct NormGrad {
  const T *dy, *x, *y, *mean, *a, *b;
  T* g;
};

MS_DECLARE_ISA(
    // Mean and sum of squared distances from it, for each channel.
    template <class T> void RowMoments(PixelRows r, const T* x, double* means, double* squares);
    template <class T> void RowNorm(RowActivation act, PixelRows r, const NormApply<T>& p);
    // Sums of g and of g (x - mean), for each channel.
    template <class T>
    void RowDots(RowActivation act, PixelRows r, const NormGrad<T>& p, double* sums, double* dots);
    // dx = (g - s - (x - mean) t) * a.
    template <class T> void RowNormGrad(RowActivation act, PixelRows r, const NormGrad<T>& p,
                                        const T* s, const T* t, T* dx);)

}  // namespace ms::cpu
