// Reading elements at positions that are tensors: Gather and its relatives, one-hot vectors and
// segments. Negative positions count from the end where MindSpore lets them; others out of range
// are an error where the device looks at them.
#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {
namespace {

struct GatherShapes {
  int axis = 0;
  int batch_dims = 0;
};

GatherShapes CheckGather(InferContext& c, const Shape& params, const Shape& indices) {
  GatherShapes s;
  c.Check(params.rank() > 0, "'input_params' must have at least 1 dimension, but got a scalar");
  s.axis = c.Axis(c.attr<int64_t>("axis"), params.rank());
  int64_t batch = c.attr<int64_t>("batch_dims");
  int64_t limit = std::min(s.axis, indices.rank());
  c.Check(batch >= -indices.rank() && batch <= limit,
          "'batch_dims' must be at most the axis and the rank of the indices, "
          "{}, but got {}",
          limit, batch);
  s.batch_dims = static_cast<int>(batch < 0 ? batch + indices.rank() : batch);
  c.Check(s.batch_dims <= limit,
          "'batch_dims' must be at most the axis and the rank of the indices, {}, but got {}",
          limit, batch);
  for (int i = 0; i < s.batch_dims; ++i) {
    c.Check(params.dim(i) == indices.dim(i), "the first {} sizes must be equal, but got {} and {}",
            s.batch_dims, params, indices);
  }
  return s;
}

Shape GatherResult(const GatherShapes& s, const Shape& params, const Shape& indices) {
  return Join({params.Part(0, s.axis), indices.Part(s.batch_dims, indices.rank()),
               params.Part(s.axis + 1, params.rank())});
}

Type InferGather(InferContext& c) {
  GatherShapes s = CheckGather(c, c.shape(0), c.shape(1));
  c.Check(c.dim(0, s.axis) > 0 || c.shape(1).empty(),
          "the gathered axis must not be empty, but got shape {} and axis {}", c.shape(0), s.axis);
  return c.Like(0, GatherResult(s, c.shape(0), c.shape(1)));
}

Type InferGatherGrad(InferContext& c) {
  Shape params(c.attr<Ints>("shape"));
  GatherShapes s = CheckGather(c, params, c.shape(1));
  Shape expected = GatherResult(s, params, c.shape(1));
  c.Check(SameSizes(c.shape(0), expected),
          "'dout' must have the shape of Gather's result, {}, but got {}", expected, c.shape(0));
  return c.Like(0, params);
}

NamedAttrs GatherAttrs(GradContext& g) {
  return {{"axis", g.attr<int64_t>("axis")}, {"batch_dims", g.attr<int64_t>("batch_dims")}};
}

void DefineGather(OpRegistry& ops) {
  ops.Op("Gather")
      .Doc("The slices of the first input along an axis, at the positions in the second.")
      .In("input_params", kAny, "At least one dimension.")
      .In("input_indices", kIndex, "Positions in [-n, n); any shape.")
      .RequiredAttr<int64_t>("axis", "The axis.")
      .WithAttr("batch_dims", 0, "How many leading axes both inputs share.")
      .Batch(batch::Gather)
      .Shard(shard::Gather)
      .Infer(InferGather)
      .Grad([](GradContext& g) {
        NamedAttrs attrs = GatherAttrs(g);
        attrs.emplace_back("shape", g.in_type(0).shape().ToCodes());
        return Terms{g.Call("GatherGrad", {g.dout(), g.in(1)}, attrs), Term{}};
      })
      .Python("gather(input_params, input_indices, axis, batch_dims=0)", kFunction | kMethod)
      .Class("Gather(batch_dims=0)(input_params, input_indices, axis)")
      .Class("GatherV2")
      .Class("SparseGatherV2");
  ops.Op("GatherGrad")
      .Internal()
      .Doc("Gradient of Gather: adds each slice of `dout` to the slice that it was a copy of.")
      .In("dout", kNumber, "The shape of Gather's result.")
      .In("input_indices", kIndex, "As in Gather.")
      .RequiredAttr<int64_t>("axis", "As in Gather.")
      .WithAttr("batch_dims", 0, "As in Gather.")
      .RequiredAttr<Ints>("shape", "The shape of Gather's first input.")
      .Sizes("shape")
      .Batch(batch::GatherGrad)
      .Shard(shard::GatherGrad)
      .Infer(InferGatherGrad)
      .Grad([](GradContext& g) {
        return Terms{g.Call("Gather", {g.dout(), g.in(1)}, GatherAttrs(g)), Term{}};
      });
}

// Index and x agree in rank, and index is not larger except along the axis.
void CheckElementIndex(InferContext& c, const Shape& x, const Shape& index, int axis) {
  bool fits = x.rank() == index.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == axis || index.dim(i) <= x.dim(i);
  c.Check(fits,
          "the index must have the rank of the input and be no larger except at axis {}, but got "
          "shapes {} and {}",
          axis, index, x);
  c.Check(x.rank() == 0 || x.dim(axis) > 0 || index.empty(),
          "the gathered axis must not be empty, but got shape {} and axis {}", x, axis);
}

void DefineElementGather(OpRegistry& ops) {
  ops.Op("GatherD")
      .Doc(
          "For every position of the index, the element of x whose coordinate along `dim` is the "
          "index there.")
      .In("x", kAny, "At least one dimension.")
      .RequiredAttr<int64_t>("dim", "The axis.")
      .In("index", kIndex, "Positions in [-n, n); the rank of x.")
      .Axes("dim")
      .Shard(shard::GatherElements)
      .Infer([](InferContext& c) {
        int axis = c.Axis(c.attr<int64_t>("dim"), std::max(c.rank(0), 1));
        CheckElementIndex(c, c.shape(0), c.shape(1), axis);
        return c.Like(0, c.shape(1));
      })
      .Grad([](GradContext& g) {
        Term zeros = g.emitter().Full(0, g.in_type(0));
        Term dx = g.Call("TensorScatterElements", {zeros, g.in(1), g.dout()},
                         {{"axis", g.attr<int64_t>("dim")}, {"reduction", std::string("add")}});
        return Terms{dx, Term{}};
      })
      .Class("GatherD()(x, dim, index)");
  ops.Op("GatherNd")
      .Doc("The slices of x at the coordinates held by the last axis of `indices`.")
      .In("input_x", kAny, "At least one dimension.")
      .In("indices", kIndex, "[..., k]: k coordinates, k <= rank of x.")
      .Batch(batch::Coordinates(1))
      .Shard(shard::GatherNd)
      .Infer([](InferContext& c) {
        c.Check(c.rank(1) > 0, "'indices' must have at least 1 dimension, but got a scalar");
        int64_t depth = c.shape(1).back();
        c.Check(depth <= c.rank(0),
                "the last size of 'indices' must be at most {}, the rank of 'input_x', but got {}",
                c.rank(0), depth);
        return c.Like(0, Join({c.shape(1).Part(0, c.rank(1) - 1),
                               c.shape(0).Part(static_cast<int>(depth), c.rank(0))}));
      })
      .Grad([](GradContext& g) {
        Term dx =
            g.Call("ScatterNd", {g.in(1), g.dout()}, {{"shape", g.in_type(0).shape().ToCodes()}});
        return Terms{dx, Term{}};
      })
      .Python("gather_nd(input_x, indices)", kFunction | kMethod);
}

// Each value gets what reached the places it was written to.
Terms OneHotGrad(GradContext& g) {
  Term one = g.emitter().Full(1, g.in_type(1));
  Term zero = g.emitter().Full(0, g.in_type(2));
  NamedAttrs attrs{{"depth", g.attr<int64_t>("depth")}, {"axis", g.attr<int64_t>("axis")}};
  Term hits = g.Call("OneHot", {g.in(0), one, zero}, attrs);
  Term on = g.Call("ReduceSum", {g.dout() * hits});
  Term off = g.Call("ReduceSum", {g.dout() * (1 - hits)});
  return {{}, Reshape(on, g.in_type(1).shape()), Reshape(off, g.in_type(2).shape())};
}

void DefineOneHot(OpRegistry& ops) {
  ops.Op("OneHot")
      .Doc(
          "A new axis of size `depth` that holds `on_value` at the index and `off_value` "
          "elsewhere. An index outside "
          "[0, depth) gives `off_value` alone.")
      .In("indices", kIndex | One(DType::kUInt8), "Any shape.")
      .In("on_value", kAny, "A scalar.")
      .In("off_value", kAny, "A scalar of the same dtype.")
      .RequiredAttr<int64_t>("depth", "The size of the new axis.")
      .Sizes("depth")
      .WithAttr("axis", -1, "Where the new axis is.")
      .NewAxis("axis")
      .Batch([](BatchContext& b) -> Terms {
        if (b.batched(1) || b.batched(2)) return {};
        int64_t axis = b.attr<int64_t>("axis");
        return b.Again({b.in(0), b.in(1), b.in(2)}, {{"axis", axis < 0 ? axis : axis + 1}});
      })
      .Shard(shard::OneHot)
      .Infer([](InferContext& c) {
        c.CheckSameDType(1, 2);
        for (size_t i : {1, 2}) {
          c.Check(c.shape(i).elements() == 1, "'{}' must be a scalar, but got shape {}",
                  c.input_name(i), c.shape(i));
        }
        Dim depth = c.dim_attr("depth");
        c.Check(depth >= 0, "'depth' must not be negative, but got {}", depth);
        int rank = c.rank(0) + 1;
        return Type(c.dtype(1), c.shape(0).Insert(c.Axis(c.attr<int64_t>("axis"), rank), depth));
      })
      .Grad(OneHotGrad)
      .Class("OneHot(axis=-1)(indices, depth, on_value, off_value)");
}

}  // namespace

void DefineIndexing(OpRegistry& ops) {
  DefineGather(ops);
  DefineElementGather(ops);
  DefineOneHot(ops);
  DefineScatter(ops);
}

}  // namespace ms
