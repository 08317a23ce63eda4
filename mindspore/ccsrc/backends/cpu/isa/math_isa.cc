// Vector loops of mathematical functions. Float32: our polynomials where they are quicker than the
// C library, which serves the rest and all of float64.
#include "backends/cpu/isa/loops.h"
#include "backends/cpu/isa/special.h"
#include "backends/cpu/isa/tables.h"
#include "backends/cpu/isa/vector_math.h"

namespace ms::cpu::MS_ISA {
namespace {

using loops::VectorTable;

template <class F>
void SetFloat(VectorTable& t, ScalarOp op, F f) {
  t.Set(op, DType::kFloat32, Unary<float, float>(f));
}
template <class F>
void SetDouble(VectorTable& t, ScalarOp op, F f) {
  t.Set(op, DType::kFloat64, Unary<double, double>(f));
}

// Rounding: processors before SSE4.1 lack the instruction, later ones run it on whole vectors.
template <class T>
void FillRounding(VectorTable& t) {
  constexpr DType d = kDTypeOf<T>;
  constexpr bool kFloat = sizeof(T) == 4;
  t.Set(ScalarOp::kFloor, d, Unary<T, T>([](T x) -> T {
          if constexpr (kFloat)
            return __builtin_floorf(x);
          else
            return __builtin_floor(x);
        }));
  t.Set(ScalarOp::kCeil, d, Unary<T, T>([](T x) -> T {
          if constexpr (kFloat)
            return __builtin_ceilf(x);
          else
            return __builtin_ceil(x);
        }));
  t.Set(ScalarOp::kTrunc, d, Unary<T, T>([](T x) -> T {
          if constexpr (kFloat)
            return __builtin_truncf(x);
          else
            return __builtin_trunc(x);
        }));
  t.Set(ScalarOp::kRint, d, Unary<T, T>([](T x) -> T {
          if constexpr (kFloat)
            return __builtin_rintf(x);
          else
            return __builtin_rint(x);
        }));
  t.Set(ScalarOp::kAbs, d, Unary<T, T>([](T x) -> T {
          if constexpr (kFloat)
            return __builtin_fabsf(x);
          else
            return __builtin_fabs(x);
        }));
  t.Set(ScalarOp::kSqrt, d, Unary<T, T>([](T x) -> T {
          if constexpr (kFloat)
            return __builtin_sqrtf(x);
          else
            return __builtin_sqrt(x);
        }));
  t.Set(ScalarOp::kRsqrt, d, Unary<T, T>([](T x) -> T {
          if constexpr (kFloat)
            return 1.0f / __builtin_sqrtf(x);
          else
            return 1.0 / __builtin_sqrt(x);
        }));
}

// Quotient and remainder belong together: a == q * b + r, the remainder with the sign of the
// divisor.
template <class T>
T Fmod(T a, T b) {
  if constexpr (sizeof(T) == 4)
    return __builtin_fmodf(a, b);
  else
    return __builtin_fmod(a, b);
}
template <class T>
T FloorMod(T a, T b) {
  T r = Fmod(a, b);
  if (r == 0) return b < 0 ? T{-0.0} : T{0};
  return (r < 0) != (b < 0) ? r + b : r;
}
template <class T>
T FloorDiv(T a, T b) {
  if (b == 0) return a / b;
  T r = Fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return a / b < 0 ? T{-0.0} : T{0};
  T down = sizeof(T) == 4 ? static_cast<T>(__builtin_floorf(static_cast<float>(q)))
                          : static_cast<T>(__builtin_floor(q));
  return q - down > T{0.5} ? down + 1 : down;
}

template <class T>
void FillDivision(VectorTable& t) {
  constexpr DType d = kDTypeOf<T>;
  t.Set(ScalarOp::kFloorDiv, d, Binary<T, T>([](T a, T b) { return FloorDiv(a, b); }));
  t.Set(ScalarOp::kFloorMod, d, Binary<T, T>([](T a, T b) { return FloorMod(a, b); }));
  t.Set(ScalarOp::kTruncMod, d, Binary<T, T>([](T a, T b) { return Fmod(a, b); }));
  t.Set(ScalarOp::kTruncDiv, d, Binary<T, T>([](T a, T b) -> T {
          if constexpr (sizeof(T) == 4)
            return __builtin_truncf(a / b);
          else
            return __builtin_trunc(a / b);
        }));
}

template <class T>
T Power(T x, T y) {
  if constexpr (sizeof(T) == 4)
    return __builtin_powf(x, y);
  else
    return __builtin_pow(x, y);
}

// x^y for one y: the exponents that programs write have exact and quick forms.
template <class T>
void UniformPower(void* out, const void* a, const void* b, const void*, int64_t n) {
  T* z = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T y = *static_cast<const T*>(b);
  auto each = [&](auto f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) z[i] = f(x[i]);
  };
  if (n <= 0) return;
  if (y == 2) return each([](T v) { return v * v; });
  if (y == 3) return each([](T v) { return v * v * v; });
  if (y == 1) return each([](T v) { return v; });
  if (y == -1) return each([](T v) { return 1 / v; });
  if (y == T{0.5}) {
    // pow(-0, 0.5) is +0 and pow(-inf, 0.5) is inf, unlike the square root.
    return each([](T v) -> T {
      T root = sizeof(T) == 4 ? static_cast<T>(__builtin_sqrtf(static_cast<float>(v)))
                              : static_cast<T>(__builtin_sqrt(v));
      T plain = root + T{0};
      return v == static_cast<T>(-__builtin_inff()) ? -v : plain;
    });
  }
  each([y](T v) { return Power(v, y); });
}

// Sine or cosine: the reduction is good up to kTrigLimit; beyond, the library takes the elements,
// one by one, so that no value depends on its neighbours.
template <int kShift>
void Trigonometric(void* out, const void* a, const void*, const void*, int64_t n) {
  constexpr int64_t kPiece = 1024;
  const float* x = static_cast<const float*>(a);
  float* y = static_cast<float*>(out);
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    int64_t end = begin + kPiece < n ? begin + kPiece : n;
    int wild = 0;
    for (int64_t i = begin; i < end; ++i) wild |= __builtin_fabsf(x[i]) > kTrigLimit ? 1 : 0;
    if (wild) {
      for (int64_t i = begin; i < end; ++i) {
        bool far = __builtin_fabsf(x[i]) > kTrigLimit;
        float large = far ? x[i] : 0.0f;
        float exact = kShift ? __builtin_cosf(large) : __builtin_sinf(large);
        y[i] = far ? exact : SinShifted(x[i], kShift);
      }
    } else {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) y[i] = SinShifted(x[i], kShift);
    }
  }
}

