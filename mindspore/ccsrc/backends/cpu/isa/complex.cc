// Vector loops of complex arithmetic: plain code, these types are rare.
#include <algorithm>
#include <cmath>
#include <complex>

#include "backends/cpu/isa/tables.h"

namespace ms::cpu {
namespace {

template <class T, class R, class F>
VectorFn Map(F) {
  return [](void* out, const void* a, const void* b, const void*, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_invocable_v<F, T>) {
        static_cast<R*>(out)[i] = F{}(static_cast<const T*>(a)[i]);
      } else {
        static_cast<R*>(out)[i] = F{}(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]);
      }
    }
  };
}

template <class T>
VectorFn SelectComplex() {
  return [](void* out, const void* c, const void* a, const void* b, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const void* from = static_cast<const uint8_t*>(c)[i] ? a : b;
      static_cast<T*>(out)[i] = static_cast<const T*>(from)[i];
    }
  };
}

// Small whole powers are products: exact, and those of 0 too.
template <class C>
C Power(C a, C b) {
  constexpr int kMost = 8;
  int whole = std::abs(b.real()) <= kMost ? static_cast<int>(b.real()) : kMost + 1;
  if (b != C(static_cast<typename C::value_type>(whole))) return std::pow(a, b);
  C product = 1;
  for (int i = std::abs(whole); i > 0; --i) product *= a;
  return whole < 0 ? C(1) / product : product;
}

// exp(a) - 1, exact for small a: exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y / 2)^2.
template <class C>
C Expm1(C a) {
  C power = std::exp(a);
  if (!(a.real() < 1) || !std::isfinite(a.imag())) return {power.real() - 1, power.imag()};
  auto half = std::sin(a.imag() / 2);
  return {std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half, power.imag()};
}

// log(1 + a), exact for small a: |1 + a|^2 - 1 = x (x + 2) + y^2.
template <class C>
C Log1p(C a) {
  auto x = a.real(), y = a.imag();
  if (!(std::abs(a) < typename C::value_type(0.5))) return std::log(C(1 + x, y));
  return {std::log1p(x * (x + 2) + y * y) / 2, std::atan2(y, 1 + x)};
}

// Either of both powers is of a number that is not above 0, so that neither overflows.
template <class C>
C Sigmoid(C a) {
  C power = std::exp(a.real() < 0 ? a : -a), one = 1;
  return (a.real() < 0 ? power : one) / (one + power);
}

// a / |a|, and 0 of 0. A part that alone is infinite says it all.
template <class C>
C Sign(C a) {
  using R = typename C::value_type;
  R x = a.real(), y = a.imag();
  if (x == 0 && y == 0) return 0;
  if (std::isinf(x) != std::isinf(y)) {
    return std::isinf(x) ? C(std::copysign(R(1), x)) : C(0, std::copysign(R(1), y));
  }
  a /= std::max(std::abs(x), std::abs(y));  // |a| may be out of range
  return a / std::abs(a);
}

template <class R>
void FillFunctions(VectorTable& t) {
  using C = std::complex<R>;
  constexpr DType d = kDTypeOf<C>;
  t.Set(ScalarOp::kExp, d, Map<C, C>([](C a) { return std::exp(a); }));
  t.Set(ScalarOp::kExpm1, d, Map<C, C>([](C a) { return Expm1(a); }));
  t.Set(ScalarOp::kLog, d, Map<C, C>([](C a) { return std::log(a); }));
  t.Set(ScalarOp::kLog1p, d, Map<C, C>([](C a) { return Log1p(a); }));
  t.Set(ScalarOp::kSqrt, d, Map<C, C>([](C a) { return std::sqrt(a); }));
  t.Set(ScalarOp::kRsqrt, d, Map<C, C>([](C a) { return R(1) / std::sqrt(a); }));
  t.Set(ScalarOp::kSigmoid, d, Map<C, C>([](C a) { return Sigmoid(a); }));
  t.Set(ScalarOp::kSin, d, Map<C, C>([](C a) { return std::sin(a); }));
  t.Set(ScalarOp::kCos, d, Map<C, C>([](C a) { return std::cos(a); }));
  t.Set(ScalarOp::kTan, d, Map<C, C>([](C a) { return std::tan(a); }));
  t.Set(ScalarOp::kAsin, d, Map<C, C>([](C a) { return std::asin(a); }));
  t.Set(ScalarOp::kAcos, d, Map<C, C>([](C a) { return std::acos(a); }));
  t.Set(ScalarOp::kAtan, d, Map<C, C>([](C a) { return std::atan(a); }));
  t.Set(ScalarOp::kSinh, d, Map<C, C>([](C a) { return std::sinh(a); }));
  t.Set(ScalarOp::kCosh, d, Map<C, C>([](C a) { return std::cosh(a); }));
  t.Set(ScalarOp::kTanh, d, Map<C, C>([](C a) { return std::tanh(a); }));
  t.Set(ScalarOp::kAsinh, d, Map<C, C>([](C a) { return std::asinh(a); }));
  t.Set(ScalarOp::kAcosh, d, Map<C, C>([](C a) { return std::acosh(a); }));
  t.Set(ScalarOp::kAtanh, d, Map<C, C>([](C a) { return std::atanh(a); }));
}

