// Ops along one axis that keep or sort it: cumulative sums and products, sorting and the k largest
// elements.
#include <limits>

#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/shard.h"

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
  return g.Call("CumSum", {g.dout()},
                ScanAttrs(g, g.attr<bool>("exclusive"), !g.attr<bool>("reverse")));
}

// `x` moved by one along an axis, towards the end or the start; a zero enters.
Term Shift(GradContext& g, const Term& x, int axis, bool to_end) {
  const Shape& shape = x.shape();
  if (shape.dim(axis) == 0) return x;
  Ints begin(static_cast<size_t>(shape.rank()), 0), paddings(2 * begin.size(), 0);
  auto at = static_cast<size_t>(axis);
  begin[at] = to_end ? 0 : 1;
  paddings[2 * at + (to_end ? 0 : 1)] = 1;
  Term kept = g.Call("Slice", {x},
                     {{"begin", begin}, {"size", shape.With(axis, shape.dim(axis) - 1).ToCodes()}});
  return g.Call("Pad", {kept}, {{"paddings", paddings}});
}

int AxisOf(const GradContext& g) {
  return Wrap(g.attr<int64_t>("axis"), g.in_type(0).shape().rank());
}

Term Recur(GradContext& g, const Term& a, const Term& b, bool reverse, bool from_source) {
  return g.Call(
      "LinearScan", {a, b},
      {{"axis", g.attr<int64_t>("axis")}, {"reverse", reverse}, {"from_source", from_source}});
}

// dx_k = (product before k) * (sum over i >= k of dy_i * product between k and i): no division, so
// zeros do no harm. The sum is a recurrence from the end, s_k = dy_k + x_(k+1) * s_(k+1). An
// exclusive product has dy one place further on.
Term CumProdGrad(GradContext& g) {
  if (g.in_type(0).shape().rank() == 0) return g.attr<bool>("exclusive") ? Term{} : g.dout();
  bool reverse = g.attr<bool>("reverse");
  Term x = Conjugate(g.in(0));
  Term before = g.Call("CumProd", {x}, ScanAttrs(g, true, reverse));
  Term dy = g.attr<bool>("exclusive") ? Shift(g, g.dout(), AxisOf(g), reverse) : g.dout();
  return before * Recur(g, dy, x, !reverse, true);
}

// The adjoint of a recurrence runs the other way, with the factor at its other end.
Terms LinearScanGrad(GradContext& g) {
  bool reverse = g.attr<bool>("reverse"), from_source = g.attr<bool>("from_source");
  if (g.in_type(0).shape().rank() == 0) return {g.dout(), Term{}};
  Term da = Recur(g, g.dout(), Conjugate(g.in(1)), !reverse, !from_source);
  // Factor k multiplied y_(k-1) into y_k; or, from the source, y_k into y_(k+1).
  Term y = Conjugate(g.out());
  Term db =
      from_source ? Shift(g, da, AxisOf(g), reverse) * y : da * Shift(g, y, AxisOf(g), !reverse);
  return {da, db};
}

// Gradient of ops whose output 0 holds elements picked from x at the positions of output 1.
// They may be picked more than once where `reduction` is "add".
Term PickedGrad(GradContext& g, int64_t axis, const char* reduction = "none") {
  if (g.in_type(0).shape().rank() == 0) return g.dout(0);
  Term zeros = g.emitter().Full(0, g.in_type(0));
  return g.Call("TensorScatterElements", {zeros, g.out(1), g.dout(0)},
                {{"axis", axis}, {"reduction", std::string(reduction)}});
}

// dx_i = the sum over k >= i of dy_k exp(x_i - y_k): exp(x_i - y_i) times t_i = dy_i + t_(i+1)
// exp(y_i - y_(i+1)), whose exponents are never above 0. An exclusive sum has dy one place further.
Term LogSumGrad(GradContext& g) {
  bool reverse = g.attr<bool>("reverse"), exclusive = g.attr<bool>("exclusive");
  Term x = g.in(0);
  if (x.shape().rank() == 0) return exclusive ? ZerosLike(x) : g.dout();
  int axis = AxisOf(g);
  Term dy = exclusive ? Shift(g, g.dout(), axis, reverse) : g.dout();
  Term y = exclusive ? g.Call("CumulativeLogsumexp", {x}, ScanAttrs(g, false, reverse)) : g.out();
  // Where nothing was added up yet there is nothing to differ from.
  Term empty = Compare("Equal", y, -std::numeric_limits<double>::infinity());
  Term level = Where(empty, ZerosLike(y), y);
  // Never above 0 but at the end, where nothing comes next.
  Term change = g.Call("Minimum", {level - Shift(g, level, axis, reverse), ZerosLike(y)});
  Term factor = Where(empty, ZerosLike(y), g.Call("Exp", {change}));
  Term total = Recur(g, dy, factor, !reverse, false);
  return Where(empty, ZerosLike(y), total * g.Call("Exp", {x - level}));
}

