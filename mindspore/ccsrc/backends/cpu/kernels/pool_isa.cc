// A maximum is taken over the rows of a window first, then over columns: fewer steps, and the first
// one reads memory in order.
#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/pool_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

template <class T>
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

}  // namespace

template <class T>
void MaxPlane(const PoolPlane& p, const T* x, T* y) {
  const Window& h = p.height;
  const Window& w = p.width;
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  // One line of the input with its padding, up to where the last window ends.
  int64_t length = std::max((w.out - 1) * w.stride + w.span(), w.pad_before + w.size);
  T* line = Scratch<T>(length);
  std::fill(line, line + length, kLowest);
  T* inside = line + w.pad_before;
  for (int64_t i = 0; i < h.out; ++i) {
    std::fill(inside, inside + w.size, kLowest);
    for (int64_t k = h.First(i); k < h.Last(i); ++k) {
      const T* row = x + (h.Start(i) + k * h.dilation) * p.row;
      if (p.column == 1) {
        for (int64_t j = 0; j < w.size; ++j) inside[j] = Larger(inside[j], row[j]);
      } else {
        for (int64_t j = 0; j < w.size; ++j) inside[j] = Larger(inside[j], row[j * p.column]);
      }
    }
    MaxOfColumns(w, line, p.out_column, y + i * p.out_row);
  }
}

template <class T>
void FirstMaxima(const PoolPlane& p, const T* x, int64_t i, int32_t* position) {
  const Window& h = p.height;
  const Window& w = p.width;
  auto width = static_cast<int32_t>(w.size);
  // Windows [low, high) lie inside from left to right: they need no checks and run side by side.
  int64_t low = std::min(w.out, (w.pad_before + w.stride - 1) / w.stride);
  int64_t room = w.size + w.pad_before - w.span();
  int64_t high = std::max(low, room < 0 ? 0 : std::min(w.out, room / w.stride + 1));
  T* best = Scratch<T>(w.out);
  std::fill(position, position + w.out, -1);
  for (int64_t k = h.First(i); k < h.Last(i); ++k) {
    int64_t r = h.Start(i) + k * h.dilation;
    const T* row = x + r * p.row;
    auto base = static_cast<int32_t>(r) * width;
    auto visit = [&](int64_t j, int64_t c) {
      T v = row[c * p.column];
      bool larger = (position[j] < 0) | (v > best[j]) | ((v != v) & (best[j] == best[j]));
      best[j] = larger ? v : best[j];
      position[j] = larger ? base + static_cast<int32_t>(c) : position[j];
    };
    for (int64_t c = 0; c < w.kernel; ++c) {
      int64_t start = c * w.dilation - w.pad_before;
      if (w.stride == 2) {
#pragma GCC ivdep
        for (int64_t j = low; j < high; ++j) visit(j, j * 2 + start);
      } else {
#pragma GCC ivdep
        for (int64_t j = low; j < high; ++j) visit(j, j * w.stride + start);
      }
    }
    auto edge = [&](int64_t j) {
      for (int64_t c = w.First(j); c < w.Last(j); ++c) visit(j, w.Start(j) + c * w.dilation);
    };
    for (int64_t j = 0; j < low; ++j) edge(j);
    for (int64_t j = high; j < w.out; ++j) edge(j);
  }
}

template <class T>
void MeanOfPlane(const MeanPlane& p, const T* x, T* y) {
  T* line = Scratch<T>(p.width);
  for (size_t i = 0; i < p.rows.size(); ++i) {
    std::fill(line, line + p.width, T{0});
    for (int64_t r = p.rows[i].first; r < p.rows[i].last; ++r) {
      const T* row = x + r * p.row;
      if (p.column == 1) {
        for (int64_t j = 0; j < p.width; ++j) line[j] += row[j];
      } else {
        for (int64_t j = 0; j < p.width; ++j) line[j] += row[j * p.column];
      }
    }
    T* out = y + static_cast<int64_t>(i) * p.out_row;
    for (size_t j = 0; j < p.columns.size(); ++j) {
      T sum = 0;
      for (int64_t c = p.columns[j].first; c < p.columns[j].last; ++c) sum += line[c];
      out[static_cast<int64_t>(j) * p.out_column] =
          sum / static_cast<T>(p.row_divisors[i] * p.column_divisors[j]);
    }
  }
}

template <class T>
void SpreadPlane(const MeanPlane& p, const T* dy, T* dx) {
  T* line = Scratch<T>(p.width);
  for (int64_t r = 0; r < p.height; ++r) {
    for (int64_t j = 0; j < p.width; ++j) dx[r * p.row + j * p.column] = 0;
  }
  for (size_t i = 0; i < p.rows.size(); ++i) {
    std::fill(line, line + p.width, T{0});
    const T* from = dy + static_cast<int64_t>(i) * p.out_row;
    for (size_t j = 0; j < p.columns.size(); ++j) {
      T v = from[static_cast<int64_t>(j) * p.out_column] /
            static_cast<T>(p.row_divisors[i] * p.column_divisors[j]);
      for (int64_t c = p.columns[j].first; c < p.columns[j].last; ++c) line[c] += v;
    }
    for (int64_t r = p.rows[i].first; r < p.rows[i].last; ++r) {
      T* row = dx + r * p.row;
      for (int64_t j = 0; j < p.width; ++j) row[j * p.column] += line[j];
    }
  }
}

template void MaxPlane<float>(const PoolPlane&, const float*, float*);
template void MaxPlane<double>(const PoolPlane&, const double*, double*);
template void FirstMaxima<float>(const PoolPlane&, const float*, int64_t, int32_t*);
template void FirstMaxima<double>(const PoolPlane&, const double*, int64_t, int32_t*);
template void MeanOfPlane<float>(const MeanPlane&, const float*, float*);
template void MeanOfPlane<double>(const MeanPlane&, const double*, double*);
template void SpreadPlane<float>(const MeanPlane&, const float*, float*);
template void SpreadPlane<double>(const MeanPlane&, const double*, double*);

}  // namespace ms::cpu::MS_ISA
