// Eigenvalues of symmetric matrices: reduction to two diagonals, then implicit steps of QL there,
// or divide and conquer where there are vectors to be found of a large matrix. The two diagonals
// live in Float64 whatever the matrix is.
#include <numeric>

#include "backends/cpu/kernels/factor_iterate.h"

namespace ms::cpu {
namespace {

// So many rows stay in the cache, where products with the whole matrix, which sum along no vector,
// are quicker than those with one triangle.
constexpr int64_t kWhole = 128;

template <class T>
void MirrorUpper(int64_t n, View<T> a) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) a(i, j) = a(j, i);
  }
}

// y += a x, of a symmetric matrix whose upper triangle is read, once: by some strips of rows, each
// with sums of its own, whose number depends on nothing but the size. It may be `whole`.
template <class T>
void AddSymmetric(int64_t n, bool whole, View<T> a, const T* x, T* y) {
  if (whole) return Loops<T>().add_rows(n, 0, n, a, x, y);
  constexpr int64_t kStrips = 8, kLeast = 512;
  if (n < kLeast) return Loops<T>().add_symmetric(0, n, n, a, x, y);
  Scratch<T> sums(kStrips, n);
  // Rows from here on are i / kStrips of the triangle.
  auto start = [&](int64_t i) {
    double rest = std::sqrt(1 - static_cast<double>(i) / kStrips);
    return n - static_cast<int64_t>(rest * static_cast<double>(n));
  };
  double ns = static_cast<double>(n) * static_cast<double>(n) * 0.03 / kStrips;
  ParallelFor(kStrips, ns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      Loops<T>().add_symmetric(start(i), start(i + 1), n, a, x, &sums.view()(i, 0));
  });
  const std::vector<T> ones(kStrips, T(1));
  Loops<T>().add_rows(kStrips, 0, n, sums, ones.data(), y);
}

// The upper triangle of c -= a b + (a b)^T, for rows of a and b.
template <class T>
void SubtractBoth(int64_t n, int64_t k, View<T> a, View<T> b, View<T> c) {
  constexpr int64_t kRows = 128;
  for (int64_t i = 0; i < n; i += kRows) {
    int64_t height = std::min(kRows, n - i);
    View<T> to = c.From(i, i);
    Multiply<T>(height, n - i, k, T(-1), a.From(0, i).Transposed(), b.From(0, i), to);
    Multiply<T>(height, n - i, k, T(-1), b.From(0, i).Transposed(), a.From(0, i), to);
  }
}

// a, of which the upper triangle is read, becomes tridiagonal, d and e; the vectors of the n - 1
// reflections are rows.
template <class T>
void Tridiagonalise(int64_t n, View<T> a, double* d, double* e, View<T> vectors, T* tau) {
  for (int64_t first = 0; first + 1 < n; first += kPanel) {
    int64_t last = std::min(first + kPanel, n - 1);
    bool whole = n - first <= kWhole;
    if (whole) MirrorUpper(n - first, a.From(first, first));
    Scratch<T> products(last - first, n);
    View<T> w = products, v = vectors.From(first, 0);
    for (int64_t c = first; c < last; ++c) {
      int64_t j = c - first, rest = n - c - 1;
      T* row = &a(c, c);
      TakeRows(j, n - c, w.From(0, c), v, c, row);
      TakeRows(j, n - c, v.From(0, c), w, c, row);
      d[c] = static_cast<double>(row[0]);
      e[c] = static_cast<double>(Reflect(rest, row + 1, tau + c));
      T* x = &v(j, c + 1);
      std::copy_n(row + 1, rest, x);
      x[0] = 1;
      T* y = &w(j, c + 1);
      AddSymmetric(rest, whole, a.From(c + 1, c + 1), x, y);
      TakeProjections(j, rest, w.From(0, c + 1), rest, x, v.From(0, c + 1), y);
      TakeProjections(j, rest, v.From(0, c + 1), rest, x, w.From(0, c + 1), y);
      T dot = 0;
      for (int64_t i = 0; i < rest; ++i) y[i] *= tau[c];
      Loops<T>().dot_rows(0, 1, rest, {y, rest}, x, &dot);
      T half = -tau[c] * dot / 2;
      for (int64_t i = 0; i < rest; ++i) y[i] += half * x[i];
    }
    int64_t rest = n - last, count = last - first;
    SubtractBoth<T>(rest, count, v.From(0, last), w.From(0, last), a.From(last, last));
  }
  if (n > 0) d[n - 1] = static_cast<double>(a(n - 1, n - 1));
}

}  // namespace

// Implicit steps of QL with a shift until e is negligible.
template <class T>
bool Diagonalise(int64_t n, double* d, double* e, Rotations<T>& rotations) {
  int64_t steps = 0;
  double tiny = Negligible<T>(n, d, e);
  auto negligible = [&](int64_t i) {
    return std::abs(e[i]) <= tiny + kSmall<T> * (std::abs(d[i]) + std::abs(d[i + 1]));
  };
  for (int64_t l = 0; l < n; ++l) {
    for (;;) {
      int64_t m = l;
      while (m + 1 < n && !negligible(m)) ++m;
      if (m == l) break;
      if (++steps > kMostSteps * n) return false;
      double g = (d[l + 1] - d[l]) / (2 * e[l]), r = std::hypot(g, 1.0);
      g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
      double s = 1, c = 1, p = 0;
      int64_t i = m - 1;
      for (; i >= l; --i) {
        double f = s * e[i], b = c * e[i];
        Turn turn(g, f);
        e[i + 1] = turn.r;
        if (turn.r == 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = turn.s, c = turn.c;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotations.Add(i, i + 1, c, -s);
      }
      if (i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
  rotations.Apply();
  return true;
}

template <class T>
bool SymmetricEigen(int64_t n, View<T> a, T* values, View<T> vectors) {
  double scale = ScaleOf(n, n, a);
  if (scale == 0) return false;
  Divide(n, n, a, scale);
  auto size = static_cast<size_t>(n);
  std::vector<double> d(size), e(size);
  std::vector<T> tau(size);
  Scratch<T> reflected(n, n);
  Tridiagonalise<T>(n, a, d.data(), e.data(), reflected, tau.data());
  Scratch<T> rows(n, n);
  if (!DivideAndConquer<T>(n, d.data(), e.data(), rows)) return false;
  ApplyReflections<T>(n - 1, n, 1, reflected, tau.data(), false, false, n,
                      rows.view().Transposed());
  Copy<T>(n, n, rows.view().Transposed(), vectors);
  for (size_t i = 0; i < size; ++i) values[i] = static_cast<T>(d[i] * ScaleBack(scale));
  return true;
}

#define MS_INSTANTIATE(T)                                                 \
  template bool Diagonalise<T>(int64_t, double*, double*, Rotations<T>&); \
  template bool SymmetricEigen<T>(int64_t, View<T>, T*, View<T>);
MS_INSTANTIATE(float)
MS_INSTANTIATE(double)
#undef MS_INSTANTIATE

}  // namespace ms::cpu
