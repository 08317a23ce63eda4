// Sampling of images: rows of the result are the unit of work. Elements of whatever type where they
// are copied alone, known by their size; Float32 and Float64 where they are weighed.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/isa.h"

namespace ms::cpu {

// Along one axis. Result i is the sum of weights[t * out + i] times the element at[t * out + i]
// for t < count[i]; behind that, up to `most`, are zeros and the last element once more.
template <class T>
struct SampleAxis {
  int64_t in = 1, out = 1, most = 1;
  bool same = false;    // results are the elements themselves
  bool copied = false;  // each result is one element
  std::vector<int32_t> at, count;
  std::vector<T> weights;
};

// The last two axes.
template <class T>
struct SamplePlane {
  SampleAxis<T> rows, columns;
  bool rows_first = false;  // which is done first: it makes fewer elements for the other one
};

MS_DECLARE_ISA(
    // Rows [begin, end) of the result for an image x; y is the whole result.
    template <class T>
    void SampleRows(const SamplePlane<T>& p, int64_t begin, int64_t end, const T* x, T* y);
    // One result of an axis with `inner` elements for each of its own: y [inner] of x [in, inner].
    template <class T>
    void SampleSlices(const SampleAxis<T>& axis, int64_t i, int64_t inner, const T* x, T* y);)

}  // namespace ms::cpu
