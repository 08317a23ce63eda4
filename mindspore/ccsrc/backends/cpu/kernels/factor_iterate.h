// What the reductions of symmetric and other matrices to two diagonals share: products of a matrix
// with vectors, and rotations, which are collected and applied to the vectors many at a time, strip
// by strip, since one by one each would read the whole matrix (Van Zee, van de Geijn,
// Quintana-Orti, "Restructuring the tridiagonal and bidiagonal QR algorithms for performance",
// 2014).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/factor_dense.h"
#include "kernel/parallel.h"

namespace ms::cpu {

inline constexpr int64_t kPanel =
    32;  // columns that are reduced before the rest is brought up to date

// What is negligible beside its neighbours, or the whole: below the precision of the matrix.
template <class T>
inline constexpr double kSmall = sizeof(T) == 4 ? 1e-10 : std::numeric_limits<double>::epsilon();

// y += sum over rows i of x[i] a(i, :).
template <class T>
void AddRows(int64_t m, int64_t n, View<T> a, const T* x, T* y) {
  ParallelFor((n + 63) / 64, static_cast<double>(m) * 3, [&](int64_t begin, int64_t end) {
    Loops<T>().add_rows(m, begin * 64, std::min(end * 64, n), a, x, y);
  });
}
// y[i] += a(i, :) x.
template <class T>
void DotRows(int64_t m, int64_t n, View<T> a, const T* x, T* y) {
  ParallelFor(m, static_cast<double>(n) * 0.05,
              [&](int64_t begin, int64_t end) { Loops<T>().dot_rows(begin, end, n, a, x, y); });
}

// x -= sum over l < count of factors(l, at) rows(l, :), of a panel or less.
template <class T>
void TakeRows(int64_t count, int64_t n, View<T> rows, View<T> factors, int64_t at, T* x) {
  T of[kPanel];
  for (int64_t l = 0; l < count; ++l) of[l] = -factors(l, at);
  Loops<T>().add_rows(count, 0, n, rows, of, x);
}
// y -= sum over l < count of (dots(l, :) x) rows(l, :), of a panel or less.
template <class T>
void TakeProjections(int64_t count, int64_t n, View<T> dots, int64_t m, const T* x, View<T> rows,
                     T* y) {
  T of[kPanel] = {};
  Loops<T>().dot_rows(0, count, m, dots, x, of);
  for (T& f : of) f = -f;
  Loops<T>().add_rows(count, 0, n, rows, of, y);
}

// The rotation that makes (f, g) to (r, 0).
struct Turn {
  double r, c = 1, s = 0;
  Turn(double f, double g) : r(std::sqrt(f * f + g * g)) {
    if (r == 0) return;
    double inverse = 1 / r;
    c = f * inverse, s = g * inverse;
  }
};

// ---- rotations -----------------------------------------------------------------------------
template <class T>
class Rotations {
 public:
  Rotations(View<T> z, int64_t columns) : z_(z), columns_(columns) {
    // A few steps for each value, of as many rotations as there are rows.
    waiting_.reserve(std::min(kMost, static_cast<size_t>(2 * columns * columns)));
  }
  void Add(int64_t a, int64_t b, double c, double s) {
    if (columns_ == 0) return;
    waiting_.push_back(
        {static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<T>(c), static_cast<T>(s)});
    if (waiting_.size() >= kMost) Apply();
  }
  void Apply() {
    auto count = static_cast<int64_t>(waiting_.size());
    constexpr int64_t kStrip = 256 / sizeof(T);  // four vectors of the widest kind
    ParallelFor((columns_ + kStrip - 1) / kStrip, static_cast<double>(count) * 2,
                [&](int64_t begin, int64_t end) {
                  Loops<T>().rotate(count, waiting_.data(), z_, begin * kStrip,
                                    std::min(end * kStrip, columns_));
                });
    waiting_.clear();
  }

 private:
  static constexpr size_t kMost = 16384;
  View<T> z_;
  int64_t columns_;
  std::vector<Rotation<T>> waiting_;
};

// ---- iterations ------------------------------------------------------------------------------

// What is negligible whatever stands beside it. Without it, iterations would go on among the
// rounding errors of a matrix of low rank.
template <class T>
double Negligible(int64_t n, const double* d, const double* e) {
  double most = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max({most, std::abs(d[i]), std::abs(e[i])});
  return most * kSmall<T> / 4;
}

inline constexpr int kMostSteps = 60;  // for one value, on average; a few are usual

// A power of two near the largest element, by which squares of what is divided stay finite; 0 where
// there are elements that are not.
template <class T>
double ScaleOf(int64_t rows, int64_t columns, View<T> a) {
  T most = 0;
  bool finite = true;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      most = std::max(most, std::abs(a(i, j)));
      finite &= std::isfinite(a(i, j));
    }
  }
  if (!finite) return 0;
  return most > 0 ? std::ldexp(1.0, std::ilogb(most)) : 1;
}

template <class T>
void Divide(int64_t rows, int64_t columns, View<T> a, double by) {
  if (by > 1e-12 && by < 1e12) return;  // far from the limits of either type
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      a(i, j) = static_cast<T>(static_cast<double>(a(i, j)) / by);
  }
}
inline double ScaleBack(double by) { return by > 1e-12 && by < 1e12 ? 1 : by; }

// Row `order[i]` of `from` becomes row i.
template <class T>
void PickRows(const std::vector<int64_t>& order, int64_t columns, View<T> from, View<T> to) {
  for (size_t i = 0; i < order.size(); ++i)
    std::copy_n(&from(order[i], 0), columns, &to(static_cast<int64_t>(i), 0));
}

// Two diagonals become eigenvalues, in no order; the rotations that did it are applied. False where
// that takes too long.
template <class T>
bool Diagonalise(int64_t n, double* d, double* e, Rotations<T>& rotations);

// The same by halves, for many rows: `vectors`, zeros before, become rows of eigenvectors. The
// values rise.
template <class T>
bool DivideAndConquer(int64_t n, double* d, double* e, View<T> vectors);

// Vectors as rows.
template <class T>
struct Side {
  View<T> rows;
  int64_t columns;
};

// Two diagonals of an upper bidiagonal matrix become n singular values, which rise; so do the first
// n rows of u and v. Where it is `wide`, there is one d more, 0, and a row for it, the last.
template <class T>
bool RotateSingular(int64_t n, bool wide, double* d, double* e, Side<T> u, Side<T> v);

// The same by halves: u and v, zeros before, become rows of vectors. Where it is `wide`, there is
// one column more than rows, and the last row of v is the vector for no value.
template <class T>
bool DivideAndConquerSingular(int64_t n, bool wide, double* d, double* e, View<T> u, View<T> v);

}  // namespace ms::cpu
