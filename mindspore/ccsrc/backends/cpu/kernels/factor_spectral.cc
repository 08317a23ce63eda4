// Eigenvalues of symmetric matrices and singular values, by reduction to two diagonals and
// implicit steps of QL and QR there. The two diagonals live in Float64 whatever the matrix is; the
// rotations are collected and applied to the vectors many at a time, strip by strip, since one by
// one each would read the whole matrix (Van Zee, van de Geijn, Quintana-Orti, "Restructuring the
// tridiagonal and bidiagonal QR algorithms for performance", 2014).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/cpu/kernels/factor_dense.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr int64_t kPanel = 32;  // columns that are reduced before the rest is brought up to date

// What is negligible beside its neighbours, or the whole: below the precision of the matrix.
template <class T>
constexpr double kSmall = sizeof(T) == 4 ? 1e-10 : std::numeric_limits<double>::epsilon();

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

// x -= sum over l < count of factors(l, at) rows(l, :).
template <class T>
void TakeRows(int64_t count, int64_t n, View<T> rows, View<T> factors, int64_t at, T* x) {
  std::vector<T> of(static_cast<size_t>(count));
  for (int64_t l = 0; l < count; ++l) of[static_cast<size_t>(l)] = -factors(l, at);
  Loops<T>().add_rows(count, 0, n, rows, of.data(), x);
}
// y -= sum over l < count of (dots(l, :) x) rows(l, :).
template <class T>
void TakeProjections(int64_t count, int64_t n, View<T> dots, int64_t m, const T* x, View<T> rows,
                     T* y) {
  std::vector<T> of(static_cast<size_t>(count), T(0));
  Loops<T>().dot_rows(0, count, m, dots, x, of.data());
  for (T& f : of) f = -f;
  Loops<T>().add_rows(count, 0, n, rows, of.data(), y);
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

// ---- symmetric -----------------------------------------------------------------------------

// a becomes tridiagonal, d and e; the vectors of the n - 1 reflections are rows.
template <class T>
void Tridiagonalise(int64_t n, View<T> a, double* d, double* e, View<T> vectors, T* tau) {
  for (int64_t first = 0; first + 1 < n; first += kPanel) {
    int64_t last = std::min(first + kPanel, n - 1);
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
      AddRows(rest, rest, a.From(c + 1, c + 1), x, y);
      TakeProjections(j, rest, w.From(0, c + 1), rest, x, v.From(0, c + 1), y);
      TakeProjections(j, rest, v.From(0, c + 1), rest, x, w.From(0, c + 1), y);
      T dot = 0;
      for (int64_t i = 0; i < rest; ++i) y[i] *= tau[c];
      Loops<T>().dot_rows(0, 1, rest, {y, rest}, x, &dot);
      T half = -tau[c] * dot / 2;
      for (int64_t i = 0; i < rest; ++i) y[i] += half * x[i];
    }
    int64_t rest = n - last, count = last - first;
    View<T> below = a.From(last, last), vs = v.From(0, last), ws = w.From(0, last);
    Multiply<T>(rest, rest, count, T(-1), vs.Transposed(), ws, below);
    Multiply<T>(rest, rest, count, T(-1), ws.Transposed(), vs, below);
  }
  if (n > 0) d[n - 1] = static_cast<double>(a(n - 1, n - 1));
}

// What is negligible whatever stands beside it. Without it, iterations would go on among the
// rounding errors of a matrix of low rank.
template <class T>
double Negligible(int64_t n, const double* d, const double* e) {
  double most = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max({most, std::abs(d[i]), std::abs(e[i])});
  return most * kSmall<T> / 4;
}

constexpr int kMostSteps = 60;  // for one value, on average; a few are usual

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
double ScaleBack(double by) { return by > 1e-12 && by < 1e12 ? 1 : by; }

