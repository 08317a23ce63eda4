// What the reductions do to elements: types of accumulation, the start value, one step, and the
// result. Included by reduce_loops.h only, into the namespace of a copy.
#pragma once

#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/cpu/isa/vectors.h"
#include "base/dtype.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace ms::cpu::MS_ISA {

// Elements to vector lanes.
template <class T, class V>
inline void LoadLanes(const T* x, V* v) {
  constexpr int kWidth = sizeof(V) / sizeof((*v)[0]);
  if constexpr (std::is_same_v<T, BFloat16>) {
    typedef uint16_t Bits __attribute__((vector_size(kVectorBytes / 2)));
    typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
    Bits bits;
    std::memcpy(&bits, x, sizeof(bits));
    Words words = __builtin_convertvector(bits, Words) << 16;
    std::memcpy(v, &words, sizeof(V));
  } else if constexpr (std::is_same_v<T, Half>) {
#if defined(__AVX512F__)
    __m512 y =
        _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
    std::memcpy(v, &y, sizeof(V));
#elif defined(__F16C__)
    __m256 y = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
    std::memcpy(v, &y, sizeof(V));
#else
    for (int i = 0; i < kWidth; ++i) (*v)[i] = static_cast<float>(x[i]);
#endif
  } else if constexpr (sizeof(T) == sizeof((*v)[0])) {
    std::memcpy(v, x, sizeof(V));
  } else {
    for (int i = 0; i < kWidth; ++i) (*v)[i] = x[i];
  }
}

template <class T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Lanes of half types are float; small integers add in 32 bits, where they wrap to the same result.
template <class T>
using LaneOf = std::conditional_t<
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
    std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4,
                       std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, T>>;
// Totals of float sums are double: a total of many lanes loses nothing that float could show.
template <class T>
using TotalOf =
    std::conditional_t<kIsFloat<T>, double,
                       std::conditional_t<kIsComplex<T>, std::complex<double>, LaneOf<T>>>;

// Integers wrap, those in vectors too; unsigned arithmetic says so to the compiler.
template <class A>
concept Vector = requires(const A& a) { a[0]; };
template <class A>
struct ElementOf {
  using Type = A;
};
template <Vector A>
struct ElementOf<A> {
  using Type = std::remove_cvref_t<decltype(std::declval<const A&>()[0])>;
};
template <class A>
inline constexpr bool kWraps = std::is_integral_v<typename ElementOf<A>::Type>;

template <class A>
inline auto AsUnsigned(const A& a) {
  using Element = std::make_unsigned_t<typename ElementOf<A>::Type>;
  if constexpr (Vector<A>) {
    typedef Element Elements __attribute__((vector_size(sizeof(A))));
    return (Elements)a;
  } else {
    return static_cast<Element>(a);
  }
}
template <class A>
inline void WrapAdd(A& a, const A& x) {
  if constexpr (kWraps<A>)
    a = (A)(AsUnsigned(a) + AsUnsigned(x));
  else
    a += x;
}
template <class A>
inline void WrapMultiply(A& a, const A& x) {
  if constexpr (kWraps<A>)
    a = (A)(AsUnsigned(a) * AsUnsigned(x));
  else
    a *= x;
}

template <class T>
struct SumRule {
  using In = T;
  using Out = T;
  using Lane = LaneOf<T>;
  using Total = TotalOf<T>;
  static constexpr bool kVector = !kIsComplex<T> && sizeof(Lane) >= sizeof(T) && (sizeof(T) >= 2);
  static constexpr double kNanoseconds = 0.1 * sizeof(T) / 4 + 0.05;
  template <class A>
  static A Init() {
    return A(0);
  }
  static Lane Load(const T& x) { return static_cast<Lane>(x); }
  template <class A>
  static void Step(A& a, const A& x) {
    WrapAdd(a, x);
  }
  static Lane Tree(Lane a) { return a; }
  static Lane Tree(Lane a, Lane b, Lane c, Lane d) {
    WrapAdd(a, b);
    WrapAdd(c, d);
    WrapAdd(a, c);
    return a;
  }
  static T Finish(Total total, int64_t) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return T(static_cast<float>(total));
    else
      return static_cast<T>(total);
  }
};

