// Matrix product over one panel: b is packed so that the inner loop reads it in order, some rows of
// c stay in registers.
#include <algorithm>
#include <vector>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/matmul_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

constexpr int64_t kRows = 6;  // with two vectors of b, what 16 registers hold
constexpr int64_t kVectors = 2;
template <class S>
constexpr int64_t kColumns =
    kVectors * kVectorBytes / sizeof(S);  // of a pass over the packed panel

// sums[Rows, kColumns] = a[Rows, k] * packed[k, kColumns].
template <int64_t Rows, class T, class S>
void Tile(const Products& p, const T* a, const S* packed, S* sums) {
  // Values of this function alone stay in registers; `sums` could be what a or b point to.
  typedef S V __attribute__((vector_size(kVectorBytes)));
  V lanes[Rows][kVectors] = {};
  for (int64_t k = 0; k < p.k; ++k) {
    V b[kVectors];
    __builtin_memcpy(b, packed + k * kColumns<S>, sizeof(b));
#pragma GCC unroll 6
    for (int64_t r = 0; r < Rows; ++r) {
      S x = static_cast<S>(a[r * p.a_row + k * p.a_column]);
#pragma GCC unroll 2
      for (int64_t j = 0; j < kVectors; ++j) lanes[r][j] += x * b[j];
    }
  }
  __builtin_memcpy(sums, lanes, sizeof(lanes));
}

template <int64_t Rows, class T, class S>
void TileOf(int64_t rows, const Products& p, const T* a, const S* packed, S* sums) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return TileOf<Rows - 1>(rows, p, a, packed, sums);
  }
  Tile<Rows>(p, a, packed, sums);
}

}  // namespace

template <class T>
void MultiplyPanel(const Products& p, const Panel<T>& panel) {
  using S = PanelSum<T>;
  constexpr int64_t kWidth = kColumns<S>;
  thread_local std::vector<S> packed;
  packed.resize(static_cast<size_t>(p.k * kWidth));
  int64_t last = std::min(p.n, panel.j + kPanel);
  for (int64_t j = panel.j; j < last; j += kWidth) {
    int64_t width = std::min(kWidth, last - j);
    for (int64_t k = 0; k < p.k; ++k) {
      S* to = packed.data() + k * kWidth;
      const T* from = panel.b + k * p.b_row + j * p.b_column;
      for (int64_t c = 0; c < width; ++c) to[c] = static_cast<S>(from[c * p.b_column]);
      std::fill(to + width, to + kWidth, S{});
    }
    S sums[kRows * kWidth];
    for (int64_t i = panel.i; i < panel.end; i += kRows) {
      int64_t rows = std::min(kRows, panel.end - i);
      TileOf<kRows>(rows, p, panel.a + i * p.a_row, packed.data(), sums);
      for (int64_t r = 0; r < rows; ++r) {
        T* to = panel.c + (i + r) * p.n + j;
        for (int64_t c = 0; c < width; ++c) to[c] = static_cast<T>(sums[r * kWidth + c]);
      }
    }
  }
}

#define MS_INSTANTIATE(T) template void MultiplyPanel<T>(const Products&, const Panel<T>&);
MS_INSTANTIATE(double)
MS_INSTANTIATE(int8_t)
MS_INSTANTIATE(int16_t)
MS_INSTANTIATE(int32_t)
MS_INSTANTIATE(int64_t)
MS_INSTANTIATE(uint8_t)
MS_INSTANTIATE(uint16_t)
MS_INSTANTIATE(uint32_t)
MS_INSTANTIATE(uint64_t)
#undef MS_INSTANTIATE

}  // namespace ms::cpu::MS_ISA
