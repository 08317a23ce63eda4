// Products, elimination, triangles and reflections.
#include "backends/cpu/kernels/factor_dense.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "backends/cpu/onednn.h"
#include "kernel/parallel.h"

namespace ms::cpu {
namespace {

constexpr int64_t kBlock = 32;       // reflections that are applied together
constexpr int64_t kFew = 64;         // rows that a triangle is not split below
constexpr int64_t kStrip = 64;       // columns that one thread takes at least
constexpr double kNsPerStep = 0.05;  // of a product and a sum

double Cost(int64_t m, int64_t k) {
  return static_cast<double>(m) * static_cast<double>(k) * kNsPerStep;
}

// f(begin, end) for ranges of columns.
template <class F>
void OverColumns(int64_t n, double ns_per_column, F&& f) {
  int64_t strips = (n + kStrip - 1) / kStrip;
  ParallelFor(strips, ns_per_column * kStrip,
              [&](int64_t begin, int64_t end) { f(begin * kStrip, std::min(end * kStrip, n)); });
}

int64_t Half(int64_t n) { return (n / 2 + kBlock - 1) / kBlock * kBlock; }

// oneDNN's product of Float32 is quicker, where its call does not count.
bool MultiplyByOneDnn(int64_t m, int64_t n, int64_t k, float alpha, View<float> a, View<float> b,
                      View<float> c) {
  constexpr double kLeast = 64.0 * 64 * 64;
  if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < kLeast || k < 8 ||
      n < 16) {
    return false;
  }
  auto step = [](View<float> x, int64_t width) {  // that of a single row is anything
    return x.column != 1 ? x.column : std::max(x.row, width);
  };
  AddSgemm(a.column != 1, b.column != 1, m, n, k, alpha, a.at, step(a, k), b.at, step(b, n), c.at,
           std::max(c.row, n));
  return true;
}

}  // namespace

template <class T>
void Copy(int64_t rows, int64_t columns, View<T> from, View<T> to) {
  constexpr int64_t kTile = 16;  // of both, since one of them may be read across
  bool across = from.column != 1;
  double ns = static_cast<double>(kTile * columns) * (across ? 0.5 : 0.1);
  ParallelFor((rows + kTile - 1) / kTile, ns, [&](int64_t begin, int64_t end) {
    int64_t last = std::min(end * kTile, rows);
    if (!across) {
      for (int64_t i = begin * kTile; i < last; ++i) std::copy_n(&from(i, 0), columns, &to(i, 0));
      return;
    }
    for (int64_t i0 = begin * kTile; i0 < last; i0 += kTile) {
      for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
        for (int64_t i = i0; i < std::min(i0 + kTile, rows); ++i) {
          for (int64_t j = j0; j < std::min(j0 + kTile, columns); ++j) to(i, j) = from(i, j);
        }
      }
    }
  });
}

template <class T>
void SetUnit(int64_t rows, int64_t columns, View<T> to) {
  for (int64_t i = 0; i < rows; ++i) {
    std::fill_n(&to(i, 0), columns, T(0));
    if (i < columns) to(i, i) = T(1);
  }
}

template <class T>
void Multiply(int64_t m, int64_t n, int64_t k, T alpha, View<T> a, View<T> b, View<T> c) {
  if (m == 0 || n == 0 || k == 0) return;
  if (c.column != 1)
    return Multiply(n, m, k, alpha, b.Transposed(), a.Transposed(), c.Transposed());
  if constexpr (std::is_same_v<T, float>) {
    if (MultiplyByOneDnn(m, n, k, alpha, a, b, c)) return;
  }
  const FactorLoops<T>& loops = Loops<T>();
  if (n >= m) {
    OverColumns(n, Cost(m, k), [&](int64_t begin, int64_t end) {
      loops.multiply(m, begin, end, k, alpha, a, b, c);
    });
  } else {
    OverColumns(m, Cost(n, k), [&](int64_t begin, int64_t end) {
      loops.multiply(end - begin, 0, n, k, alpha, a.From(begin, 0), b, c.From(begin, 0));
    });
  }
}

