// Functions of one operand: sign, rounding, exponentials, trigonometry.
#include <cmath>
#include <numbers>
#include <vector>

#include "ops/elementwise.h"

namespace ms {
namespace {

void DefineSigns(OpRegistry& ops) {
  ops.Op("Neg")
      .Doc("-x; unsigned integers wrap around.")
      .In("x", kNumber, "Any shape.")
      .Scalar([](Expr x) { return -x; })
      .Grad([](GradContext& g) { return -g.dout(); })
      .Python("neg(input)", kFunctionAndMethod)
      .Python("negative(input)", kFunctionAndMethod);
  ops.Op("Abs")
      .Doc("The magnitude of x. The gradient at 0 is 0.")
      .In("x", kAny, "Any shape.")
      .Scalar([](Expr x) {
        DType t = x.dtype();
        if (t == DType::kComplex64) t = DType::kFloat32;
        if (t == DType::kComplex128) t = DType::kFloat64;
        return x.trace->Add(ScalarOp::kAbs, t, {x});
      })
      .Grad([](GradContext& g) {
        if (!IsComplex(g.in_type(0).dtype())) return g.dout() * g.Call("Sign", {g.in(0)});
        Term size = CastTo(g.out(), g.in_type(0).dtype());
        return CastTo(g.dout(), g.in_type(0).dtype()) * g.Call("DivNoNan", {g.in(0), size});
      })
      .Python("abs(input)", kFunctionAndMethod)
      .Python("absolute(input)", kFunctionAndMethod);
  ops.Op("Sign")
      .Doc(
          "-1, 0 or 1 by the sign of x, of complex x the number of size 1 in its direction; nan "
          "for nan.")
      .In("x", kAny, "Any shape.")
      .Scalar([](Expr x) { return Unary(ScalarOp::kSign, x); })
      .Grad([](GradContext& g) {
        if (!IsComplex(g.in_type(0).dtype())) return Term{};
        // What turns it, over its size.
        Term y = g.out(), d = g.dout();
        Term along = CastTo(g.Call("Real", {Conjugate(y) * d}), y.dtype());
        Term size = CastTo(g.Call("Abs", {g.in(0)}), y.dtype());
        return g.Call("DivNoNan", {d - y * along, size});
      })
      .Python("sign(input)", kFunctionAndMethod);
  ops.Op("Square")
      .Doc("x * x.")
      .In("x", kNumber, "Any shape.")
      .Scalar([](Expr x) { return x * x; })
      .Grad([](GradContext& g) { return g.dout() * (Conjugate(g.in(0)) * 2.0); })
      .Python("square(input)", kFunctionAndMethod);
}

void DefineRounding(OpRegistry& ops) {
  auto define = [&](const char* name, ScalarOp op, const char* doc) -> OpDef& {
    return ops.Op(name)
        .Doc(doc)
        .In("x", kReal | kBoolean, "Any shape; integers come back as they are.")
        .Scalar([op](Expr x) { return IsFloating(x.dtype()) ? Unary(op, x) : x; })
        .Grad(ZeroGrad);
  };
  define("Floor", ScalarOp::kFloor, "The largest integer not above x.")
      .Python("floor(input)", kFunctionAndMethod);
  define("Ceil", ScalarOp::kCeil, "The smallest integer not below x.")
      .Python("ceil(input)", kFunctionAndMethod);
  define("Trunc", ScalarOp::kTrunc, "x rounded towards zero.")
      .Python("trunc(input)", kFunctionAndMethod);
  define("Round", ScalarOp::kRint, "The nearest integer; halves go to the even one.").Class("Rint");
}

// ---- derivatives of digamma -------------------------------------------------------------------
Expr Power(Expr x, int n) {
  Expr power = x;
  for (int i = 1; i < n; ++i) power = power * x;
  return power;
}

// For x > 0: the sum n! / (x + k)^(n + 1), and from y = x + shift on its asymptotic series
// (n - 1)! / y^n + n! / (2 y^(n + 1)) + the sum of B_2j (2j + n - 1)! / ((2j)! y^(2j + n)).
Expr PolygammaOfPositive(Expr x, int n) {
  const double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                              5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
  const int shift = 10 + n;
  Expr y = x + shift, inverse = 1.0 / y, square = inverse * inverse;
  Expr series = 0.5 * inverse + 1.0 / n;  // over n! / y^n
  Expr power = square;
  for (int j = 1; j <= 8; ++j) {
    double factor = bernoulli[j - 1] * std::tgamma(2 * j + n) / std::tgamma(2 * j + 1);
    series = series + power * (factor / std::tgamma(n + 1));
    power = power * square;
  }
  Expr sum = series * Power(inverse, n);
  for (int k = shift - 1; k >= 0; --k) sum = sum + Power(1.0 / (x + k), n + 1);
  return sum * (n % 2 == 0 ? -std::tgamma(n + 1) : std::tgamma(n + 1));
}

// pi times the n-th derivative of cot(pi x): pi^(n + 1) q(cot(pi x)), where cot' = -(1 + cot^2)
// makes the polynomial for n + 1 of that for n.
Expr CotangentDerivative(Expr x, int n) {
  std::vector<double> q{0, 1};
  for (int k = 0; k < n; ++k) {
    std::vector<double> next(q.size() + 1);
    for (size_t i = 1; i < q.size(); ++i) {
      next[i - 1] -= static_cast<double>(i) * q[i];
      next[i + 1] -= static_cast<double>(i) * q[i];
    }
    q = std::move(next);
  }
  Expr c = 1.0 / Unary(ScalarOp::kTan, (x - Floor(x)) * std::numbers::pi);
  Expr value = c * q.back() + q[q.size() - 2];
  for (size_t i = q.size() - 2; i-- > 0;) value = value * c + q[i];
  return value * std::pow(std::numbers::pi, n + 1);
}

Expr PolygammaBody(Expr x, int n) {
  Expr reflected = PolygammaOfPositive(1.0 - x, n);
  if (n % 2 == 1) reflected = -reflected;
  return Select(x < 0.5, reflected - CotangentDerivative(x, n), PolygammaOfPositive(x, n));
}

int OrderOf(ScalarTrace& t) {
  auto n = t.attr<int64_t>("n");
  if (n < 1 || n > 20) {
    Throw(ErrorKind::kValue, "For 'Polygamma', 'n' must be in [1, 20], but got {}.", n);
  }
  return static_cast<int>(n);
}

Term Polygamma(GradContext& g, int64_t n) { return g.Call("Polygamma", {g.in(0)}, {{"n", n}}); }

void DefineExponentials(OpRegistry& ops) {
  DefineUnary(ops, "Exp", ScalarOp::kExp, "e to the power of x.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * Conjugate(g.out()); })
      .Python("exp(input)", kFunctionAndMethod)
      .Python("tensor_exp(input)");
  DefineUnary(ops, "Expm1", ScalarOp::kExpm1, "exp(x) - 1, exact for small x.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * Conjugate(g.out() + 1.0); })
      .Python("expm1(input)", kFunctionAndMethod)
      .Python("tensor_expm1(input)");
  DefineUnary(ops, "Log", ScalarOp::kLog, "The natural logarithm; nan below 0.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() / Conjugate(g.in(0)); })
      .Python("log(input)", kFunctionAndMethod);
  DefineUnary(ops, "Log1p", ScalarOp::kLog1p, "log(1 + x), exact for small x.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() / Conjugate(g.in(0) + 1.0); })
      .Python("log1p(input)", kFunctionAndMethod);
  DefineUnary(ops, "Sqrt", ScalarOp::kSqrt, "The square root; nan below 0.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * 0.5 / Conjugate(g.out()); })
      .Python("sqrt(x)", kFunctionAndMethod);
  DefineUnary(ops, "Rsqrt", ScalarOp::kRsqrt, "1 / sqrt(x).", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * -0.5 * Conjugate(g.out() * g.out() * g.out()); })
      .Python("rsqrt(input)", kFunctionAndMethod);
  ops.Op("Reciprocal")
      .Doc("1 / x.")
      .In("x", kContinuous, "Any shape.")
      .Promote(Promotion::kFloating)
      .Scalar([](Expr x) { return 1.0 / x; })
      .Grad([](GradContext& g) { return -(g.dout() * Conjugate(g.out() * g.out())); })
      .Python("reciprocal(input)", kFunctionAndMethod)
      .Python("inv(x)", kFunctionAndMethod)
      .Class("Inv");
  const double scale = 2.0 * std::numbers::inv_sqrtpi;
  auto bell = [](GradContext& g) { return g.Call("Exp", {-(g.in(0) * g.in(0))}); };
  DefineUnary(ops, "Erf", ScalarOp::kErf, "The error function.")
      .Grad([=](GradContext& g) { return g.dout() * (bell(g) * scale); })
      .Python("erf(input)", kFunctionAndMethod);
  DefineUnary(ops, "Erfc", ScalarOp::kErfc, "1 - erf(x), exact for large x.")
      .Grad([=](GradContext& g) { return g.dout() * (bell(g) * -scale); })
      .Python("erfc(input)", kFunctionAndMethod);
  DefineUnary(ops, "Lgamma", ScalarOp::kLgamma,
              "The logarithm of the magnitude of the gamma function.")
      .Grad([](GradContext& g) { return g.dout() * g.Call("Digamma", {g.in(0)}); })
      .Python("lgamma(input)", kFunctionAndMethod);
  DefineUnary(ops, "Digamma", ScalarOp::kDigamma, "The derivative of lgamma.")
      .Grad([](GradContext& g) { return g.dout() * Polygamma(g, 1); })
      .Python("digamma(input)", kFunctionAndMethod);
  ops.Op("Polygamma")
      .Doc("The n-th derivative of digamma.")
      .In("x", kFloating, "Any shape.")
      .RequiredAttr<int64_t>("n", "At least 1 and at most 20.")
      .Python("polygamma(n, input)")
      .Class("Polygamma()(n, x)")
      .Scalar([](ScalarTrace& t) { return PolygammaBody(t.in(0), OrderOf(t)); })
      .Grad([](GradContext& g) { return g.dout() * Polygamma(g, g.attr<int64_t>("n") + 1); });
}

// ---- slopes of inverse functions ---------------------------------------------------------------
// They are made of 1 - x * x, of complex x by its factors: the square may overflow to nan, and its
// root is at times the negative of what is meant. Subtractions of real constants keep the sign of a
// zero imaginary part, which says on which side of a cut x lies.
Term OneLess(const Term& x) { return -(x - 1.0); }
Term OneMore(const Term& x) { return x - -1.0; }

Term InverseRoot(const Term& x) { return x.emitter->Call("Rsqrt", {x}); }

// i x, of which 1 + x * x is what 1 - x * x is of x.
Term Turned(const Term& x) {
  Emitter& e = *x.emitter;
  return e.Call("Complex", {-e.Call("Imag", {x}), e.Call("Real", {x})});
}

Term SlopeOfAsin(const Term& x) {
  if (!IsComplex(x.dtype())) return InverseRoot(1.0 - x * x);
  return Conjugate(InverseRoot(OneLess(x)) * InverseRoot(OneMore(x)));
}

Term SlopeOfAsinh(const Term& x) {
  return IsComplex(x.dtype()) ? SlopeOfAsin(Turned(x)) : InverseRoot(x * x + 1.0);
}

Term SlopeOfAcosh(const Term& x) {
  if (!IsComplex(x.dtype())) return InverseRoot(x * x - 1.0);
  return Conjugate(InverseRoot(x - 1.0) * InverseRoot(OneMore(x)));
}

Term AtanhGrad(const Term& x, const Term& dout) {
  if (!IsComplex(x.dtype())) return dout / (1.0 - x * x);
  return dout / Conjugate(OneLess(x)) / Conjugate(OneMore(x));
}

Term AtanGrad(const Term& x, const Term& dout) {
  return IsComplex(x.dtype()) ? AtanhGrad(Turned(x), dout) : dout / (x * x + 1.0);
}

void DefineTrigonometry(OpRegistry& ops) {
  DefineUnary(ops, "Sin", ScalarOp::kSin, "The sine of x in radians.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * Conjugate(g.Call("Cos", {g.in(0)})); })
      .Python("sin(input)", kFunctionAndMethod);
  DefineUnary(ops, "Cos", ScalarOp::kCos, "The cosine of x in radians.", kContinuous)
      .Grad([](GradContext& g) { return -(g.dout() * Conjugate(g.Call("Sin", {g.in(0)}))); })
      .Python("cos(input)", kFunctionAndMethod);
  DefineUnary(ops, "Tan", ScalarOp::kTan, "The tangent of x in radians.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * Conjugate(g.out() * g.out() + 1.0); })
      .Python("tan(input)", kFunctionAndMethod);
  DefineUnary(ops, "Asin", ScalarOp::kAsin, "The angle in [-pi/2, pi/2] whose sine is x.",
              kContinuous)
      .Grad([](GradContext& g) { return g.dout() * SlopeOfAsin(g.in(0)); })
      .Python("asin(input)", kFunctionAndMethod)
      .Python("arcsin(x)", kFunctionAndMethod);
  DefineUnary(ops, "ACos", ScalarOp::kAcos, "The angle in [0, pi] whose cosine is x.", kContinuous)
      .Grad([](GradContext& g) { return -(g.dout() * SlopeOfAsin(g.in(0))); })
      .Python("acos(input)", kFunctionAndMethod)
      .Python("arccos(input)", kFunctionAndMethod);
  DefineUnary(ops, "Atan", ScalarOp::kAtan, "The angle in (-pi/2, pi/2) whose tangent is x.",
              kContinuous)
      .Grad([](GradContext& g) { return AtanGrad(g.in(0), g.dout()); })
      .Python("atan(input)", kFunctionAndMethod)
      .Python("arctan(input)", kFunctionAndMethod);
}

void DefineHyperbolic(OpRegistry& ops) {
  DefineUnary(ops, "Sinh", ScalarOp::kSinh, "The hyperbolic sine.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * Conjugate(g.Call("Cosh", {g.in(0)})); })
      .Python("sinh(input)", kFunctionAndMethod);
  DefineUnary(ops, "Cosh", ScalarOp::kCosh, "The hyperbolic cosine.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * Conjugate(g.Call("Sinh", {g.in(0)})); })
      .Python("cosh(input)", kFunctionAndMethod);
  DefineUnary(ops, "Tanh", ScalarOp::kTanh, "The hyperbolic tangent.", kContinuous)
      .Grad([](GradContext& g) {
        Term y = g.out();
        if (IsComplex(y.dtype())) return g.dout() * Conjugate(1.0 - y * y);
        return g.Call("TanhGrad", {y, g.dout()});
      })
      .Joins({.name = "tanh"})
      .Python("tanh(input)", kFunctionAndMethod);
  ops.Op("TanhGrad")
      .Internal()
      .Doc("dy * (1 - y * y): the gradient of tanh by its value y.")
      .In("y", kFloating)
      .In("dy", kFloating)
      .Promote()
      .Scalar([](Expr y, Expr dy) { return dy * (1.0 - y * y); })
      .Grad([](GradContext& g) {
        return Terms{g.dout() * g.in(1) * g.in(0) * -2.0, g.Call("TanhGrad", {g.in(0), g.dout()})};
      });
  DefineUnary(ops, "Asinh", ScalarOp::kAsinh, "The inverse of sinh.", kContinuous)
      .Grad([](GradContext& g) { return g.dout() * SlopeOfAsinh(g.in(0)); })
      .Python("asinh(input)", kFunctionAndMethod)
      .Python("arcsinh(input)", kFunctionAndMethod);
  DefineUnary(ops, "Acosh", ScalarOp::kAcosh, "The inverse of cosh on [1, inf); nan below 1.",
              kContinuous)
      .Grad([](GradContext& g) { return g.dout() * SlopeOfAcosh(g.in(0)); })
      .Python("acosh(input)", kFunctionAndMethod)
      .Python("arccosh(input)", kFunctionAndMethod);
  DefineUnary(ops, "Atanh", ScalarOp::kAtanh, "The inverse of tanh on [-1, 1].", kContinuous)
      .Grad([](GradContext& g) { return AtanhGrad(g.in(0), g.dout()); })
      .Python("atanh(input)", kFunctionAndMethod)
      .Python("arctanh(input)", kFunctionAndMethod);
}

Expr Part(Expr x, ScalarOp op) {
  if (!IsComplex(x.dtype())) return op == ScalarOp::kReal ? x : x.trace->Constant(0, x.dtype());
  DType t = x.dtype() == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  return x.trace->Add(op, t, {x});
}

void DefineComplexParts(OpRegistry& ops) {
  ops.Op("Real")
      .Doc("The real part.")
      .In("x", kNumber)
      .Scalar([](Expr x) { return Part(x, ScalarOp::kReal); })
      .Grad([](GradContext& g) { return CastTo(g.dout(), g.in_type(0).dtype()); })
      .Python("real(input)", kFunctionAndMethod);
  ops.Op("Imag")
      .Doc("The imaginary part.")
      .In("x", kNumber)
      .Scalar([](Expr x) { return Part(x, ScalarOp::kImag); })
      .Grad([](GradContext& g) {
        if (!IsComplex(g.in_type(0).dtype())) return Term{};
        return g.Call("Complex", {ZerosLike(g.dout()), g.dout()});
      })
      .Python("imag(input)", kFunctionAndMethod);
  ops.Op("Complex")
      .Doc("Complex numbers from their parts.")
      .In("real", One(DType::kFloat32) | One(DType::kFloat64),
          "Any shape that broadcasts with imag.")
      .In("imag", One(DType::kFloat32) | One(DType::kFloat64),
          "Any shape that broadcasts with real.")
      .Promote()
      .Scalar([](Expr re, Expr im) {
        DType t = re.dtype() == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
        return re.trace->Add(ScalarOp::kComplex, t, {re, im});
      })
      .Grad([](GradContext& g) {
        return Terms{SumTo(g.Call("Real", {g.dout()}), g.in_type(0).shape()),
                     SumTo(g.Call("Imag", {g.dout()}), g.in_type(1).shape())};
      });
  ops.Op("Conj")
      .Doc("The complex conjugate.")
      .In("x", kNumber)
      .Scalar([](Expr x) { return IsComplex(x.dtype()) ? Unary(ScalarOp::kConj, x) : x; })
      .Grad([](GradContext& g) { return Conjugate(g.dout()); })
      .Python("conj(input)", kFunctionAndMethod);
}

}  // namespace

void DefineFunctions(OpRegistry& ops) {
  DefineSigns(ops);
  DefineRounding(ops);
  DefineExponentials(ops);
  DefineTrigonometry(ops);
  DefineHyperbolic(ops);
  DefineComplexParts(ops);
}

}  // namespace ms
