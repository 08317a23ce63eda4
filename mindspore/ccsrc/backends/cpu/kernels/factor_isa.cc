// Loops of factorisations: products of small matrices, elimination in few columns, triangles of few
// rows, rotations.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/factor_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

template <class T>
inline constexpr int64_t kLanes = kVectorBytes / sizeof(T);
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};

template <class T>
typename VectorOf<T>::type Load(const T* p) {
  typename VectorOf<T>::type v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
template <class T>
void Store(T* p, typename VectorOf<T>::type v) {
  __builtin_memcpy(p, &v, sizeof(v));
}

// ---- products ------------------------------------------------------------------------------
constexpr int64_t kRows = 6;  // with two vectors of b, what 16 registers hold
constexpr int64_t kDepth = 256;
constexpr int64_t kHeight = 96;  // rows of a that are packed together
template <class T>
constexpr int64_t kWidth = 2 * kLanes<T>;

// What is summed of an element of a and one of b.
struct Product {
  template <class T, class V>
  static V Of(T a, V b) {
    return a * b;
  }
};
struct Square {
  template <class T, class V>
  static V Of(T a, V b) {
    V d = a - b;
    return d * d;
  }
};
struct Size {
  template <class T, class V>
  static V Of(T a, V b) {
    V d = a - b;
    return d < 0 ? -d : d;
  }
};

// sums = a b, of kRows packed rows and kWidth packed columns.
template <class Rule, class T>
void Tile(int64_t k, const T* a, const T* b, T* sums) {
  using V = typename VectorOf<T>::type;
  V lanes[kRows][2] = {};
  for (int64_t p = 0; p < k; ++p) {
    V b0 = Load(b + p * kWidth<T>), b1 = Load(b + p * kWidth<T> + kLanes<T>);
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      T x = a[p * kRows + r];
      lanes[r][0] += Rule::Of(x, b0);
      lanes[r][1] += Rule::Of(x, b1);
    }
  }
  __builtin_memcpy(sums, lanes, sizeof(lanes));
}

template <class T>
void PackRows(int64_t rows, int64_t k, const View<T>& a, T alpha, T* to) {
  for (int64_t i = 0; i < rows; i += kRows) {
    int64_t count = std::min(kRows, rows - i);
    for (int64_t p = 0; p < k; ++p) {
      const T* from = a.at + i * a.row + p * a.column;
      for (int64_t r = 0; r < kRows; ++r) *to++ = r < count ? alpha * from[r * a.row] : T(0);
    }
  }
}

template <class T>
void PackColumns(int64_t k, int64_t columns, const View<T>& b, T* to) {
  for (int64_t j = 0; j < columns; j += kWidth<T>) {
    int64_t count = std::min(kWidth<T>, columns - j);
    for (int64_t p = 0; p < k; ++p, to += kWidth<T>) {
      const T* from = b.at + p * b.row + j * b.column;
      if (b.column == 1) {
        for (int64_t c = 0; c < count; ++c) to[c] = from[c];
      } else {
        for (int64_t c = 0; c < count; ++c) to[c] = from[c * b.column];
      }
      for (int64_t c = count; c < kWidth<T>; ++c) to[c] = T(0);
    }
  }
}

// Adds them to c, or puts them there.
template <bool kAdds, class T>
void PutTile(int64_t rows, int64_t columns, const T* sums, T* c, int64_t step) {
  if (columns == kWidth<T>) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t v = 0; v < 2; ++v) {
        T* to = c + r * step + v * kLanes<T>;
        auto sum = Load(sums + r * kWidth<T> + v * kLanes<T>);
        Store(to, kAdds ? Load<T>(to) + sum : sum);
      }
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < columns; ++j) {
        T sum = sums[r * kWidth<T> + j];
        c[r * step + j] = kAdds ? c[r * step + j] + sum : sum;
      }
    }
  }
}

