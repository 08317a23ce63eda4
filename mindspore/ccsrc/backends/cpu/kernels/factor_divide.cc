// Vectors of two diagonals by divide and conquer: what stands between two halves is torn out and
// joined again as a change of rank one. Eigenvalues after Cuppen 1981, singular values after Gu and
// Eisenstat 1995.
#include <numeric>

#include "backends/cpu/kernels/factor_iterate.h"
#include "backends/cpu/kernels/factor_merge.h"

namespace ms::cpu {
namespace {

constexpr int64_t kFew = 32;  // rows that are left to rotations

template <class T>
bool SolveFew(int64_t n, double* d, double* e, View<T> vectors) {
  Scratch<T> rows(n, n);
  SetUnit<T>(n, n, rows);
  Rotations<T> rotations(rows, n);
  if (!Diagonalise<T>(n, d, e, rotations)) return false;
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return d[i] < d[j]; });
  PickRows<T>(order, n, rows, vectors);
  std::sort(d, d + n);
  return true;
}

// A row of zeros makes it square.
template <class T>
bool SolveFewSingular(int64_t n, bool wide, double* d, double* e, View<T> u, View<T> v) {
  int64_t columns = n + (wide ? 1 : 0);
  Doubles ds(d, d + n), es(e, e + std::max<int64_t>(columns - 1, 0));
  ds.resize(static_cast<size_t>(columns));
  es.resize(static_cast<size_t>(columns));
  Scratch<T> left(columns, columns), right(columns, columns);
  SetUnit<T>(columns, columns, left);
  SetUnit<T>(columns, columns, right);
  if (!RotateSingular<T>(n, wide, ds.data(), es.data(), {left, columns}, {right, columns}))
    return false;
  std::copy_n(ds.begin(), n, d);
  Copy<T>(n, n, left, u);
  Copy<T>(columns, columns, right, v);
  return true;
}

}  // namespace

template <class T>
bool DivideAndConquer(int64_t n, double* d, double* e, View<T> vectors) {
  if (n <= kFew) return SolveFew(n, d, e, vectors);
  int64_t m = n / 2;
  double beside = e[m - 1];
  d[m - 1] -= std::abs(beside);
  d[m] -= std::abs(beside);
  if (!DivideAndConquer(m, d, e, vectors)) return false;
  if (!DivideAndConquer(n - m, d + m, e + m, vectors.From(m, m))) return false;
  Doubles z(static_cast<size_t>(n));
  double sign = std::copysign(std::sqrt(0.5), beside);
  for (int64_t i = 0; i < n; ++i) {
    auto at = static_cast<size_t>(i);
    z[at] = i < m ? std::sqrt(0.5) * static_cast<double>(vectors(i, m - 1))
                  : sign * static_cast<double>(vectors(i, m));
  }
  double rho = 2 * std::abs(beside);
  Merge<T>(n, m, Merge<T>::kNone, d, {{vectors, n}}).Run(z, rho, rho);
  return true;
}

template <class T>
bool DivideAndConquerSingular(int64_t n, bool wide, double* d, double* e, View<T> u, View<T> v) {
  if (n <= kFew) return SolveFewSingular(n, wide, d, e, u, v);
  int64_t m = n / 2;  // the row that is torn out
  double left = d[m], right = e[m];
  if (!DivideAndConquerSingular(m, true, d, e, u, v)) return false;
  if (!DivideAndConquerSingular(n - m - 1, wide, d + m + 1, e + m + 1, u.From(m + 1, m + 1),
                                v.From(m + 1, m + 1))) {
    return false;
  }
  d[m] = 0;
  u(m, m) = 1;
  Doubles z(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    z[static_cast<size_t>(i)] =
        i <= m ? left * static_cast<double>(v(i, m)) : right * static_cast<double>(v(i, m + 1));
  }
  // The vectors of both halves for no value: one of them meets the row, and one does not.
  double &beside = z[static_cast<size_t>(m)],
         other = wide ? right * static_cast<double>(v(n, m + 1)) : 0;
  double both = std::hypot(beside, other);
  if (both > 0) {
    auto c = static_cast<T>(beside / both), s = static_cast<T>(other / both);
    for (int64_t k = 0; k < n + (wide ? 1 : 0); ++k) {
      T turned = c * v(m, k) + (wide ? s * v(n, k) : 0);
      if (wide) v(n, k) = c * v(n, k) - s * v(m, k);
      v(m, k) = turned;
    }
  }
  beside = both;
  Merge<T>(n, m + 1, m, d, {{v, n + (wide ? 1 : 0)}, {u, n}})
      .Run(z, 1, std::max(std::abs(left), std::abs(right)));
  return true;
}

#define MS_INSTANTIATE(T)                                                \
  template bool DivideAndConquer<T>(int64_t, double*, double*, View<T>); \
  template bool DivideAndConquerSingular<T>(int64_t, bool, double*, double*, View<T>, View<T>);
MS_INSTANTIATE(float)
MS_INSTANTIATE(double)
#undef MS_INSTANTIATE

}  // namespace ms::cpu
