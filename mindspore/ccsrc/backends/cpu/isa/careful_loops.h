// Loops of functions that have a quick form for ordinary elements: the C library takes the others,
// one by one, so that no value depends on its neighbours. Only for *_isa.cc files.
#pragma once

#include <cstdint>

#include "backends/cpu/isa/vector_math.h"

namespace ms::cpu::MS_ISA {

inline constexpr int64_t kPiece = 512;  // elements at a time

// F has Usual(x, y), the quick form Quick(x, y), and Exact(x, y). Outputs may lie over an input.
template <class T, class F>
void CarefulLoop(void* out, const void* a, const void* b, const void*, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    int64_t end = begin + kPiece < n ? begin + kPiece : n;
    int unusual = 0;
    for (int64_t i = begin; i < end; ++i) unusual |= F::Usual(x[i], y[i]) ? 0 : 1;
    if (unusual) {
      for (int64_t i = begin; i < end; ++i)
        z[i] = F::Usual(x[i], y[i]) ? F::Quick(x[i], y[i]) : F::Exact(x[i], y[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) z[i] = F::Quick(x[i], y[i]);
    }
  }
}

// ---- division with a remainder
// The remainder of a / b with the sign of a, exact: for quotients below 2^29, float32 numbers have
// theirs in double, where the product of quotient and divisor has at most 53 bits.
struct Remainder {
  static bool Usual(float a, float b) {
    float most = __builtin_fabsf(b);
    return __builtin_fabsf(a) < most * 536870912.0f && most < __builtin_inff();
  }
  static float Quick(float a, float b) {
    double x = __builtin_fabsf(a), y = __builtin_fabsf(b);
    double r = x - static_cast<double>(static_cast<int32_t>(x / y)) * y;
    r = r < 0 ? r + y : r;  // the quotient was rounded up to an integer
    return __builtin_copysignf(static_cast<float>(r), a);
  }
  static float Exact(float a, float b) { return __builtin_fmodf(a, b); }
};

// Quotient and remainder belong together: a == q * b + r, the remainder with the sign of the
// divisor.
template <class T>
T FloorModFrom(T r, T b) {
  T zero = b < 0 ? T{-0.0} : T{0};
  T moved = (r < 0) != (b < 0) ? r + b : r;
  return r == 0 ? zero : moved;
}
template <class T>
T Floor(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_floorf(x);
  else
    return __builtin_floor(x);
}
template <class T>
T FloorDivFrom(T r, T a, T b) {
  T ratio = a / b;
  T q = (a - r) / b;
  q = r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
  T down = Floor(q);
  T nearest = q - down > T{0.5} ? down + 1 : down;
  T zero = ratio < 0 ? T{-0.0} : T{0};
  T found = q == 0 ? zero : nearest;
  return b == 0 ? ratio : found;
}

struct FloorRemainderFloat : Remainder {
  static float Quick(float a, float b) { return FloorModFrom(Remainder::Quick(a, b), b); }
  static float Exact(float a, float b) { return FloorModFrom(Remainder::Exact(a, b), b); }
};
struct FloorQuotientFloat : Remainder {
  static float Quick(float a, float b) { return FloorDivFrom(Remainder::Quick(a, b), a, b); }
  static float Exact(float a, float b) { return FloorDivFrom(Remainder::Exact(a, b), a, b); }
};

// ---- powers
// x^y = 2^(y log2 x) in double, for finite positive x and finite y: the logarithm of the fraction
// in [sqrt(1/2), sqrt(2)) by odd powers of (m - 1) / (m + 1), relative error 5e-12, 2^f on [-1/2,
// 1/2] within 5e-11. The result is rounded to float32 once, subnormal or not.
struct PowerFloat {
  static bool Usual(float x, float y) {
    return x > 0 && x < __builtin_inff() && __builtin_fabsf(y) < __builtin_inff();
  }
  static float Quick(float x, float y) {
    constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer
    uint64_t bits = __builtin_bit_cast(uint64_t, static_cast<double>(x));
    uint64_t k = (bits - 0x3fe6a09e667f3bcdull + (1024ull << 52)) >> 52;  // exponent + 1024
    double m = __builtin_bit_cast(double, bits - ((k - 1024) << 52));
    double exponent = __builtin_bit_cast(double, k | 0x4330000000000000ull) - 4503599627371520.0;
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 0.3407715772291307;
    p = p * z + 0.4116705967979272;
    p = p * z + 0.577083617995937;
    p = p * z + 0.9617966731850396;
    p = p * z + 2.885390081790181;
    double t = y * (exponent + s * p);
    t = t < 300 ? t : 300;  // beyond, the result is inf or 0
    t = t > -300 ? t : -300;
    double whole = t + kRound;
    double f = t - (whole - kRound);
    double e = 1.5201915727500181e-05;
    e = e * f + 0.0001546929107072246;
    e = e * f + 0.0013333922590538462;
    e = e * f + 0.009618027253963471;
    e = e * f + 0.055504103534113634;
    e = e * f + 0.2402265119815437;
    e = e * f + 0.6931471807284588;
    e = e * f + 0.9999999999616832;
    uint64_t scale = (__builtin_bit_cast(uint64_t, whole) + 1023) << 52;
    return static_cast<float>(e * __builtin_bit_cast(double, scale));
  }
  static float Exact(float x, float y) { return __builtin_powf(x, y); }
};

// ---- angles
// The second argument plays no part. The reduction is good up to kTrigLimit.
template <int kShift>
struct SineFloat {
  static bool Usual(float x, float) { return !(__builtin_fabsf(x) > kTrigLimit); }
  static float Quick(float x, float) { return SinShifted(x, kShift); }
  static float Exact(float x, float) { return kShift ? __builtin_cosf(x) : __builtin_sinf(x); }
};
struct TangentFloat : SineFloat<0> {
  static float Quick(float x, float) {
    Turn<Wide> turn = ReduceTurn<Wide>(x);  // or the errors of both would add up
    bool odd = (turn.quadrant & 1) != 0;
    double over = odd ? -turn.cosine.v : turn.sine.v;
    float y = static_cast<float>(over / (odd ? turn.sine.v : turn.cosine.v));
    return x == 0 ? x : y;  // keeps -0
  }
  static float Exact(float x, float) { return __builtin_tanf(x); }
};

// For t in [0, 1] or nan.
inline float AtanInside(float t) {
  Real r(t), s = r * r;
  Real p = loops::math::Horner(s, Real(-0.00179359387f), Real(0.0109144812f), Real(-0.0311776139f),
                               Real(0.0579573587f), Real(-0.0840343684f), Real(0.109521814f),
                               Real(-0.142642409f), Real(0.199985489f), Real(-0.333332986f));
  return Fma(r * s, p, r).v;
}
// pi / 2 and pi in two pieces.
inline constexpr float kHalfPi = 1.57079637f, kHalfPiRest = -4.37113883e-8f;

inline float Atan(float x) {
  float a = __builtin_fabsf(x);
  bool steep = a > 1;
  float r = AtanInside(steep ? 1 / a : a);
  r = steep ? (kHalfPi - r) + kHalfPiRest : r;
  return __builtin_copysignf(r, x);
}

// The angle of the point (x, y).
struct AngleFloat {
  static bool Usual(float y, float x) {
    float sum = __builtin_fabsf(x) + __builtin_fabsf(y);
    return sum > 0 && sum < __builtin_inff();
  }
  static float Quick(float y, float x) {
    float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
    bool steep = ay > ax;
    float r = AtanInside((steep ? ax : ay) / (steep ? ay : ax));
    r = steep ? (kHalfPi - r) + kHalfPiRest : r;
    r = x < 0 ? (2 * kHalfPi - r) + 2 * kHalfPiRest : r;
    return __builtin_copysignf(r, y);
  }
  static float Exact(float y, float x) { return __builtin_atan2f(y, x); }
};

}  // namespace ms::cpu::MS_ISA