// In columns [j, end) of c; where not kAdds, k is above 0.
template <class Rule, bool kAdds, class T>
void PutSums(int64_t m, int64_t j, int64_t end, int64_t k, T alpha, View<T> a, View<T> b,
             View<T> c) {
  // The rows are packed anew for each of these, so that few terms leave room for many columns.
  constexpr int64_t kPacked = 256 * kDepth;
  const int64_t most = kPacked / std::clamp<int64_t>(k, 1, kDepth);
  thread_local std::vector<T> packed_a, packed_b;
  packed_a.resize(static_cast<size_t>(kDepth * (kHeight + kRows)));
  packed_b.resize(static_cast<size_t>(kPacked + kDepth * kWidth<T>));
  T sums[kRows * kWidth<T>];
  for (int64_t j0 = j; j0 < end; j0 += most) {
    int64_t columns = std::min(most, end - j0);
    for (int64_t p = 0; p < k; p += kDepth) {
      int64_t depth = std::min(kDepth, k - p);
      PackColumns(depth, columns, View<T>{b.at + p * b.row + j0 * b.column, b.row, b.column},
                  packed_b.data());
      for (int64_t i0 = 0; i0 < m; i0 += kHeight) {
        int64_t rows = std::min(kHeight, m - i0);
        PackRows(rows, depth, View<T>{a.at + i0 * a.row + p * a.column, a.row, a.column}, alpha,
                 packed_a.data());
        for (int64_t jj = 0; jj < columns; jj += kWidth<T>) {
          for (int64_t i = 0; i < rows; i += kRows) {
            Tile<Rule>(depth, packed_a.data() + i * depth, packed_b.data() + jj * depth, sums);
            auto put = kAdds || p > 0 ? PutTile<true, T> : PutTile<false, T>;
            put(std::min(kRows, rows - i), std::min(kWidth<T>, columns - jj), sums,
                c.at + (i0 + i) * c.row + j0 + jj, c.row);
          }
        }
      }
    }
  }
}

template <class T>
void Multiply(int64_t m, int64_t j, int64_t end, int64_t k, T alpha, View<T> a, View<T> b,
              View<T> c) {
  PutSums<Product, true>(m, j, end, k, alpha, a, b, c);
}
template <class T>
void PutSquares(int64_t m, int64_t n, int64_t k, View<T> a, View<T> b, View<T> c) {
  PutSums<Square, false>(m, 0, n, k, T(1), a, b, c);
}
template <class T>
void PutSizes(int64_t m, int64_t n, int64_t k, View<T> a, View<T> b, View<T> c) {
  PutSums<Size, false>(m, 0, n, k, T(1), a, b, c);
}

// In columns [p, p + Vectors vectors): the sums of a row stay in registers.
template <int64_t Vectors, class T>
void AddSignsOfRow(int64_t n, const T* weights, const T* a, const View<T>& b, int64_t p, T* c) {
  using V = typename VectorOf<T>::type;
  V x[Vectors], sums[Vectors];
  for (int64_t v = 0; v < Vectors; ++v) {
    x[v] = Load(a + p + v * kLanes<T>);
    sums[v] = Load(c + p + v * kLanes<T>);
  }
  for (int64_t j = 0; j < n; ++j) {
    const T* row = b.at + j * b.row + p;
    V up = V{} + weights[j], none = V{};
#pragma GCC unroll 4
    for (int64_t v = 0; v < Vectors; ++v) {
      V y = Load(row + v * kLanes<T>);
      sums[v] += x[v] > y ? up : none;
      sums[v] -= x[v] < y ? up : none;
    }
  }
  for (int64_t v = 0; v < Vectors; ++v) Store(c + p + v * kLanes<T>, sums[v]);
}

template <class T>
void AddSigns(int64_t m, int64_t n, int64_t k, View<T> weights, View<T> a, View<T> b, View<T> c) {
  for (int64_t i = 0; i < m; ++i) {
    const T *w = weights.at + i * weights.row, *x = a.at + i * a.row;
    T* to = c.at + i * c.row;
    int64_t p = 0;
    for (; p + 4 * kLanes<T> <= k; p += 4 * kLanes<T>) AddSignsOfRow<4>(n, w, x, b, p, to);
    for (; p + kLanes<T> <= k; p += kLanes<T>) AddSignsOfRow<1>(n, w, x, b, p, to);
    for (int64_t j = 0; p < k && j < n; ++j) {
      const T* row = b.at + j * b.row;
      for (int64_t q = p; q < k; ++q) to[q] += x[q] > row[q] ? w[j] : x[q] < row[q] ? -w[j] : T(0);
    }
  }
}

// ---- rows ----------------------------------------------------------------------------------
template <class T>
void Subtract(int64_t n, T x, const T* __restrict from, T* __restrict to) {
  for (int64_t j = 0; j < n; ++j) to[j] -= x * from[j];
}

template <class T>
bool Cholesky(int64_t n, View<T> a) {
  for (int64_t k = 0; k < n; ++k) {
    T* row = a.at + k * a.row;
    if (!(row[k] > T(0)) || !std::isfinite(row[k])) return false;
    T root = std::sqrt(row[k]), inverse = T(1) / root;
    row[k] = root;
    for (int64_t j = k + 1; j < n; ++j) row[j] *= inverse;
    for (int64_t i = k + 1; i < n; ++i) Subtract(n - i, row[i], row + i, a.at + i * a.row + i);
  }
  return true;
}

