// Copies between strided views: what transposing, slicing, tiling, broadcasting, joining and
// reversing have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shape.h"

namespace ms::cpu {

// Walks the index space of `dims` in row-major order and keeps the offsets of two views.
class Odometer {
 public:
  Odometer(const Ints& dims, const Ints& a, const Ints& b) : dims_(dims), a_(a), b_(b) {}
  void Seek(int64_t position);
  void Next();
  int64_t a() const { return offset_a_; }
  int64_t b() const { return offset_b_; }

 private:
  const Ints& dims_;
  const Ints& a_;
  const Ints& b_;
  int64_t index_[2 * kMaxRank + 1] = {};  // no heap: one is made per task
  int64_t offset_a_ = 0, offset_b_ = 0;
};

class StridedCopy {
 public:
  StridedCopy() = default;
  // Strides in elements of `item` bytes; those of the input may be zero or negative.
  StridedCopy(const Ints& dims, const Ints& out_strides, const Ints& in_strides, size_t item);
  // `in` and `out` are the elements at index zero; they must not overlap.
  void Run(const void* in, void* out) const;
  double cost_ns() const {
    return static_cast<double>(total_bytes_) * 0.15 + static_cast<double>(rows_) * 3;
  }

 private:
  void RunRows(const char* in, char* out) const;
  template <class T>
  void CopyShortRows(const char* in, char* out, int64_t begin, int64_t end) const;
  void RunTransposed(const char* in, char* out) const;

  Ints dims_, out_, in_;  // outer dimensions, strides in bytes
  size_t block_ = 0;      // bytes that are contiguous on both sides
  int64_t inner_ = 1;     // blocks in a row
  int64_t inner_out_ = 0, inner_in_ = 0;
  bool transposed_ = false;  // dimension `cols_` is contiguous in the input, the row in the output
  int64_t cols_ = 1, cols_out_ = 0;
  int64_t rows_ = 0;  // product of dims_
  size_t total_bytes_ = 0;
};

// Copies or sets large pieces of memory with all threads.
void ParallelCopy(void* out, const void* in, size_t bytes);
// Repeats the element at `value`.
void ParallelFill(void* out, const void* value, int64_t count, size_t item);

}  // namespace ms::cpu
