// Loops that find extremes. The first of equals wins; a nan beats all.
#include "backends/cpu/kernels/reduce_arg.h"

#include <algorithm>
#include <type_traits>

#include "base/dtype.h"

namespace ms::cpu::MS_ISA {
namespace {

template <class C>
bool IsNan(C x) {
  if constexpr (std::is_floating_point_v<C>)
    return x != x;
  else
    return static_cast<void>(x), false;
}

template <bool kLargest, class C>
bool Beats(C x, C best) {
  return kLargest ? x > best : x < best;
}

// The extreme first, then its position: both loops run on vectors.
template <bool kLargest, class T>
int64_t FindInRow(const T* x, int64_t n) {
  using C = ComputeType<T>;
  constexpr int64_t kLanes = 64;
  C lanes[kLanes];
  for (auto& lane : lanes) lane = static_cast<C>(x[0]);
  int64_t i = 0;
  int nan = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      C v = static_cast<C>(x[i + k]);
      nan |= IsNan(v);
      lanes[k] = Beats<kLargest>(v, lanes[k]) ? v : lanes[k];
    }
  }
  C best = lanes[0];
  for (int64_t k = 1; k < kLanes; ++k) best = Beats<kLargest>(lanes[k], best) ? lanes[k] : best;
  for (; i < n; ++i) {
    C v = static_cast<C>(x[i]);
    nan |= IsNan(v);
    best = Beats<kLargest>(v, best) ? v : best;
  }
  auto found = [&](int64_t k) {
    C v = static_cast<C>(x[k]);
    return nan ? IsNan(v) : v == best;
  };
  i = 0;
  for (; i + kLanes <= n; i += kLanes) {  // the block that has it, without a branch for each
    int any = 0;
    for (int64_t k = 0; k < kLanes; ++k) any |= found(i + k);
    if (any) break;
  }
  for (; i < n; ++i) {
    if (found(i)) return i;
  }
  return 0;
}

// One more candidate for each lane, at position `at`.
template <bool kLargest, class C>
void Take(C v, int32_t at, C& best, int32_t& where) {
  bool better = Beats<kLargest>(v, best) || (IsNan(v) && !IsNan(best));
  better = better && !IsNan(best);
  best = better ? v : best;
  where = better ? at : where;
}

template <bool kLargest, class T>
void InRows(const T* x, int64_t rows, int64_t n, int64_t* where) {
  using C = ComputeType<T>;
  constexpr int64_t kShort = 32, kSide = 64;  // short rows side by side: lanes are rows
  if (n > kShort) {
    for (int64_t r = 0; r < rows; ++r) where[r] = FindInRow<kLargest>(x + r * n, n);
    return;
  }
  for (int64_t first = 0; first < rows; first += kSide) {
    int64_t count = std::min(kSide, rows - first);
    const T* from = x + first * n;
    C best[kSide];
    int32_t at[kSide];
    for (int64_t r = 0; r < count; ++r) best[r] = static_cast<C>(from[r * n]), at[r] = 0;
    for (int64_t c = 1; c < n; ++c) {
      for (int64_t r = 0; r < count; ++r)
        Take<kLargest>(static_cast<C>(from[r * n + c]), static_cast<int32_t>(c), best[r], at[r]);
    }
    for (int64_t r = 0; r < count; ++r) where[first + r] = at[r];
  }
}

template <bool kLargest, class T>
void InColumns(const T* x, int64_t rows, int64_t stride, int64_t n, int32_t* where) {
  using C = ComputeType<T>;
  C best[kFindColumns];
  for (int64_t c = 0; c < n; ++c) best[c] = static_cast<C>(x[c]), where[c] = 0;
  for (int64_t r = 1; r < rows; ++r) {
    const T* row = x + r * stride;
    for (int64_t c = 0; c < n; ++c)
      Take<kLargest>(static_cast<C>(row[c]), static_cast<int32_t>(r), best[c], where[c]);
  }
}

}  // namespace

template <class T>
void FindInRows(bool largest, const T* x, int64_t rows, int64_t n, int64_t* where) {
  largest ? InRows<true>(x, rows, n, where) : InRows<false>(x, rows, n, where);
}

template <class T>
int64_t FindAbove(const T* x, int64_t n, T bound) {
  using C = ComputeType<T>;
  constexpr int64_t kLanes = 64;
  C most = static_cast<C>(bound);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    int any = 0;
    for (int64_t k = 0; k < kLanes; ++k) any |= !(static_cast<C>(x[i + k]) <= most);
    if (any) break;
  }
  while (i < n && static_cast<C>(x[i]) <= most) ++i;
  return i;
}

template <class T>
void FindInColumns(bool largest, const T* x, int64_t rows, int64_t stride, int64_t n,
                   int32_t* where) {
  largest ? InColumns<true>(x, rows, stride, n, where)
          : InColumns<false>(x, rows, stride, n, where);
}

#define MS_FIND(T)                                                         \
  template void FindInRows<T>(bool, const T*, int64_t, int64_t, int64_t*); \
  template int64_t FindAbove<T>(const T*, int64_t, T);                     \
  template void FindInColumns<T>(bool, const T*, int64_t, int64_t, int64_t, int32_t*);
MS_FIND(bool)
MS_FIND(int8_t)
MS_FIND(int16_t)
MS_FIND(int32_t)
MS_FIND(int64_t)
MS_FIND(uint8_t)
MS_FIND(uint16_t)
MS_FIND(uint32_t)
MS_FIND(uint64_t)
MS_FIND(Half)
MS_FIND(BFloat16)
MS_FIND(float)
MS_FIND(double)
#undef MS_FIND

}  // namespace ms::cpu::MS_ISA
