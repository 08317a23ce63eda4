// Distances between all pairs of points.
#include <numeric>

#include "ops/all.h"
#include "ops/shard.h"

namespace ms {
namespace {

// d = (x - y)^2 for all pairs: dx = 2 (x sum(g) - g y) and the like for y. No difference of a pair
// is kept.
Terms SquaredDistancesGrad(GradContext& g) {
  Term dout = g.dout(), x = g.in(0), y = g.in(1);
  auto sums = [&](int64_t axis, const Shape& points) {
    Dims dims(points.dims());
    dims.back() = 1;
    return Reshape(g.Call("ReduceSum", {dout}, {{"axis", Ints{axis}}}), Shape(dims));
  };
  Terms grads(2);
  if (g.needs(0))
    grads[0] = (x * sums(-1, g.in_type(0).shape()) - g.Call("BatchMatMul", {dout, y})) * 2;
  if (g.needs(1)) {
    Term other = g.Call("BatchMatMul", {dout, x}, {{"transpose_a", true}});
    grads[1] = (y * sums(-2, g.in_type(1).shape()) - other) * 2;
  }
  return grads;
}

// Of g sign(x - y), summed over y. As a function of x and y it is constant but for steps.
Terms AbsoluteDistancesGradGrad(GradContext& g) {
  auto pairs = [&](const Term& x, int axis) {
    Dims dims(x.shape().dims());
    dims.insert(dims.end() + axis, Dim(1));
    return Reshape(x, Shape(dims));
  };
  Terms grads(3);
  if (g.needs(0)) {
    Term signs = g.Call("Sign", {pairs(g.in(1), -1) - pairs(g.in(2), -2)});
    grads[0] = g.Call("ReduceSum", {pairs(g.dout(), -1) * signs}, {{"axis", Ints{-1}}});
  }
  return grads;
}

Type InferDistances(InferContext& c) {
  c.CheckSameDType(0, 1);
  bool fits = c.rank(0) >= 2 && c.rank(0) == c.rank(1);
  for (int i = 0; fits && i < c.rank(0); ++i)
    fits = i == c.rank(0) - 2 || c.dim(0, i) == c.dim(1, i);
  c.Check(fits,
          "the inputs must have at least 2 dimensions, of the same sizes but for the last "
          "but one, but got shapes {} and {}",
          c.shape(0), c.shape(1));
  int batch = c.rank(0) - 2;
  return c.Like(0, Join({c.shape(0).Part(0, batch), {c.dim(0, batch), c.dim(1, batch)}}));
}

}  // namespace

void DefineDistance(OpRegistry& ops) {
  ops.Op("SquaredDistances")
      .Internal()
      .Doc("The sums of the squared differences of a row of x and one of y, of all pairs.")
      .In("x", kFloating, "[..., m, k].")
      .In("y", kFloating, "[..., n, k]; the dtype of x.")
      .Shard("... m k, ... n k -> ... m n; k whole")
      .Infer(InferDistances)
      .Grad(SquaredDistancesGrad);
  ops.Op("AbsoluteDistances")
      .Internal()
      .Doc("The sums of the sizes of the differences of a row of x and one of y, of all pairs.")
      .In("x", kFloating, "[..., m, k].")
      .In("y", kFloating, "[..., n, k]; the dtype of x.")
      .Shard("... m k, ... n k -> ... m n; k whole")
      .Infer(InferDistances)
      .Grad([](GradContext& g) {
        Terms grads(2);
        Term dout = g.dout(), x = g.in(0), y = g.in(1);
        if (g.needs(0)) grads[0] = g.Call("AbsoluteDistancesGrad", {dout, x, y});
        if (g.needs(1)) {
          Ints perm(static_cast<size_t>(dout.shape().rank()));
          std::iota(perm.begin(), perm.end(), 0);
          std::swap(perm.back(), perm[perm.size() - 2]);
          Term turned = g.Call("Transpose", {dout}, {{"perm", perm}});
          grads[1] = g.Call("AbsoluteDistancesGrad", {turned, y, x});
        }
        return grads;
      });
  ops.Op("AbsoluteDistancesGrad")
      .Internal()
      .Doc("The gradient of x, of which there is none where x and y are equal.")
      .In("dout", kFloating, "[..., m, n].")
      .In("x", kFloating, "[..., m, k]; the dtype of dout.")
      .In("y", kFloating, "[..., n, k]; the dtype of dout.")
      .Shard("... m n, ... m k, ... n k -> ... m k; n whole")
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        c.CheckSameDType(1, 2);
        int r = c.rank(0);
        bool fits = r >= 2 && r == c.rank(1) && r == c.rank(2);
        for (int i = 0; fits && i < r - 2; ++i)
          fits = c.dim(0, i) == c.dim(1, i) && c.dim(0, i) == c.dim(2, i);
        fits = fits && c.dim(0, -2) == c.dim(1, -2) && c.dim(0, -1) == c.dim(2, -2) &&
               c.dim(1, -1) == c.dim(2, -1);
        c.Check(
            fits,
            "'dout', 'x' and 'y' must have the shapes [..., m, n], [..., m, k] and [..., n, k], "
            "but got {}, {} and {}",
            c.shape(0), c.shape(1), c.shape(2));
        return c.Like(1, c.shape(1));
      })
      .Grad(AbsoluteDistancesGradGrad);
  ops.Op("RootOfSquares")
      .Internal()
      .Doc("The square root of a sum of squares: where it is 0, so is its gradient.")
      .In("x", kFloating)
      .Scalar([](Expr x) { return Unary(ScalarOp::kSqrt, x); })
      .Grad([](GradContext& g) { return g.Call("RootOfSquaresGrad", {g.out(), g.dout()}); });
  ops.Op("RootOfSquaresGrad")
      .Internal()
      .Doc("dy / (2 y): the gradient of RootOfSquares by its value y.")
      .In("y", kFloating)
      .In("dy", kFloating)
      .Promote()
      .Scalar([](Expr y, Expr dy) { return Select(y == 0.0, 0.0, dy * 0.5 / y); })
      .Grad([](GradContext& g) {
        auto halved = [&](const Term& x) { return g.Call("RootOfSquaresGrad", {g.in(0), x}); };
        return Terms{halved(halved(g.dout() * g.in(1))) * -2.0, halved(g.dout())};
      });
}

}  // namespace ms
