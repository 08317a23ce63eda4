// Float32 functions as straight-line code that compilers turn into vector loops, within 2 ulp of
// the exact value. Only for *_isa.cc files; all names live in their namespace.
//
// The polynomials are weighted least-maximum fits made for this file, each with the interval it is
// valid on.
#pragma once

#include <cstdint>

namespace ms::cpu::MS_ISA {

inline uint32_t Bits(float x) { return __builtin_bit_cast(uint32_t, x); }
inline float FromBits(uint32_t u) { return __builtin_bit_cast(float, u); }
inline float Magnitude(float x) { return FromBits(Bits(x) & 0x7fffffffu); }
inline float WithSign(float magnitude, float sign) {
  return FromBits(Bits(magnitude) | (Bits(sign) & 0x80000000u));
}
inline constexpr float kInfinity = __builtin_inff();
inline constexpr float kNan = __builtin_nanf("");

// 2^k for k in [-126, 127].
inline float PowerOfTwo(int32_t k) { return FromBits(static_cast<uint32_t>(k + 127) << 23); }

// The nearest integer of |x| < 2^22, without an instruction that old processors lack.
inline float Nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }

// x = k ln2 + r with |r| <= ln2 / 2; the results are r and e^r - 1.
struct ExpParts {
  float k;
  float expm1;
};
inline ExpParts ReduceExp(float x) {
  float k = Nearest(x * 1.44269504088896341f);
  float r =
      x -
      k * 0.693359375f;  // ln2 in two pieces: the first has few bits, so that k times it is exact
  r = r + k * 2.12194440e-4f;
  float p = 0.00138143206f;
  p = p * r + 0.00836885069f;
  p = p * r + 0.0416684002f;
  p = p * r + 0.166665196f;
  p = p * r + 0.49999994f;
  return {k, r + r * r * p};
}

// For x in [-104, 89], not nan. Two steps of scaling reach subnormal results and inf.
inline float ExpClamped(float x) {
  ExpParts e = ReduceExp(x);
  int32_t k = static_cast<int32_t>(e.k);
  int32_t half = k >> 1;
  return (1.0f + e.expm1) * PowerOfTwo(half) * PowerOfTwo(k - half);
}

inline float Exp(float x) {
  // Beyond these the result is inf or 0; nan becomes the first and comes back at the end.
  float t = x < 89.0f ? x : 89.0f;
  t = t > -104.0f ? t : -104.0f;
  float y = ExpClamped(t);
  return x == x ? y : x;
}

// For x in [-87, 88] only, not nan: the result is neither subnormal nor inf.
inline float ExpInside(float x) {
  ExpParts e = ReduceExp(x);
  return (1.0f + e.expm1) * PowerOfTwo(static_cast<int32_t>(e.k));
}

inline float Expm1(float x) {
  x = x > 89.0f ? 89.0f : x;
  float clamped = x < -18.0f ? -18.0f : x;
  ExpParts e = ReduceExp(clamped);
  int32_t k = static_cast<int32_t>(e.k == e.k ? e.k : 0.0f);
  float scale = PowerOfTwo(k - 1);  // half of 2^k, which may not be finite
  float y = (e.expm1 * scale + (scale - 0.5f)) * 2.0f;
  return Magnitude(x) < 1e-7f ? x : y;  // keeps -0
}

// log(x) for finite positive x: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
inline float LogPositive(float x) {
  bool tiny = x < 1.17549435e-38f;
  x = tiny ? x * 8388608.0f : x;
  uint32_t bits = Bits(x);
  int32_t k = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  float f = FromBits(bits - (static_cast<uint32_t>(k) << 23)) - 1.0f;
  float exponent = static_cast<float>(k - (tiny ? 23 : 0));
  float p = 0.0674772859f;
  p = p * f - 0.116775155f;
  p = p * f + 0.118886977f;
  p = p * f - 0.124053404f;
  p = p * f + 0.142194524f;
  p = p * f - 0.166680053f;
  p = p * f + 0.200021237f;
  p = p * f - 0.250000089f;
  p = p * f + 0.333333135f;
  float square = f * f;
  float tail = square * f * p - exponent * 2.12194440e-4f;
  tail = tail - 0.5f * square;
  return (f + tail) + exponent * 0.693359375f;
}

