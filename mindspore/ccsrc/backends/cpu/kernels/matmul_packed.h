// What the kernels of matrix products share with those that have an epilogue or a packed matrix.
#pragma once

#include "backends/cpu/kernels/matmul_loops.h"
#include "backends/cpu/onednn.h"

namespace ms::cpu {

inline constexpr double kNsPerProduct = 1.0 / 50;
// Multiplications of a product for which calling a primitive costs too much.
inline constexpr double kSmallProduct = 150000;

// The layout of an operand as one of `rank` dimensions; oneDNN reads a transposed matrix through
// its strides and repeats sizes of 1.
Desc OperandDesc(const Shape& shape, int rank, bool transposed, dnnl::memory::data_type type);

// Whether the matmul primitive is the slower way, since it copies blocks of a plain second matrix
// again and again: it does where its rows lie across the blocks.
bool CopiesMuch(const Products& p, bool transpose_a, bool transpose_b);

// Which matrices are slow to read as they lie: what computes the product has to copy them.
struct Aliasing {
  bool a = false, b = false;
};
Aliasing RowsThatAlias(const Products& p, bool transpose_a, bool transpose_b);

// What passes ask of a MatMul (kernel/layout.h).
bool TakesBias(const KernelRequest& product, bool packed);
int64_t PackedMatrix(const KernelRequest& product);

void AddMatMulBias(KernelTable& table);

}  // namespace ms::cpu
