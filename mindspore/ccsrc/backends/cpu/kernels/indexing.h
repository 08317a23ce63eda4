// Positions that are tensors: reading and checking them, and writing rows at them.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

void AddScatter(KernelTable& table);

// What positions an axis of `size` admits.
enum class Negative {
  kFromEnd,  // [-size, size), counted from the end
  kRefused,  // [0, size)
  kSkipped,  // below size; those below zero are read as -1
};

// Checked positions in [0, size) (or -1 where skipped); IndexError names the op.
void ReadPositions(const void* in, DType dtype, int64_t count, int64_t size, Negative negative,
                   const std::string& op, int64_t* out);

// Refuses what is not in [-size, size), and writes nothing down.
void CheckPositions(const void* in, DType dtype, int64_t count, int64_t size,
                    const std::string& op);

// Rows of coordinates into the leading axes of a shape, as flat positions of slices. IndexError
// names the op.
struct Coordinates {
  int64_t rows = 1, depth = 0, slices = 1, inner = 1;
  Ints dims, strides;  // strides in slices
  Coordinates(const Shape& shape, const Shape& indices);
  void Read(const void* in, DType dtype, const std::string& op, int64_t* out) const;
};

enum class Write { kSet, kAdd, kSub, kMax, kMin, kMul, kDiv };

// y[at[r]] <- x[r] for rows of `inner` elements, in order of r for each row of y, which has
// `slices` rows. Positions of -1 are left out.
struct RowWriter {
  Write how;
  DType dtype;
  int64_t rows, slices, inner;
  // `y` holds the values to start from; in half types they are accumulated in `wide` (float, slices
  // * inner of them).
  void Run(const int64_t* at, const void* x, void* y, float* wide) const;
  size_t wide_bytes() const;
  double cost_ns() const {
    return static_cast<double>(rows) * (5 + 0.3 * static_cast<double>(inner));
  }
};

}  // namespace ms::cpu
