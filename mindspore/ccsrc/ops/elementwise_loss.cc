#include "ops/elementwise_loss.h"

#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {
namespace {

// Clamps logarithms of probabilities, so that a wrong certainty costs much, but not infinity.
constexpr double kTinyProbability = 1e-12;

Term Unary(const char* op, const Term& x) { return x.emitter->Call(op, {x}); }
Term Binary(const char* op, const Term& x, const Term& y) { return x.emitter->Call(op, {x, y}); }
Term AtLeast(const Term& x, double limit) {
  return Binary("Maximum", x, x.emitter->Scalar(limit, x.dtype()));
}
double Tiny(DType dtype) { return dtype == DType::kFloat16 ? 6e-8 : kTinyProbability; }

// What the elements of a loss become; 'batchmean' divides the sum by the size of dimension 0.
Term Reduce(const Term& loss, const std::string& reduction) {
  if (reduction == "none") return loss;
  if (reduction == "mean") return loss.emitter->Call("ReduceMean", {loss});
  Term sum = loss.emitter->Call("ReduceSum", {loss});
  if (reduction == "sum") return sum;
  return sum / (loss.shape().rank() ? loss.shape().dim(0) : Dim(1));
}

// The tangent of each element of the loss, which may broadcast.
Term ElementTangent(GradContext& g) {
  const auto& reduction = g.attr<std::string>("reduction");
  const Shape& shape = g.in_type(0).shape();
  if (reduction == "mean") return g.dout() / shape.elements();
  if (reduction == "batchmean") return g.dout() / (shape.rank() ? shape.dim(0) : Dim(1));
  return g.dout();
}

Type InferLoss(InferContext& c) {
  for (size_t i = 1; i < c.size(); ++i) c.CheckSameDType(0, i);
  c.CheckSameShape(0, 1);
  return c.Like(0, c.attr<std::string>("reduction") == "none" ? c.shape(0) : Shape{});
}

Type InferReducedLoss(InferContext& c) {
  CheckReduction(c);
  return InferLoss(c);
}

// Results in input order, each summed down to the shape of its input.
Terms Fit(GradContext& g, Terms grads) {
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i]) grads[i] = SumTo(grads[i], g.in_type(i).shape());
  }
  return grads;
}

// ---- smooth L1
void DefineSmoothL1(OpRegistry& ops) {
  ops.Op("SmoothL1Loss")
      .Doc(
          "Half the squared difference over beta where it is below beta, the difference less beta "
          "/ 2 elsewhere.")
      .In("prediction", kFloating, "Any shape.")
      .In("target", kFloating, "Shaped as prediction.")
      .WithAttr("beta", 1.0, "Where the parabola meets the line; positive.")
      .WithAttr("reduction", "none", "'none', 'mean' or 'sum'.")
      .Shard(shard::Loss)
      .Infer([](InferContext& c) {
        c.Check(c.attr<double>("beta") > 0, "'beta' must be positive, but got {}",
                c.attr<double>("beta"));
        return InferReducedLoss(c);
      })
      .Expand([](ExpandContext& c) {
        Term loss = c.in(0).emitter->Call("SmoothL1", {c.in(0), c.in(1)},
                                          {{"beta", c.attr<double>("beta")}});
        return Reduce(loss, c.attr<std::string>("reduction"));
      })
      .Grad([](GradContext& g) {
        Term dx = g.Call("SmoothL1Grad", {ElementTangent(g), g.in(0), g.in(1)},
                         {{"beta", g.attr<double>("beta")}});
        return Terms{dx, g.needs(1) ? -dx : Term{}};
      });
}

// ---- binary cross entropy
// -(y log x + (1 - y) log(1 - x)).
Term BinaryEntropy(const Term& x, const Term& y) {
  double tiny = Tiny(x.dtype());
  return -(y * Unary("Log", AtLeast(x, tiny)) + (1 - y) * Unary("Log", AtLeast(1 - x, tiny)));
}

void DefineBinaryCrossEntropy(OpRegistry& ops) {
  ops.Op("BinaryCrossEntropy")
      .Doc("Cross entropy of probabilities against targets, element by element, times weights.")
      .In("logits", kFloating, "Probabilities, any shape.")
      .In("labels", kFloating, "Shaped as logits.")
      .In("weight", kFloating, "Broadcasts to logits.")
      .WithAttr("reduction", "mean", "'none', 'mean' or 'sum'.")
      .Shard(shard::Loss)
      .Infer([](InferContext& c) {
        Shape shape;
        c.Check(Broadcast(c.shape(0), c.shape(2), &shape) && SameSizes(shape, c.shape(0)),
                "'weight' must broadcast to 'logits', but got shapes {} and {}", c.shape(2),
                c.shape(0));
        return InferReducedLoss(c);
      })
      .Expand([](ExpandContext& c) {
        return Reduce(BinaryEntropy(c.in(0), c.in(1)) * c.in(2), c.attr<std::string>("reduction"));
      })
      .Grad([](GradContext& g) {
        Term x = g.in(0), y = g.in(1), d = ElementTangent(g), w = g.in(2);
        double tiny = Tiny(x.dtype());
        Terms grads(3);
        grads[0] = w * (x - y) / AtLeast(x * (1 - x), tiny) * d;
        if (g.needs(1)) {
          grads[1] = w * (Unary("Log", AtLeast(1 - x, tiny)) - Unary("Log", AtLeast(x, tiny))) * d;
        }
        if (g.needs(2)) grads[2] = BinaryEntropy(x, y) * d;
        return Fit(g, std::move(grads));
      });
}

