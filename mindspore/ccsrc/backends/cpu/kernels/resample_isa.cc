// Along rows of images every element has its own place: the only loops that gather. The sum of
// whole rows by weights is plain vector code, so it is done on as many elements as possible.
#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels/resample_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

// Memory of the calling thread.
template <class T>
T* Scratch(int64_t n) {
  thread_local std::vector<T> scratch;
  if (scratch.size() < static_cast<size_t>(n)) scratch.resize(static_cast<size_t>(n));
  return scratch.data();
}

// y = the sum of `Taps` weighed elements each, from element t of the windows on; added to y where
// t is not the first.
template <class T, int Taps>
void AddColumns(const SampleAxis<T>& a, int64_t t, const T* x, T* y) {
  int64_t n = a.out;
  const int32_t* at = a.at.data() + t * n;
  const T* w = a.weights.data() + t * n;
  bool first = t == 0;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    T sum = w[j] * x[at[j]];
    for (int k = 1; k < Taps; ++k) sum += w[k * n + j] * x[at[k * n + j]];
    y[j] = first ? sum : y[j] + sum;
  }
}

// One row of the result from one of the input.
template <class T>
void Columns(const SampleAxis<T>& a, const T* x, T* y) {
  if (a.copied) {
    const int32_t* at = a.at.data();
#pragma GCC ivdep
    for (int64_t j = 0; j < a.out; ++j) y[j] = x[at[j]];
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (int64_t t = 0; t < a.most; t += 4) {
      int64_t left = a.most - t;
      if (left == 1) AddColumns<T, 1>(a, t, x, y);
      if (left == 2) AddColumns<T, 2>(a, t, x, y);
      if (left == 3) AddColumns<T, 3>(a, t, x, y);
      if (left >= 4) AddColumns<T, 4>(a, t, x, y);
    }
  }
}

// y = the sum of `Taps` slices by their weights, to which it is added where there are more.
template <class T, int Taps>
void AddSlices(const T* w, const T* const* x, bool first, int64_t n, T* y) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    T sum = w[0] * x[0][j];
    for (int t = 1; t < Taps; ++t) sum += w[t] * x[t][j];
    y[j] = first ? sum : y[j] + sum;
  }
}

// Result i of an axis whose elements are slices of n numbers, `step` apart.
template <class T>
void Slices(const SampleAxis<T>& a, int64_t i, int64_t step, int64_t n, const T* x, T* y) {
  auto place = static_cast<size_t>(i), out = static_cast<size_t>(a.out);
  if (a.copied) {
    std::copy_n(x + a.at[place] * step, n, y);
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    int64_t left = a.count[place];
    if (left == 0) std::fill_n(y, n, T{0});
    for (size_t t = 0; left > 0; t += 4, left -= 4) {
      T w[4];
      const T* from[4];
      for (size_t k = 0; k < 4 && static_cast<int64_t>(k) < left; ++k) {
        w[k] = a.weights[(t + k) * out + place];
        from[k] = x + a.at[(t + k) * out + place] * step;
      }
      if (left == 1) AddSlices<T, 1>(w, from, t == 0, n, y);
      if (left == 2) AddSlices<T, 2>(w, from, t == 0, n, y);
      if (left == 3) AddSlices<T, 3>(w, from, t == 0, n, y);
      if (left >= 4) AddSlices<T, 4>(w, from, t == 0, n, y);
    }
  }
}

// The elements [first, last) that results [begin, end) are made of.
template <class T>
void Needed(const SampleAxis<T>& a, int64_t begin, int64_t end, int64_t* first, int64_t* last) {
  *first = a.in;
  *last = 0;
  for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
    if (a.count[i] == 0) continue;
    *first = std::min<int64_t>(*first, a.at[i]);
    *last = std::max<int64_t>(*last, a.at[i] + a.count[i]);
  }
}

}  // namespace

template <class T>
void SampleRows(const SamplePlane<T>& p, int64_t begin, int64_t end, const T* x, T* y) {
  int64_t in = p.columns.in, out = p.columns.out;
  if (p.columns.same) {
    for (int64_t i = begin; i < end; ++i) Slices(p.rows, i, in, in, x, y + i * out);
    return;
  }
  if (p.rows.copied) {  // rows that are copies of one are done once
    for (int64_t i = begin; i < end; ++i) {
      auto at = static_cast<size_t>(i);
      if (i > begin && p.rows.at[at] == p.rows.at[at - 1]) {
        std::copy_n(y + (i - 1) * out, out, y + i * out);
      } else {
        Columns(p.columns, x + p.rows.at[at] * in, y + i * out);
      }
    }
    return;
  }
  if (p.rows_first) {
    T* line = Scratch<T>(in);
    for (int64_t i = begin; i < end; ++i) {
      Slices(p.rows, i, in, in, x, line);
      Columns(p.columns, line, y + i * out);
    }
    return;
  }
  int64_t first, last;
  Needed(p.rows, begin, end, &first, &last);
  T* lines = Scratch<T>(std::max<int64_t>(last - first, 0) * out);
  for (int64_t i = first; i < last; ++i) {
    Columns(p.columns, x + i * in, lines + (i - first) * out);
  }
  for (int64_t i = begin; i < end; ++i) {
    Slices(p.rows, i, out, out, lines - first * out, y + i * out);
  }
}

template <class T>
void SampleSlices(const SampleAxis<T>& axis, int64_t i, int64_t inner, const T* x, T* y) {
  Slices(axis, i, inner, inner, x, y);
}

#define MS_SAMPLING(T)                                                                \
  template void SampleRows<T>(const SamplePlane<T>&, int64_t, int64_t, const T*, T*); \
  template void SampleSlices<T>(const SampleAxis<T>&, int64_t, int64_t, const T*, T*);
MS_SAMPLING(uint8_t)
MS_SAMPLING(uint16_t)
MS_SAMPLING(uint32_t)
MS_SAMPLING(uint64_t)
MS_SAMPLING(float)
MS_SAMPLING(double)
#undef MS_SAMPLING

}  // namespace ms::cpu::MS_ISA
