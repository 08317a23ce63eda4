// Functions of two or three operands that are computed by iterations, element by element: all
// operands have one shape. Python compositions broadcast them and give them their public names.
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/shard.h"

namespace ms {
namespace {

OpDef& Pointwise(OpRegistry& ops, const char* name, const char* doc, DTypeSet types,
                 std::initializer_list<const char*> inputs) {
  OpDef& op = ops.Op(name).Internal().Doc(doc);
  for (const char* input : inputs) op.In(input, types, "Any shape; the same for all.");
  return op.Promote(Contains(types, DType::kFloat32) ? Promotion::kFloating : Promotion::kCommon)
      .Batch(batch::Leading)
      .Shard(ElementwiseShard)
      .Infer([](InferContext& c) {
        for (size_t i = 1; i < c.size(); ++i) c.CheckSameShape(0, i);
        return c.Like(0, c.shape(0));
      });
}

Term Unary(const char* op, const Term& x) { return x.emitter->Call(op, {x}); }

// The derivative of P(a, x) by x: x^(a - 1) e^-x / gamma(a).
Term GammaDensity(GradContext& g) {
  Term a = g.in(0), x = g.in(1);
  return Unary("Exp", (a - 1.0) * Unary("Log", x) - x - Unary("Lgamma", a));
}

// The derivative of I_x(a, b) by x: x^(a - 1) (1 - x)^(b - 1) / B(a, b).
Term BetaDensity(GradContext& g) {
  Term a = g.in(0), b = g.in(1), x = g.in(2);
  Term log = (a - 1.0) * Unary("Log", x) + (b - 1.0) * Unary("Log1p", -x);
  return Unary("Exp", log + Unary("Lgamma", a + b) - Unary("Lgamma", a) - Unary("Lgamma", b));
}

}  // namespace

void DefineIterated(OpRegistry& ops) {
  Pointwise(ops, "Igamma", "The regularised lower incomplete gamma function P(a, x).", kFloating,
            {"a", "x"})
      .Grad([](GradContext& g) {
        Terms terms(2);
        if (g.needs(0)) terms[0] = g.dout() * g.Call("IgammaGradA", {g.in(0), g.in(1)});
        if (g.needs(1)) terms[1] = g.dout() * GammaDensity(g);
        return terms;
      });
  Pointwise(ops, "Igammac", "The regularised upper incomplete gamma function 1 - P(a, x).",
            kFloating, {"a", "x"})
      .Grad([](GradContext& g) {
        Terms terms(2);
        if (g.needs(0)) terms[0] = -(g.dout() * g.Call("IgammaGradA", {g.in(0), g.in(1)}));
        if (g.needs(1)) terms[1] = -(g.dout() * GammaDensity(g));
        return terms;
      });
  Pointwise(ops, "IgammaGradA", "The derivative of P(a, x) by a. It has no gradient.", kFloating,
            {"a", "x"});
  Pointwise(ops, "Betainc", "The regularised incomplete beta function I_x(a, b).", kFloating,
            {"a", "b", "x"})
      .Grad([](GradContext& g) { return Terms{Term{}, Term{}, g.dout() * BetaDensity(g)}; });
  Pointwise(ops, "Zeta", "The sum of (k + q)^-x over all k >= 0.", kFloating, {"x", "q"})
      .Grad([](GradContext& g) {
        Term next = g.Call("Zeta", {g.in(0) + 1.0, g.in(1)});
        return Terms{Term{}, -(g.dout() * g.in(0) * next)};
      });
  Pointwise(ops, "NextAfter", "The number next to x in the direction of y.", kFloating, {"x", "y"});
  Pointwise(ops, "Gcd", "The greatest common divisor; of two zeros, 0.", kInteger, {"x", "y"});
  Pointwise(ops, "Lcm", "The least common multiple; 0 where an operand is.", kInteger, {"x", "y"});
}

}  // namespace ms
