// The loops that factorisations of matrices spend their time in, for Float32 and Float64. Matrices
// are views of memory, so a transpose is one, too.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

// Element (i, j) is at[i * row + j * column].
template <class T>
struct View {
  T* at;
  int64_t row, column = 1;

  T& operator()(int64_t i, int64_t j) const { return at[i * row + j * column]; }
  View From(int64_t i, int64_t j) const { return {at + i * row + j * column, row, column}; }
  View Transposed() const { return {at, column, row}; }
};

// A plane rotation of two rows: a becomes c a + s b, and b becomes c b - s a.
template <class T>
struct Rotation {
  int32_t a, b;
  T c, s;
};

// What does not split further. All write rows whose elements lie side by side.
template <class T>
struct FactorLoops {
  // c += alpha a b, where a has m rows and b has n columns, k products for each element. Makes
  // columns [j, end) of c.
  void (*multiply)(int64_t m, int64_t j, int64_t end, int64_t k, T alpha, View<T> a, View<T> b,
                   View<T> c);
  // c = the sums of k squared differences each, (a(i, :) - b(:, j))^2, all m rows and n columns.
  void (*put_squares)(int64_t m, int64_t n, int64_t k, View<T> a, View<T> b, View<T> c);
  // c = the sums of k sizes of differences each.
  void (*put_sizes)(int64_t m, int64_t n, int64_t k, View<T> a, View<T> b, View<T> c);
  // c(i, :) += sum over rows j of b of weights(i, j) sign(a(i, :) - b(j, :)), m rows of k columns.
  void (*add_signs)(int64_t m, int64_t n, int64_t k, View<T> weights, View<T> a, View<T> b,
                    View<T> c);
  // The upper factor in place of the upper triangle; false where the matrix is not positive.
  bool (*cholesky)(int64_t n, View<T> a);
  // Elimination of m rows with exchanges in n columns; `pivots` counts from the first row.
  void (*eliminate)(int64_t m, int64_t n, View<T> a, int32_t* pivots);
  // b becomes the solution for a triangle; columns [j, end).
  void (*solve)(int64_t n, int64_t j, int64_t end, View<T> t, bool lower, bool unit, View<T> b);
  // y += sum over rows i of x[i] a(i, :), columns [j, end).
  void (*add_rows)(int64_t m, int64_t j, int64_t end, View<T> a, const T* x, T* y);
  // y += a x by rows [i, end) of the upper triangle of a symmetric a, and what mirrors them.
  void (*add_symmetric)(int64_t i, int64_t end, int64_t n, View<T> a, const T* x, T* y);
  // y[i] += sum of a(i, :) x, rows [i, end).
  void (*dot_rows)(int64_t i, int64_t end, int64_t n, View<T> a, const T* x, T* y);
  // a(i, :) -= y[i] x, rows [i, end).
  void (*subtract_rows)(int64_t i, int64_t end, int64_t n, View<T> a, const T* x, const T* y);
  // Rotates rows of z, columns [j, end).
  void (*rotate)(int64_t count, const Rotation<T>* rotations, View<T> z, int64_t j, int64_t end);
};

MS_DECLARE_ISA(template <class T> FactorLoops<T> MakeFactorLoops();)

template <class T>
const FactorLoops<T>& Loops() {
  static const FactorLoops<T> loops = MS_PICK_ISA(MakeFactorLoops<T>)();
  return loops;
}

}  // namespace ms::cpu
