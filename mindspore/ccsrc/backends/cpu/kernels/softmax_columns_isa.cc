// Loops over rows that lie side by side: each lane of a vector is a row, so that short rows leave
// no lane idle and no vector has to be folded.
#include "backends/cpu/kernels/softmax_columns.h"

#include "backends/cpu/isa/double_math.h"
#include "backends/cpu/isa/vector_math.h"
#include "backends/cpu/isa/vectors.h"

namespace ms::cpu::MS_ISA {
namespace {

inline float Logarithm(float x) { return Log(x); }
inline double Logarithm(double x) { return LogDouble(x); }
inline double Exponential(double x) { return ExpDouble(x); }
inline float Exponential(float x) { return Exp(x); }

// Totals of one value for each row: runs of kRun terms first, so that long rows lose little.
template <class T>
class Totals {
 public:
  explicit Totals(int64_t rows) : rows_(rows) {}
  T* Part(int64_t i) {
    if (i % kRun == 0 && i > 0) Flush();
    return part_;
  }
  const T* Finish() {
    Flush();
    return total_;
  }

 private:
  static constexpr int64_t kRun = 32;
  void Flush() {
    for (int64_t l = 0; l < rows_; ++l) total_[l] += part_[l], part_[l] = 0;
  }
  int64_t rows_;
  alignas(64) T part_[kSideBySide] = {};
  alignas(64) T total_[kSideBySide] = {};
};

template <class T>
void Largest(const T* x, int64_t n, int64_t stride, int64_t rows, T* largest) {
  for (int64_t l = 0; l < rows; ++l) largest[l] = x[l];
  for (int64_t i = 1; i < n; ++i) {
    const T* row = x + i * stride;
    for (int64_t l = 0; l < rows; ++l) largest[l] = row[l] > largest[l] ? row[l] : largest[l];
  }
}

// Adds exp(x - shift) to `sum`, and leaves the terms in y where that is given.
void AddExponentials(const double* x, const double* shift, int64_t rows, double* y, double* sum) {
  for (int64_t l = 0; l < rows; ++l) {
    double e = ExpDouble(x[l] - shift[l]);
    if (y) y[l] = e;
    sum[l] += e;
  }
}
void AddExponentials(const float* x, const float* shift, int64_t rows, float* y, float* sum) {
  int64_t l = 0;
  for (; l + kVectorFloats <= rows; l += kVectorFloats) {
    FloatVector e = ExpVector(LoadVector(x + l) - LoadVector(shift + l));
    if (y) StoreVector(y + l, e);
    StoreVector(sum + l, LoadVector(sum + l) + e);
  }
  if (l == rows) return;
  auto bytes = static_cast<uint64_t>(rows - l) * sizeof(float);
  FloatVector rest = {}, last = {};
  __builtin_memcpy(&rest, x + l, bytes);
  __builtin_memcpy(&last, shift + l, bytes);
  FloatVector e = ExpVector(rest - last);
  if (y) __builtin_memcpy(y + l, &e, bytes);
  for (int64_t k = l; k < rows; ++k) sum[k] += e[k - l];
}

}  // namespace

template <class T>
void ColumnsSoftmax(const T* x, const T*, int64_t n, int64_t stride, int64_t rows, T* y) {
  alignas(64) T largest[kSideBySide], scale[kSideBySide];
  Largest(x, n, stride, rows, largest);
  Totals<T> totals(rows);
  for (int64_t i = 0; i < n; ++i)
    AddExponentials(x + i * stride, largest, rows, y + i * stride, totals.Part(i));
  const T* sum = totals.Finish();
  for (int64_t l = 0; l < rows; ++l) scale[l] = T{1} / sum[l];
  for (int64_t i = 0; i < n; ++i) {
    T* row = y + i * stride;
    for (int64_t l = 0; l < rows; ++l) row[l] *= scale[l];
  }
}

template <class T>
void ColumnsLogSoftmax(const T* x, const T*, int64_t n, int64_t stride, int64_t rows, T* y) {
  alignas(64) T largest[kSideBySide], log_sum[kSideBySide];
  Largest(x, n, stride, rows, largest);
  Totals<T> totals(rows);
  for (int64_t i = 0; i < n; ++i)
    AddExponentials(x + i * stride, largest, rows, static_cast<T*>(nullptr), totals.Part(i));
  const T* sum = totals.Finish();
  for (int64_t l = 0; l < rows; ++l) log_sum[l] = Logarithm(sum[l]);
  for (int64_t i = 0; i < n; ++i) {
    const T* from = x + i * stride;
    T* to = y + i * stride;
#pragma GCC ivdep
    for (int64_t l = 0; l < rows; ++l) to[l] = from[l] - largest[l] - log_sum[l];
  }
}

template <class T>
void ColumnsSoftmaxGrad(const T* y, const T* dy, int64_t n, int64_t stride, int64_t rows, T* dx) {
  Totals<T> totals(rows);
  for (int64_t i = 0; i < n; ++i) {
    const T *a = y + i * stride, *b = dy + i * stride;
    T* part = totals.Part(i);
    for (int64_t l = 0; l < rows; ++l) part[l] += a[l] * b[l];
  }
  const T* sum = totals.Finish();
  for (int64_t i = 0; i < n; ++i) {
    const T *a = y + i * stride, *b = dy + i * stride;
    T* to = dx + i * stride;
#pragma GCC ivdep
    for (int64_t l = 0; l < rows; ++l) to[l] = a[l] * (b[l] - sum[l]);
  }
}

template <class T>
void ColumnsLogSoftmaxGrad(const T* y, const T* dy, int64_t n, int64_t stride, int64_t rows,
                           T* dx) {
  Totals<T> totals(rows);
  for (int64_t i = 0; i < n; ++i) {
    const T* b = dy + i * stride;
    T* part = totals.Part(i);
    for (int64_t l = 0; l < rows; ++l) part[l] += b[l];
  }
  const T* sum = totals.Finish();
  for (int64_t i = 0; i < n; ++i) {
    const T *a = y + i * stride, *b = dy + i * stride;
    T* to = dx + i * stride;
#pragma GCC ivdep
    for (int64_t l = 0; l < rows; ++l) to[l] = b[l] - Exponential(a[l]) * sum[l];
  }
}

template <class T>
void GatherColumns(const T* from, int64_t n, int64_t rows, T* to) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t l = 0; l < rows; ++l) to[i * kSideBySide + l] = from[l * n + i];
  }
}

template <class T>
void ScatterColumns(const T* from, int64_t n, int64_t rows, T* to) {
  for (int64_t l = 0; l < rows; ++l) {
    for (int64_t i = 0; i < n; ++i) to[l * n + i] = from[i * kSideBySide + l];
  }
}

#define MS_SOFTMAX_COLUMNS(T)                                                                \
  template void ColumnsSoftmax<T>(const T*, const T*, int64_t, int64_t, int64_t, T*);        \
  template void ColumnsLogSoftmax<T>(const T*, const T*, int64_t, int64_t, int64_t, T*);     \
  template void ColumnsSoftmaxGrad<T>(const T*, const T*, int64_t, int64_t, int64_t, T*);    \
  template void ColumnsLogSoftmaxGrad<T>(const T*, const T*, int64_t, int64_t, int64_t, T*); \
  template void GatherColumns<T>(const T*, int64_t, int64_t, T*);                            \
  template void ScatterColumns<T>(const T*, int64_t, int64_t, T*);
MS_SOFTMAX_COLUMNS(float)
MS_SOFTMAX_COLUMNS(double)
#undef MS_SOFTMAX_COLUMNS

}  // namespace ms::cpu::MS_ISA