// ---- Cholesky ------------------------------------------------------------------------------
template <class T>
bool FactorCholesky(int64_t n, View<T> a) {
  if (n <= kFew) return Loops<T>().cholesky(n, a);
  int64_t h = Half(n), rest = n - h;
  if (!FactorCholesky(h, a)) return false;
  View<T> right = a.From(0, h);
  SolveTriangle(h, rest, a.Transposed(), true, false, right);
  constexpr int64_t kColumns = 128;  // below the diagonal of a strip nothing is needed
  for (int64_t j = 0; j < rest; j += kColumns) {
    int64_t width = std::min(kColumns, rest - j);
    Multiply<T>(j + width, width, h, T(-1), right.Transposed(), right.From(0, j), a.From(h, h + j));
  }
  return FactorCholesky(rest, a.From(h, h));
}

// ---- elimination ---------------------------------------------------------------------------
template <class T>
void ExchangeRows(int64_t count, const int32_t* pivots, int64_t columns, View<T> a, bool back) {
  for (int64_t k = 0; k < count; ++k) {
    int64_t i = back ? count - 1 - k : k;
    if (pivots[i] != i) std::swap_ranges(&a(i, 0), &a(i, 0) + columns, &a(pivots[i], 0));
  }
}

template <class T>
void FactorLu(int64_t m, int64_t n, View<T> a, int32_t* pivots) {
  constexpr int64_t kColumns = 16;
  if (n <= kColumns || m == 1) return Loops<T>().eliminate(m, n, a, pivots);
  int64_t h = std::min(std::max(kColumns, n / 2 / kColumns * kColumns), m);
  View<T> right = a.From(0, h), below = a.From(h, h);
  FactorLu(m, h, a, pivots);
  ExchangeRows(h, pivots, n - h, right, false);
  SolveTriangle(h, n - h, a, true, true, right);
  if (m == h) return;
  Multiply<T>(m - h, n - h, h, T(-1), a.From(h, 0), right, below);
  int64_t count = std::min(m - h, n - h);
  FactorLu(m - h, n - h, below, pivots + h);
  ExchangeRows(count, pivots + h, h, a.From(h, 0), false);
  for (int64_t i = h; i < h + count; ++i) pivots[i] += static_cast<int32_t>(h);
}

namespace {

template <class T>
void SolveColumns(int64_t n, int64_t columns, View<T> t, bool lower, bool unit, View<T> b) {
  if (n <= kFew) return Loops<T>().solve(n, 0, columns, t, lower, unit, b);
  int64_t h = Half(n), rest = n - h;
  if (lower) {
    SolveColumns(h, columns, t, lower, unit, b);
    Multiply<T>(rest, columns, h, T(-1), t.From(h, 0), b, b.From(h, 0));
    SolveColumns(rest, columns, t.From(h, h), lower, unit, b.From(h, 0));
  } else {
    SolveColumns(rest, columns, t.From(h, h), lower, unit, b.From(h, 0));
    Multiply<T>(h, columns, rest, T(-1), t.From(0, h), b.From(h, 0), b);
    SolveColumns(h, columns, t, lower, unit, b);
  }
}

}  // namespace

template <class T>
void SolveTriangle(int64_t n, int64_t columns, View<T> t, bool lower, bool unit, View<T> b) {
  OverColumns(columns, Cost(n, n) / 2, [&](int64_t begin, int64_t end) {
    SolveColumns(n, end - begin, t, lower, unit, b.From(0, begin));
  });
}

