// Vector loops of mathematical functions: our polynomials where they are quicker than the C
// library, which serves the rest.
#include "backends/cpu/isa/careful_loops.h"
#include "backends/cpu/isa/double_math.h"
#include "backends/cpu/isa/loops.h"
#include "backends/cpu/isa/special.h"
#include "backends/cpu/isa/tables.h"
#include "backends/cpu/isa/vector_functions.h"
#include "backends/cpu/isa/vector_math.h"

namespace ms::cpu::MS_ISA {
namespace {

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

// The remainder of doubles is the library's.
struct FloorQuotientDouble {
  double operator()(double a, double b) const { return FloorDivFrom(__builtin_fmod(a, b), a, b); }
};
struct FloorRemainderDouble {
  double operator()(double a, double b) const { return FloorModFrom(__builtin_fmod(a, b), b); }
};

void FillDivision(VectorTable& t) {
  t.Set(ScalarOp::kFloorDiv, DType::kFloat32, CarefulLoop<float, FloorQuotientFloat>);
  t.Set(ScalarOp::kFloorMod, DType::kFloat32, CarefulLoop<float, FloorRemainderFloat>);
  t.Set(ScalarOp::kTruncMod, DType::kFloat32, CarefulLoop<float, Remainder>);
  t.Set(ScalarOp::kTruncDiv, DType::kFloat32,
        Binary<float, float>([](float a, float b) -> float { return __builtin_truncf(a / b); }));
  t.Set(ScalarOp::kFloorDiv, DType::kFloat64, Binary<double, double>(FloorQuotientDouble{}));
  t.Set(ScalarOp::kFloorMod, DType::kFloat64, Binary<double, double>(FloorRemainderDouble{}));
  t.Set(ScalarOp::kTruncMod, DType::kFloat64,
        Binary<double, double>([](double a, double b) { return __builtin_fmod(a, b); }));
  t.Set(
      ScalarOp::kTruncDiv, DType::kFloat64,
      Binary<double, double>([](double a, double b) -> double { return __builtin_trunc(a / b); }));
}

void UniformPowerOf(float* z, const float* x, float y, int64_t n) {
  float same[kPiece];
  for (float& one : same) one = y;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    int64_t count = begin + kPiece < n ? kPiece : n - begin;
    CarefulLoop<float, PowerFloat>(z + begin, x + begin, same, nullptr, count);
  }
}
void UniformPowerOf(double* z, const double* x, double y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = __builtin_pow(x[i], y);
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
  UniformPowerOf(z, x, y, n);
}

void FillFloat(VectorTable& t) {
  SetFloat(t, ScalarOp::kExp, [](float x) { return Exp(x); });
  SetFloat(t, ScalarOp::kExpm1, [](float x) { return Expm1(x); });
  SetFloat(t, ScalarOp::kLog, [](float x) { return Log(x); });
  SetFloat(t, ScalarOp::kLog1p, [](float x) { return Log1p(x); });
  SetFloat(t, ScalarOp::kTanh, [](float x) { return Tanh(x); });
  t.Set(ScalarOp::kSigmoid, DType::kFloat32,
        UnaryOfVectors([](Reals x) { return loops::math::Sigmoid(x); }));
  SetFloat(t, ScalarOp::kErf, [](float x) { return Erf(x); });
  t.Set(ScalarOp::kSin, DType::kFloat32, CarefulLoop<float, SineFloat<0>>);
  t.Set(ScalarOp::kCos, DType::kFloat32, CarefulLoop<float, SineFloat<1>>);
  t.Set(ScalarOp::kTan, DType::kFloat32, CarefulLoop<float, TangentFloat>);
  SetFloat(t, ScalarOp::kAsin, [](float x) { return __builtin_asinf(x); });
  SetFloat(t, ScalarOp::kAcos, [](float x) { return __builtin_acosf(x); });
  SetFloat(t, ScalarOp::kAtan, [](float x) { return Atan(x); });
  SetFloat(t, ScalarOp::kSinh, [](float x) { return __builtin_sinhf(x); });
  SetFloat(t, ScalarOp::kCosh, [](float x) { return __builtin_coshf(x); });
  SetFloat(t, ScalarOp::kAsinh, [](float x) { return __builtin_asinhf(x); });
  SetFloat(t, ScalarOp::kAcosh, [](float x) { return __builtin_acoshf(x); });
  SetFloat(t, ScalarOp::kAtanh, [](float x) { return __builtin_atanhf(x); });
  SetFloat(t, ScalarOp::kErfc, [](float x) { return __builtin_erfcf(x); });
  SetFloat(t, ScalarOp::kLgamma, [](float x) { return static_cast<float>(LogGamma(x)); });
  SetFloat(t, ScalarOp::kDigamma, [](float x) { return static_cast<float>(Digamma(x)); });
  t.Set(ScalarOp::kAtan2, DType::kFloat32, CarefulLoop<float, AngleFloat>);
  t.Set(ScalarOp::kPow, DType::kFloat32, CarefulLoop<float, PowerFloat>);
  t.uniform_pow[static_cast<int>(DType::kFloat32)] = UniformPower<float>;
}

void FillDouble(VectorTable& t) {
  SetDouble(t, ScalarOp::kExp, [](double x) { return ExpDouble(x); });
  SetDouble(t, ScalarOp::kExpm1, [](double x) { return __builtin_expm1(x); });
  SetDouble(t, ScalarOp::kLog, [](double x) { return LogDouble(x); });
  SetDouble(t, ScalarOp::kLog1p, [](double x) { return __builtin_log1p(x); });
  SetDouble(t, ScalarOp::kTanh, [](double x) { return TanhDouble(x); });
  SetDouble(t, ScalarOp::kSigmoid, [](double x) { return SigmoidDouble(x); });
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
        Binary<double, double>([](double a, double b) { return __builtin_pow(a, b); }));
  t.uniform_pow[static_cast<int>(DType::kFloat64)] = UniformPower<double>;
}

}  // namespace

void FillMath(VectorTable& t) {
  FillRounding<float>(t);
  FillRounding<double>(t);
  FillDivision(t);
  FillFloat(t);
  FillDouble(t);
}

}  // namespace ms::cpu::MS_ISA
