// Matrix products on tiles that stay in registers, for kernels that make their operands block by
// block. Only for *_isa.cc files; the names live in their namespace.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/isa/vectors.h"

namespace ms::cpu::MS_ISA {

inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = kVectorFloats == 16 ? 4 : 2;  // as the registers allow
inline constexpr int kTileColumns = kVectorFloats * kTileVectors;
inline constexpr int64_t kDepthBlock = 128;  // a tile's panel of the right operand stays in L1

// Element (i, k) is data[i * row + k * column].
struct LeftMatrix {
  const float* data;
  int64_t row, column;
};
// Element (k, j) is data[j / kTileColumns * tile + k * row + j % kTileColumns]: with tile =
// kTileColumns a plain matrix.
struct RightMatrix {
  const float* data;
  int64_t row;
  int64_t tile = kTileColumns;
};

template <int Rows, int Vectors>
__attribute__((noinline)) void MultiplyTile(int64_t depth, LeftMatrix a, const float* b,
                                            int64_t b_row, float* c, int64_t c_row, bool add) {
  FloatVector sums[Rows][Vectors];
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Vectors; ++j) sums[i][j] = FloatVector{};
  }
  const float* x = a.data;
  for (int64_t k = 0; k < depth; ++k) {
    FloatVector right[Vectors];
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) right[j] = LoadVector(b + j * kVectorFloats);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      float left = x[i * a.row];
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) sums[i][j] += left * right[j];
    }
    x += a.column;
    b += b_row;
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) {
      float* to = c + i * c_row + j * kVectorFloats;
      StoreVector(to, add ? LoadVector(to) + sums[i][j] : sums[i][j]);
    }
  }
}

template <int Vectors>
void MultiplyRows(int64_t rows, int64_t depth, LeftMatrix a, const float* b, int64_t b_row,
                  float* c, int64_t c_row, bool add) {
  int64_t i = 0;
  for (; i + kTileRows <= rows; i += kTileRows) {
    MultiplyTile<kTileRows, Vectors>(depth, {a.data + i * a.row, a.row, a.column}, b, b_row,
                                     c + i * c_row, c_row, add);
  }
  LeftMatrix rest{a.data + i * a.row, a.row, a.column};
  c += i * c_row;
  switch (rows - i) {
    case 5:
      return MultiplyTile<5, Vectors>(depth, rest, b, b_row, c, c_row, add);
    case 4:
      return MultiplyTile<4, Vectors>(depth, rest, b, b_row, c, c_row, add);
    case 3:
      return MultiplyTile<3, Vectors>(depth, rest, b, b_row, c, c_row, add);
    case 2:
      return MultiplyTile<2, Vectors>(depth, rest, b, b_row, c, c_row, add);
    case 1:
      return MultiplyTile<1, Vectors>(depth, rest, b, b_row, c, c_row, add);
    default:
      return;
  }
}

// c[rows, columns] = or += a b. `columns` is a whole number of vectors; sums run over blocks of the
// depth, in order.
inline void Multiply(int64_t rows, int64_t columns, int64_t depth, LeftMatrix a, RightMatrix b,
                     float* c, int64_t c_row, bool add) {
  for (int64_t k = 0; k < depth || k == 0; k += kDepthBlock) {
    int64_t block = std::min(kDepthBlock, depth - k);
    LeftMatrix left{a.data + k * a.column, a.row, a.column};
    for (int64_t j = 0; j < columns; j += kTileColumns) {
      const float* right = b.data + j / kTileColumns * b.tile + k * b.row;
      switch (std::min<int64_t>(columns - j, kTileColumns) / kVectorFloats) {
        case 1:
          MultiplyRows<1>(rows, block, left, right, b.row, c + j, c_row, add);
          break;
        case 2:
          MultiplyRows<2>(rows, block, left, right, b.row, c + j, c_row, add);
          break;
        case 3:
          MultiplyRows<std::min(3, kTileVectors)>(rows, block, left, right, b.row, c + j, c_row,
                                                  add);
          break;
        default:
          MultiplyRows<kTileVectors>(rows, block, left, right, b.row, c + j, c_row, add);
          break;
      }
    }
    add = true;
  }
}

}  // namespace ms::cpu::MS_ISA
