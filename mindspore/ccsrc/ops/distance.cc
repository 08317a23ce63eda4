// Distances between all pairs of points.
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

}  // namespace

void DefineDistance(OpRegistry& ops) {
  ops.Op("SquaredDistances")
      .Internal()
      .Doc("The sums of the squared differences of a row of x and one of y, of all pairs.")
      .In("x", kFloating, "[..., m, k].")
      .In("y", kFloating, "[..., n, k]; the dtype of x.")
      .Shard("... m k, ... n k -> ... m n; k whole")
      .Infer([](InferContext& c) {
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
      })
      .Grad(SquaredDistancesGrad);
}

}  // namespace ms
