#include <algorithm>

#include "backends/cpu/kernels/norm_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

// Independent sums, so that additions need not wait for each other; also a shorter chain of
// roundings.
constexpr int64_t kLanes = 64;
// After so many elements per lane, float sums move to float64.
constexpr int64_t kFlush = 64 * kLanes;

// Sum of term(i) for i in [0, n).
template <class T, class F>
double LaneSum(int64_t n, F&& term) {
  double total = 0;
  int64_t i = 0;
  while (i + kLanes <= n) {
    T lanes[kLanes] = {};
    int64_t end = std::min(n - kLanes, i + kFlush);
    for (; i <= end; i += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
    }
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t l = 0; l < kLanes; ++l) sum += lanes[l];
    total += sum;
  }
  T rest = 0;
#pragma omp simd reduction(+ : rest)
  for (int64_t j = i; j < n; ++j) rest += term(j);
  return total + rest;
}

// Calls step(row, sums) for all rows, where sums are T and flushed to float64 now and then.
template <class T, class F>
void ColumnSums(const ColumnBlock& s, double* sums, F&& add_row) {
  constexpr int64_t kRowsPerFlush = 64;
  std::fill(sums, sums + s.width, 0.0);
  for (int64_t r = 0; r < s.rows; r += kRowsPerFlush) {
    T partial[kColumnBlock] = {};
    for (int64_t i = r; i < std::min(s.rows, r + kRowsPerFlush); ++i)
      add_row(i * s.stride, partial);
    for (int64_t j = 0; j < s.width; ++j) sums[j] += partial[j];
  }
}

}  // namespace

template <class T>
double RunSum(const T* x, int64_t n) {
  return LaneSum<T>(n, [=](int64_t i) { return x[i]; });
}

template <class T>
double RunSquares(const T* x, int64_t n, T mean) {
  return LaneSum<T>(n, [=](int64_t i) { return (x[i] - mean) * (x[i] - mean); });
}

template <class T>
void RunAffine(const T* x, int64_t n, T mean, T a, T b, T* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * a + b;
}

template <class T>
void RunDots(const T* dy, const T* x, int64_t n, T mean, double* sums) {
  constexpr int64_t kHalf = kLanes / 2;
  int64_t i = 0;
  while (i + kHalf <= n) {
    T first[kHalf] = {}, second[kHalf] = {};
    int64_t end = std::min(n - kHalf, i + kFlush);
    for (; i <= end; i += kHalf) {
      for (int64_t l = 0; l < kHalf; ++l) {
        first[l] += dy[i + l];
        second[l] += dy[i + l] * (x[i + l] - mean);
      }
    }
    T a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
    for (int64_t l = 0; l < kHalf; ++l) {
      a += first[l];
      b += second[l];
    }
    sums[0] += a;
    sums[1] += b;
  }
  T a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
  for (int64_t j = i; j < n; ++j) {
    a += dy[j];
    b += dy[j] * (x[j] - mean);
  }
  sums[0] += a;
  sums[1] += b;
}

template <class T>
void RunGrad(const T* dy, const T* x, int64_t n, T mean, T a, T b, T c, T* dx) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dx[i] = (dy[i] - b - (x[i] - mean) * c) * a;
}

template <class T>
void ColumnsSum(const ColumnBlock& s, const T* x, double* sums) {
  ColumnSums<T>(s, sums, [&](int64_t row, T* partial) {
    for (int64_t j = 0; j < s.width; ++j) partial[j] += x[row + j];
  });
}

template <class T>
void ColumnsSquares(const ColumnBlock& s, const T* x, const T* mean, double* sums) {
  ColumnSums<T>(s, sums, [&](int64_t row, T* partial) {
    for (int64_t j = 0; j < s.width; ++j) {
      T centred = x[row + j] - mean[j];
      partial[j] += centred * centred;
    }
  });
}

template <class T>
void ColumnsAffine(const ColumnBlock& s, const T* x, const T* mean, const T* a, const T* b, T* y) {
  for (int64_t r = 0; r < s.rows; ++r) {
    int64_t row = r * s.stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < s.width; ++j) y[row + j] = (x[row + j] - mean[j]) * a[j] + b[j];
  }
}

template <class T>
void ColumnsDots(const ColumnBlock& s, const T* dy, const T* x, const T* mean, double* dy_sums,
                 double* dots) {
  ColumnsSum(s, dy, dy_sums);
  ColumnSums<T>(s, dots, [&](int64_t row, T* partial) {
    for (int64_t j = 0; j < s.width; ++j) partial[j] += dy[row + j] * (x[row + j] - mean[j]);
  });
}

template <class T>
void ColumnsGrad(const ColumnBlock& s, const T* dy, const T* x, const T* mean, const T* a,
                 const T* b, const T* c, T* dx) {
  for (int64_t r = 0; r < s.rows; ++r) {
    int64_t row = r * s.stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < s.width; ++j) {
      dx[row + j] = (dy[row + j] - b[j] - (x[row + j] - mean[j]) * c[j]) * a[j];
    }
  }
}

template <class T>
void RunScale(const T* x, int64_t n, T mean, T r, const T* gamma, const T* beta, T* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * r * gamma[i] + beta[i];
}

template <class T>
void RunLayerDots(const T* dy, const T* x, const T* gamma, int64_t n, T mean, T r, double* sums,
                  T* dgamma, T* dbeta) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    dgamma[i] += dy[i] * ((x[i] - mean) * r);
    dbeta[i] += dy[i];
  }
  sums[0] += LaneSum<T>(n, [=](int64_t i) { return dy[i] * gamma[i]; });
  sums[1] += LaneSum<T>(n, [=](int64_t i) { return dy[i] * gamma[i] * ((x[i] - mean) * r); });
}

template <class T>
void RunLayerGrad(const T* dy, const T* x, const T* gamma, int64_t n, T mean, T r, T b, T c,
                  T* dx) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dx[i] = (dy[i] * gamma[i] - b - (x[i] - mean) * r * c) * r;
}

#define MS_NORM_LOOPS(T)                                                                          \
  template double RunSum<T>(const T*, int64_t);                                                   \
  template double RunSquares<T>(const T*, int64_t, T);                                            \
  template void RunAffine<T>(const T*, int64_t, T, T, T, T*);                                     \
  template void RunDots<T>(const T*, const T*, int64_t, T, double*);                              \
  template void RunGrad<T>(const T*, const T*, int64_t, T, T, T, T, T*);                          \
  template void ColumnsSum<T>(const ColumnBlock&, const T*, double*);                             \
  template void ColumnsSquares<T>(const ColumnBlock&, const T*, const T*, double*);               \
  template void ColumnsAffine<T>(const ColumnBlock&, const T*, const T*, const T*, const T*, T*); \
  template void ColumnsDots<T>(const ColumnBlock&, const T*, const T*, const T*, double*,         \
                               double*);                                                          \
  template void ColumnsGrad<T>(const ColumnBlock&, const T*, const T*, const T*, const T*,        \
                               const T*, const T*, T*);                                           \
  template void RunScale<T>(const T*, int64_t, T, T, const T*, const T*, T*);                     \
  template void RunLayerDots<T>(const T*, const T*, const T*, int64_t, T, T, double*, T*, T*);    \
  template void RunLayerGrad<T>(const T*, const T*, const T*, int64_t, T, T, T, T, T*);
MS_NORM_LOOPS(float)
MS_NORM_LOOPS(double)
#undef MS_NORM_LOOPS

}  // namespace ms::cpu::MS_ISA
