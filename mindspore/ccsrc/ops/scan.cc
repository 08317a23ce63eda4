// Ops along one axis that keep or sort it: cumulative sums and products, sorting and the k largest elements.
#include "ops/all.h"
#include "ops/axes.h"

namespace ms {
namespace {

Type InferScan(InferContext& c) {
  c.Axis(c.attr<int64_t>("axis"), std::max(c.rank(0), 1));
  return c.Like(0, c.shape(0));
}

NamedAttrs ScanAttrs(GradContext& g, bool exclusive, bool reverse) {
  return {{"axis", g.attr<int64_t>("axis")}, {"exclusive", exclusive}, {"reverse", reverse}};
}

Term CumSumGrad(GradContext& g) {
  return g.Call("CumSum", {g.dout()}, ScanAttrs(g, g.attr<bool>("exclusive"), !g.attr<bool>("reverse")));
}

// d(prod of x_j, j <= i)/dx_k = y_i / x_k: the sum over i >= k of dy_i * y_i, divided by x_k. Not defined by this
// formula where an element is zero.
Term CumProdGrad(GradContext& g) {
  Term weighted = g.dout() * g.out();
  Term sum = g.Call("CumSum", {weighted}, ScanAttrs(g, g.attr<bool>("exclusive"), !g.attr<bool>("reverse")));
  return sum / g.in(0);
}

// Gradient of ops whose output 0 holds elements picked from x at the positions of output 1.
Term PickedGrad(GradContext& g, int64_t axis) {
  if (g.in_type(0).shape().rank() == 0) return g.dout(0);
  Term zeros = g.emitter().Full(0, g.in_type(0));
  return g.Call("TensorScatterElements", {zeros, g.out(1), g.dout(0)},
                {{"axis", axis}, {"reduction", std::string("none")}});
}

}  // namespace

void DefineScan(OpRegistry& ops) {
  ops.Op("CumSum")
      .Doc("Running sum along an axis.")
      .In("input", kNumber, "Any shape.")
      .RequiredAttr<int64_t>("axis", "The axis.")
      .WithAttr("exclusive", false, "Leave the element itself out.")
      .WithAttr("reverse", false, "Run from the end.")
      .Infer(InferScan)
      .Grad(CumSumGrad)
      .Class("CumSum(exclusive=False, reverse=False)(input, axis)");
  ops.Op("CumProd")
      .Doc("Running product along an axis.")
      .In("x", kNumber, "Any shape.")
      .RequiredAttr<int64_t>("axis", "The axis.")
      .WithAttr("exclusive", false, "Leave the element itself out.")
      .WithAttr("reverse", false, "Run from the end.")
      .Infer(InferScan)
      .Grad(CumProdGrad)
      .Class("CumProd(exclusive=False, reverse=False)(x, axis)");
  ops.Op("Sort")
      .Doc("Sorted elements along an axis and where they came from. Stable; a nan is larger than all.")
      .In("x", kReal | kBoolean, "Any shape.")
      .WithAttr("axis", -1, "The axis.")
      .WithAttr("descending", false, "Largest first.")
      .Infer([](InferContext& c) {
        c.Axis(c.attr<int64_t>("axis"), std::max(c.rank(0), 1));
        return Types{c.Like(0, c.shape(0)), Type(DType::kInt32, c.shape(0))};
      })
      .Grad([](GradContext& g) { return PickedGrad(g, g.attr<int64_t>("axis")); })
      .Python("sort(input_x, axis=-1, descending=False)");
  ops.Op("TopK")
      .Doc("The k largest elements of the last axis, largest first, and their positions.")
      .In("input_x", kReal, "At least one dimension.")
      .RequiredAttr<int64_t>("k", "How many.")
      .WithAttr("sorted", true, "Whether they must be in order; they always are.")
      .Infer([](InferContext& c) {
        c.Check(c.rank(0) > 0, "'input_x' must have at least 1 dimension, but got a scalar");
        int64_t k = c.attr<int64_t>("k");
        c.Check(k >= 0 && k <= c.shape(0).back(), "'k' must be in [0, {}], but got {}", c.shape(0).back(), k);
        Shape shape = c.shape(0).With(-1, k);
        return Types{c.Like(0, shape), Type(DType::kInt32, shape)};
      })
      .Grad([](GradContext& g) { return PickedGrad(g, -1); })
      .Python("top_k(input_x, k, sorted=True)")
      .Class("TopK(sorted=True)(input_x, k)");
}

}  // namespace ms