void DefineRunningExtremes(OpRegistry& ops) {
  for (const char* name : {"CumMax", "CumMin"}) {
    ops.Op(name)
        .Internal()
        .Doc(
            "Running extreme along an axis and where it was met last; a nan is more extreme than "
            "all.")
        .In("input", kReal | kBoolean, "Any shape.")
        .RequiredAttr<int64_t>("axis", "The axis.")
        .Axes("axis")
        .Shard(shard::Along)
        .Infer([](InferContext& c) {
          c.Axis(c.attr<int64_t>("axis"), std::max(c.rank(0), 1));
          return Types{c.Like(0, c.shape(0)), Type(DType::kInt64, c.shape(0))};
        })
        .Grad([](GradContext& g) { return PickedGrad(g, g.attr<int64_t>("axis"), "add"); });
  }
  ops.Op("CumulativeLogsumexp")
      .Doc("The logarithm of the running sum of exponentials along an axis.")
      .In("x", kFloating, "Any shape.")
      .RequiredAttr<int64_t>("axis", "The axis.")
      .WithAttr("exclusive", false, "Leave the element itself out.")
      .WithAttr("reverse", false, "Run from the end.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer(InferScan)
      .Grad(LogSumGrad)
      .Python("logcumsumexp(input, axis)", kFunctionAndMethod)
      .Class("CumulativeLogsumexp(exclusive=False, reverse=False)(x, axis)");
}

}  // namespace

void DefineScan(OpRegistry& ops) {
  DefineRunningExtremes(ops);
  ops.Op("CumSum")
      .Doc("Running sum along an axis.")
      .In("input", kNumber, "Any shape.")
      .RequiredAttr<int64_t>("axis", "The axis.")
      .WithAttr("exclusive", false, "Leave the element itself out.")
      .WithAttr("reverse", false, "Run from the end.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer(InferScan)
      .Grad(CumSumGrad)
      .Class("CumSum(exclusive=False, reverse=False)(input, axis)");
  ops.Op("CumProd")
      .Doc("Running product along an axis.")
      .In("x", kNumber, "Any shape.")
      .RequiredAttr<int64_t>("axis", "The axis.")
      .WithAttr("exclusive", false, "Leave the element itself out.")
      .WithAttr("reverse", false, "Run from the end.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer(InferScan)
      .Grad(CumProdGrad)
      .Class("CumProd(exclusive=False, reverse=False)(x, axis)");
  ops.Op("LinearScan")
      .Internal()
      .Doc(
          "The recurrence y_k = a_k + b_k * y_(k-1) along an axis, from y_(-1) = 0; with "
          "`from_source`, the factor is "
          "b_(k-1). What the gradient of a running product is made of.")
      .In("a", kNumber, "Any shape.")
      .In("b", kNumber, "The same shape.")
      .RequiredAttr<int64_t>("axis", "The axis.")
      .WithAttr("reverse", false, "Run from the end.")
      .WithAttr("from_source", false, "Take the factor where the last result came from.")
      .Axes("axis")
      .Shard(shard::Along)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        c.CheckSameShape(0, 1);
        return InferScan(c);
      })
      .Grad(LinearScanGrad);
  ops.Op("Sort")
      .Doc(
          "Sorted elements along an axis and where they came from. Stable; a nan is larger than "
          "all.")
      .In("x", kReal | kBoolean, "Any shape.")
      .WithAttr("axis", -1, "The axis.")
      .WithAttr("descending", false, "Largest first.")
      .Axes("axis")
      .Shard(shard::Along)
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
      .Sizes("k")
      .WithAttr("sorted", true, "Whether they must be in order; they always are.")
      .Batch(batch::Leading)
      .Shard("... x -> ... k, ... k; x k whole")
      .Infer([](InferContext& c) {
        c.Check(c.rank(0) > 0, "'input_x' must have at least 1 dimension, but got a scalar");
        Dim k = c.dim_attr("k");
        c.Check(k >= 0 && k <= c.dim(0, -1), "'k' must be in [0, {}], but got {}", c.dim(0, -1), k);
        Shape shape = c.shape(0).With(-1, k);
        return Types{c.Like(0, shape), Type(DType::kInt32, shape)};
      })
      .Grad([](GradContext& g) { return PickedGrad(g, -1); })
      .Python("top_k(input_x, k, sorted=True)")
      .Class("TopK(sorted=True)(input_x, k)");
}

}  // namespace ms
