// Loops of a matrix times a vector. Sums are made in parts, which are short enough to lose little.
#include <algorithm>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/kernels/matmul_loops.h"

namespace ms::cpu::MS_ISA {
namespace {

template <class T>
struct Lanes {
  static constexpr int64_t kWidth = kVectorBytes / sizeof(T);
  typedef T V __attribute__((vector_size(kVectorBytes)));
  static V Load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof(v));
    return v;
  }
  static T Fold(const V& v) {
    T lanes[kWidth];
    __builtin_memcpy(lanes, &v, sizeof(v));
    for (int64_t half = kWidth / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    return lanes[0];
  }
};

// sums[r] += sum of row r over n elements, for kRows rows that share the loads of v.
template <int kRows, class T>
void Dots(const T* m, int64_t step, const T* v, int64_t n, double* sums) {
  using L = Lanes<T>;
  typename L::V even[kRows] = {}, odd[kRows] = {};
  int64_t k = 0;
  for (; k + 2 * L::kWidth <= n; k += 2 * L::kWidth) {
    auto v0 = L::Load(v + k), v1 = L::Load(v + k + L::kWidth);
    for (int r = 0; r < kRows; ++r) {
      even[r] += L::Load(m + r * step + k) * v0;
      odd[r] += L::Load(m + r * step + k + L::kWidth) * v1;
    }
  }
  for (; k + L::kWidth <= n; k += L::kWidth) {
    auto v0 = L::Load(v + k);
    for (int r = 0; r < kRows; ++r) even[r] += L::Load(m + r * step + k) * v0;
  }
  for (int r = 0; r < kRows; ++r) {
    T rest = 0;
    for (int64_t i = k; i < n; ++i) rest += m[r * step + i] * v[i];
    sums[r] += static_cast<double>(L::Fold(even[r] + odd[r]) + rest);
  }
}

template <class T>
void ByRows(const VectorProduct& p, const T* m, const T* v, T* y) {
  constexpr int64_t kPart = 4096;
  constexpr int kRows = 4;
  for (int64_t row = 0; row < p.rows; row += kRows) {
    int64_t rows = std::min<int64_t>(kRows, p.rows - row);
    double sums[kRows] = {};
    for (int64_t k = 0; k < p.k; k += kPart) {
      int64_t n = std::min(kPart, p.k - k);
      const T* from = m + row * p.step + k;
      if (rows == kRows) {
        Dots<kRows>(from, p.step, v + k, n, sums);
      } else {
        for (int64_t r = 0; r < rows; ++r) Dots<1>(from + r * p.step, p.step, v + k, n, sums + r);
      }
    }
    for (int64_t r = 0; r < rows; ++r) y[row + r] = static_cast<T>(sums[r]);
  }
}

// Very short rows: lanes are rows, and the loop over one is written out.
template <int kCount, class T>
void ByTinyRows(const VectorProduct& p, const T* m, const T* v, T* y) {
  T factor[kCount];
  for (int k = 0; k < kCount; ++k) factor[k] = v[k];
#pragma GCC ivdep
  for (int64_t r = 0; r < p.rows; ++r) {
    T sum = m[r * kCount] * factor[0];
    for (int k = 1; k < kCount; ++k) sum += m[r * kCount + k] * factor[k];
    y[r] = sum;
  }
}

// Columns are added up in a block of sums that stays in the first cache, four at a time.
template <class T>
void ByColumns(const VectorProduct& p, const T* m, const T* v, T* y) {
  constexpr int64_t kBlock = 512, kPart = 256;
  alignas(64) T part[kBlock], total[kBlock];
  for (int64_t first = 0; first < p.rows; first += kBlock) {
    int64_t n = std::min(kBlock, p.rows - first);
    std::fill_n(total, n, T{0});
    for (int64_t begin = 0; begin < p.k; begin += kPart) {
      int64_t end = std::min(begin + kPart, p.k), k = begin;
      std::fill_n(part, n, T{0});
      for (; k + 4 <= end; k += 4) {
        const T *c0 = m + first + k * p.step, *c1 = c0 + p.step, *c2 = c1 + p.step,
                *c3 = c2 + p.step;
        T f0 = v[k], f1 = v[k + 1], f2 = v[k + 2], f3 = v[k + 3];
        for (int64_t r = 0; r < n; ++r)
          part[r] += (c0[r] * f0 + c1[r] * f1) + (c2[r] * f2 + c3[r] * f3);
      }
      for (; k < end; ++k) {
        const T* c0 = m + first + k * p.step;
        for (int64_t r = 0; r < n; ++r) part[r] += c0[r] * v[k];
      }
      for (int64_t r = 0; r < n; ++r) total[r] += part[r];
    }
    std::copy_n(total, n, y + first);
  }
}

}  // namespace

template <class T>
void MultiplyVector(const VectorProduct& p, const T* m, const T* v, T* y) {
  if (p.across) return ByColumns(p, m, v, y);
  if (p.step != p.k) return ByRows(p, m, v, y);
  switch (p.k) {
    case 1:
      return ByTinyRows<1>(p, m, v, y);
    case 2:
      return ByTinyRows<2>(p, m, v, y);
    case 3:
      return ByTinyRows<3>(p, m, v, y);
    case 4:
      return ByTinyRows<4>(p, m, v, y);
    case 5:
      return ByTinyRows<5>(p, m, v, y);
    case 6:
      return ByTinyRows<6>(p, m, v, y);
    case 7:
      return ByTinyRows<7>(p, m, v, y);
    case 8:
      return ByTinyRows<8>(p, m, v, y);
    default:
      return ByRows(p, m, v, y);
  }
}

template void MultiplyVector<float>(const VectorProduct&, const float*, const float*, float*);
template void MultiplyVector<double>(const VectorProduct&, const double*, const double*, double*);

}  // namespace ms::cpu::MS_ISA
