// Float32 functions for vector loops: loops/math_functions.h on a type of this namespace, so that
// every copy of an *_isa.cc file has instances of its own. Only for those files.
#pragma once

#include <cstdint>

#include "loops/math_functions.h"

namespace ms::cpu::MS_ISA {

struct Real {
  float v;
  explicit Real(float value) : v(value) {}
};
struct Wide {
  double v;
  explicit Wide(double value) : v(value) {}
};
inline Wide operator*(Wide a, Wide b) { return Wide(a.v * b.v); }
inline Wide Fma(Wide a, Wide b, Wide c) { return Wide(a.v * b.v + c.v); }

// Wraps, as LLVM's integers do.
struct Integer {
  int32_t v;
  explicit Integer(int32_t value) : v(value) {}
};

inline Real operator+(Real a, Real b) { return Real(a.v + b.v); }
inline Real operator-(Real a, Real b) { return Real(a.v - b.v); }
inline Real operator*(Real a, Real b) { return Real(a.v * b.v); }
inline Real operator/(Real a, Real b) { return Real(a.v / b.v); }
inline Real operator-(Real a) { return Real(-a.v); }
inline bool operator<(Real a, Real b) { return a.v < b.v; }
inline bool operator>(Real a, Real b) { return a.v > b.v; }
inline bool operator>=(Real a, Real b) { return a.v >= b.v; }
inline bool operator==(Real a, Real b) { return a.v == b.v; }
inline Real Select(bool c, Real a, Real b) { return Real(c ? a.v : b.v); }
inline Real Fma(Real a, Real b, Real c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return Real(__builtin_fmaf(a.v, b.v, c.v));
#else
  return Real(a.v * b.v + c.v);
#endif
}

inline uint32_t Unsigned(Integer a) { return static_cast<uint32_t>(a.v); }
inline Integer Signed(uint32_t a) { return Integer(static_cast<int32_t>(a)); }
inline Integer operator+(Integer a, int32_t b) {
  return Signed(Unsigned(a) + static_cast<uint32_t>(b));
}
inline Integer operator-(Integer a, int32_t b) {
  return Signed(Unsigned(a) - static_cast<uint32_t>(b));
}
inline Integer operator-(int32_t a, Integer b) {
  return Signed(static_cast<uint32_t>(a) - Unsigned(b));
}
inline Integer operator-(Integer a, Integer b) { return Signed(Unsigned(a) - Unsigned(b)); }
inline Integer operator<<(Integer a, int n) { return Signed(Unsigned(a) << n); }
inline Integer operator>>(Integer a, int n) { return Integer(a.v >> n); }
inline Integer operator&(Integer a, int32_t b) { return Integer(a.v & b); }
inline Integer operator|(Integer a, Integer b) { return Integer(a.v | b.v); }
inline Integer Bits(Real x) { return Integer(__builtin_bit_cast(int32_t, x.v)); }
inline Real FromBits(Integer i) { return Real(__builtin_bit_cast(float, i.v)); }
inline Real ToFloat(Integer i) { return Real(static_cast<float>(i.v)); }

inline float Exp(float x) { return loops::math::Exp(Real(x)).v; }
inline float Expm1(float x) { return loops::math::Expm1(Real(x)).v; }
inline float Log(float x) { return loops::math::Log(Real(x)).v; }
inline float Log1p(float x) { return loops::math::Log1p(Real(x)).v; }
inline float Tanh(float x) { return loops::math::Tanh(Real(x)).v; }
inline float Erf(float x) { return loops::math::Erf(Real(x)).v; }

// Sine and cosine of x - quadrant * pi/2 for |x| <= kTrigLimit, in N, which is Real or Wide:
// reduced in double, by pi/2 in two pieces of which the first has so few bits that its product with
// k is exact.
inline constexpr float kTrigLimit = 1e6f;
template <class N>
struct Turn {
  N sine, cosine;
  int32_t quadrant;
};
template <class N>
[[gnu::always_inline]] inline Turn<N> ReduceTurn(float x) {
  double wide = x;
  double k = (wide * 0.63661977236758134308 + 6755399441055744.0) - 6755399441055744.0;
  N r(static_cast<decltype(N::v)>((wide - k * 1.570796326734125614166) -
                                  k * 6.0771005065061926015e-11));
  N s = r * r;
  N p = loops::math::Horner(s, N(2.71804652e-06f), N(-0.000198393042f), N(0.00833332911f),
                            N(-0.166666672f));
  N sine = Fma(r * s, p, r);
  N q = loops::math::Horner(s, N(2.44324128e-05f), N(-0.00138873095f), N(0.0416666456f));
  N cosine = Fma(s * s, q, Fma(N(-0.5f), s, N(1.0f)));
  return {sine, cosine, static_cast<int32_t>(k)};
}

// Sine of x + shift * pi/2; the sine of -0 is -0.
inline float SinShifted(float x, int32_t shift) {
  Turn<Real> turn = ReduceTurn<Real>(x);
  int32_t quadrant = turn.quadrant + shift;
  Real y = (quadrant & 1) ? turn.cosine : turn.sine;
  float turned = __builtin_bit_cast(
      float, Bits(y).v ^ static_cast<int32_t>(static_cast<uint32_t>(quadrant & 2) << 30));
  return shift == 0 && x == 0 ? x : turned;
}

}  // namespace ms::cpu::MS_ISA
