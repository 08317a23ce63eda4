// Factorisations of one matrix of Float32 or Float64, in blocks: what is left of them are products
// of matrices, and loops over a few rows or columns.
#pragma once

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/factor_loops.h"
#include "tensor/buffer.h"

namespace ms::cpu {

// A matrix of zeros with memory of its own. Large ones have rows an odd number of cache lines
// apart: columns whose elements are a power of two apart would meet in few lines of the cache.
template <class T>
class Scratch {
 public:
  Scratch(int64_t rows, int64_t columns)
      : step_(Step(columns)),
        memory_(Buffer::Allocate(static_cast<size_t>(rows * step_) * sizeof(T))) {
    std::fill_n(at(), rows * step_, T(0));
  }
  View<T> view() const { return {at(), step_}; }
  operator View<T>() const { return view(); }  // NOLINT: a matrix is a view of itself

 private:
  static int64_t Step(int64_t columns) {
    constexpr int64_t kLine = 64 / sizeof(T);
    if (columns <= kLine) return columns;
    return ((columns + kLine - 1) / kLine | 1) * kLine;
  }
  T* at() const { return static_cast<T*>(memory_->data()); }

  int64_t step_;
  BufferRef memory_;
};

template <class T>
void Copy(int64_t rows, int64_t columns, View<T> from, View<T> to);  // `to` has rows side by side
template <class T>
void SetUnit(int64_t rows, int64_t columns, View<T> to);

// c += alpha a b, where a is m by k, b is k by n, and the elements of c's rows or columns lie side
// by side.
template <class T>
void Multiply(int64_t m, int64_t n, int64_t k, T alpha, View<T> a, View<T> b, View<T> c);

// The upper factor in place of the upper triangle; false where the matrix is not positive definite.
template <class T>
bool FactorCholesky(int64_t n, View<T> a);

// Elimination with row exchanges: l and u in place, `pivots` of min(m, n) rows.
template <class T>
void FactorLu(int64_t m, int64_t n, View<T> a, int32_t* pivots);
template <class T>
void ExchangeRows(int64_t count, const int32_t* pivots, int64_t columns, View<T> a, bool back);

// b becomes the solution for a triangle.
template <class T>
void SolveTriangle(int64_t n, int64_t columns, View<T> t, bool lower, bool unit, View<T> b);

// ---- reflections ---------------------------------------------------------------------------

// Makes x = (beta, 0, ...) by the reflection 1 - tau v v^T with v[0] = 1: v[1...] stands in
// x[1...] then. Returns beta.
template <class T>
T Reflect(int64_t n, T* x, T* tau);

// The product of the reflections 1 - tau v v^T whose vectors are the rows of `vectors`, the first k
// of them; row i begins with `shift` + i zeros. c becomes the product, or its transpose, times c.
// `of_unit`: c is the unit matrix as far as later reflections left it so.
template <class T>
void ApplyReflections(int64_t k, int64_t length, int64_t shift, View<T> vectors, const T* tau,
                      bool transposed, bool of_unit, int64_t columns, View<T> c);

// r in the upper triangle of a, the vectors below, and min(m, n) factors tau.
template <class T>
void FactorQr(int64_t m, int64_t n, View<T> a, T* tau);
// The vectors that FactorQr left, as rows.
template <class T>
void VectorsOfQr(int64_t k, int64_t m, View<T> a, View<T> vectors);

// ---- iterations ----------------------------------------------------------------------------

// Eigenvalues in rising order, and their vectors as columns. Of a symmetric a, which is used up,
// and of which the upper triangle is read. False where it does not converge, as with nan.
template <class T>
bool SymmetricEigen(int64_t n, View<T> a, T* values, View<T> vectors);

// Singular values in falling order; row i of u, of `length_u` vectors, stands for column i of U,
// and so does v. Without vectors the views are empty. a, m by n with m >= n, is used up.
template <class T>
bool SingularValues(int64_t m, int64_t n, View<T> a, T* values, int64_t vectors_of_u, View<T> u,
                    View<T> v);

template <class T>
void Exponential(int64_t n, View<T> a, View<T> result);

}  // namespace ms::cpu