// ---- reflections ---------------------------------------------------------------------------
namespace {

// The sum of squares of x / scale.
template <class T>
double Squares(int64_t n, const T* x, double scale) {
  double sums[4] = {};
  for (int64_t i = 0; i < n; ++i) {
    double part = static_cast<double>(x[i]) / scale;
    sums[i & 3] += part * part;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

template <class T>
T Reflect(int64_t n, T* x, T* tau) {
  *tau = 0;
  if (n <= 1) return n > 0 ? x[0] : T(0);
  double scale = 1, sum = Squares(n - 1, x + 1, 1);
  double first = static_cast<double>(x[0]), all = first * first + sum;
  if (!(all > 1e-200 && all < 1e200) || sum == 0) {  // squares near the limits of the type
    double rest = 0;
    for (int64_t i = 1; i < n; ++i) rest = std::max(rest, static_cast<double>(std::abs(x[i])));
    if (rest == 0) return x[0];
    scale = std::max(rest, std::abs(first));
    sum = Squares(n - 1, x + 1, scale);
    first /= scale;
    all = first * first + sum;
  }
  double beta = -std::copysign(std::sqrt(all), first);
  *tau = static_cast<T>((beta - first) / beta);
  double inverse = 1 / (first - beta);
  for (int64_t i = 1; i < n; ++i)
    x[i] = static_cast<T>(static_cast<double>(x[i]) / scale * inverse);
  return static_cast<T>(beta * scale);
}

namespace {

// Some reflections as one: 1 - v^T t v, where the vectors are rows of v, and t is upper triangular.
template <class T>
class Block {
 public:
  Block(int64_t count, int64_t length, View<T> v, const T* tau)
      : count_(count), length_(length), v_(v), t_(count, count) {
    Scratch<T> dots(count, count);
    Multiply<T>(count, count, length, T(1), v, v.Transposed(), dots);
    View<T> t = t_, d = dots;
    for (int64_t k = 0; k < count; ++k) {
      t(k, k) = tau[k];
      for (int64_t i = 0; i < k; ++i) {
        T sum = 0;
        for (int64_t j = i; j < k; ++j) sum += t(i, j) * d(j, k);
        t(i, k) = -tau[k] * sum;
      }
    }
  }

  void Apply(bool transposed, int64_t columns, View<T> c) const {
    Scratch<T> products(count_, columns), turned(count_, columns);
    Multiply<T>(count_, columns, length_, T(1), v_, c, products);
    Multiply<T>(count_, columns, count_, T(1), transposed ? t_.view().Transposed() : t_.view(),
                products, turned);
    Multiply<T>(length_, columns, count_, T(-1), v_.Transposed(), turned, c);
  }

 private:
  int64_t count_, length_;
  View<T> v_;
  Scratch<T> t_;
};

// Reflections that make the first `count` rows of `a` (columns of a matrix) a triangle. Rows become
// the vectors; what they were made into is left in r, as columns.
template <class T>
void ReflectRows(int64_t count, int64_t length, View<T> a, View<T> r, T* tau) {
  const FactorLoops<T>& loops = Loops<T>();
  std::vector<T> dots(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    T* row = &a(k, 0);
    for (int64_t i = 0; i < std::min(k, length); ++i) r(i, k) = row[i], row[i] = 0;
    if (k >= length) continue;
    r(k, k) = Reflect(length - k, row + k, tau + k);
    row[k] = 1;
    std::fill(dots.begin(), dots.end(), T(0));
    View<T> later = a.From(0, k);
    loops.dot_rows(k + 1, count, length - k, later, row + k, dots.data());
    for (int64_t i = k + 1; i < count; ++i) dots[static_cast<size_t>(i)] *= tau[k];
    loops.subtract_rows(k + 1, count, length - k, later, row + k, dots.data());
  }
}

}  // namespace

template <class T>
void ApplyReflections(int64_t k, int64_t length, int64_t shift, View<T> vectors, const T* tau,
                      bool transposed, bool of_unit, int64_t columns, View<T> c) {
  int64_t blocks = (k + kBlock - 1) / kBlock;
  for (int64_t i = 0; i < blocks; ++i) {
    int64_t first = (transposed ? i : blocks - 1 - i) * kBlock, from = first + shift;
    int64_t left = of_unit ? std::min(from, columns) : 0;
    Block<T> block(std::min(kBlock, k - first), length - from, vectors.From(first, from),
                   tau + first);
    block.Apply(transposed, columns - left, c.From(from, left));
  }
}

template <class T>
void FactorQr(int64_t m, int64_t n, View<T> a, T* tau) {
  int64_t k = std::min(m, n);
  for (int64_t j = 0; j < k; j += kBlock) {
    int64_t width = std::min(kBlock, k - j), height = m - j;
    Scratch<T> rows(width, height);
    View<T> panel = a.From(j, j), v = rows;
    Copy(width, height, panel.Transposed(), v);
    ReflectRows(width, height, v, panel, tau + j);
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t c = 0; c < std::min(i, width); ++c) panel(i, c) = v(c, i);
    }
    if (j + width < n) {
      Block<T>(width, height, v, tau + j).Apply(true, n - j - width, a.From(j, j + width));
    }
  }
}

template <class T>
void VectorsOfQr(int64_t k, int64_t m, View<T> a, View<T> vectors) {
  Copy(k, m, a.Transposed(), vectors);
  for (int64_t i = 0; i < k; ++i) {
    std::fill_n(&vectors(i, 0), i, T(0));
    vectors(i, i) = T(1);
  }
}

// ---- exponential ---------------------------------------------------------------------------

// Higham, "The scaling and squaring method for the matrix exponential revisited", 2005: a quotient
// of polynomials p(x) / p(-x), squared as often as the norm demands.

namespace {

// Up to which norm of x the quotient of a degree is exact, as the type counts.
struct Degree {
  int degree;
  double largest;
};
constexpr Degree kDegreesOfFloat[] = {
    {3, 0.4258730016922831}, {5, 1.880152677804762}, {7, 3.925724783138660}};
constexpr Degree kDegreesOfDouble[] = {{3, 0.01495585217958292},
                                       {5, 0.2539398330063230},
                                       {7, 0.9504178996162932},
                                       {13, 5.371920351148152}};

template <class T>
Degree DegreeFor(double norm) {
  std::span<const Degree> degrees = kDegreesOfDouble;
  if constexpr (std::is_same_v<T, float>) degrees = kDegreesOfFloat;
  auto fits = std::ranges::find_if(degrees, [&](Degree d) { return norm <= d.largest; });
  return fits == degrees.end() ? degrees.back() : *fits;
}

// The largest sum of a column's magnitudes, nan or infinite where an element is.
template <class T>
double NormOfColumns(int64_t n, View<T> a) {
  std::vector<double> sums(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      sums[static_cast<size_t>(j)] += std::abs(static_cast<double>(a(i, j)));
  }
  double norm = 0;
  for (double sum : sums) {
    if (!std::isfinite(sum)) return sum;
    norm = std::max(norm, sum);
  }
  return norm;
}

// The even and the odd part of p at x.
template <class T>
void PolynomialParts(int degree, int64_t n, View<T> x, View<T> even, View<T> odd) {
  std::array<double, 14> p{1};  // beyond the degree all are 0
  for (int j = 1; j <= degree; ++j)
    p[j] = p[j - 1] * (degree - j + 1) / ((2.0 * degree - j + 1) * j);
  Scratch<T> x2(n, n), x4(n, n), x6(n, n), inner(n, n);
  Multiply<T>(n, n, n, T(1), x, x, x2);
  if (degree > 3) Multiply<T>(n, n, n, T(1), x2, x2, x4);
  if (degree > 5) Multiply<T>(n, n, n, T(1), x4, x2, x6);
  auto add = [&](int c6, int c4, int c2, int c0, View<T> to) {
    auto of = [&](int c) { return c < 0 ? T(0) : static_cast<T>(p[c]); };
    for (int64_t i = 0; i < n; ++i) {
      const T *r2 = &x2.view()(i, 0), *r4 = &x4.view()(i, 0), *r6 = &x6.view()(i, 0);
      T* row = &to(i, 0);
      for (int64_t j = 0; j < n; ++j) row[j] += of(c6) * r6[j] + of(c4) * r4[j] + of(c2) * r2[j];
      row[i] += of(c0);
    }
  };
  if (degree > 7) {
    Scratch<T> high(n, n), higher(n, n);
    add(13, 11, 9, -1, higher);
    Multiply<T>(n, n, n, T(1), x6, higher, inner);
    add(12, 10, 8, -1, high);
    Multiply<T>(n, n, n, T(1), x6, high, even);
  }
  add(7, 5, 3, 1, inner);
  Multiply<T>(n, n, n, T(1), x, inner, odd);
  add(6, 4, 2, 0, even);
}

}  // namespace

template <class T>
void Exponential(int64_t n, View<T> a, View<T> result) {
  double norm = NormOfColumns(n, a);
  if (!std::isfinite(norm)) {
    for (int64_t i = 0; i < n; ++i) std::fill_n(&result(i, 0), n, static_cast<T>(NAN));
    return;
  }
  auto [degree, largest] = DegreeFor<T>(norm);
  int squarings = norm > largest ? static_cast<int>(std::ceil(std::log2(norm / largest))) : 0;
  Scratch<T> x(n, n), odd(n, n), even(n, n), spare(n, n);
  double scale = std::ldexp(1.0, -squarings);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      x.view()(i, j) = static_cast<T>(static_cast<double>(a(i, j)) * scale);
  }
  PolynomialParts<T>(degree, n, x, even, odd);
  View<T> denominator = x;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      denominator(i, j) = even.view()(i, j) - odd.view()(i, j);
      result(i, j) = even.view()(i, j) + odd.view()(i, j);
    }
  }
  std::vector<int32_t> pivots(static_cast<size_t>(n));
  FactorLu<T>(n, n, denominator, pivots.data());
  ExchangeRows<T>(n, pivots.data(), n, result, false);
  SolveTriangle<T>(n, n, denominator, true, true, result);
  SolveTriangle<T>(n, n, denominator, false, false, result);
  for (int i = 0; i < squarings; ++i) {
    Copy<T>(n, n, result, spare);
    for (int64_t r = 0; r < n; ++r) std::fill_n(&result(r, 0), n, T(0));
    Multiply<T>(n, n, n, T(1), spare, spare, result);
  }
}

