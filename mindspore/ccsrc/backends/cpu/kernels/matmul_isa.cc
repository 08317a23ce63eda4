// Float64 matrix product over one panel: b is packed so that the inner loop reads it in order, four
// rows of c stay in registers.
#include <algorithm>
#include <vector>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/matmul_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

constexpr int64_t kColumns = 16;  // of one pass over the packed panel
constexpr int64_t kRows = 4;

// c[kRows, kColumns] += a[kRows, k] * packed[k, kColumns].
template <int64_t Rows>
void Tile(const Products& p, const double* a, const double* packed,
          double (&sums)[kRows][kColumns]) {
  // Values of this function alone stay in registers; `sums` could be what a or b point to.
  constexpr int64_t kVectors = kColumns * sizeof(double) / kVectorBytes;
  typedef double V __attribute__((vector_size(kVectorBytes)));
  V lanes[Rows][kVectors] = {};
  for (int64_t k = 0; k < p.k; ++k) {
    V b[kVectors];
    __builtin_memcpy(b, packed + k * kColumns, sizeof(b));
    for (int64_t r = 0; r < Rows; ++r) {
      double x = a[r * p.a_row + k * p.a_column];
      for (int64_t j = 0; j < kVectors; ++j) lanes[r][j] += x * b[j];
    }
  }
  __builtin_memcpy(sums, lanes, sizeof(lanes));
}

}  // namespace

void MultiplyPanel(const Products& p, const Panel& panel) {
  thread_local std::vector<double> packed;
  packed.resize(static_cast<size_t>(p.k * kColumns));
  int64_t last = std::min(p.n, panel.j + kPanel);
  for (int64_t j = panel.j; j < last; j += kColumns) {
    int64_t width = std::min(kColumns, last - j);
    for (int64_t k = 0; k < p.k; ++k) {
      for (int64_t c = 0; c < kColumns; ++c) {
        packed[static_cast<size_t>(k * kColumns + c)] =
            c < width ? panel.b[k * p.b_row + (j + c) * p.b_column] : 0.0;
      }
    }
    double sums[kRows][kColumns];
    for (int64_t i = panel.i; i < panel.end; i += kRows) {
      int64_t rows = std::min(kRows, panel.end - i);
      const double* a = panel.a + i * p.a_row;
      switch (rows) {
        case 4:
          Tile<4>(p, a, packed.data(), sums);
          break;
        case 3:
          Tile<3>(p, a, packed.data(), sums);
          break;
        case 2:
          Tile<2>(p, a, packed.data(), sums);
          break;
        default:
          Tile<1>(p, a, packed.data(), sums);
          break;
      }
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(sums[r], width, panel.c + (i + r) * p.n + j);
      }
    }
  }
}

}  // namespace ms::cpu::MS_ISA