template <class R>
void FillArithmetic(VectorTable& t) {
  using C = std::complex<R>;
  constexpr DType d = kDTypeOf<C>;
  t.Set(ScalarOp::kAdd, d, Map<C, C>([](C a, C b) { return a + b; }));
  t.Set(ScalarOp::kSub, d, Map<C, C>([](C a, C b) { return a - b; }));
  // The product of std::complex also mends infinities, a number at a time.
  t.Set(ScalarOp::kMul, d, Map<C, C>([](C a, C b) {
          return C(a.real() * b.real() - a.imag() * b.imag(),
                   a.real() * b.imag() + a.imag() * b.real());
        }));
  t.Set(ScalarOp::kDiv, d, Map<C, C>([](C a, C b) { return a / b; }));
  t.Set(ScalarOp::kNeg, d, Map<C, C>([](C a) { return -a; }));
  t.Set(ScalarOp::kPow, d, Map<C, C>([](C a, C b) { return Power(a, b); }));
  t.uniform_pow[static_cast<int>(d)] = t.Get(ScalarOp::kPow, d);
  t.Set(ScalarOp::kSign, d, Map<C, C>([](C a) { return Sign(a); }));
  t.Set(ScalarOp::kConj, d, Map<C, C>([](C a) { return std::conj(a); }));
  t.Set(ScalarOp::kAbs, d, Map<C, R>([](C a) { return std::abs(a); }));
  t.Set(ScalarOp::kReal, d, Map<C, R>([](C a) { return a.real(); }));
  t.Set(ScalarOp::kImag, d, Map<C, R>([](C a) { return a.imag(); }));
  t.Set(ScalarOp::kComplex, kDTypeOf<R>, Map<R, C>([](R re, R im) { return C(re, im); }));
  t.Set(ScalarOp::kEqual, d, Map<C, bool>([](C a, C b) { return a == b; }));
  t.Set(ScalarOp::kNotEqual, d, Map<C, bool>([](C a, C b) { return a != b; }));
  t.Set(ScalarOp::kIsNan, d,
        Map<C, bool>([](C a) { return std::isnan(a.real()) || std::isnan(a.imag()); }));
  t.Set(ScalarOp::kIsInf, d,
        Map<C, bool>([](C a) { return std::isinf(a.real()) || std::isinf(a.imag()); }));
  t.Set(ScalarOp::kIsFinite, d,
        Map<C, bool>([](C a) { return std::isfinite(a.real()) && std::isfinite(a.imag()); }));
  t.Set(ScalarOp::kSelect, d, SelectComplex<C>());
}

template <class C, class T>
void FillCastsOf(VectorTable& t) {
  using R = typename C::value_type;
  t.SetCast(kDTypeOf<T>, kDTypeOf<C>, Map<T, C>([](T x) { return C(static_cast<R>(x)); }));
}

// From complex only to complex and, by the real part, to the float of the same width: other types
// go through it.
template <class R>
void FillCasts(VectorTable& t) {
  using C = std::complex<R>;
  FillCastsOf<C, bool>(t);
  FillCastsOf<C, int8_t>(t);
  FillCastsOf<C, int16_t>(t);
  FillCastsOf<C, int32_t>(t);
  FillCastsOf<C, int64_t>(t);
  FillCastsOf<C, uint8_t>(t);
  FillCastsOf<C, uint16_t>(t);
  FillCastsOf<C, uint32_t>(t);
  FillCastsOf<C, uint64_t>(t);
  FillCastsOf<C, float>(t);
  FillCastsOf<C, double>(t);
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  t.SetCast(kDTypeOf<C>, DType::kComplex64, Map<C, C64>([](C x) { return C64(x); }));
  t.SetCast(kDTypeOf<C>, DType::kComplex128, Map<C, C128>([](C x) { return C128(x); }));
  t.SetCast(kDTypeOf<C>, DType::kBool, Map<C, bool>([](C x) { return x != C(); }));
  t.SetCast(kDTypeOf<C>, DType::kFloat32,
            Map<C, float>([](C x) { return static_cast<float>(x.real()); }));
  t.SetCast(kDTypeOf<C>, DType::kFloat64,
            Map<C, double>([](C x) { return static_cast<double>(x.real()); }));
}

}  // namespace

void FillComplex(VectorTable& t) {
  FillArithmetic<float>(t);
  FillArithmetic<double>(t);
  FillFunctions<float>(t);
  FillFunctions<double>(t);
  FillCasts<float>(t);
  FillCasts<double>(t);
}

}  // namespace ms::cpu
