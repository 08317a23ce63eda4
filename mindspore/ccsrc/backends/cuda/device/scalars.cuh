// The scalar ops of ir/scalar.h, k_NAME for each type, with the results of the host's loops.
// Float32 functions that loops/math_functions.h has are those; the others are CUDA's.
MS_FUNCTION float Select(bool m, float a, float b) { return m ? a : b; }
MS_FUNCTION int32_t Bits(float x) { return FloatToBits(x); }
MS_FUNCTION float FromBits(int32_t bits) { return BitsToFloat(bits); }
MS_FUNCTION float ToFloat(int32_t i) { return (float)i; }
MS_FUNCTION float Fma(float a, float b, float c) { return Fused(a, b, c); }

//MATH//

// ---- integers wrap; what is narrower than an int is computed in 32 bits
template <class T>
struct WrapOf {
  typedef uint32_t type;
};
template <>
struct WrapOf<int64_t> {
  typedef uint64_t type;
};
template <>
struct WrapOf<uint64_t> {
  typedef uint64_t type;
};
#define MS_WRAP(T) typename WrapOf<T>::type
#define MS_INTEGER template <class T> MS_FUNCTION

MS_INTEGER T k_add(T a, T b) { return (T)((MS_WRAP(T))a + (MS_WRAP(T))b); }
MS_INTEGER T k_sub(T a, T b) { return (T)((MS_WRAP(T))a - (MS_WRAP(T))b); }
MS_INTEGER T k_mul(T a, T b) { return (T)((MS_WRAP(T))a * (MS_WRAP(T))b); }
MS_INTEGER T k_neg(T a) { return (T)((MS_WRAP(T))0 - (MS_WRAP(T))a); }
MS_INTEGER T k_abs(T a) { return a < (T)0 ? k_neg(a) : a; }
MS_INTEGER T k_sign(T a) { return (T)((a > (T)0) - (a < (T)0)); }
MS_INTEGER T k_min(T a, T b) { return a < b ? a : b; }
MS_INTEGER T k_max(T a, T b) { return a > b ? a : b; }
MS_INTEGER T k_and(T a, T b) { return (T)(a & b); }
MS_INTEGER T k_or(T a, T b) { return (T)(a | b); }
MS_INTEGER T k_xor(T a, T b) { return (T)(a ^ b); }
MS_INTEGER T k_not(T a) { return (T)~a; }
// By zero 0, and the least number by -1 itself.
MS_INTEGER T k_trunc_div(T a, T b) {
  if (b == (T)0) return 0;
  if ((T)-1 < (T)0 && b == (T)-1) return k_neg(a);
  return (T)(a / b);
}
MS_INTEGER T k_trunc_mod(T a, T b) {
  if (b == (T)0 || ((T)-1 < (T)0 && b == (T)-1)) return 0;
  return (T)(a % b);
}
MS_INTEGER T k_floor_div(T a, T b) {
  T q = k_trunc_div(a, b);
  return k_trunc_mod(a, b) != (T)0 && (a < (T)0) != (b < (T)0) ? (T)(q - 1) : q;
}
MS_INTEGER T k_floor_mod(T a, T b) {
  T r = k_trunc_mod(a, b);
  return r != (T)0 && (r < (T)0) != (b < (T)0) ? (T)(r + b) : r;
}
MS_INTEGER T k_shift_left(T a, T b) {
  bool out = (uint64_t)b >= sizeof(T) * 8;
  return (T)(out ? (MS_WRAP(T))0 : (MS_WRAP(T))a << (out ? 0 : (unsigned)b));
}
MS_INTEGER T k_shift_right(T a, T b) {
  bool out = (uint64_t)b >= sizeof(T) * 8;
  if (out && !((T)-1 < (T)0)) return 0;
  return (T)(a >> (out ? (unsigned)(sizeof(T) * 8 - 1) : (unsigned)b));
}
// A negative exponent gives the truncated true value.
MS_INTEGER T k_pow(T base, T exponent) {
  if ((T)-1 < (T)0 && exponent < (T)0) {
    if (base == (T)1) return 1;
    if (base == (T)-1) return (exponent & 1) ? (T)-1 : (T)1;
    return 0;
  }
  MS_WRAP(T) result = 1, square = (MS_WRAP(T))base;
  for (MS_WRAP(T) e = (MS_WRAP(T))exponent; e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return (T)result;
}
MS_INTEGER bool k_less(T a, T b) { return a < b; }
MS_INTEGER bool k_less_equal(T a, T b) { return a <= b; }
MS_INTEGER bool k_greater(T a, T b) { return a > b; }
MS_INTEGER bool k_greater_equal(T a, T b) { return a >= b; }
MS_INTEGER bool k_equal(T a, T b) { return a == b; }
MS_INTEGER bool k_not_equal(T a, T b) { return a != b; }
MS_INTEGER T k_select(bool m, T a, T b) { return m ? a : b; }

// ---- bool
MS_FUNCTION bool k_add(bool a, bool b) { return a | b; }
MS_FUNCTION bool k_sub(bool a, bool b) { return a ^ b; }
MS_FUNCTION bool k_mul(bool a, bool b) { return a & b; }
MS_FUNCTION bool k_min(bool a, bool b) { return a & b; }
MS_FUNCTION bool k_max(bool a, bool b) { return a | b; }
MS_FUNCTION bool k_not(bool a) { return !a; }
MS_FUNCTION bool k_abs(bool a) { return a; }
MS_FUNCTION bool k_sign(bool a) { return a; }

// ---- floats
#define MS_FLOATS(X) X(float, f) X(double, )
#define MS_OF_FLOATS(T, f)                                                                     \
  MS_FUNCTION T k_add(T a, T b) { return a + b; }                                              \
  MS_FUNCTION T k_sub(T a, T b) { return a - b; }                                              \
  MS_FUNCTION T k_mul(T a, T b) { return a * b; }                                              \
  MS_FUNCTION T k_div(T a, T b) { return a / b; }                                              \
  MS_FUNCTION T k_neg(T a) { return -a; }                                                      \
  MS_FUNCTION T k_abs(T a) { return ::fabs##f(a); }                                            \
  MS_FUNCTION T k_min(T a, T b) { return a != a ? a : a < b ? a : b; } /* a nan wins */        \
  MS_FUNCTION T k_max(T a, T b) { return a != a ? a : a > b ? a : b; }                         \
  MS_FUNCTION T k_sign(T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? (T)0 : a; }       \
  MS_FUNCTION T k_floor(T a) { return ::floor##f(a); }                                         \
  MS_FUNCTION T k_ceil(T a) { return ::ceil##f(a); }                                           \
  MS_FUNCTION T k_trunc(T a) { return ::trunc##f(a); }                                         \
  MS_FUNCTION T k_rint(T a) { return ::rint##f(a); }                                           \
  MS_FUNCTION T k_sqrt(T a) { return ::sqrt##f(a); }                                           \
  MS_FUNCTION T k_rsqrt(T a) { return (T)1 / ::sqrt##f(a); }                                   \
  MS_FUNCTION T k_sin(T a) { return ::sin##f(a); }                                             \
  MS_FUNCTION T k_cos(T a) { return ::cos##f(a); }                                             \
  MS_FUNCTION T k_tan(T a) { return ::tan##f(a); }                                             \
  MS_FUNCTION T k_asin(T a) { return ::asin##f(a); }                                           \
  MS_FUNCTION T k_acos(T a) { return ::acos##f(a); }                                           \
  MS_FUNCTION T k_atan(T a) { return ::atan##f(a); }                                           \
  MS_FUNCTION T k_sinh(T a) { return ::sinh##f(a); }                                           \
  MS_FUNCTION T k_cosh(T a) { return ::cosh##f(a); }                                           \
  MS_FUNCTION T k_asinh(T a) { return ::asinh##f(a); }                                         \
  MS_FUNCTION T k_acosh(T a) { return ::acosh##f(a); }                                         \
  MS_FUNCTION T k_atanh(T a) { return ::atanh##f(a); }                                         \
  MS_FUNCTION T k_erfc(T a) { return ::erfc##f(a); }                                           \
  MS_FUNCTION T k_lgamma(T a) { return ::lgamma##f(a); }                                       \
  MS_FUNCTION T k_atan2(T a, T b) { return ::atan2##f(a, b); }                                 \
  MS_FUNCTION T k_pow(T a, T b) {                                                              \
    if (b == 2) return a * a;                                                                  \
    if (b == 3) return a * a * a;                                                              \
    if (b == 1) return a;                                                                      \
    if (b == -1) return (T)1 / a;                                                              \
    return ::pow##f(a, b);                                                                     \
  }                                                                                            \
  MS_FUNCTION T k_trunc_div(T a, T b) { return ::trunc##f(a / b); }                            \
  MS_FUNCTION T k_trunc_mod(T a, T b) { return ::fmod##f(a, b); }                              \
  /* Quotient and remainder belong together: a == q * b + r, r with the sign of the divisor. */ \
  MS_FUNCTION T k_floor_mod(T a, T b) {                                                        \
    T r = ::fmod##f(a, b);                                                                     \
    if (r == 0) return b < 0 ? (T)-0.0 : (T)0;                                                 \
    return (r < 0) != (b < 0) ? r + b : r;                                                     \
  }                                                                                            \
  MS_FUNCTION T k_floor_div(T a, T b) {                                                        \
    T r = ::fmod##f(a, b), ratio = a / b, q = (a - r) / b;                                     \
    if (b == 0) return ratio;                                                                  \
    if (r != 0 && (r < 0) != (b < 0)) q = q - 1;                                               \
    T down = ::floor##f(q);                                                                    \
    if (q == 0) return ratio < 0 ? (T)-0.0 : (T)0;                                             \
    return q - down > (T)0.5 ? down + 1 : down;                                                \
  }                                                                                            \
  MS_FUNCTION bool k_is_nan(T a) { return a != a; }                                            \
  MS_FUNCTION bool k_is_inf(T a) { return ::fabs##f(a) == (T)__builtin_huge_val(); }           \
  MS_FUNCTION bool k_is_finite(T a) { return a - a == 0; }
MS_FLOATS(MS_OF_FLOATS)

MS_FUNCTION float k_exp(float x) { return ms::loops::math::Exp(x); }
MS_FUNCTION float k_expm1(float x) { return ms::loops::math::Expm1(x); }
MS_FUNCTION float k_log(float x) { return ms::loops::math::Log(x); }
MS_FUNCTION float k_log1p(float x) { return ms::loops::math::Log1p(x); }
MS_FUNCTION float k_tanh(float x) { return ms::loops::math::Tanh(x); }
MS_FUNCTION float k_sigmoid(float x) { return ms::loops::math::Sigmoid(x); }
MS_FUNCTION float k_erf(float x) { return ms::loops::math::Erf(x); }
MS_FUNCTION double k_exp(double x) { return ::exp(x); }
MS_FUNCTION double k_expm1(double x) { return ::expm1(x); }
MS_FUNCTION double k_log(double x) { return ::log(x); }
MS_FUNCTION double k_log1p(double x) { return ::log1p(x); }
MS_FUNCTION double k_tanh(double x) { return ::tanh(x); }
MS_FUNCTION double k_sigmoid(double x) { return 1.0 / (1.0 + ::exp(-x)); }
MS_FUNCTION double k_erf(double x) { return ::erf(x); }
// Reflection to x > 0, recurrence to x >= 10, then the asymptotic series.
MS_FUNCTION double k_digamma(double x) {
  const double inf = __builtin_huge_val();
  if (x != x || x == -inf) return x - x;
  if (x == 0) return 1 / x < 0 ? inf : -inf;
  double result = 0;
  if (x < 0) {
    if (x == ::floor(x)) return inf - inf;
    double fraction = x - ::floor(x);
    result = -3.14159265358979323846 / ::tan(3.14159265358979323846 * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  double s = 1 / (x * x);
  double series =
      s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132)))));
  return result + ::log(x) - 0.5 / x - series;
}
MS_FUNCTION float k_digamma(float x) { return (float)k_digamma((double)x); }

// ---- casts: of floats to integers towards zero; nan and what does not fit give the least number of
// the 32- or 64-bit type, of which narrower types keep the low bits
template <class F>
MS_FUNCTION int64_t ToInt64(F x) {
  bool fits = x >= (F)-9223372036854775808.0 && x < (F)9223372036854775808.0;
  return fits ? (int64_t)x : (int64_t)(1ull << 63);
}
template <class F>
MS_FUNCTION int32_t ToInt32(F x) {
  bool fits = x < (F)2147483648.0 && x > (sizeof(F) == 4 ? (F)-2147483904.0 : (F)-2147483649.0);
  return fits ? (int32_t)x : INT32_MIN;
}
template <class T>
struct CastTo {
  template <class U>
  static MS_INSIDE T Of(U x) {
    return (T)x;
  }
  static MS_INSIDE T Of(float x) { return FromReal(x); }
  static MS_INSIDE T Of(double x) { return FromReal(x); }
  template <class F>
  static MS_INSIDE T FromReal(F x) {
    if (sizeof(T) == 8 || (sizeof(T) == 4 && !((T)-1 < (T)0))) return (T)ToInt64(x);
    return (T)ToInt32(x);
  }
};
template <>
struct CastTo<uint64_t> {
  template <class U>
  static MS_INSIDE uint64_t Of(U x) {
    return (uint64_t)x;
  }
  static MS_INSIDE uint64_t Of(float x) { return Of((double)x); }
  static MS_INSIDE uint64_t Of(double x) {
    const double half = 9223372036854775808.0;
    bool upper = x >= half;
    uint64_t bits = (uint64_t)ToInt64(upper ? x - half : x);
    return upper ? bits ^ (1ull << 63) : bits;
  }
};
template <>
struct CastTo<bool> {
  template <class U>
  static MS_INSIDE bool Of(U x) {
    return x != (U)0;
  }
};
template <>
struct CastTo<float> {
  template <class U>
  static MS_INSIDE float Of(U x) {
    return (float)x;
  }
};
template <>
struct CastTo<double> {
  template <class U>
  static MS_INSIDE double Of(U x) {
    return (double)x;
  }
};
// Double to float so that rounding to a half type after it equals rounding once: to odd.
MS_FUNCTION float RoundToOdd(double x) {
  float f = (float)x;
  double back = f;
  if (back == x || x != x) return f;
  int32_t bits = FloatToBits(f);
  return BitsToFloat((bits - (::fabs(back) > ::fabs(x) ? 1 : 0)) | 1);
}
MS_FUNCTION float RoundToOdd(float x) { return x; }
// To a half type, which is computed with as a float.
template <class M, class U>
MS_FUNCTION float CastToHalf(U x) {
  return Load(Stored<M>::Of((float)x));
}
template <class M>
MS_FUNCTION float CastToHalf(double x) {
  return Load(Stored<M>::Of(RoundToOdd(x)));
}
