// Loops of batch and layer normalisation, compiled once per instruction set.
#include <algorithm>

#include "backends/cpu/kernels/norm_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

constexpr int64_t kFlush = 256 * kLanes;

// The lanes' sum; four chains of additions.
template <class T>
double SumOfLanes(const T* lanes) {
  double parts[4] = {};
  for (int64_t l = 0; l < kLanes; l += 16) {
    for (int64_t i = 0; i < 4; ++i) {
      parts[i] += (lanes[l + i] + lanes[l + i + 4]) + (lanes[l + i + 8] + lanes[l + i + 12]);
    }
  }
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

// Adds term(i) for i in [0, n).
template <class T, class F>
void AddTerms(int64_t n, LaneSums<T>* sum, F&& term) {
  T lanes[kLanes];
  std::copy_n(sum->lanes, kLanes, lanes);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
  }
  std::copy_n(lanes, kLanes, sum->lanes);
  int64_t rest = n - i;
#pragma GCC ivdep
  for (int64_t l = 0; l < rest; ++l) sum->lanes[l] += term(i + l);
  sum->pending += n;
  if (sum->pending >= kFlush) {
    sum->total += SumOfLanes(sum->lanes);
    std::fill_n(sum->lanes, kLanes, T{0});
    sum->pending = 0;
  }
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
double Total(const LaneSums<T>& sums) {
  return sums.total + SumOfLanes(sums.lanes);
}

template <class T>
void RunSum(const T* x, int64_t n, LaneSums<T>* sum) {
  AddTerms(n, sum, [=](int64_t i) { return x[i]; });
}

template <class T>
void RunSquares(const T* x, int64_t n, T mean, LaneSums<T>* sum) {
  AddTerms(n, sum, [=](int64_t i) { return (x[i] - mean) * (x[i] - mean); });
}

template <class T>
void RunDots(const T* dy, const T* x, int64_t n, T mean, LaneSums<T>* sums) {
  // In pieces that stay in the first cache, since they are read twice.
  constexpr int64_t kPiece = 2048;
  for (int64_t at = 0; at < n; at += kPiece) {
    int64_t count = std::min(kPiece, n - at);
    const T* a = dy + at;
    const T* b = x + at;
    AddTerms(count, sums, [=](int64_t i) { return a[i]; });
    AddTerms(count, sums + 1, [=](int64_t i) { return a[i] * (b[i] - mean); });
  }
}

template <class T>
void RunAffine(const T* x, int64_t n, T mean, T a, T b, T* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * a + b;
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
void RunLayerDots(const T* dy, const T* x, const T* gamma, int64_t n, T mean, T r,
                  LaneSums<T>* sums, T* dgamma, T* dbeta) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    dgamma[i] += dy[i] * ((x[i] - mean) * r);
    dbeta[i] += dy[i];
  }
  AddTerms(n, sums, [=](int64_t i) { return dy[i] * gamma[i]; });
  AddTerms(n, sums + 1, [=](int64_t i) { return dy[i] * gamma[i] * ((x[i] - mean) * r); });
}

template <class T>
void RunLayerGrad(const T* dy, const T* x, const T* gamma, int64_t n, T mean, T r, T b, T c,
                  T* dx) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dx[i] = (dy[i] * gamma[i] - b - (x[i] - mean) * r * c) * r;
}

#define MS_NORM_LOOPS(T)                                                                          \
  template double Total<T>(const LaneSums<T>&);                                                   \
  template void RunSum<T>(const T*, int64_t, LaneSums<T>*);                                       \
  template void RunSquares<T>(const T*, int64_t, T, LaneSums<T>*);                                \
  template void RunAffine<T>(const T*, int64_t, T, T, T, T*);                                     \
  template void RunDots<T>(const T*, const T*, int64_t, T, LaneSums<T>*);                         \
  template void RunGrad<T>(const T*, const T*, int64_t, T, T, T, T, T*);                          \
  template void ColumnsSum<T>(const ColumnBlock&, const T*, double*);                             \
  template void ColumnsSquares<T>(const ColumnBlock&, const T*, const T*, double*);               \
  template void ColumnsAffine<T>(const ColumnBlock&, const T*, const T*, const T*, const T*, T*); \
  template void ColumnsDots<T>(const ColumnBlock&, const T*, const T*, const T*, double*,         \
                               double*);                                                          \
  template void ColumnsGrad<T>(const ColumnBlock&, const T*, const T*, const T*, const T*,        \
                               const T*, const T*, T*);                                           \
  template void RunScale<T>(const T*, int64_t, T, T, const T*, const T*, T*);                     \
  template void RunLayerDots<T>(const T*, const T*, const T*, int64_t, T, T, LaneSums<T>*, T*,    \
                                T*);                                                              \
  template void RunLayerGrad<T>(const T*, const T*, const T*, int64_t, T, T, T, T, T*);
MS_NORM_LOOPS(float)
MS_NORM_LOOPS(double)
#undef MS_NORM_LOOPS

}  // namespace ms::cpu::MS_ISA
