// Pooling of one plane, the unit of parallel work. Float32 and Float64; a plane may be strided
// (channels last).
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/isa.h"
#include "ops/window.h"

namespace ms::cpu {

// A plane of the input and of the output: strides in elements.
struct PoolPlane {
  Window height, width;
  int64_t row = 0, column = 1;
  int64_t out_row = 0, out_column = 1;
};

// Means over ranges [first, last) of rows and columns, divided by row_divisors[i] *
// column_divisors[j].
struct MeanPlane {
  struct Range {
    int64_t first, last;
  };
  std::vector<Range> rows, columns;
  std::vector<double> row_divisors, column_divisors;
  int64_t row = 0, column = 1;
  int64_t out_row = 0, out_column = 1;
  int64_t height = 0, width = 0;  // of the input
};

MS_DECLARE_ISA(
    // Largest element of each window.
    template <class T> void MaxPlane(const PoolPlane& p, const T* x, T* y);
    // Where the first maximum of each window in row i of the output is, as row * width + column of
    // the input; -1 for a window that holds no element.
    template <class T>
    void FirstMaxima(const PoolPlane& p, const T* x, int64_t i, int32_t* position);
    // The whole gradient of a pooling by twos; false, and nothing done, for any other.
    template <class T> bool HalvedPlaneGrad(const PoolPlane& p, const T* x, const T* dy, T* dx);
    template <class T> void MeanOfPlane(const MeanPlane& p, const T* x, T* y);
    // dx is overwritten.
    template <class T> void SpreadPlane(const MeanPlane& p, const T* dy, T* dx);)

}  // namespace ms::cpu
