// A maximum is taken over the rows of a window first, then over columns: fewer steps, and the first
// one reads memory in order.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "backends/cpu/kernels/pool_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

// Memory of the calling thread; each slot is another piece.
template <class T, int Slot = 0>
T* Scratch(int64_t n) {
  thread_local std::vector<T> scratch;
  if (scratch.size() < static_cast<size_t>(n)) scratch.resize(static_cast<size_t>(n));
  return scratch.data();
}

// The larger one; a nan wins.
template <class T>
T Larger(T current, T v) {
  return (v > current) | (v != v) ? v : current;
}

template <class T, int Stride, int Kernel>
void MaxOfColumns(const T* line, int64_t windows, int64_t out_column, T* y) {
  for (int64_t j = 0; j < windows; ++j) {
    T best = line[j * Stride];
    for (int k = 1; k < Kernel; ++k) best = Larger(best, line[j * Stride + k]);
    y[j * out_column] = best;
  }
}

template <class T>
void MaxOfColumns(const Window& w, const T* line, int64_t out_column, T* y) {
  if (w.dilation == 1 && out_column == 1) {
    if (w.kernel == 2 && w.stride == 2) return MaxOfColumns<T, 2, 2>(line, w.out, 1, y);
    if (w.kernel == 3 && w.stride == 2) return MaxOfColumns<T, 2, 3>(line, w.out, 1, y);
    if (w.kernel == 3 && w.stride == 1) return MaxOfColumns<T, 1, 3>(line, w.out, 1, y);
  }
  for (int64_t j = 0; j < w.out; ++j) {
    T best = line[j * w.stride];
    for (int64_t k = 1; k < w.kernel; ++k) {
      best = Larger(best, line[j * w.stride + k * w.dilation]);
    }
    y[j * out_column] = best;
  }
}

// Whether windows tile the dimension by twos, without padding.
bool IsHalving(const Window& w) {
  return w.kernel == 2 && w.stride == 2 && w.dilation == 1 && w.pad_before == 0 &&
         w.size == 2 * w.out;
}

// Pooling by twos is by far the most frequent one. Pairs of neighbours in a row are done for many
// rows at once, as if those were one long row; then come pairs of rows, then pairs of slices.
bool IsHalving(const PoolPlane& p) {
  bool slices = p.depth.size == 1 ? !p.depth.padded() && p.depth.kernel == 1 : IsHalving(p.depth);
  return slices && IsHalving(p.height) && IsHalving(p.width) && p.column == 1 &&
         p.row == p.width.size;
}

// Rows of the output that are done together, so that what lies between stays in the cache.
int64_t HalvedRows(const PoolPlane& p) { return std::max<int64_t>(1, 1024 / p.width.out); }

// Calls block(rows of the output, offset in the output, offset in the input) for all rows.
template <class F>
void EachHalvedBlock(const PoolPlane& p, F&& block) {
  int64_t step = HalvedRows(p);
  for (int64_t k = 0; k < p.depth.out; ++k) {
    for (int64_t i = 0; i < p.height.out; i += step) {
      block(std::min(step, p.height.out - i), k * p.out_slice + i * p.out_row,
            k * p.depth.stride * p.slice + 2 * i * p.row);
    }
  }
}

template <class T>
void LargerOfPairs(const T* x, int64_t n, T* y) {
  for (int64_t j = 0; j < n; ++j) y[j] = Larger(x[2 * j], x[2 * j + 1]);
}

// y[rows, out] of one slice x.
template <class T>
void HalvedRowsOf(const T* x, int64_t rows, int64_t out, T* y) {
  T* pairs = Scratch<T>(2 * rows * out);
  LargerOfPairs(x, 2 * rows * out, pairs);
  for (int64_t r = 0; r < rows; ++r) {
    const T* top = pairs + 2 * r * out;
    T* to = y + r * out;
#pragma GCC ivdep
    for (int64_t j = 0; j < out; ++j) to[j] = Larger(top[j], top[j + out]);
  }
}

template <class T>
void HalvedPlane(const PoolPlane& p, const T* x, T* y) {
  int64_t out = p.width.out;
  T* other = Scratch<T, 1>(HalvedRows(p) * out);
  EachHalvedBlock(p, [&](int64_t rows, int64_t to, int64_t from) {
    HalvedRowsOf(x + from, rows, out, y + to);
    if (p.depth.kernel == 1) return;
    HalvedRowsOf(x + from + p.slice, rows, out, other);
    for (int64_t j = 0; j < rows * out; ++j) y[to + j] = Larger(y[to + j], other[j]);
  });
}

}  // namespace

