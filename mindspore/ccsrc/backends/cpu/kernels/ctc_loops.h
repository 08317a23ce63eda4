// Loops of the CTC recursion over the labels of one step. Float32 and Float64.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

// after[s] = p[s] + log(e^(before[s] + stay[s]) + e^before[s - 1] + e^(before[s - 2] + skip[s]))
// for s < n; before[-1] and before[-2] are there.
MS_DECLARE_ISA(template <class T> void CtcStep(const T* before, const T* stay, const T* skip,
                                               const T* p, int64_t n, T* after);
               // share[s] = e^(alpha[s] + beta[s] - p[s] + loss).
               template <class T> void CtcShares(const T* alpha, const T* beta, const T* p, T loss,
                                                 int64_t n, T* share);
               // y[i] = e^x[i] times a factor.
               template <class T> void CtcExponentials(const T* x, T factor, int64_t n, T* y);)

}  // namespace ms::cpu