// Row `order[i]` of `from` becomes row i.
template <class T>
void PickRows(const std::vector<int64_t>& order, int64_t columns, View<T> from, View<T> to) {
  for (size_t i = 0; i < order.size(); ++i)
    std::copy_n(&from(order[i], 0), columns, &to(static_cast<int64_t>(i), 0));
}

}  // namespace

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
  bool wanted = vectors.at != nullptr;
  Scratch<T> rows(wanted ? n : 0, wanted ? n : 0);
  if (wanted) {
    Scratch<T> columns(n, n);
    SetUnit<T>(n, n, columns);
    ApplyReflections<T>(n - 1, n, 1, reflected, tau.data(), false, true, n, columns);
    Copy<T>(n, n, columns.view().Transposed(), rows);
  }
  Rotations<T> rotations(rows, wanted ? n : 0);
  if (!Diagonalise<T>(n, d.data(), e.data(), rotations)) return false;
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  auto at = [&](int64_t i) { return d[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return at(i) < at(j); });
  for (size_t i = 0; i < size; ++i) values[i] = static_cast<T>(at(order[i]) * ScaleBack(scale));
  if (wanted) PickRows<T>(order, n, rows, vectors);
  return true;
}

// ---- singular values -----------------------------------------------------------------------
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

}  // namespace

template <class T>
bool SingularValues(int64_t m, int64_t n, View<T> a, T* values, int64_t vectors_of_u, View<T> u,
                    View<T> v) {
  double scale = ScaleOf(m, n, a);
  if (scale == 0) return false;
  if (m > n + n / 2 && n > 0) return TallSingularValues(m, n, a, values, vectors_of_u, u, v);
  Divide(m, n, a, scale);
  bool wanted = u.at != nullptr;
  auto size = static_cast<size_t>(n);
  std::vector<double> d(size + 1), e(size + 1);
  std::vector<T> tau_u(size), tau_p(size);
  Scratch<T> from_left(n, m), from_right(n, n);
  Bidiagonalise<T>(m, n, a, d.data(), e.data(), from_left, tau_u.data(), from_right, tau_p.data());
  Scratch<T> us(wanted ? vectors_of_u : 0, wanted ? m : 0), vs(wanted ? n : 0, wanted ? n : 0);
  if (wanted) {
    Scratch<T> left(m, vectors_of_u), right(n, n);
    SetUnit<T>(m, vectors_of_u, left);
    ApplyReflections<T>(n, m, 0, from_left, tau_u.data(), false, true, vectors_of_u, left);
    Copy<T>(vectors_of_u, m, left.view().Transposed(), us);
    SetUnit<T>(n, n, right);
    ApplyReflections<T>(n - 1, n, 1, from_right, tau_p.data(), false, true, n, right);
    Copy<T>(n, n, right.view().Transposed(), vs);
  }
  Rotations<T> of_u(us, wanted ? m : 0), of_v(vs, wanted ? n : 0);
  if (!BidiagonalSteps<T>(n, d.data(), e.data(), of_u, of_v).Run()) return false;
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  auto at = [&](int64_t i) { return std::abs(d[static_cast<size_t>(i)]); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return at(i) > at(j); });
  for (size_t i = 0; i < size; ++i) values[i] = static_cast<T>(at(order[i]) * ScaleBack(scale));
  if (!wanted) return true;
  PickRows<T>(order, n, vs, v);
  for (size_t i = 0; i < size; ++i) {
    if (std::signbit(d[static_cast<size_t>(order[i])])) {
      T* row = &v(static_cast<int64_t>(i), 0);
      std::transform(row, row + n, row, std::negate<T>());
    }
  }
  for (int64_t i = n; i < vectors_of_u; ++i) order.push_back(i);
  PickRows<T>(order, m, us, u);
  return true;
}

#define MS_INSTANTIATE(T)                                         \
  template bool SymmetricEigen<T>(int64_t, View<T>, T*, View<T>); \
  template bool SingularValues<T>(int64_t, int64_t, View<T>, T*, int64_t, View<T>, View<T>);
MS_INSTANTIATE(float)
MS_INSTANTIATE(double)
#undef MS_INSTANTIATE

}  // namespace ms::cpu