#define MS_INSTANTIATE(T)                                                                     \
  template void Copy<T>(int64_t, int64_t, View<T>, View<T>);                                  \
  template void SetUnit<T>(int64_t, int64_t, View<T>);                                        \
  template void Multiply<T>(int64_t, int64_t, int64_t, T, View<T>, View<T>, View<T>);         \
  template bool FactorCholesky<T>(int64_t, View<T>);                                          \
  template void FactorLu<T>(int64_t, int64_t, View<T>, int32_t*);                             \
  template void ExchangeRows<T>(int64_t, const int32_t*, int64_t, View<T>, bool);             \
  template void SolveTriangle<T>(int64_t, int64_t, View<T>, bool, bool, View<T>);             \
  template T Reflect<T>(int64_t, T*, T*);                                                     \
  template void ApplyReflections<T>(int64_t, int64_t, int64_t, View<T>, const T*, bool, bool, \
                                    int64_t, View<T>);                                        \
  template void FactorQr<T>(int64_t, int64_t, View<T>, T*);                                   \
  template void VectorsOfQr<T>(int64_t, int64_t, View<T>, View<T>);                           \
  template void Exponential<T>(int64_t, View<T>, View<T>);
MS_INSTANTIATE(float)
MS_INSTANTIATE(double)
#undef MS_INSTANTIATE

}  // namespace ms::cpu
