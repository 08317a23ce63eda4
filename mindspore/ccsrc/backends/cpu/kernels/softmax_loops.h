// Loops of softmax and cross entropy over one row of neighbouring elements. Float32 and Float64.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

MS_DECLARE_ISA(template <class T> void RowSoftmax(const T* x, int64_t n, T* y);
               // Times a factor.
               template <class T> void RowScaledSoftmax(const T* x, int64_t n, T factor, T* y);
               template <class T> void RowLogSoftmax(const T* x, int64_t n, T* y);
               // dx = y (dy - sum(y dy)).
               template <class T> void RowSoftmaxGrad(const T* y, const T* dy, int64_t n, T* dx);
               // dx = dy - exp(y) sum(dy).
               template <class T> void RowLogSoftmaxGrad(const T* y, const T* dy, int64_t n, T* dx);
               template <class T> T RowLogSumExp(const T* x, int64_t n);
               // The logarithm of element i of the softmax.
               template <class T> T RowLogShare(const T* x, int64_t n, int64_t i);)

}  // namespace ms::cpu