void FillFloat(VectorTable& t) {
  SetFloat(t, ScalarOp::kExp, [](float x) { return Exp(x); });
  SetFloat(t, ScalarOp::kExpm1, [](float x) { return Expm1(x); });
  SetFloat(t, ScalarOp::kLog, [](float x) { return Log(x); });
  SetFloat(t, ScalarOp::kLog1p, [](float x) { return Log1p(x); });
  SetFloat(t, ScalarOp::kTanh, [](float x) { return Tanh(x); });
  SetFloat(t, ScalarOp::kSigmoid, [](float x) { return Sigmoid(x); });
  SetFloat(t, ScalarOp::kErf, [](float x) { return Erf(x); });
  t.Set(ScalarOp::kSin, DType::kFloat32, Trigonometric<0>);
  t.Set(ScalarOp::kCos, DType::kFloat32, Trigonometric<1>);
  SetFloat(t, ScalarOp::kTan, [](float x) { return __builtin_tanf(x); });
  SetFloat(t, ScalarOp::kAsin, [](float x) { return __builtin_asinf(x); });
  SetFloat(t, ScalarOp::kAcos, [](float x) { return __builtin_acosf(x); });
  SetFloat(t, ScalarOp::kAtan, [](float x) { return __builtin_atanf(x); });
  SetFloat(t, ScalarOp::kSinh, [](float x) { return __builtin_sinhf(x); });
  SetFloat(t, ScalarOp::kCosh, [](float x) { return __builtin_coshf(x); });
  SetFloat(t, ScalarOp::kAsinh, [](float x) { return __builtin_asinhf(x); });
  SetFloat(t, ScalarOp::kAcosh, [](float x) { return __builtin_acoshf(x); });
  SetFloat(t, ScalarOp::kAtanh, [](float x) { return __builtin_atanhf(x); });
  SetFloat(t, ScalarOp::kErfc, [](float x) { return __builtin_erfcf(x); });
  SetFloat(t, ScalarOp::kLgamma, [](float x) { return static_cast<float>(LogGamma(x)); });
  SetFloat(t, ScalarOp::kDigamma, [](float x) { return static_cast<float>(Digamma(x)); });
  t.Set(ScalarOp::kAtan2, DType::kFloat32,
        Binary<float, float>([](float a, float b) { return __builtin_atan2f(a, b); }));
  t.Set(ScalarOp::kPow, DType::kFloat32,
        Binary<float, float>([](float a, float b) { return Power(a, b); }));
  t.uniform_pow[static_cast<int>(DType::kFloat32)] = UniformPower<float>;
}

