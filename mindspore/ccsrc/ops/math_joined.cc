// Functions of several steps that are written often enough to be one op: one pass over memory
// instead of two or three. The steps and their order are those of the ops they stand for.
#include "ops/all.h"
#include "ops/elementwise.h"

namespace ms {
namespace {

OpDef& Joined(OpRegistry& ops, const char* name, const char* doc,
              std::initializer_list<const char*> inputs, DTypeSet types) {
  OpDef& op = ops.Op(name).Internal().Doc(doc);
  for (const char* input : inputs) op.In(input, types, "Broadcasts with the others.");
  return op.Promote();
}

Terms SumAll(GradContext& g, Terms terms) {
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i]) terms[i] = SumTo(terms[i], g.in_type(i).shape());
  }
  return terms;
}

void DefineClip(OpRegistry& ops) {
  Joined(ops, "Clip", "The smaller of high and the larger of x and low; nan where one of them is.",
         {"x", "low", "high"}, kReal)
      .Scalar([](Expr x, Expr low, Expr high) { return Min(Max(x, low), high); })
      .Grad([](GradContext& g) {
        Term x = g.in(0), low = g.in(1), high = g.in(2), d = g.dout();
        Terms grads(3);
        if (g.needs(0)) grads[0] = g.Call("ClipGrad", {d, x, low, high});
        if (!g.needs(1) && !g.needs(2)) return SumAll(g, std::move(grads));
        Term inner = g.Call("Maximum", {x, low});
        auto where = [&](const Term& condition) { return d * CastTo(condition, d.dtype()); };
        if (g.needs(1)) {
          Term inside = g.Call("LessEqual", {inner, high});
          grads[1] = where(g.Call("LogicalAnd", {g.Call("Less", {x, low}), inside}));
        }
        if (g.needs(2)) grads[2] = where(g.Call("Less", {high, inner}));
        return SumAll(g, std::move(grads));
      });
  Joined(ops, "ClipGrad", "dy where x is in [low, high], elsewhere 0: the slope of Clip in x.",
         {"dy", "x", "low", "high"}, kReal)
      .Scalar([](ScalarTrace& t) {
        Expr x = t.in(1), low = t.in(2), high = t.in(3);
        return Select((x >= low) & (x <= high), t.in(0), 0.0);
      })
      .Grad([](GradContext& g) {
        Terms grads(4);
        grads[0] = g.Call("ClipGrad", {g.dout(), g.in(1), g.in(2), g.in(3)});
        return SumAll(g, std::move(grads));
      });
}

void DefineMultiplyAdd(OpRegistry& ops) {
  Joined(ops, "MultiplyAdd", "x + (a * b) * factor.", {"x", "a", "b", "factor"}, kFloating)
      .Scalar([](ScalarTrace& t) { return t.in(0) + t.in(1) * t.in(2) * t.in(3); })
      .Grad([](GradContext& g) {
        Term a = g.in(1), b = g.in(2), factor = g.in(3), d = g.dout();
        Terms grads(4);
        if (g.needs(0)) grads[0] = d;
        Term scaled = d * factor;
        if (g.needs(1)) grads[1] = scaled * b;
        if (g.needs(2)) grads[2] = scaled * a;
        if (g.needs(3)) grads[3] = d * (a * b);
        return SumAll(g, std::move(grads));
      });
  Joined(ops, "DivideAdd", "x + (a / b) * factor.", {"x", "a", "b", "factor"}, kFloating)
      .Scalar([](ScalarTrace& t) { return t.in(0) + t.in(1) / t.in(2) * t.in(3); })
      .Grad([](GradContext& g) {
        Term a = g.in(1), b = g.in(2), factor = g.in(3), d = g.dout();
        Terms grads(4);
        if (g.needs(0)) grads[0] = d;
        Term scaled = d * factor / b;
        if (g.needs(1)) grads[1] = scaled;
        if (g.needs(2)) grads[2] = -(scaled * (a / b));
        if (g.needs(3)) grads[3] = d * (a / b);
        return SumAll(g, std::move(grads));
      });
}

// The line beyond beta, the parabola within: m (d - m / 2) / beta with m = min(d, beta).
void DefineSmoothStep(OpRegistry& ops) {
  Joined(ops, "SmoothL1", "The elements of SmoothL1Loss.", {"prediction", "target"}, kFloating)
      .WithAttr("beta", 1.0, "Where the parabola meets the line; positive.")
      .Scalar([](ScalarTrace& t) {
        double beta = t.attr<double>("beta");
        Expr d = Abs(t.in(0) - t.in(1));
        Expr m = Min(d, beta);
        return m * (d - m * 0.5) * (1 / beta);
      })
      .Grad([](GradContext& g) {
        Term dx = g.Call("SmoothL1Grad", {g.dout(), g.in(0), g.in(1)},
                         {{"beta", g.attr<double>("beta")}});
        return SumAll(g, {dx, g.needs(1) ? -dx : Term{}});
      });
  Joined(ops, "SmoothL1Grad", "The gradient of SmoothL1 by the prediction.",
         {"dy", "prediction", "target"}, kFloating)
      .WithAttr("beta", 1.0, "As in SmoothL1.")
      .Scalar([](ScalarTrace& t) {
        double beta = t.attr<double>("beta");
        return Max(Min(t.in(1) - t.in(2), beta), -beta) * (1 / beta) * t.in(0);
      })
      .Grad([](GradContext& g) {
        double beta = g.attr<double>("beta");
        Term d = g.in(1) - g.in(2);
        Term inside = Compare("LessEqual", g.Call("Abs", {d}), beta);
        Term bend = Where(inside, g.dout() * g.in(0) * (1 / beta), 0.0);
        return SumAll(g, {g.Call("SmoothL1Grad", {g.dout(), g.in(1), g.in(2)}, {{"beta", beta}}),
                          bend, g.needs(2) ? -bend : Term{}});
      });
}

}  // namespace

void DefineJoined(OpRegistry& ops) {
  DefineClip(ops);
  DefineMultiplyAdd(ops);
  DefineSmoothStep(ops);
}

}  // namespace ms