inline float Log(float x) {
  float y = LogPositive(x);
  y = x == kInfinity ? x : y;
  y = x == 0.0f ? -kInfinity : y;
  return x >= 0.0f ? y : kNan;
}

inline float Log1p(float x) {
  float u = 1.0f + x;
  float lost = x - (u - 1.0f);
  float y = LogPositive(u) + lost / u;
  y = Magnitude(x) < 1e-7f ? x : y;
  y = x == kInfinity ? x : y;
  y = x == -1.0f ? -kInfinity : y;
  return x >= -1.0f ? y : kNan;
}

inline float Tanh(float x) {
  float a = Magnitude(x);
  float s = x * x;
  float p = -0.00566697726f;  // |x| < 0.63
  p = p * s + 0.0206061769f;
  p = p * s - 0.0537300073f;
  p = p * s + 0.133313313f;
  p = p * s - 0.333332777f;
  float small = x + x * s * p;
  float t = a < 10.0f ? a : 10.0f;
  float large = 1.0f - 2.0f / (ExpInside(2.0f * t) + 1.0f);
  return a >= 0.625f ? WithSign(large, x) : small;  // nan: small
}

inline float Sigmoid(float x) {
  float t = -Magnitude(x);
  float e = ExpClamped(t > -104.0f ? t : -104.0f);
  float sum = 1.0f + e;
  float lost = e - (sum - 1.0f);
  float y = (x >= 0.0f ? 1.0f : e) / sum;
  float reciprocal = x >= 0.0f ? y : 1.0f - y;
  y = y - y * (lost * reciprocal);  // what rounding the sum cost
  return x == x ? y : x;
}

inline float Erf(float x) {
  float a = Magnitude(x);
  float s = x * x;
  float p = 7.85390657e-05f;  // |x| < 1
  p = p * s - 0.000801020826f;
  p = p * s + 0.00518832961f;
  p = p * s - 0.0268538129f;
  p = p * s + 0.112835854f;
  p = p * s - 0.37612626f;
  p = p * s + 0.128379166f;
  float small = x + x * p;
  float t = a < 4.0f ? a : 4.0f;
  float q = 1.3053895e-07f;  // log(erfc(t)) on [1, 4]
  q = q * t - 2.35749012e-05f;
  q = q * t + 0.000453044689f;
  q = q * t - 0.00424523139f;
  q = q * t + 0.025294831f;
  q = q * t - 0.108534276f;
  q = q * t - 0.633125067f;
  q = q * t - 1.12962198f;
  q = q * t + 0.000196660432f;
  float large = WithSign(1.0f - ExpInside(q), x);
  return a >= 1.0f ? large : small;  // nan: small
}

// Sine of x + shift * pi/2 for |x| <= kTrigLimit: reduced in double, by pi/2 in two pieces of which
// the first has so few bits that its product with k is exact.
inline constexpr float kTrigLimit = 1e6f;
inline float SinShifted(float x, int32_t shift) {
  double wide = x;
  double k = (wide * 0.63661977236758134308 + 6755399441055744.0) - 6755399441055744.0;
  float r =
      static_cast<float>((wide - k * 1.570796326734125614166) - k * 6.0771005065061926015e-11);
  int32_t quadrant = static_cast<int32_t>(k) + shift;
  float s = r * r;
  float p = 2.71804652e-06f;
  p = p * s - 0.000198393042f;
  p = p * s + 0.00833332911f;
  p = p * s - 0.166666672f;
  float sine = r + r * s * p;
  float q = 2.44324128e-05f;
  q = q * s - 0.00138873095f;
  q = q * s + 0.0416666456f;
  float cosine = 1.0f - 0.5f * s + s * s * q;
  float y = (quadrant & 1) ? cosine : sine;
  return FromBits(Bits(y) ^ (static_cast<uint32_t>(quadrant & 2) << 30));
}

}  // namespace ms::cpu::MS_ISA
