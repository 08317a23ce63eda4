// Products of many matrices: sizes and strides that all matrix kernels share, and the kernels that
// oneDNN does not have.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/cpu/isa.h"
#include "kernel/kernel.h"

namespace ms::cpu {

// c[m, n] = a[m, k] b[k, n] for each matrix of a batch; c is dense. Strides are in elements.
struct Products {
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_column = 0;
  int64_t b_row = 0, b_column = 0;
  Shape batch;          // broadcast dimensions
  Ints a_step, b_step;  // per batch dimension; 0 where one matrix serves all

  explicit Products(const KernelRequest& request);
  int64_t count() const { return batch.size(); }
  // First elements of the operands of product i.
  void Offsets(int64_t i, int64_t* a, int64_t* b) const;
  double Work() const {
    return static_cast<double>(count()) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

// What products of T are summed in. Integers wrap, which C++ allows for unsigned ones only.
template <class T>
using PanelSum = std::conditional_t<!std::is_integral_v<T>, T,
                                    std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>;

// A panel of columns [j, j + kPanel) and rows [i, end) of one product.
inline constexpr int64_t kPanel = 32;
template <class T>
struct Panel {
  const T* a;
  const T* b;
  T* c;
  int64_t i, end, j;
};
MS_DECLARE_ISA(template <class T> void MultiplyPanel(const Products& p, const Panel<T>& panel);)
// Float64 and integers.
KernelChoice PanelMatMul(const KernelRequest& request);

// y[r] = sum of m[r, k] v[k] over k, for rows of `m` whose elements lie side by side (`across`
// false), or whose columns do; `step` is the distance of what does not.
struct VectorProduct {
  int64_t rows = 0, k = 0, step = 0;
  bool across = false;
};
MS_DECLARE_ISA(template <class T>
               void MultiplyVector(const VectorProduct& p, const T* m, const T* v, T* y);)
// Float32 and Float64, one operand a vector.
KernelChoice MatVec(const KernelRequest& request);

// For every dtype that has numbers.
KernelChoice ReferenceMatMul(const KernelRequest& request);

}  // namespace ms::cpu
