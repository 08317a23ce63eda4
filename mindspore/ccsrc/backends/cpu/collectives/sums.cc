#include "backends/cpu/collectives/sums.h"

#include <algorithm>
#include <type_traits>

#include "base/error.h"

namespace ms::cpu {
namespace {

// Elements that are added up at a time: they stay in the first cache.
constexpr int64_t kTile = 1024;

template <class T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// As NumPy has it: a NaN on either side is the result.
template <class T>
T Larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T Smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

template <class C, class T, class F>
void Fold(std::span<const void* const> parts, T* out, int64_t count, F&& f) {
  if (parts.size() == 2) {
    const auto *a = static_cast<const T*>(parts[0]), *b = static_cast<const T*>(parts[1]);
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<T>(f(static_cast<C>(a[i]), static_cast<C>(b[i])));
    return;
  }
  C sums[kTile];
  for (int64_t at = 0; at < count; at += kTile) {
    int64_t n = std::min(kTile, count - at);
    const T* first = static_cast<const T*>(parts[0]) + at;
    for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<C>(first[i]);
    for (const void* part : parts.subspan(1)) {
      const T* next = static_cast<const T*>(part) + at;
      for (int64_t i = 0; i < n; ++i) sums[i] = f(sums[i], static_cast<C>(next[i]));
    }
    for (int64_t i = 0; i < n; ++i) out[at + i] = static_cast<T>(sums[i]);
  }
}

// Integers wrap, as they do in every other sum.
template <class C>
auto Sum(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<std::make_unsigned_t<C>>(a) +
                          static_cast<std::make_unsigned_t<C>>(b));
  else
    return a + b;
}
template <class C>
auto Product(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

template <class T>
void CombineAs(std::span<const void* const> parts, T* out, int64_t count, Reduction reduction) {
  using C = ComputeType<T>;
  switch (reduction) {
    case Reduction::kSum:
      return Fold<C>(parts, out, count, [](C a, C b) { return Sum(a, b); });
    case Reduction::kProd:
      return Fold<C>(parts, out, count, [](C a, C b) { return Product(a, b); });
    default:
      break;
  }
  if constexpr (kIsComplex<T>) {
    Throw(ErrorKind::kType, "complex numbers have no largest or smallest");
  } else if (reduction == Reduction::kMax) {
    Fold<C>(parts, out, count, Larger<C>);
  } else {
    Fold<C>(parts, out, count, Smaller<C>);
  }
}

}  // namespace

void Combine(std::span<const void* const> parts, void* out, int64_t count, DType dtype,
             Reduction reduction) {
  if (dtype == DType::kBool) {  // or, and; two trues are not two
    bool any = reduction == Reduction::kSum || reduction == Reduction::kMax;
    return Fold<bool>(parts, static_cast<bool*>(out), count,
                      [any](bool a, bool b) { return any ? a || b : a && b; });
  }
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>)
      CombineAs(parts, static_cast<T*>(out), count, reduction);
  });
}

}  // namespace ms::cpu
