// Pooling of one image of one channel, the unit of parallel work: a plane, or a volume of slices.
// Float32 and Float64; it may be strided (channels last).
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/isa.h"
#include "ops/window.h"

namespace ms::cpu {

// An image of the input and of the output: strides in elements.
struct PoolPlane {
  Window depth, height, width;
  int64_t slice = 0, row = 0, column = 1;
  int64_t out_slice = 0, out_row = 0, out_column = 1;
};

// Windows as ranges [first, last) of slices, rows and columns.
struct RangePlane {
  struct Range {
    int64_t first, last;
  };
  std::vector<Range> slices, rows, columns;
  int64_t slice = 0, row = 0, column = 1;
  int64_t out_slice = 0, out_row = 0, out_column = 1;
  int64_t depth = 1, height = 0, width = 0;  // of the input
};

// Means over ranges, divided by the product of the divisors along each dimension.
struct MeanPlane : RangePlane {
  std::vector<double> slice_divisors, row_divisors, column_divisors;
};

MS_DECLARE_ISA(
    // Largest element of each window.
    template <class T> void MaxPlane(const PoolPlane& p, const T* x, T* y);
    // Where the first maximum of each window in row i of slice k of the output is, as (slice *
    // height + row) * width + column of the input; -1 for a window that holds no element.
    template <class T>
    void FirstMaxima(const PoolPlane& p, const T* x, int64_t k, int64_t i, int32_t* position);
    // The same of all ranges, with the maxima.
    template <class T> void MaxOfRanges(const RangePlane& p, const T* x, T* y, int32_t* position);
    // The whole gradient of a pooling by twos; false, and nothing done, for any other.
    template <class T> bool HalvedPlaneGrad(const PoolPlane& p, const T* x, const T* dy, T* dx);
    template <class T> void MeanOfPlane(const MeanPlane& p, const T* x, T* y);
    // dx is overwritten.
    template <class T> void SpreadPlane(const MeanPlane& p, const T* dy, T* dx);)

}  // namespace ms::cpu
