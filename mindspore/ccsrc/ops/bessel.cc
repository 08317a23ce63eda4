// Bessel functions and the inverse error function as scalar bodies. They are computed in Float64,
// by Chebyshev series near the origin and by those of the asymptotic forms far from it.
#include <limits>
#include <numbers>

#include "ops/all.h"
#include "ops/elementwise.h"
#include "ops/special_coefficients.h"

namespace ms {
namespace {

using namespace special;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The sum of c[k] T_k(t), by Clenshaw's recurrence.
template <size_t N>
Expr Chebyshev(const double (&c)[N], Expr t) {
  Expr twice = t * 2, next = t.trace->Constant(c[N - 1], DType::kFloat64), after = next * 0;
  for (size_t k = N - 2; k > 0; --k) {
    Expr now = twice * next - after + c[k];
    after = next;
    next = now;
  }
  return t * next - after + c[0];
}

// A body that computes in Float64 and rounds once.
template <Expr (*f)(Expr)>
Expr Wide(Expr x) {
  return Cast(f(Cast(x, DType::kFloat64)), x.dtype());
}

// ---- modified functions of the first kind
template <size_t N, size_t M>
Expr ScaledI(const double (&near)[N], const double (&far)[M], Expr size, bool odd) {
  Expr inside = Chebyshev(near, size * 0.25 - 1);
  Expr outside = Chebyshev(far, 16 / size - 1) / Sqrt(size);
  return Select(size <= 8, odd ? inside * size : inside, outside);
}
Expr OddLike(Expr value, Expr x) { return Select(x < 0, -value, value); }
// exp(size) times a scaled value, also where the factors are inf and 0.
Expr Unscaled(Expr scaled, Expr size) {
  return Select(size > 1e300, kInfinity, Exp(size) * scaled);
}

Expr I0e(Expr x) { return ScaledI(kI0Near, kI0Far, Abs(x), false); }
Expr I1e(Expr x) { return OddLike(ScaledI(kI1Near, kI1Far, Abs(x), true), x); }
Expr I0(Expr x) { return Unscaled(I0e(x), Abs(x)); }
Expr I1(Expr x) { return OddLike(Unscaled(ScaledI(kI1Near, kI1Far, Abs(x), true), Abs(x)), x); }

// ---- of the second kind: nan below 0, inf at 0
Expr K0Near(Expr x) {
  Expr t = x * x * 0.5 - 1;
  return Chebyshev(kK0Near, t) - Log(x * 0.5) * Chebyshev(kI0Series, t);
}
Expr K1Near(Expr x) {
  Expr t = x * x * 0.5 - 1;
  Expr value = Chebyshev(kK1Near, t) / x + Log(x * 0.5) * (Chebyshev(kI1Series, t) * x);
  return Select(x == 0, kInfinity, value);
}
Expr K0Far(Expr x) { return Chebyshev(kK0Far, 4 / x - 1) / Sqrt(x); }
Expr K1Far(Expr x) { return Chebyshev(kK1Far, 4 / x - 1) / Sqrt(x); }
Expr K0(Expr x) { return Select(x > 2, Exp(-x) * K0Far(x), K0Near(x)); }
Expr K1(Expr x) { return Select(x > 2, Exp(-x) * K1Far(x), K1Near(x)); }
Expr K0e(Expr x) { return Select(x > 2, K0Far(x), Exp(x) * K0Near(x)); }
Expr K1e(Expr x) { return Select(x > 2, K1Far(x), Exp(x) * K1Near(x)); }

// ---- oscillating functions: far from the origin sqrt(2 / (pi x)) (P cos(x - s) - Q sin(x - s))
// and (P sin(x - s) + Q cos(x - s)), where s is pi / 4 for order 0 and 3 pi / 4 for order 1.
struct Far {
  Expr p, q, sine, cosine, scale;  // of x - s, times sqrt(2)
};
template <size_t N, size_t M>
Far FarOf(const double (&p)[N], const double (&q)[M], Expr x, int order) {
  Expr t = 128 / (x * x) - 1, s = Unary(ScalarOp::kSin, x), c = Unary(ScalarOp::kCos, x);
  Expr sine = order == 0 ? s - c : -(s + c), cosine = order == 0 ? s + c : s - c;
  return {Chebyshev(p, t), Chebyshev(q, t) / x, sine, cosine,
          Unary(ScalarOp::kRsqrt, x * std::numbers::pi)};
}
Expr FirstKind(const Far& f) { return f.scale * (f.p * f.cosine - f.q * f.sine); }
Expr SecondKind(const Far& f) { return f.scale * (f.p * f.sine + f.q * f.cosine); }

Expr J0Near(Expr x) { return Chebyshev(kJ0Near, x * x / 32 - 1); }
Expr J1Near(Expr x) { return Chebyshev(kJ1Near, x * x / 32 - 1) * x; }
Expr J0(Expr x) {
  Expr size = Abs(x);
  return Select(size <= 8, J0Near(size), FirstKind(FarOf(kP0, kQ0, size, 0)));
}
Expr J1(Expr x) {
  Expr size = Abs(x);
  return OddLike(Select(size <= 8, J1Near(size), FirstKind(FarOf(kP1, kQ1, size, 1))), x);
}
constexpr double kTwoOverPi = 2 * std::numbers::inv_pi;
Expr Y0(Expr x) {
  Expr near = Chebyshev(kY0Near, x * x / 32 - 1) + Log(x) * J0Near(x) * kTwoOverPi;
  return Select(x > 8, SecondKind(FarOf(kP0, kQ0, x, 0)), near);
}
Expr Y1(Expr x) {
  Expr near = Chebyshev(kY1Near, x * x / 32 - 1) * x + (Log(x) * J1Near(x) - 1 / x) * kTwoOverPi;
  near = Select(x == 0, -kInfinity, near);
  return Select(x > 8, SecondKind(FarOf(kP1, kQ1, x, 1)), near);
}

// Two steps of Newton's method, of Halley's form, from a series in the logarithm of 1 - x^2. Where
// erf is near 1 the step is made of erfc, which is exact there.
Expr Erfinv(Expr x) {
  Expr size = Abs(x), w = -Log((1 - size) * (1 + size));
  Expr near = Chebyshev(kErfinvNear, w * 0.4 - 1) * size;
  const double low = std::sqrt(5.0), width = 7 - low;
  Expr far = Chebyshev(kErfinvFar, (Sqrt(Max(w, 0)) - low) * (2 / width) - 1);
  Expr y = Select(w <= 5, near, far);
  for (int step = 0; step < 2; ++step) {
    Expr error = Select(size < 0.5, Erf(y) - size, (1 - size) - Unary(ScalarOp::kErfc, y));
    Expr u = error * Exp(y * y) * (0.5 / std::numbers::inv_sqrtpi);
    y = y - u / (1 + y * u);
  }
  y = Select(size == 1, kInfinity, y);
  y = Select(size > 1, std::numeric_limits<double>::quiet_NaN(), y);
  return Select(x < 0, -y, y);
}

Term Of(GradContext& g, const char* op) { return g.Call(op, {g.in(0)}); }
Term Sign(GradContext& g) { return g.Call("Sign", {g.in(0)}); }
// y / x for an odd function y, whose limit at 0 is a half.
Term OverX(GradContext& g) {
  Term zero = Compare("Equal", g.in(0), 0);
  return Where(zero, 0.5 * (g.in(0) + 1.0), g.out() / Where(zero, g.in(0) + 1.0, g.in(0)));
}

void DefineModified(OpRegistry& ops) {
  auto define = [&](const char* name, Expr (*body)(Expr), const char* doc) -> OpDef& {
    return ops.Op(name)
        .Doc(doc)
        .In("x", kFloating, "Any shape.")
        .Promote(Promotion::kFloating)
        .Scalar([body](Expr x) { return body(x); });
  };
  define("BesselI0", Wide<I0>, "The modified Bessel function of the first kind of order 0.")
      .Grad([](GradContext& g) { return g.dout() * Of(g, "BesselI1"); })
      .Python("bessel_i0(x)")
      .Python("i0(input)", kFunctionAndMethod);
  define("BesselI0e", Wide<I0e>, "exp(-|x|) times the modified Bessel function I0.")
      .Grad([](GradContext& g) { return g.dout() * (Of(g, "BesselI1e") - Sign(g) * g.out()); })
      .Python("bessel_i0e(x)");
  define("BesselI1", Wide<I1>, "The modified Bessel function of the first kind of order 1.")
      .Grad([](GradContext& g) { return g.dout() * (Of(g, "BesselI0") - OverX(g)); })
      .Python("bessel_i1(x)");
  define("BesselI1e", Wide<I1e>, "exp(-|x|) times the modified Bessel function I1.")
      .Grad([](GradContext& g) {
        return g.dout() * (Of(g, "BesselI0e") - Sign(g) * g.out() - OverX(g));
      })
      .Python("bessel_i1e(x)");
  define("BesselK0", Wide<K0>, "The modified Bessel function of the second kind of order 0.")
      .Grad([](GradContext& g) { return -(g.dout() * Of(g, "BesselK1")); })
      .Python("bessel_k0(x)");
  define("BesselK0e", Wide<K0e>, "exp(x) times the modified Bessel function K0.")
      .Grad([](GradContext& g) { return g.dout() * (g.out() - Of(g, "BesselK1e")); })
      .Python("bessel_k0e(x)");
  define("BesselK1", Wide<K1>, "The modified Bessel function of the second kind of order 1.")
      .Grad([](GradContext& g) { return -(g.dout() * (Of(g, "BesselK0") + g.out() / g.in(0))); })
      .Python("bessel_k1(x)");
  define("BesselK1e", Wide<K1e>, "exp(x) times the modified Bessel function K1.")
      .Grad([](GradContext& g) {
        return g.dout() * (g.out() - g.out() / g.in(0) - Of(g, "BesselK0e"));
      })
      .Python("bessel_k1e(x)");
}

void DefineOscillating(OpRegistry& ops) {
  auto define = [&](const char* name, Expr (*body)(Expr), const char* doc) -> OpDef& {
    return ops.Op(name)
        .Doc(doc)
        .In("x", kFloating, "Any shape.")
        .Promote(Promotion::kFloating)
        .Scalar([body](Expr x) { return body(x); });
  };
  define("BesselJ0", Wide<J0>, "The Bessel function of the first kind of order 0.")
      .Grad([](GradContext& g) { return -(g.dout() * Of(g, "BesselJ1")); })
      .Python("bessel_j0(x)");
  define("BesselJ1", Wide<J1>, "The Bessel function of the first kind of order 1.")
      .Grad([](GradContext& g) { return g.dout() * (Of(g, "BesselJ0") - OverX(g)); })
      .Python("bessel_j1(x)");
  define("BesselY0", Wide<Y0>, "The Bessel function of the second kind of order 0.")
      .Grad([](GradContext& g) { return -(g.dout() * Of(g, "BesselY1")); })
      .Python("bessel_y0(x)");
  define("BesselY1", Wide<Y1>, "The Bessel function of the second kind of order 1.")
      .Grad([](GradContext& g) { return g.dout() * (Of(g, "BesselY0") - g.out() / g.in(0)); })
      .Python("bessel_y1(x)");
  define("Erfinv", Wide<Erfinv>, "The inverse of erf on (-1, 1).")
      .Grad([](GradContext& g) {
        const double half = 0.5 / std::numbers::inv_sqrtpi;
        return g.dout() * (g.Call("Exp", {g.out() * g.out()}) * half);
      })
      .Python("erfinv(input)", kFunctionAndMethod);
}

}  // namespace

void DefineBessel(OpRegistry& ops) {
  DefineModified(ops);
  DefineOscillating(ops);
}

}  // namespace ms
