// Loops of batch normalisation over pixels with the channels last. A few rows are done together, so
// that sums, which lie in the first cache, are not read and written for each.
#include <algorithm>

#include "backends/cpu/kernels/norm_row_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

constexpr int64_t kPanel = 256;  // channels whose sums are kept at hand
constexpr int64_t kChunk = 32;   // rows between two additions to float64

// Both passes must agree on the sign of it to the last bit.
template <class T>
inline T Normal(T x, T mean, T a, T b) {
  return (x - mean) * a + b;
}

// A nan stays one.
template <RowActivation kAct, class T>
inline T Activate(T z) {
  if constexpr (kAct == RowActivation::kNone) return z;
  T y = z < 0 ? T{0} : z;
  if constexpr (kAct == RowActivation::kRelu6) y = y > 6 ? T{6} : y;
  return y;
}

// `by`: z; with ReLU y will do as well.
template <RowActivation kAct, class T>
inline T Passed(T dy, T by) {
  if constexpr (kAct == RowActivation::kNone) return dy;
  bool passes = by > 0;
  if constexpr (kAct == RowActivation::kRelu6) passes &= by <= 6;
  return passes ? dy : T{0};
}

template <class F>
void WithActivation(RowActivation act, F&& f) {
  if (act == RowActivation::kNone) return f.template operator()<RowActivation::kNone>();
  if (act == RowActivation::kRelu) return f.template operator()<RowActivation::kRelu>();
  f.template operator()<RowActivation::kRelu6>();
}

// sums[j] += term(i, j) for the rows [0, n), four at a time.
template <class T, class F>
inline void AddRows(int64_t n, int64_t width, T* sums, F&& term) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) {
      sums[j] += (term(i, j) + term(i + 1, j)) + (term(i + 2, j) + term(i + 3, j));
    }
  }
  for (; i < n; ++i) {
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) sums[j] += term(i, j);
  }
}

// Calls body(first row, rows, first channel, channels) for pieces, those of the same rows first.
template <class F>
void EachPiece(PixelRows r, F&& body) {
  for (int64_t row = 0; row < r.rows; row += kChunk) {
    for (int64_t c = 0; c < r.channels; c += kPanel) {
      body(row, std::min(kChunk, r.rows - row), c, std::min(kPanel, r.channels - c));
    }
  }
}

}  // namespace

// The moments of chunks are exact to rounding, and joined as those of samples are.
template <class T>
void RowMoments(PixelRows r, const T* x, double* means, double* squares) {
  std::fill_n(means, r.channels, 0.0);
  std::fill_n(squares, r.channels, 0.0);
  EachPiece(r, [&](int64_t row, int64_t n, int64_t c, int64_t width) {
    const T* p = x + row * r.channels + c;
    T mean[kPanel] = {}, square[kPanel] = {};
    AddRows(n, width, mean, [&](int64_t i, int64_t j) { return p[i * r.channels + j]; });
    for (int64_t j = 0; j < width; ++j) mean[j] /= static_cast<T>(n);
    AddRows(n, width, square, [&](int64_t i, int64_t j) {
      T d = p[i * r.channels + j] - mean[j];
      return d * d;
    });
    double share = static_cast<double>(n) / static_cast<double>(row + n);
    double weight = static_cast<double>(row) * share;
    for (int64_t j = 0; j < width; ++j) {
      double d = mean[j] - means[c + j];
      means[c + j] += d * share;
      squares[c + j] += square[j] + d * d * weight;
    }
  });
}

template <class T>
void RowNorm(RowActivation act, PixelRows r, const NormApply<T>& p) {
  WithActivation(act, [&]<RowActivation kAct>() {
    for (int64_t i = 0; i < r.rows; ++i) {
      const T* x = p.x + i * r.channels;
      T* y = p.y + i * r.channels;
      if (p.residual) {
        const T* other = p.residual + i * r.channels;
#pragma GCC ivdep
        for (int64_t j = 0; j < r.channels; ++j) {
          y[j] = Activate<kAct>(Normal(x[j], p.mean[j], p.a[j], p.b[j]) + other[j]);
        }
      } else {
#pragma GCC ivdep
        for (int64_t j = 0; j < r.channels; ++j) {
          y[j] = Activate<kAct>(Normal(x[j], p.mean[j], p.a[j], p.b[j]));
        }
      }
    }
  });
}

template <class T>
void RowDots(RowActivation act, PixelRows r, const NormGrad<T>& p, double* sums, double* dots) {
  std::fill_n(sums, r.channels, 0.0);
  std::fill_n(dots, r.channels, 0.0);
  WithActivation(act, [&]<RowActivation kAct>() {
    EachPiece(r, [&](int64_t row, int64_t n, int64_t c, int64_t width) {
      int64_t at = row * r.channels + c;
      const T* x = p.x + at;
      const T* dy = p.dy + at;
      const T *mean = p.mean + c, *a = p.a + c, *b = p.b + c;
      T g[kChunk * kPanel];
      for (int64_t i = 0; i < n; ++i) {
        const T* from = dy + i * r.channels;
        const T* row_x = x + i * r.channels;
        T* to = g + i * kPanel;
        if (p.y) {
          const T* y = p.y + at + i * r.channels;
          T* kept = p.g + at + i * r.channels;
#pragma GCC ivdep
          for (int64_t j = 0; j < width; ++j) kept[j] = to[j] = Passed<kAct>(from[j], y[j]);
        } else {
#pragma GCC ivdep
          for (int64_t j = 0; j < width; ++j) {
            to[j] = Passed<kAct>(from[j], Normal(row_x[j], mean[j], a[j], b[j]));
          }
        }
      }
      T sum[kPanel] = {}, dot[kPanel] = {};
      AddRows(n, width, sum, [&](int64_t i, int64_t j) { return g[i * kPanel + j]; });
      AddRows(n, width, dot, [&](int64_t i, int64_t j) {
        return g[i * kPanel + j] * (x[i * r.channels + j] - mean[j]);
      });
      for (int64_t j = 0; j < width; ++j) {
        sums[c + j] += sum[j];
        dots[c + j] += dot[j];
      }
    });
  });
}

template <class T>
void RowNormGrad(RowActivation act, PixelRows r, const NormGrad<T>& p, const T* s, const T* t,
                 T* dx) {
  if (p.y) act = RowActivation::kNone;  // g has been written
  const T* source = p.y ? p.g : p.dy;
  WithActivation(act, [&]<RowActivation kAct>() {
    for (int64_t i = 0; i < r.rows; ++i) {
      const T* x = p.x + i * r.channels;
      const T* dy = source + i * r.channels;
      T* to = dx + i * r.channels;
#pragma GCC ivdep
      for (int64_t j = 0; j < r.channels; ++j) {
        T g = Passed<kAct>(dy[j], Normal(x[j], p.mean[j], p.a[j], p.b[j]));
        to[j] = (g - s[j] - (x[j] - p.mean[j]) * t[j]) * p.a[j];
      }
    }
  });
}

#define MS_ROW_LOOPS(T)                                                                          \
  template void RowMoments<T>(PixelRows, const T*, double*, double*);                            \
  template void RowNorm<T>(RowActivation, PixelRows, const NormApply<T>&);                       \
  template void RowDots<T>(RowActivation, PixelRows, const NormGrad<T>&, double*, double*);      \
  template void RowNormGrad<T>(RowActivation, PixelRows, const NormGrad<T>&, const T*, const T*, \
                               T*);
MS_ROW_LOOPS(float)
MS_ROW_LOOPS(double)
#undef MS_ROW_LOOPS

}  // namespace ms::cpu::MS_ISA