template <class T>
void MaxPlane(const PoolPlane& p, const T* x, T* y) {
  const Window& d = p.depth;
  const Window& h = p.height;
  const Window& w = p.width;
  if (IsHalving(p)) return HalvedPlane(p, x, y);
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  // One line of the input with its padding, up to where the last window ends.
  int64_t length = std::max((w.out - 1) * w.stride + w.span(), w.pad_before + w.size);
  T* line = Scratch<T>(length);
  std::fill(line, line + length, kLowest);
  T* inside = line + w.pad_before;
  auto take_row = [&](const T* row) {
    if (p.column == 1) {
      for (int64_t j = 0; j < w.size; ++j) inside[j] = Larger(inside[j], row[j]);
    } else {
      for (int64_t j = 0; j < w.size; ++j) inside[j] = Larger(inside[j], row[j * p.column]);
    }
  };
  for (int64_t k = 0; k < d.out; ++k) {
    for (int64_t i = 0; i < h.out; ++i) {
      std::fill(inside, inside + w.size, kLowest);
      for (int64_t l = d.First(k); l < d.Last(k); ++l) {
        const T* slice = x + (d.Start(k) + l * d.dilation) * p.slice;
        for (int64_t m = h.First(i); m < h.Last(i); ++m) {
          take_row(slice + (h.Start(i) + m * h.dilation) * p.row);
        }
      }
      MaxOfColumns(w, line, p.out_column, y + k * p.out_slice + i * p.out_row);
    }
  }
}

namespace {

constexpr int32_t kNoRow = std::numeric_limits<int32_t>::max();

// Of a value seen before and a new one: whether the new one is the maximum. A nan is larger than
// all numbers; the first of equals stays.
template <class T>
bool Beats(T v, T best) {
  return (v > best) | ((v != v) & (best == best));
}
template <class T>
bool Ties(T v, T best) {
  return (v == best) | ((v != v) & (best != best));
}

// Elements first, first + step, ... of a dimension, before `last`.
struct Reach {
  int64_t first, last, step;
};
Reach ReachOf(const Window& w, int64_t i) {
  int64_t start = w.Start(i);
  return {start + w.First(i) * w.dilation, start + w.Last(i) * w.dilation, w.dilation};
}
Reach ReachOf(const RangePlane::Range& range) { return {range.first, range.last, 1}; }

// Largest element of each column over some rows of some slices, and the number of its row among
// those of all slices. The rows are in `line` and `rows`, from the first element inside on.
template <class T, class Plane>
void ColumnMaxima(const Plane& p, int64_t height, int64_t n, Reach slices, Reach reach, const T* x,
                  T* line, int32_t* rows) {
  bool first = true;
  for (int64_t k = slices.first; k < slices.last; k += slices.step) {
    for (int64_t r = reach.first; r < reach.last; r += reach.step) {
      const T* from = x + k * p.slice + r * p.row;
      auto row = static_cast<int32_t>(k * height + r);
      auto visit = [&](int64_t j, T v) {
        bool take = first | Beats(v, line[j]);
        line[j] = take ? v : line[j];
        rows[j] = take ? row : rows[j];
      };
      if (p.column == 1) {
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) visit(j, from[j]);
      } else {
        for (int64_t j = 0; j < n; ++j) visit(j, from[j * p.column]);
      }
      first = false;
    }
  }
}

// phases[p * n + j] = line[j * stride + p]: what windows read at one tap is then contiguous.
template <class T>
void SplitPhases(const T* line, int64_t stride, int64_t n, T* phases) {
  if (stride == 2) {
    T* odd = phases + n;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      phases[j] = line[2 * j];
      odd[j] = line[2 * j + 1];
    }
    return;
  }
  for (int64_t p = 0; p < stride; ++p) {
    for (int64_t j = 0; j < n; ++j) phases[p * n + j] = line[j * stride + p];
  }
}

// The maximum of each window over columns; among equals the one in the first row, then in the first
// column.
template <class T>
void WindowMaxima(const Window& w, const T* values, const int32_t* rows, int64_t per_phase,
                  int32_t* position) {
  T* best = Scratch<T, 2>(w.out);
  int32_t* best_row = Scratch<int32_t, 2>(w.out);
  std::copy_n(values, w.out, best);
  std::copy_n(rows, w.out, best_row);
  std::fill_n(position, w.out, 0);
  for (int64_t k = 1; k < w.kernel; ++k) {
    int64_t tap = k * w.dilation;
    int64_t from = tap % w.stride * per_phase + tap / w.stride;
    const T* v = values + from;
    const int32_t* row = rows + from;
    auto at = static_cast<int32_t>(tap);
#pragma GCC ivdep
    for (int64_t j = 0; j < w.out; ++j) {
      bool take = Beats(v[j], best[j]) | (Ties(v[j], best[j]) & (row[j] < best_row[j]));
      best[j] = take ? v[j] : best[j];
      best_row[j] = take ? row[j] : best_row[j];
      position[j] = take ? at : position[j];
    }
  }
  auto width = static_cast<int32_t>(w.size);
  auto stride = static_cast<int32_t>(w.stride);
  auto before = static_cast<int32_t>(w.pad_before);
#pragma GCC ivdep
  for (int64_t j = 0; j < w.out; ++j) {
    int32_t column = static_cast<int32_t>(j) * stride + position[j] - before;
    position[j] = best_row[j] == kNoRow ? -1 : best_row[j] * width + column;
  }
}

}  // namespace