template <class T>
void Eliminate(int64_t m, int64_t n, View<T> a, int32_t* pivots) {
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    int64_t best = k;
    T most = std::abs(a.at[k * a.row + k]);
    for (int64_t i = k + 1; i < m; ++i) {
      T size = std::abs(a.at[i * a.row + k]);
      if (size > most) most = size, best = i;
    }
    pivots[k] = static_cast<int32_t>(best);
    T* row = a.at + k * a.row;
    if (best != k) std::swap_ranges(row, row + n, a.at + best * a.row);
    if (row[k] == T(0)) continue;
    T pivot = row[k];
    for (int64_t i = k + 1; i < m; ++i) {
      T* other = a.at + i * a.row;
      T x = other[k] / pivot;
      other[k] = x;
      Subtract(n - k - 1, x, row + k + 1, other + k + 1);
    }
  }
}

// One strip of columns at a time, which stays in registers while the rows above it are read.
template <int64_t Vectors, class T>
void SolveStrip(int64_t n, const View<T>& t, bool lower, bool unit, T* b, int64_t step) {
  using V = typename VectorOf<T>::type;
  for (int64_t at = 0; at < n; ++at) {
    int64_t i = lower ? at : n - 1 - at;
    V sums[Vectors];
    for (int64_t v = 0; v < Vectors; ++v) sums[v] = Load(b + i * step + v * kLanes<T>);
    int64_t from = lower ? 0 : i + 1, to = lower ? i : n;
    for (int64_t k = from; k < to; ++k) {
      T x = t.at[i * t.row + k * t.column];
      const T* other = b + k * step;
      for (int64_t v = 0; v < Vectors; ++v) sums[v] -= x * Load(other + v * kLanes<T>);
    }
    T pivot = unit ? T(1) : t.at[i * t.row + i * t.column];
    for (int64_t v = 0; v < Vectors; ++v) Store(b + i * step + v * kLanes<T>, sums[v] / pivot);
  }
}

template <class T>
void Solve(int64_t n, int64_t j, int64_t end, View<T> t, bool lower, bool unit, View<T> b) {
  for (; j + 4 * kLanes<T> <= end; j += 4 * kLanes<T>)
    SolveStrip<4>(n, t, lower, unit, b.at + j, b.row);
  for (; j + kLanes<T> <= end; j += kLanes<T>) SolveStrip<1>(n, t, lower, unit, b.at + j, b.row);
  if (j == end) return;
  for (int64_t at = 0; at < n; ++at) {
    int64_t i = lower ? at : n - 1 - at;
    T* row = b.at + i * b.row;
    for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) {
      T x = t.at[i * t.row + k * t.column];
      const T* other = b.at + k * b.row;
      for (int64_t c = j; c < end; ++c) row[c] -= x * other[c];
    }
    if (unit) continue;
    T pivot = t.at[i * t.row + i * t.column];
    for (int64_t c = j; c < end; ++c) row[c] /= pivot;
  }
}

template <class T>
void AddRows(int64_t m, int64_t j, int64_t end, View<T> a, const T* x, T* y) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    const T *r0 = a.at + i * a.row, *r1 = r0 + a.row, *r2 = r1 + a.row, *r3 = r2 + a.row;
    T x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
#pragma GCC ivdep
    for (int64_t c = j; c < end; ++c) y[c] += (x0 * r0[c] + x1 * r1[c]) + (x2 * r2[c] + x3 * r3[c]);
  }
  for (; i < m; ++i) {
    const T* row = a.at + i * a.row;
#pragma GCC ivdep
    for (int64_t c = j; c < end; ++c) y[c] += x[i] * row[c];
  }
}

// y[c] += x[i] a(i, c) for columns c behind the diagonal, and y[i] += a(i, c) x[c]: `Rows` rows, of
// columns [c, end), which all are behind.
template <int64_t Rows, class T>
void AddMirrored(int64_t i, int64_t c, int64_t end, const View<T>& a, const T* x, T* y) {
  using V = typename VectorOf<T>::type;
  const T* row = a.at + i * a.row;
  V sums[Rows] = {};
  for (; c + kLanes<T> <= end; c += kLanes<T>) {
    V along = Load(x + c), down = Load(y + c);
#pragma GCC unroll 4
    for (int64_t r = 0; r < Rows; ++r) {
      V v = Load(row + r * a.row + c);
      sums[r] += v * along;
      down += x[i + r] * v;
    }
    Store(y + c, down);
  }
  for (int64_t r = 0; r < Rows; ++r) {
    T total = 0;
    for (int64_t lane = 0; lane < kLanes<T>; ++lane) total += sums[r][lane];
    for (int64_t k = c; k < end; ++k) {
      T v = row[r * a.row + k];
      total += v * x[k];
      y[k] += x[i + r] * v;
    }
    y[i + r] += total;
  }
}

