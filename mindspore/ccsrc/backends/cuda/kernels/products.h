// Products of matrices by cuBLASLt, for kernels that are made of them, too.
#pragma once

#include "kernel/kernel.h"

namespace ms::cuda {

// [m, k] by [k, n], `batch` times.
struct Product {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  DType dtype;
  int64_t batch = 1;
  bool same_x = false, same_y = false;  // one matrix for the whole batch
  bool bias = false;
  bool relu = false;
  bool in_float32 = false;  // the result of halves
  int64_t next_row = 0;     // of one matrix x: numbers from a row in memory to the next; 0: dense
};

// Its inputs are x, y and the bias, if any. Refuses what cuBLASLt does not take.
KernelChoice MakeProduct(const Product& p);

}  // namespace ms::cuda
