// Gradients of the common activations as ops of their own: one pass over memory instead of three or
// four.
#include <numbers>

#include "ops/elementwise.h"

namespace ms {
namespace {

// An op of (dy, x) that gives dy times a slope in x: linear in dy.
OpDef& SlopeOp(OpRegistry& ops, const char* name, const char* doc) {
  return ops.Op(name)
      .Internal()
      .Doc(doc)
      .In("dy", kFloating, "The gradient that arrives.")
      .In("x", kFloating, "What the activation was applied to.")
      .Promote();
}

void DefineSlopes(OpRegistry& ops) {
  ops.Op("ReluGrad")
      .Internal()
      .Doc("dy where y, the value of ReLU, is positive, else 0.")
      .In("dy", kReal)
      .In("y", kReal)
      .Promote()
      .Scalar([](Expr dy, Expr y) { return Select(y > 0.0, dy, 0.0); })
      .Grad([](GradContext& g) { return g.Call("ReluGrad", {g.dout(), g.in(1)}); });
  SlopeOp(ops, "ReLU6Grad", "dy where x is in (0, 6], else 0.")
      .Scalar([](Expr dy, Expr x) { return Select((x > 0.0) & (x <= 6.0), dy, 0.0); })
      .Grad([](GradContext& g) { return g.Call("ReLU6Grad", {g.dout(), g.in(1)}); });
  SlopeOp(ops, "LeakyReLUGrad", "dy where x is positive, elsewhere alpha * dy.")
      .WithAttr("alpha", 0.2, "The slope below 0.")
      .Scalar([](ScalarTrace& t) {
        return Select(t.in(1) > 0.0, t.in(0), t.in(0) * t.attr<double>("alpha"));
      })
      .Grad([](GradContext& g) {
        return g.Call("LeakyReLUGrad", {g.dout(), g.in(1)}, {{"alpha", g.attr<double>("alpha")}});
      });
  // At the corners HSigmoid is flat, HSwish is not: so their slopes have always been.
  SlopeOp(ops, "HSigmoidGrad", "dy / 6 where x is inside (-3, 3), else 0.")
      .Scalar([](Expr dy, Expr x) { return Select((x > -3.0) & (x < 3.0), dy * (1.0 / 6), 0.0); })
      .Grad([](GradContext& g) { return g.Call("HSigmoidGrad", {g.dout(), g.in(1)}); });
  SlopeOp(ops, "HSwishGrad", "The gradient of x * hardsigmoid(x).")
      .Scalar([](Expr dy, Expr x) {
        Expr outside = Select(x > 0.0, dy, dy * 0.0);
        return Select((x >= -3.0) & (x <= 3.0), dy * (x * (1.0 / 3) + 0.5), outside);
      })
      .Grad([](GradContext& g) {
        Term x = g.in(1);
        Term curved =
            g.Call("LogicalAnd", {Compare("GreaterEqual", x, -3), Compare("LessEqual", x, 3)});
        return Terms{g.Call("HSwishGrad", {g.dout(), x}),
                     Where(curved, g.dout() * g.in(0) * (1.0 / 3), 0.0)};
      });
  ops.Op("SigmoidGrad")
      .Internal()
      .Doc("dy * y * (1 - y): the gradient of the logistic function by its value y.")
      .In("y", kFloating)
      .In("dy", kFloating)
      .Promote()
      .Scalar([](Expr y, Expr dy) { return dy * (y * (1.0 - y)); })
      .Grad([](GradContext& g) {
        return Terms{g.dout() * g.in(1) * (1.0 - g.in(0) * 2.0),
                     g.Call("SigmoidGrad", {g.in(0), g.dout()})};
      });
  SlopeOp(ops, "SiLUGrad", "The gradient of x * sigmoid(x).")
      .Scalar([](Expr dy, Expr x) {
        Expr s = Sigmoid(x);
        return dy * (s * (x * (1.0 - s) + 1.0));
      })
      .Grad([](GradContext& g) {
        Term x = g.in(1);
        Term s = g.Call("Sigmoid", {x});
        Term curve = s * (1.0 - s) * (x * (1.0 - s * 2.0) + 2.0);
        return Terms{g.Call("SiLUGrad", {g.dout(), x}), g.dout() * g.in(0) * curve};
      });
}

constexpr double kScale = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kCubic = 0.044715;
constexpr double kDensity = 0.3989422804014327;  // 1 / sqrt(2 pi)

Expr GeluSlope(ScalarTrace& t) {
  Expr dy = t.in(0);
  Expr x = t.in(1);
  Expr square = x * x;
  if (t.attr<std::string>("approximate") == "tanh") {
    // As in the op itself, so that a kernel of both has one hyperbolic tangent.
    Expr y = Tanh((x + square * x * kCubic) * kScale);
    Expr inner = (square * (3 * kCubic) + 1.0) * kScale;
    return dy * ((y + 1.0) * 0.5 + x * 0.5 * (1.0 - y * y) * inner);
  }
  Expr density = Exp(square * -0.5) * kDensity;
  return dy * ((Erf(x * (1 / std::numbers::sqrt2)) + 1.0) * 0.5 + x * density);
}

// The second derivative of GeLU at x.
Term GeluCurve(GradContext& g, const Term& x) {
  Term square = x * x;
  if (g.attr<std::string>("approximate") != "tanh") {
    return g.Call("Exp", {square * -0.5}) * kDensity * (2.0 - square);
  }
  Term y = g.Call("Tanh", {(x + square * x * kCubic) * kScale});
  Term inner = (square * (3 * kCubic) + 1.0) * kScale;
  Term drop = 1.0 - y * y;
  Term bend = x * (6 * kCubic * kScale) - y * inner * inner * 2.0;
  return drop * (inner + x * 0.5 * bend);
}

}  // namespace

void DefineActivationGrads(OpRegistry& ops) {
  DefineSlopes(ops);
  SlopeOp(ops, "GeLUGrad", "The gradient of GeLU.")
      .WithAttr("approximate", "tanh", "As in GeLU.")
      .Scalar(GeluSlope)
      .Grad([](GradContext& g) {
        Term dx = g.Call("GeLUGrad", {g.dout(), g.in(1)},
                         {{"approximate", g.attr<std::string>("approximate")}});
        return Terms{dx, g.dout() * g.in(0) * GeluCurve(g, g.in(1))};
      });
}

}  // namespace ms