template <class T>
void AddSymmetric(int64_t i, int64_t end, int64_t n, View<T> a, const T* x, T* y) {
  for (int64_t r = i; r < end; ++r) y[r] += a.at[r * a.row + r] * x[r];
  for (; i + 4 <= end; i += 4) {
    for (int64_t r = i; r < i + 3; ++r) AddMirrored<1>(r, r + 1, i + 4, a, x, y);
    AddMirrored<4>(i, i + 4, n, a, x, y);
  }
  for (; i < end; ++i) AddMirrored<1>(i, i + 1, n, a, x, y);
}

template <class T>
T Dot(int64_t n, const T* a, const T* b) {
  using V = typename VectorOf<T>::type;
  V sums[2] = {};
  int64_t k = 0;
  for (; k + 2 * kLanes<T> <= n; k += 2 * kLanes<T>) {
    sums[0] += Load(a + k) * Load(b + k);
    sums[1] += Load(a + k + kLanes<T>) * Load(b + k + kLanes<T>);
  }
  sums[0] += sums[1];
  T total = 0;
  for (int64_t lane = 0; lane < kLanes<T>; ++lane) total += sums[0][lane];
  for (; k < n; ++k) total += a[k] * b[k];
  return total;
}

template <class T>
void DotRows(int64_t i, int64_t end, int64_t n, View<T> a, const T* x, T* y) {
  for (; i < end; ++i) y[i] += Dot(n, a.at + i * a.row, x);
}

template <class T>
void SubtractRows(int64_t i, int64_t end, int64_t n, View<T> a, const T* x, const T* y) {
  for (; i < end; ++i) Subtract(n, y[i], x, a.at + i * a.row);
}

// ---- rotations -----------------------------------------------------------------------------

// Rotations come in runs, each of which takes up a row of the one before: that stays in registers.
// Returns the end of the run, which walks from the rows `first` to the rows `next`.
template <int64_t Vectors, class T>
const Rotation<T>* RotateRun(const Rotation<T>* r, const Rotation<T>* end,
                             int32_t Rotation<T>::* first, int32_t Rotation<T>::* next, T* z,
                             int64_t step) {
  using V = typename VectorOf<T>::type;
  V kept[Vectors];
  int32_t row = r->*first;
  T sign = first == &Rotation<T>::a ? T(1) : T(-1);
  for (int64_t v = 0; v < Vectors; ++v) kept[v] = Load(z + row * step + v * kLanes<T>);
  for (; r < end && r->*first == row; ++r) {
    T c = r->c, s = sign * r->s;
    const T* from = z + r->*next * step;
    T* to = z + row * step;
#pragma GCC unroll 4
    for (int64_t v = 0; v < Vectors; ++v) {
      V x = Load(from + v * kLanes<T>);
      Store(to + v * kLanes<T>, c * kept[v] + s * x);
      kept[v] = c * x - s * kept[v];
    }
    row = r->*next;
  }
  for (int64_t v = 0; v < Vectors; ++v) Store(z + row * step + v * kLanes<T>, kept[v]);
  return r;
}

template <int64_t Vectors, class T>
void RotateStrip(int64_t count, const Rotation<T>* r, T* z, int64_t step) {
  for (const Rotation<T>* end = r + count; r < end;) {
    bool down = r + 1 < end && r[1].b == r->a;
    r = down ? RotateRun<Vectors>(r, end, &Rotation<T>::b, &Rotation<T>::a, z, step)
             : RotateRun<Vectors>(r, end, &Rotation<T>::a, &Rotation<T>::b, z, step);
  }
}

template <class T>
void Rotate(int64_t count, const Rotation<T>* rotations, View<T> z, int64_t j, int64_t end) {
  for (; j + 4 * kLanes<T> <= end; j += 4 * kLanes<T>)
    RotateStrip<4>(count, rotations, z.at + j, z.row);
  for (; j + kLanes<T> <= end; j += kLanes<T>) RotateStrip<1>(count, rotations, z.at + j, z.row);
  if (j == end) return;
  for (int64_t r = 0; r < count; ++r) {
    T c = rotations[r].c, s = rotations[r].s;
    T *a = z.at + rotations[r].a * z.row, *b = z.at + rotations[r].b * z.row;
    for (int64_t k = j; k < end; ++k) {
      T turned = c * a[k] + s * b[k];
      b[k] = c * b[k] - s * a[k];
      a[k] = turned;
    }
  }
}

}  // namespace

template <class T>
FactorLoops<T> MakeFactorLoops() {
  return {Multiply<T>, PutSquares<T>, PutSizes<T>,     AddSigns<T>, Cholesky<T>,     Eliminate<T>,
          Solve<T>,    AddRows<T>,    AddSymmetric<T>, DotRows<T>,  SubtractRows<T>, Rotate<T>};
}

template FactorLoops<float> MakeFactorLoops<float>();
template FactorLoops<double> MakeFactorLoops<double>();

}  // namespace ms::cpu::MS_ISA
