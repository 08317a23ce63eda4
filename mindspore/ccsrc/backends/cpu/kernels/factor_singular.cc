// Singular values by reduction to two diagonals and implicit steps of QR there. The two diagonals
// live in Float64 whatever the matrix is.
#include <numeric>

#include "backends/cpu/kernels/factor_iterate.h"

namespace ms::cpu {
namespace {

// a, with m >= n, becomes upper bidiagonal, d and e. Vectors of the reflections from the left are
// rows of u, from the right rows of p, whose first element is that of column 1.
template <class T>
void Bidiagonalise(int64_t m, int64_t n, View<T> a, double* d, double* e, View<T> u, T* tau_u,
                   View<T> p, T* tau_p) {
  std::vector<T> column(static_cast<size_t>(m));
  for (int64_t first = 0; first < n; first += kPanel) {
    int64_t last = std::min(first + kPanel, n), count = last - first;
    Scratch<T> from_left(count, n), from_right(count, m);
    View<T> y = from_left, x = from_right, us = u.From(first, 0), ps = p.From(first, 0);
    for (int64_t c = first; c < last; ++c) {
      int64_t j = c - first, height = m - c, width = n - c - 1;
      for (int64_t i = 0; i < height; ++i) column[static_cast<size_t>(i)] = a(c + i, c);
      TakeRows(j, height, us.From(0, c), y, c, column.data());
      TakeRows(j, height, x.From(0, c), ps, c, column.data());
      d[c] = static_cast<double>(Reflect(height, column.data(), tau_u + c));
      T* v = &us(j, c);
      std::copy_n(column.data(), height, v);
      v[0] = 1;
      if (width == 0) continue;
      T* left = &y(j, c + 1);
      AddRows(height, width, a.From(c, c + 1), v, left);
      TakeProjections(j, width, us.From(0, c), height, v, y.From(0, c + 1), left);
      TakeProjections(j, width, x.From(0, c), height, v, ps.From(0, c + 1), left);
      for (int64_t i = 0; i < width; ++i) left[i] *= tau_u[c];
      T* row = &a(c, c + 1);
      TakeRows(j + 1, width, y.From(0, c + 1), us, c, row);
      TakeRows(j, width, ps.From(0, c + 1), x, c, row);
      e[c] = static_cast<double>(Reflect(width, row, tau_p + c));
      T* w = &ps(j, c + 1);
      std::copy_n(row, width, w);
      w[0] = 1;
      T* right = &x(j, c + 1);
      DotRows(height - 1, width, a.From(c + 1, c + 1), w, right);
      TakeProjections(j + 1, height - 1, y.From(0, c + 1), width, w, us.From(0, c + 1), right);
      TakeProjections(j, height - 1, ps.From(0, c + 1), width, w, x.From(0, c + 1), right);
      for (int64_t i = 0; i + 1 < height; ++i) right[i] *= tau_p[c];
    }
    View<T> below = a.From(last, last);
    Multiply<T>(m - last, n - last, count, T(-1), us.From(0, last).Transposed(), y.From(0, last),
                below);
    Multiply<T>(m - last, n - last, count, T(-1), x.From(0, last).Transposed(), ps.From(0, last),
                below);
  }
}

// Golub and Reinsch's steps on a bidiagonal matrix; rotations of the vectors on both sides.
template <class T>
class BidiagonalSteps {
 public:
  BidiagonalSteps(int64_t n, double* d, double* e, Rotations<T>& u, Rotations<T>& v)
      : n_(n), d_(d), e_(e), u_(u), v_(v), tiny_(Negligible<T>(n, d, e)) {}

  bool Run() {
    int64_t steps = 0;
    for (int64_t end = n_; end > 0;) {
      int64_t first = FirstOfBlock(end);
      if (first == end - 1) {
        --end;
        continue;
      }
      if (++steps > kMostSteps * n_) return false;
      int64_t zero = ZeroIn(first, end);
      if (zero == end - 1) {
        ClearColumn(first, end);
      } else if (zero >= 0) {
        ClearRow(zero, end);
      } else {
        Step(first, end);
      }
    }
    u_.Apply();
    v_.Apply();
    return true;
  }