template <class T>
void FirstMaxima(const PoolPlane& p, const T* x, int64_t k, int64_t i, int32_t* position) {
  const Window& w = p.width;
  int64_t length = std::max((w.out - 1) * w.stride + w.span(), w.pad_before + w.size);
  int64_t per_phase = (length + w.stride - 1) / w.stride;
  length = per_phase * w.stride;
  T* line = Scratch<T>(length);
  int32_t* rows = Scratch<int32_t>(length);
  auto fill = [&](int64_t from, int64_t to) {
    std::fill(line + from, line + to, -std::numeric_limits<T>::infinity());
    std::fill(rows + from, rows + to, kNoRow);
  };
  Reach slices = ReachOf(p.depth, k), reach = ReachOf(p.height, i);
  bool any = slices.first < slices.last && reach.first < reach.last;
  fill(0, any ? w.pad_before : length);
  fill(w.pad_before + w.size, length);
  ColumnMaxima(p, p.height.size, w.size, slices, reach, x, line + w.pad_before,
               rows + w.pad_before);
  if (w.stride == 1) return WindowMaxima(w, line, rows, per_phase, position);
  T* values = Scratch<T, 1>(length);
  int32_t* value_rows = Scratch<int32_t, 1>(length);
  SplitPhases(line, w.stride, per_phase, values);
  SplitPhases(rows, w.stride, per_phase, value_rows);
  WindowMaxima(w, values, value_rows, per_phase, position);
}

template <class T>
void MaxOfRanges(const RangePlane& p, const T* x, T* y, int32_t* position) {
  T* line = Scratch<T>(p.width);
  int32_t* rows = Scratch<int32_t>(p.width);
  for (size_t k = 0; k < p.slices.size(); ++k) {
    for (size_t i = 0; i < p.rows.size(); ++i) {
      ColumnMaxima(p, p.height, p.width, ReachOf(p.slices[k]), ReachOf(p.rows[i]), x, line, rows);
      int64_t at = static_cast<int64_t>(k) * p.out_slice + static_cast<int64_t>(i) * p.out_row;
      for (const RangePlane::Range& range : p.columns) {
        int64_t best = range.first;
        for (int64_t j = best + 1; j < range.last; ++j) {
          bool earlier = Ties(line[j], line[best]) & (rows[j] < rows[best]);
          if (Beats(line[j], line[best]) | earlier) best = j;
        }
        y[at] = line[best];
        position[at] = static_cast<int32_t>(rows[best] * p.width + best);
        at += p.out_column;
      }
    }
  }
}

namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

// v, or zero. By bits: with `?:` before a store compilers see a store that may not happen, and give
// up on vector code.
template <class T>
T Keep(T v, bool condition) {
  BitsOf<T> mask = condition ? -1 : 0;
  return __builtin_bit_cast(T, __builtin_bit_cast(BitsOf<T>, v) & mask);
}

// Gives g to the larger one of each pair, to the first of equals.
template <class T>
void SpreadOverPairs(const T* x, const T* g, int64_t n, T* dx) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    dx[2 * j] = Keep(g[j], !Beats(x[2 * j + 1], x[2 * j]));
    dx[2 * j + 1] = Keep(g[j], Beats(x[2 * j + 1], x[2 * j]));
  }
}

// dx of one slice, from what its windows, [rows, out], get.
template <class T>
void SpreadHalvedRows(const T* x, const T* g, int64_t rows, int64_t out, T* dx) {
  T* pairs = Scratch<T>(2 * rows * out);
  LargerOfPairs(x, 2 * rows * out, pairs);
  for (int64_t r = 0; r < rows; ++r) {
    T* top = pairs + 2 * r * out;
    const T* from = g + r * out;
#pragma GCC ivdep
    for (int64_t j = 0; j < out; ++j) {
      T upper = top[j], lower = top[j + out];
      top[j] = Keep(from[j], !Beats(lower, upper));
      top[j + out] = Keep(from[j], Beats(lower, upper));
    }
  }
  SpreadOverPairs(x, pairs, 2 * rows * out, dx);
}

}  // namespace

