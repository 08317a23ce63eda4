// Float32 functions as straight-line code, within 2 ulp of the exact value. Each is written once,
// for any type F that stands for a number: a device's compiled loops and the text that it generates
// are the same algorithm with the same fused multiplications, and so give the same bits.
//
// F converts from float and has + - * / and comparisons, Fma(a, b, c) = a * b + c (rounded once
// where the processor can), Select(m, a, b), Bits(f); its integers have + - << >> & |,
// FromBits(i) and ToFloat(i). No product here is added to anything but by Fma: compilers have
// nothing to contract.
//
// Inlined always, so that the loop around them becomes one of vectors.
//
// The polynomials are weighted least-maximum fits made for this file, each with the interval it is
// valid on.
#pragma once

#include <cstdint>

namespace ms::loops::math {

inline constexpr float kInfinity = __builtin_inff();

// The second operand where either is nan.
template <class F>
[[gnu::always_inline]] inline F Smaller(F a, F b) {
  return Select(a < b, a, b);
}
template <class F>
[[gnu::always_inline]] inline F Larger(F a, F b) {
  return Select(a > b, a, b);
}
template <class F>
[[gnu::always_inline]] inline F Magnitude(F x) {
  return FromBits(Bits(x) & 0x7fffffff);
}
template <class F>
[[gnu::always_inline]] inline F WithSign(F magnitude, F sign) {
  return FromBits(Bits(magnitude) | (Bits(sign) & INT32_MIN));
}

// 2^k for k in [-126, 127].
template <class I>
[[gnu::always_inline]] inline auto PowerOfTwo(I k) {
  return FromBits((k + 127) << 23);
}

template <class F>
[[gnu::always_inline]] inline F Horner(F, F value) {
  return value;
}
// (((first * x + next) * x + ...) ...)
template <class F, class... Rest>
[[gnu::always_inline]] inline F Horner(F x, F value, F next, Rest... rest) {
  return Horner(x, Fma(value, x, next), F(rest)...);
}

// x = k ln2 + r with |r| <= ln2 / 2; the results are k and e^r - 1. `whole` is k + 1.5 * 2^23, in
// whose lowest bits k is an integer: no conversion is needed.
template <class F>
struct ExpParts {
  F whole;
  F k;
  F expm1;
};
inline constexpr int32_t kWholeBits = 0x4b400000;  // of 1.5 * 2^23

// 2^(k + more), for a sum in [-126, 127]: what lies above k's lowest bits is shifted out.
template <class F>
[[gnu::always_inline]] inline F ScaleOf(const ExpParts<F>& e, int32_t more = 0) {
  return FromBits((Bits(e.whole) << 23) + ((127 + more) << 23));
}
template <class F>
[[gnu::always_inline]] inline ExpParts<F> ReduceExp(F x) {
  // The nearest integer of |x| < 2^22, without an instruction that old processors lack.
  F whole = Fma(x, F(1.44269504088896341f), F(12582912.0f));
  F k = whole - F(12582912.0f);
  // ln2 in two pieces: the first has few bits, so that k times it is exact.
  F r = Fma(k, F(2.12194440e-4f), Fma(k, F(-0.693359375f), x));
  F p = Horner(r, F(0.00138143206f), F(0.00836885069f), F(0.0416684002f), F(0.166665196f),
               F(0.49999994f));
  return {whole, k, Fma(r * r, p, r)};
}

// For x in [-104, 89], not nan. Two steps of scaling reach subnormal results and inf.
template <class F>
[[gnu::always_inline]] inline F ExpClamped(F x) {
  ExpParts<F> e = ReduceExp(x);
  auto k = Bits(e.whole) - kWholeBits;
  auto half = k >> 1;
  return (F(1.0f) + e.expm1) * PowerOfTwo(half) * PowerOfTwo(k - half);
}

template <class F>
[[gnu::always_inline]] inline F Exp(F x) {
  // Beyond these the result is inf or 0; nan becomes the first and comes back at the end.
  F t = Select(x < F(89.0f), x, F(89.0f));
  t = Select(t > F(-104.0f), t, F(-104.0f));
  return Select(x == x, ExpClamped(t), x);
}

// For x in [-87, 88] only, not nan: the result is neither subnormal nor inf.
template <class F>
[[gnu::always_inline]] inline F ExpInside(F x) {
  ExpParts<F> e = ReduceExp(x);
  return (F(1.0f) + e.expm1) * ScaleOf(e);
}

template <class F>
[[gnu::always_inline]] inline F Expm1(F x) {
  x = Select(x > F(89.0f), F(89.0f), x);
  F clamped = Select(x < F(-18.0f), F(-18.0f), x);
  ExpParts<F> e = ReduceExp(clamped);
  F scale = ScaleOf(e, -1);  // half of 2^k, which may not be finite
  F y = Fma(e.expm1, scale, scale - F(0.5f)) * F(2.0f);
  return Select(Magnitude(x) < F(1e-7f), x, y);  // keeps -0
}

// log(x) for finite positive x: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
template <class F>
[[gnu::always_inline]] inline F LogPositive(F x) {
  auto tiny = x < F(1.17549435e-38f);
  x = Select(tiny, x * F(8388608.0f), x);
  auto bits = Bits(x);
  auto k = (bits - 0x3f3504f3) >> 23;
  F f = FromBits(bits - (k << 23)) - F(1.0f);
  F exponent = ToFloat(k) - Select(tiny, F(23.0f), F(0.0f));
  F p =
      Horner(f, F(0.0674772859f), F(-0.116775155f), F(0.118886977f), F(-0.124053404f),
             F(0.142194524f), F(-0.166680053f), F(0.200021237f), F(-0.250000089f), F(0.333333135f));
  F square = f * f;
  F tail = Fma(exponent, F(-2.12194440e-4f), square * f * p);
  tail = Fma(F(-0.5f), square, tail);
  return Fma(exponent, F(0.693359375f), f + tail);
}

template <class F>
[[gnu::always_inline]] inline F Log(F x) {
  F y = LogPositive(x);
  y = Select(x == F(kInfinity), x, y);
  y = Select(x == F(0.0f), F(-kInfinity), y);
  return Select(x >= F(0.0f), y, F(__builtin_nanf("")));
}

template <class F>
[[gnu::always_inline]] inline F Log1p(F x) {
  F u = F(1.0f) + x;
  F lost = x - (u - F(1.0f));
  F y = LogPositive(u) + lost / u;
  y = Select(Magnitude(x) < F(1e-7f), x, y);
  y = Select(x == F(kInfinity), x, y);
  y = Select(x == F(-1.0f), F(-kInfinity), y);
  return Select(x >= F(-1.0f), y, F(__builtin_nanf("")));
}

template <class F>
[[gnu::always_inline]] inline F Tanh(F x) {
  F a = Magnitude(x);
  F s = x * x;
  F p = Horner(s, F(-0.00566697726f), F(0.0206061769f), F(-0.0537300073f), F(0.133313313f),
               F(-0.333332777f));  // |x| < 0.63
  F small = Fma(a * s, p, a);
  F t = Select(a < F(10.0f), a, F(10.0f));
  F large = F(1.0f) - F(2.0f) / (ExpInside(F(2.0f) * t) + F(1.0f));
  return WithSign(Select(a >= F(0.625f), large, small), x);  // nan: small; keeps -0
}

// 1 / (1 + 2^k e^r) = s / (s + e^r) with s = 2^-k, which is cut at 2^-126: below, e^r is the sum.
// The smaller of s and 1 is added first, so that the sum is rounded once where that shows.
template <class F>
[[gnu::always_inline]] inline F Sigmoid(F x) {
  F t = -Smaller(F(40.0f), Larger(F(-104.0f), x));  // nan stays
  ExpParts<F> e = ReduceExp(t);
  F cut = Smaller(e.whole, F(12583038.0f));  // k <= 126
  F s = FromBits((127 << 23) - (Bits(cut) << 23));
  F rest = FromBits(((Bits(cut) - Bits(e.whole)) << 23) + (127 << 23));
  F sum = Larger(s, F(1.0f)) + (Smaller(s, F(1.0f)) + e.expm1);
  return s / sum * rest;
}

template <class F>
[[gnu::always_inline]] inline F Erf(F x) {
  F a = Magnitude(x);
  F p = Horner(x * x, F(7.85390657e-05f), F(-0.000801020826f), F(0.00518832961f), F(-0.0268538129f),
               F(0.112835854f), F(-0.37612626f), F(0.128379166f));  // |x| < 1
  F small = Fma(x, p, x);
  F t = Select(a < F(4.0f), a, F(4.0f));
  F q = Horner(t, F(1.3053895e-07f), F(-2.35749012e-05f), F(0.000453044689f), F(-0.00424523139f),
               F(0.025294831f), F(-0.108534276f), F(-0.633125067f), F(-1.12962198f),
               F(0.000196660432f));  // log(erfc(t)) on [1, 4]
  F large = WithSign(F(1.0f) - ExpInside(q), x);
  return Select(a >= F(1.0f), large, small);  // nan: small
}

}  // namespace ms::loops::math