 private:
  // The block of [first, end) whose e are not negligible.
  int64_t FirstOfBlock(int64_t end) {
    for (int64_t k = end - 2; k >= 0; --k) {
      if (std::abs(e_[k]) <= tiny_ + kSmall<T> * (std::abs(d_[k]) + std::abs(d_[k + 1]))) {
        e_[k] = 0;
        return k + 1;
      }
    }
    return 0;
  }
  // A place where d is negligible; -1: there is none.
  int64_t ZeroIn(int64_t first, int64_t end) {
    for (int64_t k = end - 1; k >= first; --k) {
      double around = (k < end - 1 ? std::abs(e_[k]) : 0) + (k > first ? std::abs(e_[k - 1]) : 0);
      if (std::abs(d_[k]) <= tiny_ + kSmall<T> * around) {
        d_[k] = 0;
        return k;
      }
    }
    return -1;
  }
  // d[end - 1] is zero: so becomes the e above it.
  void ClearColumn(int64_t first, int64_t end) {
    double f = e_[end - 2];
    e_[end - 2] = 0;
    for (int64_t j = end - 2; j >= first; --j) {
      Turn turn(d_[j], f);
      d_[j] = turn.r;
      if (j != first) {
        f = -turn.s * e_[j - 1];
        e_[j - 1] *= turn.c;
      }
      v_.Add(j, end - 1, turn.c, turn.s);
    }
  }
  // d[zero] is zero: so becomes the e beside it.
  void ClearRow(int64_t zero, int64_t end) {
    double f = e_[zero];
    e_[zero] = 0;
    for (int64_t j = zero + 1; j < end; ++j) {
      Turn turn(d_[j], f);
      d_[j] = turn.r;
      f = -turn.s * e_[j];
      e_[j] *= turn.c;
      u_.Add(j, zero, turn.c, turn.s);
    }
  }
  void Step(int64_t first, int64_t end) {
    double last = d_[end - 1], before = d_[end - 2], beside = e_[end - 2];
    double scale = std::max({std::abs(last), std::abs(before), std::abs(beside),
                             std::abs(d_[first]), std::abs(e_[first])});
    double sp = last / scale, spm1 = before / scale, epm1 = beside / scale;
    double sk = d_[first] / scale, ek = e_[first] / scale;
    double b = ((spm1 + sp) * (spm1 - sp) + epm1 * epm1) / 2, c = (sp * epm1) * (sp * epm1);
    double shift = 0;
    if (b != 0 || c != 0) {
      shift = c / (b + std::copysign(std::sqrt(b * b + c), b));
    }
    double f = (sk + sp) * (sk - sp) + shift, g = sk * ek;
    for (int64_t j = first; j < end - 1; ++j) {
      Turn right(f, g);
      if (j != first) e_[j - 1] = right.r;
      f = right.c * d_[j] + right.s * e_[j];
      e_[j] = right.c * e_[j] - right.s * d_[j];
      g = right.s * d_[j + 1];
      d_[j + 1] *= right.c;
      v_.Add(j, j + 1, right.c, right.s);
      Turn left(f, g);
      d_[j] = left.r;
      f = left.c * e_[j] + left.s * d_[j + 1];
      d_[j + 1] = left.c * d_[j + 1] - left.s * e_[j];
      g = left.s * e_[j + 1];
      e_[j + 1] *= left.c;
      u_.Add(j, j + 1, left.c, left.s);
    }
    e_[end - 2] = f;
  }