template <class T>
bool HalvedPlaneGrad(const PoolPlane& p, const T* x, const T* dy, T* dx) {
  if (!IsHalving(p)) return false;
  int64_t out = p.width.out, most = HalvedRows(p) * out;
  T* near = Scratch<T, 1>(most);
  T* far = Scratch<T, 2>(most);
  EachHalvedBlock(p, [&](int64_t rows, int64_t from, int64_t to) {
    const T* g = dy + from;
    if (p.depth.kernel == 1) return SpreadHalvedRows(x + to, g, rows, out, dx + to);
    int64_t next = to + p.slice;
    HalvedRowsOf(x + to, rows, out, near);
    HalvedRowsOf(x + next, rows, out, far);
#pragma GCC ivdep
    for (int64_t j = 0; j < rows * out; ++j) {
      bool second = Beats(far[j], near[j]);
      near[j] = Keep(g[j], !second);
      far[j] = Keep(g[j], second);
    }
    SpreadHalvedRows(x + to, near, rows, out, dx + to);
    SpreadHalvedRows(x + next, far, rows, out, dx + next);
  });
  return true;
}

template <class T>
void MeanOfPlane(const MeanPlane& p, const T* x, T* y) {
  T* line = Scratch<T>(p.width);
  for (size_t k = 0; k < p.slices.size(); ++k) {
    for (size_t i = 0; i < p.rows.size(); ++i) {
      std::fill(line, line + p.width, T{0});
      for (int64_t s = p.slices[k].first; s < p.slices[k].last; ++s) {
        for (int64_t r = p.rows[i].first; r < p.rows[i].last; ++r) {
          const T* row = x + s * p.slice + r * p.row;
          if (p.column == 1) {
            for (int64_t j = 0; j < p.width; ++j) line[j] += row[j];
          } else {
            for (int64_t j = 0; j < p.width; ++j) line[j] += row[j * p.column];
          }
        }
      }
      T* out = y + static_cast<int64_t>(k) * p.out_slice + static_cast<int64_t>(i) * p.out_row;
      double divisor = p.slice_divisors[k] * p.row_divisors[i];
      for (size_t j = 0; j < p.columns.size(); ++j) {
        T sum = 0;
        for (int64_t c = p.columns[j].first; c < p.columns[j].last; ++c) sum += line[c];
        out[static_cast<int64_t>(j) * p.out_column] =
            sum / static_cast<T>(divisor * p.column_divisors[j]);
      }
    }
  }
}

template <class T>
void SpreadPlane(const MeanPlane& p, const T* dy, T* dx) {
  T* line = Scratch<T>(p.width);
  for (int64_t r = 0; r < p.depth * p.height; ++r) {
    for (int64_t j = 0; j < p.width; ++j) dx[r * p.row + j * p.column] = 0;
  }
  for (size_t k = 0; k < p.slices.size(); ++k) {
    for (size_t i = 0; i < p.rows.size(); ++i) {
      std::fill(line, line + p.width, T{0});
      const T* from =
          dy + static_cast<int64_t>(k) * p.out_slice + static_cast<int64_t>(i) * p.out_row;
      double divisor = p.slice_divisors[k] * p.row_divisors[i];
      for (size_t j = 0; j < p.columns.size(); ++j) {
        T v = from[static_cast<int64_t>(j) * p.out_column] /
              static_cast<T>(divisor * p.column_divisors[j]);
        for (int64_t c = p.columns[j].first; c < p.columns[j].last; ++c) line[c] += v;
      }
      for (int64_t s = p.slices[k].first; s < p.slices[k].last; ++s) {
        for (int64_t r = p.rows[i].first; r < p.rows[i].last; ++r) {
          T* row = dx + s * p.slice + r * p.row;
          for (int64_t j = 0; j < p.width; ++j) row[j * p.column] += line[j];
        }
      }
    }
  }
}

template void MaxPlane<float>(const PoolPlane&, const float*, float*);
template void MaxPlane<double>(const PoolPlane&, const double*, double*);
template void FirstMaxima<float>(const PoolPlane&, const float*, int64_t, int64_t, int32_t*);
template void FirstMaxima<double>(const PoolPlane&, const double*, int64_t, int64_t, int32_t*);
template void MaxOfRanges<float>(const RangePlane&, const float*, float*, int32_t*);
template void MaxOfRanges<double>(const RangePlane&, const double*, double*, int32_t*);
template bool HalvedPlaneGrad<float>(const PoolPlane&, const float*, const float*, float*);
template bool HalvedPlaneGrad<double>(const PoolPlane&, const double*, const double*, double*);
template void MeanOfPlane<float>(const MeanPlane&, const float*, float*);
template void MeanOfPlane<double>(const MeanPlane&, const double*, double*);
template void SpreadPlane<float>(const MeanPlane&, const float*, float*);
template void SpreadPlane<double>(const MeanPlane&, const double*, double*);

}  // namespace ms::cpu::MS_ISA
