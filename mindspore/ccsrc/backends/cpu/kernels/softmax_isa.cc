// Row loops of softmax and its kin, compiled once per instruction set.
#include <cmath>

#include "backends/cpu/isa/double_math.h"
#include "backends/cpu/isa/vector_math.h"
#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/softmax_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

inline float Exponential(float x) { return Exp(x); }
inline double Exponential(double x) { return ExpDouble(x); }

constexpr int64_t kLanes = 16;  // independent partial results, a vector or two of them

// Sum of term(i): short rows need no lanes, and long ones get shorter chains of roundings from
// them.
template <class T, class F>
T Sum(int64_t n, F&& term) {
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
  }
  T total = 0;
  for (; i < n; ++i) total += term(i);
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return total + lanes[0];
}

// The sum of exp(x - shift), and the terms in y where that is given; added up as Sum does.
double ExpSum(const double* x, int64_t n, double shift, double* y) {
  return Sum<double>(n, [=](int64_t i) {
    double e = ExpDouble(x[i] - shift);
    if (y) y[i] = e;
    return e;
  });
}

template <bool Keep>
float ExpSum(const float* x, int64_t n, float shift, float* y) {
  constexpr int kParts = kLanes / kVectorFloats;
  FloatVector lanes[kParts] = {};
  int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t p = 0; p < kParts; ++p) {
      FloatVector e = ExpVector(LoadVector(x + i + p * kVectorFloats) - shift);
      if constexpr (Keep) StoreVector(y + i + p * kVectorFloats, e);
      lanes[p] += e;
    }
  }
  // The rest as vectors too, filled up with what has no share.
  float total = 0;
  for (int64_t i = whole; i < n; i += kVectorFloats) {
    int64_t count = n - i < kVectorFloats ? n - i : kVectorFloats;
    auto bytes = static_cast<uint64_t>(count) * sizeof(float);
    FloatVector rest = {};
    __builtin_memcpy(&rest, x + i, bytes);
    FloatVector e = ExpVector(rest - shift);
    if constexpr (Keep) __builtin_memcpy(y + i, &e, bytes);
    for (int64_t k = 0; k < count; ++k) total += e[k];
  }
  float sums[kLanes];
  __builtin_memcpy(sums, lanes, sizeof(sums));
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return total + sums[0];
}
float ExpSum(const float* x, int64_t n, float shift, float* y) {
  return y ? ExpSum<true>(x, n, shift, y) : ExpSum<false>(x, n, shift, y);
}

// lanes[l] = max(lanes[l], x[l])
template <int64_t kCount, class T>
void Raise(T* lanes, const T* x) {
  for (int64_t l = 0; l < kCount; ++l) lanes[l] = x[l] > lanes[l] ? x[l] : lanes[l];
}

template <class T>
T Largest(const T* x, int64_t n) {
  constexpr int64_t kChains = 4 * kLanes;
  T best = x[0];
  if (n < kLanes) {
    for (int64_t i = 1; i < n; ++i) best = x[i] > best ? x[i] : best;
    return best;
  }
  T lanes[kChains];
  for (T& lane : lanes) lane = best;
  int64_t i = 0;
  for (; i + kChains <= n; i += kChains) Raise<kChains>(lanes, x + i);
  for (; i + kLanes <= n; i += kLanes) Raise<kLanes>(lanes, x + i);
  Raise<kLanes>(lanes, x + n - kLanes);  // some a second time, which does no harm
  for (int64_t half = kChains / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l)
      lanes[l] = lanes[l + half] > lanes[l] ? lanes[l + half] : lanes[l];
  }
  return lanes[0];
}

}  // namespace

template <class T>
void RowScaledSoftmax(const T* x, int64_t n, T factor, T* y) {
  T scale = factor / ExpSum(x, n, Largest(x, n), y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] *= scale;
}

template <class T>
void RowSoftmax(const T* x, int64_t n, T* y) {
  RowScaledSoftmax(x, n, T{1}, y);
}

template <class T>
T RowLogSumExp(const T* x, int64_t n) {
  T largest = Largest(x, n);
  return largest + std::log(ExpSum(x, n, largest, static_cast<T*>(nullptr)));
}

template <class T>
T RowLogShare(const T* x, int64_t n, int64_t at) {
  T largest = Largest(x, n);
  T log_sum = std::log(ExpSum(x, n, largest, static_cast<T*>(nullptr)));
  return x[at] - largest - log_sum;
}

template <class T>
void RowLogSoftmax(const T* x, int64_t n, T* y) {
  T largest = Largest(x, n);
  T log_sum = std::log(ExpSum(x, n, largest, static_cast<T*>(nullptr)));
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - largest - log_sum;
}

template <class T>
void RowSoftmaxGrad(const T* y, const T* dy, int64_t n, T* dx) {
  T sum = Sum<T>(n, [=](int64_t i) { return y[i] * dy[i]; });
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - sum);
}

template <class T>
void RowLogSoftmaxGrad(const T* y, const T* dy, int64_t n, T* dx) {
  T sum = Sum<T>(n, [=](int64_t i) { return dy[i]; });
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] - Exponential(y[i]) * sum;
}

#define MS_SOFTMAX_LOOPS(T)                                            \
  template void RowScaledSoftmax<T>(const T*, int64_t, T, T*);         \
  template void RowSoftmax<T>(const T*, int64_t, T*);                  \
  template void RowLogSoftmax<T>(const T*, int64_t, T*);               \
  template void RowSoftmaxGrad<T>(const T*, const T*, int64_t, T*);    \
  template void RowLogSoftmaxGrad<T>(const T*, const T*, int64_t, T*); \
  template T RowLogSumExp<T>(const T*, int64_t);                       \
  template T RowLogShare<T>(const T*, int64_t, int64_t);
MS_SOFTMAX_LOOPS(float)
MS_SOFTMAX_LOOPS(double)
#undef MS_SOFTMAX_LOOPS

}  // namespace ms::cpu::MS_ISA