void FillDouble(VectorTable& t) {
  SetDouble(t, ScalarOp::kExp, [](double x) { return __builtin_exp(x); });
  SetDouble(t, ScalarOp::kExpm1, [](double x) { return __builtin_expm1(x); });
  SetDouble(t, ScalarOp::kLog, [](double x) { return __builtin_log(x); });
  SetDouble(t, ScalarOp::kLog1p, [](double x) { return __builtin_log1p(x); });
  SetDouble(t, ScalarOp::kTanh, [](double x) { return __builtin_tanh(x); });
  SetDouble(t, ScalarOp::kSigmoid, [](double x) {
    double e = __builtin_exp(-__builtin_fabs(x));
    return (x >= 0 ? 1.0 : e) / (1.0 + e);
  });
  SetDouble(t, ScalarOp::kErf, [](double x) { return __builtin_erf(x); });
  SetDouble(t, ScalarOp::kSin, [](double x) { return __builtin_sin(x); });
  SetDouble(t, ScalarOp::kCos, [](double x) { return __builtin_cos(x); });
  SetDouble(t, ScalarOp::kTan, [](double x) { return __builtin_tan(x); });
  SetDouble(t, ScalarOp::kAsin, [](double x) { return __builtin_asin(x); });
  SetDouble(t, ScalarOp::kAcos, [](double x) { return __builtin_acos(x); });
  SetDouble(t, ScalarOp::kAtan, [](double x) { return __builtin_atan(x); });
  SetDouble(t, ScalarOp::kSinh, [](double x) { return __builtin_sinh(x); });
  SetDouble(t, ScalarOp::kCosh, [](double x) { return __builtin_cosh(x); });
  SetDouble(t, ScalarOp::kAsinh, [](double x) { return __builtin_asinh(x); });
  SetDouble(t, ScalarOp::kAcosh, [](double x) { return __builtin_acosh(x); });
  SetDouble(t, ScalarOp::kAtanh, [](double x) { return __builtin_atanh(x); });
  SetDouble(t, ScalarOp::kErfc, [](double x) { return __builtin_erfc(x); });
  SetDouble(t, ScalarOp::kLgamma, [](double x) { return LogGamma(x); });
  SetDouble(t, ScalarOp::kDigamma, [](double x) { return Digamma(x); });
  t.Set(ScalarOp::kAtan2, DType::kFloat64,
        Binary<double, double>([](double a, double b) { return __builtin_atan2(a, b); }));
  t.Set(ScalarOp::kPow, DType::kFloat64,
        Binary<double, double>([](double a, double b) { return Power(a, b); }));
  t.uniform_pow[static_cast<int>(DType::kFloat64)] = UniformPower<double>;
}

}  // namespace

void FillMath(VectorTable& t) {
  FillRounding<float>(t);
  FillRounding<double>(t);
  FillDivision<float>(t);
  FillDivision<double>(t);
  FillFloat(t);
  FillDouble(t);
}

}  // namespace ms::cpu::MS_ISA