// log(1 + exp(-x)), without overflow.
Term SoftplusOfMinus(const Term& x) {
  return Unary("Log1p", Unary("Exp", -Unary("Abs", x))) + AtLeast(-x, 0);
}

// (1 - y) x + (1 + (p - 1) y) log(1 + exp(-x)).
Term LogitsEntropy(const Term& x, const Term& y, const Term& p) {
  return (1 - y) * x + ((p - 1) * y + 1) * SoftplusOfMinus(x);
}

void DefineLogitsLoss(OpRegistry& ops) {
  ops.Op("BCEWithLogitsLoss")
      .Doc(
          "Binary cross entropy of sigmoid(logits), with weights for elements and for positive "
          "targets.")
      .In("logits", kFloating, "Any shape.")
      .In("label", kFloating, "Shaped as logits.")
      .In("weight", kFloating, "Broadcasts to logits.")
      .In("pos_weight", kFloating, "Broadcasts to logits.")
      .WithAttr("reduction", "mean", "'none', 'mean' or 'sum'.")
      .Shard(shard::Loss)
      .Infer([](InferContext& c) {
        for (size_t i : {2, 3}) {
          Shape shape;
          c.Check(Broadcast(c.shape(0), c.shape(i), &shape) && SameSizes(shape, c.shape(0)),
                  "'{}' must broadcast to 'logits', but got shapes {} and {}", c.input_name(i),
                  c.shape(i), c.shape(0));
        }
        return InferReducedLoss(c);
      })
      .Expand([](ExpandContext& c) {
        return Reduce(LogitsEntropy(c.in(0), c.in(1), c.in(3)) * c.in(2),
                      c.attr<std::string>("reduction"));
      })
      .Grad([](GradContext& g) {
        Term x = g.in(0), y = g.in(1), w = g.in(2), p = g.in(3), d = ElementTangent(g);
        Term wd = w * d;
        Terms grads(4);
        grads[0] = wd * ((1 - y) + ((p - 1) * y + 1) * (Unary("Sigmoid", x) - 1));
        if (g.needs(1)) grads[1] = wd * ((p - 1) * SoftplusOfMinus(x) - x);
        if (g.needs(2)) grads[2] = LogitsEntropy(x, y, p) * d;
        if (g.needs(3)) grads[3] = wd * y * SoftplusOfMinus(x);
        return Fit(g, std::move(grads));
      });
  ops.Op("SigmoidCrossEntropyWithLogits")
      .Doc("Binary cross entropy of sigmoid(logits) against targets, element by element.")
      .In("logits", kFloating, "Any shape.")
      .In("label", kFloating, "Shaped as logits.")
      .Batch(batch::Leading)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        c.CheckSameShape(0, 1);
        return c.Like(0, c.shape(0));
      })
      .Scalar([](Expr x, Expr z) { return Max(x, 0.0) - x * z + Log1p(Exp(-Abs(x))); })
      .Grad([](GradContext& g) {
        Terms grads{(Unary("Sigmoid", g.in(0)) - g.in(1)) * g.dout(), {}};
        if (g.needs(1)) grads[1] = -(g.in(0) * g.dout());
        return grads;
      });
}

// ---- others
void DefineDivergence(OpRegistry& ops) {
  ops.Op("KLDivLoss")
      .Doc(
          "Kullback-Leibler divergence from log probabilities to probabilities: labels "
          "(log(labels) - logits).")
      .In("logits", kFloating, "Log probabilities, any shape.")
      .In("labels", kFloating, "Probabilities, shaped as logits.")
      .WithAttr("reduction", "mean", "'none', 'mean', 'batchmean' or 'sum'.")
      .Shard(shard::Loss)
      .Infer([](InferContext& c) {
        if (c.attr<std::string>("reduction") != "batchmean") CheckReduction(c);
        return InferLoss(c);
      })
      .Expand([](ExpandContext& c) {
        Term y = c.in(1);
        Term loss = y * (Unary("Log", AtLeast(y, Tiny(y.dtype()))) - c.in(0));
        return Reduce(loss, c.attr<std::string>("reduction"));
      })
      .Grad([](GradContext& g) {
        Term y = g.in(1), d = ElementTangent(g);
        Terms grads{-(y * d), {}};
        if (g.needs(1)) grads[1] = (Unary("Log", AtLeast(y, Tiny(y.dtype()))) + 1 - g.in(0)) * d;
        return grads;
      });
  ops.Op("L2Loss")
      .Doc("Half the sum of squares.")
      .In("input_x", kFloating, "Any shape.")
      .Shard("... -> ; ... sum")
      .Infer([](InferContext& c) { return c.Like(0, Shape{}); })
      .Expand(
          [](ExpandContext& c) { return c.emitter().Call("ReduceSum", {c.in(0) * c.in(0)}) * 0.5; })
      .Grad([](GradContext& g) { return g.in(0) * g.dout(); });
}

}  // namespace

void CheckReduction(const InferContext& c) {
  const auto& reduction = c.attr<std::string>("reduction");
  c.Check(reduction == "none" || reduction == "mean" || reduction == "sum",
          "'reduction' must be one of ['none', 'mean', 'sum'], but got '{}'", reduction);
}

void DefineElementwiseLoss(OpRegistry& ops) {
  DefineSmoothL1(ops);
  DefineBinaryCrossEntropy(ops);
  DefineLogitsLoss(ops);
  DefineDivergence(ops);
}

}  // namespace ms