  int64_t n_;
  double *d_, *e_;
  Rotations<T>&u_, &v_;
  double tiny_;
};

// With many more rows than columns the singular values of r are cheaper: a = q r, r = u s v.
template <class T>
bool TallSingularValues(int64_t m, int64_t n, View<T> a, T* values, int64_t vectors_of_u, View<T> u,
                        View<T> v) {
  std::vector<T> tau(static_cast<size_t>(n));
  FactorQr<T>(m, n, a, tau.data());
  Scratch<T> r(n, n), inner(n, n);
  for (int64_t i = 0; i < n; ++i) std::copy_n(&a(i, i), n - i, &r.view()(i, i));
  if (!SingularValues<T>(n, n, r, values, n, u.at ? inner : View<T>{}, v)) return false;
  if (!u.at) return true;
  // Beside the vectors of r those that complete them.
  Scratch<T> vectors(n, m), columns(m, vectors_of_u);
  VectorsOfQr<T>(n, m, a, vectors);
  SetUnit<T>(m, vectors_of_u, columns);
  Copy<T>(n, n, inner.view().Transposed(), columns);
  ApplyReflections<T>(n, m, 0, vectors, tau.data(), false, false, vectors_of_u, columns);
  Copy<T>(vectors_of_u, m, columns.view().Transposed(), u);
  return true;
}

// The first n rows in this order.
template <class T>
void Arrange(const std::vector<int64_t>& order, Side<T> side) {
  if (side.columns == 0) return;
  auto n = static_cast<int64_t>(order.size());
  Scratch<T> sorted(n, side.columns);
  PickRows<T>(order, side.columns, side.rows, sorted);
  Copy<T>(n, side.columns, sorted, side.rows);
}

}  // namespace

template <class T>
bool RotateSingular(int64_t n, bool wide, double* d, double* e, Side<T> u, Side<T> v) {
  Rotations<T> of_u(u.rows, u.columns), of_v(v.rows, v.columns);
  if (!BidiagonalSteps<T>(n + (wide ? 1 : 0), d, e, of_u, of_v).Run()) return false;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::signbit(d[i])) continue;
    d[i] = -d[i];
    for (int64_t k = 0; k < v.columns; ++k) v.rows(i, k) = -v.rows(i, k);
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return d[i] < d[j]; });
  std::sort(d, d + n);
  Arrange(order, u);
  Arrange(order, v);
  return true;
}

template <class T>
bool SingularValues(int64_t m, int64_t n, View<T> a, T* values, int64_t vectors_of_u, View<T> u,
                    View<T> v) {
  double scale = ScaleOf(m, n, a);
  if (scale == 0) return false;
  if (m > n + n / 2 && n > 0) return TallSingularValues(m, n, a, values, vectors_of_u, u, v);
  Divide(m, n, a, scale);
  auto size = static_cast<size_t>(n);
  std::vector<double> d(size + 1), e(size + 1);
  std::vector<T> tau_u(size), tau_p(size);
  Scratch<T> from_left(n, m), from_right(n, n);
  Bidiagonalise<T>(m, n, a, d.data(), e.data(), from_left, tau_u.data(), from_right, tau_p.data());
  auto put = [&] {
    for (size_t i = 0; i < size; ++i)
      values[i] = static_cast<T>(d[size - 1 - i] * ScaleBack(scale));
  };
  if (u.at == nullptr) {
    if (!RotateSingular<T>(n, false, d.data(), e.data(), {}, {})) return false;
    put();
    return true;
  }
  Scratch<T> us(vectors_of_u, m), vs(n, n);
  if (!DivideAndConquerSingular<T>(n, false, d.data(), e.data(), us, vs)) return false;
  put();
  for (int64_t i = n; i < vectors_of_u; ++i) us.view()(i, i) = T(1);
  ApplyReflections<T>(n, m, 0, from_left, tau_u.data(), false, false, vectors_of_u,
                      us.view().Transposed());
  ApplyReflections<T>(n - 1, n, 1, from_right, tau_p.data(), false, false, n,
                      vs.view().Transposed());
  std::vector<int64_t> order(size);
  std::iota(order.rbegin(), order.rend(), 0);
  PickRows<T>(order, n, vs, v);
  for (int64_t i = n; i < vectors_of_u; ++i) order.push_back(i);
  PickRows<T>(order, m, us, u);
  return true;
}

#define MS_INSTANTIATE(T)                                                             \
  template bool RotateSingular<T>(int64_t, bool, double*, double*, Side<T>, Side<T>); \
  template bool SingularValues<T>(int64_t, int64_t, View<T>, T*, int64_t, View<T>, View<T>);
MS_INSTANTIATE(float)
MS_INSTANTIATE(double)
#undef MS_INSTANTIATE

}  // namespace ms::cpu
