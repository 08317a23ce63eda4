// Activation functions. The common ones have a gradient op of one pass over memory.
#include <numbers>

#include "ops/all.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/shard.h"

namespace ms {
namespace {

Expr Softplus(Expr x) { return Max(x, 0.0) + Log1p(Exp(-Abs(x))); }

// A floating activation: its declaration up to the body.
OpDef& Activation(OpRegistry& ops, const char* name, const char* doc, DTypeSet types = kFloating) {
  return ops.Op(name).Doc(doc).In("x", types, "Any shape.").Promote(Promotion::kFloating);
}

void DefineRelu(OpRegistry& ops) {
  ops.Op("ReLU")
      .Doc("max(x, 0). The gradient at 0 is 0.")
      .In("x", kReal | kBoolean, "Any shape.")
      .Scalar([](Expr x) { return IsBool(x.dtype()) ? x : Max(x, 0.0); })
      .Grad([](GradContext& g) { return g.Call("ReluGrad", {g.dout(), g.out()}); })
      .Joins({.name = "relu", .cheap = true})
      .Python("relu(input)");
  ops.Op("ReLU6")
      .Doc("x cut to [0, 6].")
      .In("x", kFloating, "Any shape.")
      .Promote(Promotion::kFloating)
      .Scalar([](Expr x) { return Min(Max(x, 0.0), 6.0); })
      .Grad([](GradContext& g) { return g.Call("ReLU6Grad", {g.dout(), g.in(0)}); })
      .Joins({.name = "relu6", .cheap = true})
      .Python("relu6(x)");
  Activation(ops, "LeakyReLU", "x where it is positive, elsewhere alpha * x.")
      .WithAttr("alpha", 0.2, "The slope below 0.")
      .Scalar([](ScalarTrace& t) {
        return Select(t.in(0) > 0.0, t.in(0), t.in(0) * t.attr<double>("alpha"));
      })
      .Grad([](GradContext& g) {
        return g.Call("LeakyReLUGrad", {g.dout(), g.in(0)}, {{"alpha", g.attr<double>("alpha")}});
      })
      .Python("leaky_relu(input, alpha)");
}

Type InferPrelu(InferContext& c) {
  c.CheckSameDType(0, 1);
  c.CheckRank(1, 1);
  Dim channels = c.rank(0) >= 2 ? c.dim(0, 1) : Dim(1);
  Dim slopes = c.dim(1, 0);
  c.Check(slopes == 1 || slopes == channels,
          "the size of 'weight' must be 1 or the channels of 'x' ({}), but got {}", channels,
          slopes);
  return c.Like(0, c.shape(0));
}

// The shape in which the weight broadcasts along axis 1 of x.
Shape SlopeShape(const Shape& x, const Shape& weight) {
  Dims shape(static_cast<size_t>(x.rank()), 1);
  if (x.rank() >= 2) shape[1] = weight.elements();
  return Shape(shape);
}

void DefinePrelu(OpRegistry& ops) {
  ops.Op("PReLU")
      .Doc("x where it is positive, elsewhere the weight of its channel times x.")
      .In("x", kFloating, "Channels are axis 1.")
      .In("weight", kFloating, "[1] or [channels].")
      .Batch(batch::ChannelSlope)
      .Shard(shard::ChannelSlope)
      .Infer(InferPrelu)
      .Grad([](GradContext& g) {
        Term x = g.in(0);
        Term positive = Compare("Greater", x, 0);
        Shape shape = SlopeShape(x.shape(), g.in_type(1).shape());
        Term slope = Reshape(g.in(1), shape);
        Term d = g.dout();
        Term zero = g.emitter().Scalar(0, d.dtype());
        Term dw = SumTo(Where(positive, zero, d * x), shape);
        return Terms{Where(positive, d, d * slope), Reshape(dw, g.in_type(1).shape())};
      })
      .Python("prelu(input, weight)");
}

void DefineSigmoids(OpRegistry& ops) {
  DefineUnary(ops, "Sigmoid", ScalarOp::kSigmoid, "1 / (1 + exp(-x)).", kContinuous)
      .Grad([](GradContext& g) {
        Term y = g.out();
        if (IsComplex(y.dtype())) return g.dout() * Conjugate(y * (1.0 - y));
        return g.Call("SigmoidGrad", {y, g.dout()});
      })
      .Joins({.name = "sigmoid"})
      .Python("sigmoid(input)", kFunctionAndMethod);
  Activation(ops, "LogSigmoid", "log(sigmoid(x)), exact for large |x| of real x.", kContinuous)
      .Scalar([](Expr x) { return IsComplex(x.dtype()) ? Log(Sigmoid(x)) : -Softplus(-x); })
      .Grad([](GradContext& g) { return g.dout() * Conjugate(g.Call("Sigmoid", {-g.in(0)})); })
      .Python("logsigmoid(x)");
  Activation(ops, "Softplus", "log(1 + exp(x)), without overflow.")
      .Scalar(Softplus)
      .Grad([](GradContext& g) { return g.dout() * g.Call("Sigmoid", {g.in(0)}); });
  Activation(ops, "Softsign", "x / (1 + |x|).")
      .Scalar([](Expr x) { return x / (Abs(x) + 1.0); })
      .Grad([](GradContext& g) {
        Term size = g.Call("Abs", {g.in(0)}) + 1.0;
        return g.dout() / (size * size);
      })
      .Python("softsign(x)");
  Activation(ops, "SiLU", "x * sigmoid(x).", kContinuous)
      .Scalar([](Expr x) { return x * Sigmoid(x); })
      .Joins({.name = "silu"})
      .Grad([](GradContext& g) {
        Term x = g.in(0);
        if (!IsComplex(x.dtype())) return g.Call("SiLUGrad", {g.dout(), x});
        Term s = g.Call("Sigmoid", {x});
        return g.dout() * Conjugate(s * (x * (1.0 - s) + 1.0));
      })
      .Python("silu(input)");
  Activation(ops, "Mish", "x * tanh(softplus(x)).")
      .Scalar([](Expr x) { return x * Tanh(Softplus(x)); })
      .Grad([](GradContext& g) {
        Term t = g.Call("Tanh", {g.Call("Softplus", {g.in(0)})});
        return g.dout() * (t + g.in(0) * (1.0 - t * t) * g.Call("Sigmoid", {g.in(0)}));
      })
      .Python("mish(x)");
}

void DefineExponentialUnits(OpRegistry& ops) {
  Activation(ops, "Elu", "x where it is positive, elsewhere alpha * (exp(x) - 1).")
      .WithAttr("alpha", 1.0, "Minus the limit far below 0.")
      .Scalar([](ScalarTrace& t) {
        Expr x = t.in(0);
        return Select(x > 0.0, x, Unary(ScalarOp::kExpm1, x) * t.attr<double>("alpha"));
      })
      .Grad([](GradContext& g) {
        // The branch not taken sees 0, so that large x overflows neither here nor in higher orders.
        Term positive = Compare("Greater", g.in(0), 0);
        Term below = g.Call("Minimum", {g.in(0), ZerosLike(g.in(0))});
        return Where(positive, g.dout(),
                     g.dout() * g.Call("Exp", {below}) * g.attr<double>("alpha"));
      })
      .Python("elu(input_x, alpha)");
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  Activation(ops, "SeLU",
             "The self-normalising unit: scale * (x if x > 0 else alpha * (exp(x) - 1)).")
      .Scalar([=](Expr x) {
        return Select(x > 0.0, x * kScale, Unary(ScalarOp::kExpm1, x) * (kScale * kAlpha));
      })
      .Grad([=](GradContext& g) {
        Term below = g.Call("Minimum", {g.in(0), ZerosLike(g.in(0))});
        Term slope = g.Call("Exp", {below}) * (kScale * kAlpha);
        return Where(Compare("Greater", g.in(0), 0), g.dout() * kScale, g.dout() * slope);
      })
      .Python("selu(input_x)");
}

void DefineHardUnits(OpRegistry& ops) {
  Activation(ops, "HSigmoid", "(x + 3) / 6 cut to [0, 1].")
      .Scalar([](Expr x) { return Min(Max(x + 3.0, 0.0), 6.0) / 6.0; })
      .Grad([](GradContext& g) { return g.Call("HSigmoidGrad", {g.dout(), g.in(0)}); })
      .Python("hardsigmoid(input)");
  Activation(ops, "HSwish", "x * hardsigmoid(x).")
      .Scalar([](Expr x) { return x * (Min(Max(x + 3.0, 0.0), 6.0) / 6.0); })
      .Joins({.name = "hswish", .cheap = true})
      .Grad([](GradContext& g) { return g.Call("HSwishGrad", {g.dout(), g.in(0)}); })
      .Python("hardswish(input)");
}

void DefineShrinks(OpRegistry& ops) {
  auto check = [](InferContext& c) {
    c.Check(c.attr<double>("lambd") >= 0, "'lambd' must not be negative, but got {}",
            c.attr<double>("lambd"));
    return Type(c.in(0));
  };
  Activation(ops, "HShrink", "x, but 0 where |x| <= lambd.")
      .WithAttr("lambd", 0.5, "The size up to which x becomes 0.")
      .Scalar([](ScalarTrace& t) {
        return Select(Abs(t.in(0)) <= t.attr<double>("lambd"), 0.0, t.in(0));
      })
      .Grad([](GradContext& g) {
        Term kept = Compare("Greater", g.Call("Abs", {g.in(0)}), g.attr<double>("lambd"));
        return Where(kept, g.dout(), 0.0);
      })
      .Python("hardshrink(input, lambd)", kFunctionAndMethod);
  Activation(ops, "SoftShrink", "x moved by lambd towards 0, and 0 where |x| <= lambd.")
      .WithAttr("lambd", 0.5, "The size up to which x becomes 0.")
      .Infer(check)
      .Scalar([](ScalarTrace& t) {
        double bound = t.attr<double>("lambd");
        return t.in(0) - Min(Max(t.in(0), -bound), bound);
      })
      .Grad([](GradContext& g) {
        Term kept = Compare("Greater", g.Call("Abs", {g.in(0)}), g.attr<double>("lambd"));
        return Where(kept, g.dout(), 0.0);
      })
      .Python("soft_shrink(input, lambd)")
      .Python("softshrink(input, lambd)");
  Activation(ops, "CeLU", "x where it is positive, elsewhere alpha * (exp(x / alpha) - 1).")
      .WithAttr("alpha", 1.0, "Minus the limit far below 0.")
      .Infer([](InferContext& c) {
        c.Check(c.attr<double>("alpha") != 0, "'alpha' must not be 0, but got 0");
        return Type(c.in(0));
      })
      .Scalar([](ScalarTrace& t) {
        double alpha = t.attr<double>("alpha");
        return Select(t.in(0) > 0.0, t.in(0), Unary(ScalarOp::kExpm1, t.in(0) / alpha) * alpha);
      })
      .Grad([](GradContext& g) {
        Term below = g.Call("Minimum", {g.in(0), ZerosLike(g.in(0))});
        Term slope = g.Call("Exp", {below / g.attr<double>("alpha")});
        return Where(Compare("Greater", g.in(0), 0), g.dout(), g.dout() * slope);
      })
      .Python("celu(x, alpha)");
}

constexpr double kTanhScale = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kTanhCubic = 0.044715;

Expr GeluBody(ScalarTrace& t) {
  Expr x = t.in(0);
  if (t.attr<std::string>("approximate") == "tanh") {
    return x * 0.5 * (Tanh((x + x * x * x * kTanhCubic) * kTanhScale) + 1.0);
  }
  return x * 0.5 * (Erf(x * (1 / std::numbers::sqrt2)) + 1.0);
}

void CheckApproximate(InferContext& c) {
  const auto& mode = c.attr<std::string>("approximate");
  c.Check(mode == "tanh" || mode == "none", "'approximate' must be 'none' or 'tanh', but got '{}'",
          mode);
}

void DefineGelu(OpRegistry& ops) {
  Activation(ops, "GeLU", "x times the normal distribution function of x.")
      .WithAttr("approximate", "tanh", "'none': exact; 'tanh': by a tanh of a cubic.")
      .Infer([](InferContext& c) {
        CheckApproximate(c);
        return Type(c.in(0));
      })
      .Scalar(GeluBody)
      .Grad([](GradContext& g) {
        return g.Call("GeLUGrad", {g.dout(), g.in(0)},
                      {{"approximate", g.attr<std::string>("approximate")}});
      })
      .Joins({.name = "gelu", .attr = "approximate", .value = "none"})
      .Joins({.name = "gelu_tanh", .attr = "approximate", .value = "tanh"})
      .Class("GeLU()(input)")
      .Class("Gelu");
  Activation(ops, "FastGeLU", "x * sigmoid(1.702 * x), near to GeLU.")
      .Scalar([](Expr x) { return x * Sigmoid(x * 1.702); })
      .Grad([](GradContext& g) {
        Term s = g.Call("Sigmoid", {g.in(0) * 1.702});
        return g.dout() * (s + g.in(0) * s * (1.0 - s) * 1.702);
      })
      .Python("fast_gelu(x)")
      .Class("FastGelu");
}

}  // namespace

void DefineActivation(OpRegistry& ops) {
  DefineRelu(ops);
  DefinePrelu(ops);
  DefineSigmoids(ops);
  DefineExponentialUnits(ops);
  DefineHardUnits(ops);
  DefineShrinks(ops);
  DefineGelu(ops);
  DefineActivationGrads(ops);
}

}  // namespace ms