// Integers are summed in 64 bits and the quotient is rounded towards zero.
template <class T>
struct MeanRule : SumRule<T> {
  using Lane =
      std::conditional_t<std::is_integral_v<T>,
                         std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>, LaneOf<T>>;
  using Total = std::conditional_t<std::is_integral_v<T>, Lane, TotalOf<T>>;
  static constexpr bool kVector = SumRule<T>::kVector && kIsFloat<T>;
  static Lane Load(const T& x) { return static_cast<Lane>(x); }
  static Lane Tree(Lane a) { return a; }
  static Lane Tree(Lane a, Lane b, Lane c, Lane d) {
    WrapAdd(a, b);
    WrapAdd(c, d);
    WrapAdd(a, c);
    return a;
  }
  static T Finish(Total total, int64_t count) {
    if constexpr (kIsComplex<T>)
      return static_cast<T>(total / static_cast<double>(count));
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(count == 0 ? 0 : total / static_cast<Lane>(count));
    else
      return SumRule<T>::Finish(total / static_cast<double>(count), count);
  }
};

template <class T>
struct ProdRule : SumRule<T> {
  using Lane = typename SumRule<T>::Lane;
  using Total = typename SumRule<T>::Total;
  template <class A>
  static A Init() {
    return A(1);
  }
  template <class A>
  static void Step(A& a, const A& x) {
    WrapMultiply(a, x);
  }
  static Lane Tree(Lane a) { return a; }
  static Lane Tree(Lane a, Lane b, Lane c, Lane d) {
    WrapMultiply(a, b);
    WrapMultiply(c, d);
    WrapMultiply(a, c);
    return a;
  }
};

// A nan wins: it is taken when it comes and never left.
template <class T, bool kLargest>
struct ExtremeRule {
  using In = T;
  using Out = T;
  using Lane = std::conditional_t<std::is_same_v<T, bool>, uint8_t, LaneOf<T>>;
  using Total = Lane;
  static constexpr bool kVector = SumRule<T>::kVector;
  static constexpr double kNanoseconds = SumRule<T>::kNanoseconds;
  template <class A>
  static A Init() {
    using Limits = std::numeric_limits<A>;
    if constexpr (Limits::has_infinity)
      return kLargest ? -Limits::infinity() : Limits::infinity();
    else
      return kLargest ? Limits::lowest() : Limits::max();
  }
  static Lane Load(const T& x) { return static_cast<Lane>(x); }
  template <class A>
  static void Step(A& a, const A& x) {
    if constexpr (kIsFloat<T>)
      a = (kLargest ? (x > a) | (x != x) : (x < a) | (x != x)) ? x : a;
    else
      a = (kLargest ? x > a : x < a) ? x : a;
  }
  static Lane Tree(Lane a) { return a; }
  static Lane Tree(Lane a, Lane b, Lane c, Lane d) {
    Step(a, b);
    Step(c, d);
    Step(a, c);
    return a;
  }
  static T Finish(Total total, int64_t) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return T(total);
    else
      return static_cast<T>(total);
  }
};
template <class T>
using MaxRule = ExtremeRule<T, true>;
template <class T>
using MinRule = ExtremeRule<T, false>;

template <class T, bool kAll>
struct TruthRule {
  using In = T;
  using Out = bool;
  using Lane = uint8_t;
  using Total = uint8_t;
  static constexpr bool kVector = std::is_same_v<T, bool>;
  static constexpr double kNanoseconds = 0.1;
  template <class A>
  static A Init() {
    return A(kAll ? 1 : 0);
  }
  static Lane Load(const T& x) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return (x.bits & 0x7fff) != 0;
    else
      return x != T(0);
  }
  template <class A>
  static void Step(A& a, const A& x) {
    a = static_cast<A>(kAll ? a & x : a | x);
  }
  static Lane Tree(Lane a) { return a; }
  static Lane Tree(Lane a, Lane b, Lane c, Lane d) {
    return static_cast<Lane>(kAll ? (a & b) & (c & d) : (a | b) | (c | d));
  }
  static bool Finish(Total total, int64_t) { return total != 0; }
};
template <class T>
using AllRule = TruthRule<T, true>;
template <class T>
using AnyRule = TruthRule<T, false>;

}  // namespace ms::cpu::MS_ISA
