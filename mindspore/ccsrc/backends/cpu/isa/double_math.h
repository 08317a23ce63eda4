// Float64 functions for vector loops, within 2 ulp (tanh: 3): exp by its series on half a binary
// order, log by that of the hyperbolic arctangent. Only for *_isa.cc files; the names live in their
// namespace.
#pragma once

#include <cstdint>

namespace ms::cpu::MS_ISA {

inline constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer

inline double FusedAdd(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// 2^k for a whole k + kMagic, k in [-1022, 1023].
inline double TwoTo(double whole) {
  return __builtin_bit_cast(double, (__builtin_bit_cast(uint64_t, whole) + 1023) << 52);
}

// x = k ln2 + r with |r| <= ln2 / 2: k + kMagic, and e^r - 1.
struct DoubleExpParts {
  double whole, expm1;
};
[[gnu::always_inline]] inline DoubleExpParts SplitExp(double x) {
  double whole = FusedAdd(x, 1.4426950408889634, kMagic);
  double k = whole - kMagic;
  double r = FusedAdd(k, -6.93147180369123816490e-01, x);  // of few bits: the product is exact
  r = FusedAdd(k, -1.90821492927058770002e-10, r);
  double p = 1.0 / 6227020800;
  p = FusedAdd(p, r, 1.0 / 479001600);
  p = FusedAdd(p, r, 1.0 / 39916800);
  p = FusedAdd(p, r, 1.0 / 3628800);
  p = FusedAdd(p, r, 1.0 / 362880);
  p = FusedAdd(p, r, 1.0 / 40320);
  p = FusedAdd(p, r, 1.0 / 5040);
  p = FusedAdd(p, r, 1.0 / 720);
  p = FusedAdd(p, r, 1.0 / 120);
  p = FusedAdd(p, r, 1.0 / 24);
  p = FusedAdd(p, r, 1.0 / 6);
  p = FusedAdd(p, r, 0.5);
  return {whole, FusedAdd(r * r, p, r)};
}

[[gnu::always_inline]] inline double ExpDouble(double x) {
  double t = x > 710.0 ? 710.0 : x;  // beyond, the result is inf or 0; nan stays
  t = t < -746.0 ? -746.0 : t;
  DoubleExpParts e = SplitExp(t);
  double k = e.whole - kMagic;
  double half = k * 0.5 + kMagic;  // two steps reach subnormal results and inf
  double rest = (k - (half - kMagic)) + kMagic;
  return (1.0 + e.expm1) * TwoTo(half) * TwoTo(rest);
}

// e^x - 1 for x in [0, 700] or nan.
[[gnu::always_inline]] inline double Expm1Inside(double x) {
  DoubleExpParts e = SplitExp(x);
  double scale = TwoTo(e.whole);
  return FusedAdd(e.expm1, scale, scale - 1.0);
}

[[gnu::always_inline]] inline double TanhDouble(double x) {
  double a = __builtin_fabs(x);
  double e = Expm1Inside(2.0 * (a > 20.0 ? 20.0 : a));
  return __builtin_copysign(e / (e + 2.0), x);
}

// As Sigmoid in loops/math_functions.h.
[[gnu::always_inline]] inline double SigmoidDouble(double x) {
  double t = x < -746.0 ? -746.0 : x;
  t = t > 80.0 ? 80.0 : t;
  DoubleExpParts e = SplitExp(-t);
  double cut = e.whole > kMagic + 1022 ? kMagic + 1022 : e.whole;
  double s = TwoTo(kMagic - (cut - kMagic));
  double rest = TwoTo((cut - e.whole) + kMagic);
  double sum = (s > 1.0 ? s : 1.0) + ((s < 1.0 ? s : 1.0) + e.expm1);
  return s / sum * rest;
}

// x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) = 2 artanh(s), s = f / (2 + f).
[[gnu::always_inline]] inline double LogDouble(double x) {
  constexpr double kInf = __builtin_inf();
  bool tiny = x < 2.2250738585072014e-308;
  double y = tiny ? x * 18014398509481984.0 : x;
  uint64_t bits = __builtin_bit_cast(uint64_t, y);
  uint64_t k = (bits - 0x3fe6a09e667f3bcdull + (1024ull << 52)) >> 52;  // exponent + 1024
  double f = __builtin_bit_cast(double, bits - ((k - 1024) << 52)) - 1.0;
  double exponent = __builtin_bit_cast(double, k | 0x4330000000000000ull) - 4503599627371520.0;
  exponent -= tiny ? 54.0 : 0.0;
  double s = f / (2.0 + f), z = s * s;
  double p = 2.0 / 21;
  p = FusedAdd(p, z, 2.0 / 19);
  p = FusedAdd(p, z, 2.0 / 17);
  p = FusedAdd(p, z, 2.0 / 15);
  p = FusedAdd(p, z, 2.0 / 13);
  p = FusedAdd(p, z, 2.0 / 11);
  p = FusedAdd(p, z, 2.0 / 9);
  p = FusedAdd(p, z, 2.0 / 7);
  p = FusedAdd(p, z, 2.0 / 5);
  p = FusedAdd(p, z, 2.0 / 3);
  // f - (f^2 / 2 - s (f^2 / 2 + z p)): the largest part is exact.
  double square = 0.5 * f * f;
  double low = FusedAdd(s, FusedAdd(z, p, square), exponent * 1.90821492927058770002e-10);
  double log = FusedAdd(exponent, 6.93147180369123816490e-01, f - (square - low));
  log = x == kInf ? x : log;
  log = x == 0.0 ? -kInf : log;
  return x >= 0.0 ? log : __builtin_nan("");
}

}  // namespace ms::cpu::MS_ISA
