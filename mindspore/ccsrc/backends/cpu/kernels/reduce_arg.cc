// Positions of extremes along an axis. The first of equals wins; a nan beats all.
#include <cmath>

#include "backends/cpu/kernels/reduce.h"
#include "kernel/parallel.h"

namespace ms::cpu {
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

// The extreme of a contiguous row first, then its position: both loops run on vectors.
template <bool kLargest, class T>
int64_t FindInRow(const T* x, int64_t n) {
  using C = ComputeType<T>;
  constexpr int64_t kLanes = 16;
  C lanes[kLanes];
  for (auto& lane : lanes) lane = static_cast<C>(x[0]);
  int64_t i = 0;
  bool nan = false;
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
  for (i = 0; i < n; ++i) {
    C v = static_cast<C>(x[i]);
    if (nan ? IsNan(v) : v == best) return i;
  }
  return 0;
}

// Rows of `n` columns that lie `stride` apart: the extremes of kColumns columns at a time.
inline constexpr int64_t kColumns = 256;

template <bool kLargest, class T>
void FindInColumns(const T* x, int64_t rows, int64_t stride, int64_t n, int32_t* where) {
  using C = ComputeType<T>;
  C best[kColumns];
  for (int64_t c = 0; c < n; ++c) best[c] = static_cast<C>(x[c]), where[c] = 0;
  for (int64_t r = 1; r < rows; ++r) {
    const T* row = x + r * stride;
    for (int64_t c = 0; c < n; ++c) {
      C v = static_cast<C>(row[c]);
      bool better = Beats<kLargest>(v, best[c]) || (IsNan(v) && !IsNan(best[c]));
      better = better && !IsNan(best[c]);
      best[c] = better ? v : best[c];
      where[c] = better ? static_cast<int32_t>(r) : where[c];
    }
  }
}

template <bool kLargest, class T, class I>
void Find(const AxisView& v, const T* x, I* index, T* value) {
  double ns = static_cast<double>(v.size) * 0.6;
  if (v.inner == 1) {
    ParallelFor(v.outer, ns, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        int64_t at = FindInRow<kLargest>(x + o * v.size, v.size);
        index[o] = static_cast<I>(at);
        if (value) value[o] = x[o * v.size + at];
      }
    });
    return;
  }
  int64_t tiles = (v.inner + kColumns - 1) / kColumns;
  ParallelFor(v.outer * tiles, ns * static_cast<double>(std::min(v.inner, kColumns)),
              [&](int64_t begin, int64_t end) {
                int32_t where[kColumns];
                for (int64_t task = begin; task < end; ++task) {
                  int64_t o = task / tiles, first = task % tiles * kColumns,
                          n = std::min(kColumns, v.inner - first);
                  const T* from = x + o * v.size * v.inner + first;
                  FindInColumns<kLargest>(from, v.size, v.inner, n, where);
                  for (int64_t c = 0; c < n; ++c) {
                    index[o * v.inner + first + c] = static_cast<I>(where[c]);
                    if (value) value[o * v.inner + first + c] = from[where[c] * v.inner + c];
                  }
                }
              });
}

template <bool kLargest>
KernelChoice MakeFind(const KernelRequest& r) {
  AxisView v = ViewAxis(r.shape(0), r.attr<int64_t>("axis"));
  if (v.size >= INT32_MAX && v.inner > 1)
    return No("needs an axis of less than 2^31 elements, got {}", v.size);
  bool with_value = r.out.size() == 2;
  bool wide = r.out[0].dtype() == DType::kInt64;
  return VisitDType(r.dtype(0), [&]<class T>(TypeTag<T>) -> KernelChoice {
    if constexpr (IsComplex(kDTypeOf<T>)) {
      return No("needs real numbers, got {}", Name(kDTypeOf<T>));
    } else {
      return FunctionKernel(
          [=](const KernelArgs& a) {
            const T* x = static_cast<const T*>(a.in[0]);
            T* value = with_value ? static_cast<T*>(a.out[1]) : nullptr;
            if (wide)
              Find<kLargest>(v, x, static_cast<int64_t*>(a.out[0]), value);
            else
              Find<kLargest>(v, x, static_cast<int32_t*>(a.out[0]), value);
          },
          0.6 * static_cast<double>(r.shape(0).size()));
    }
  });
}

}  // namespace

void AddArgReduce(KernelTable& table) {
  table.For("Argmax").Try("reference", MakeFind<true>);
  table.For("Argmin").Try("reference", MakeFind<false>);
  table.For("ArgMaxWithValue").Try("reference", MakeFind<true>);
  table.For("ArgMinWithValue").Try("reference", MakeFind<false>);
}

}  // namespace ms::cpu
