// Pooling with the channels last: every step is a loop over channels.
#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/pool_row_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

// Whether a new value is the maximum: a nan is larger than all numbers, the first of equals stays.
template <class T>
inline bool Beats(T v, T best) {
  return (v > best) | ((v != v) & (best == best));
}

// Calls tap(number, row, column) for the elements of window (i, j) that lie inside.
template <class F>
inline void EachTap(const Window& h, const Window& w, int64_t i, int64_t j, F&& tap) {
  for (int64_t k = h.First(i); k < h.Last(i); ++k) {
    int64_t row = h.Start(i) + k * h.dilation;
    for (int64_t l = w.First(j); l < w.Last(j); ++l) {
      tap(static_cast<int32_t>(k * w.kernel + l), row, w.Start(j) + l * w.dilation);
    }
  }
}

template <class T>
void Zero(int64_t pixels, int64_t channels, int64_t width, T* x) {
  for (int64_t i = 0; i < pixels; ++i) std::fill_n(x + i * channels, width, T{0});
}

}  // namespace

template <class T>
void MaxPixels(const ChannelsOfImage& p, const T* x, T* y) {
  for (int64_t i = 0; i < p.rows.out; ++i) {
    for (int64_t j = 0; j < p.columns.out; ++j) {
      T best[kPoolChannels];
      std::fill_n(best, p.width, -std::numeric_limits<T>::infinity());
      EachTap(p.rows, p.columns, i, j, [&](int32_t, int64_t row, int64_t column) {
        const T* from = x + (row * p.columns.size + column) * p.channels;
#pragma GCC ivdep
        for (int64_t c = 0; c < p.width; ++c) best[c] = Beats(from[c], best[c]) ? from[c] : best[c];
      });
      std::copy_n(best, p.width, y + (i * p.columns.out + j) * p.channels);
    }
  }
}

template <class T>
void MaxPixelsGrad(const ChannelsOfImage& p, const T* x, const T* dy, T* dx) {
  Zero(p.rows.size * p.columns.size, p.channels, p.width, dx);
  for (int64_t i = 0; i < p.rows.out; ++i) {
    for (int64_t j = 0; j < p.columns.out; ++j) {
      T best[kPoolChannels];
      int32_t where[kPoolChannels];
      std::fill_n(best, p.width, -std::numeric_limits<T>::infinity());
      std::fill_n(where, p.width, -1);
      EachTap(p.rows, p.columns, i, j, [&](int32_t tap, int64_t row, int64_t column) {
        const T* from = x + (row * p.columns.size + column) * p.channels;
#pragma GCC ivdep
        for (int64_t c = 0; c < p.width; ++c) {
          bool better = Beats(from[c], best[c]) | (where[c] < 0);
          best[c] = better ? from[c] : best[c];
          where[c] = better ? tap : where[c];
        }
      });
      const T* d = dy + (i * p.columns.out + j) * p.channels;
      EachTap(p.rows, p.columns, i, j, [&](int32_t tap, int64_t row, int64_t column) {
        T* to = dx + (row * p.columns.size + column) * p.channels;
#pragma GCC ivdep
        for (int64_t c = 0; c < p.width; ++c) to[c] += where[c] == tap ? d[c] : T{0};
      });
    }
  }
}

template <class T>
void MeanPixels(const MeanPlane& p, int64_t width, const T* x, T* y) {
  for (size_t i = 0; i < p.rows.size(); ++i) {
    for (size_t j = 0; j < p.columns.size(); ++j) {
      double sum[kPoolChannels] = {};
      for (int64_t row = p.rows[i].first; row < p.rows[i].last; ++row) {
        for (int64_t column = p.columns[j].first; column < p.columns[j].last; ++column) {
          const T* from = x + row * p.row + column * p.column;
#pragma GCC ivdep
          for (int64_t c = 0; c < width; ++c) sum[c] += from[c];
        }
      }
      double divisor = p.row_divisors[i] * p.column_divisors[j];
      T* to = y + static_cast<int64_t>(i) * p.out_row + static_cast<int64_t>(j) * p.out_column;
      for (int64_t c = 0; c < width; ++c) to[c] = static_cast<T>(sum[c] / divisor);
    }
  }
}

template <class T>
void SpreadPixels(const MeanPlane& p, int64_t width, const T* dy, T* dx) {
  Zero(p.height * p.width, p.column, width, dx);
  for (size_t i = 0; i < p.rows.size(); ++i) {
    for (size_t j = 0; j < p.columns.size(); ++j) {
      T share[kPoolChannels];
      double divisor = p.row_divisors[i] * p.column_divisors[j];
      const T* from =
          dy + static_cast<int64_t>(i) * p.out_row + static_cast<int64_t>(j) * p.out_column;
      for (int64_t c = 0; c < width; ++c) share[c] = static_cast<T>(from[c] / divisor);
      for (int64_t row = p.rows[i].first; row < p.rows[i].last; ++row) {
        for (int64_t column = p.columns[j].first; column < p.columns[j].last; ++column) {
          T* to = dx + row * p.row + column * p.column;
#pragma GCC ivdep
          for (int64_t c = 0; c < width; ++c) to[c] += share[c];
        }
      }
    }
  }
}

#define MS_PIXEL_LOOPS(T)                                                         \
  template void MaxPixels<T>(const ChannelsOfImage&, const T*, T*);               \
  template void MaxPixelsGrad<T>(const ChannelsOfImage&, const T*, const T*, T*); \
  template void MeanPixels<T>(const MeanPlane&, int64_t, const T*, T*);           \
  template void SpreadPixels<T>(const MeanPlane&, int64_t, const T*, T*);
MS_PIXEL_LOOPS(float)
MS_PIXEL_LOOPS(double)
#undef MS_PIXEL_LOOPS

}  // namespace ms::cpu::MS_ISA
