// Joining tensors along an axis and taking them apart.
#include <numeric>

#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/put.h"
#include "ops/shard.h"

namespace ms {
namespace {

// A tuple in Python, be it of one: the sizes decide how many pieces there are.
constexpr int kPieces = -2;

void CheckSameDTypes(InferContext& c) {
  for (size_t i = 1; i < c.size(); ++i) {
    c.CheckType(c.dtype(i) == c.dtype(0), "all tensors must have the same dtype, but got {} and {}",
                Name(c.dtype(0)), Name(c.dtype(i)));
  }
}

Type InferConcat(InferContext& c) {
  CheckSameDTypes(c);
  c.Check(c.rank(0) > 0, "the tensors must have at least 1 dimension, but got a scalar");
  int axis = c.Axis(c.attr<int64_t>("axis"), c.rank(0));
  Dim total = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    bool fits = c.rank(i) == c.rank(0);
    for (int d = 0; fits && d < c.rank(0); ++d) fits = d == axis || c.dim(i, d) == c.dim(0, d);
    c.Check(fits, "the shapes must be equal except at axis {}, but got {} and {}", axis, c.shape(0),
            c.shape(i));
    total += c.dim(i, axis);
  }
  return c.Like(0, c.shape(0).With(axis, total));
}

Terms ConcatGrad(GradContext& g) {
  int axis = Wrap(g.attr<int64_t>("axis"), g.out_type(0).shape().rank());
  Terms result;
  Dim first = 0;
  for (size_t i = 0; i < g.inputs(); ++i) {
    const Shape& shape = g.in_type(i).shape();
    Ints begin(static_cast<size_t>(shape.rank()), 0);
    begin[static_cast<size_t>(axis)] = first.code();
    first += shape.dim(axis);
    result.push_back(g.Call("Slice", {g.dout()}, {{"begin", begin}, {"size", shape.ToCodes()}}));
  }
  return result;
}

Type InferStack(InferContext& c) {
  CheckSameDTypes(c);
  int rank = c.rank(0) + 1;
  int axis = c.Axis(c.attr<int64_t>("axis"), rank);
  for (size_t i = 1; i < c.size(); ++i) {
    c.Check(SameSizes(c.shape(i), c.shape(0)),
            "all tensors must have the same shape, but got {} and {}", c.shape(0), c.shape(i));
  }
  return c.Like(0, c.shape(0).Insert(axis, static_cast<int64_t>(c.size())));
}

Types InferUnstack(InferContext& c) {
  c.Check(c.rank(0) > 0, "'input_x' must have at least 1 dimension, but got a scalar");
  int axis = c.Axis(c.attr<int64_t>("axis"), c.rank(0));
  int64_t count = c.shape(0)[axis];
  c.Check(count > 0, "the axis must not be empty, but got shape {} and axis {}", c.shape(0), axis);
  c.Check(c.is_none("num") || c.attr<int64_t>("num") == count,
          "'num' must be the size of the axis, {}, but got {}", count,
          c.is_none("num") ? 0 : c.attr<int64_t>("num"));
  return Types(static_cast<size_t>(count), c.Like(0, c.shape(0).Erase(axis)));
}

Terms Douts(GradContext& g) {
  Terms douts;
  for (size_t i = 0; i < g.outputs(); ++i) douts.push_back(g.dout(i));
  return douts;
}

Types InferSplit(InferContext& c) {
  c.Check(c.rank(0) > 0, "'input_x' must have at least 1 dimension, but got a scalar");
  int axis = c.Axis(c.attr<int64_t>("axis"), c.rank(0));
  int64_t count = c.attr<int64_t>("output_num");
  c.Check(count > 0, "'output_num' must be positive, but got {}", count);
  Dim size = c.dim(0, axis);
  c.Check(size % count == 0 && count <= std::max<Dim>(size, 1),
          "the size of axis {}, {}, must be a multiple of 'output_num', but got {}", axis, size,
          count);
  return Types(static_cast<size_t>(count), c.Like(0, c.shape(0).With(axis, size / count)));
}

Types InferSplitV(InferContext& c) {
  c.Check(c.rank(0) > 0, "'input_x' must have at least 1 dimension, but got a scalar");
  int axis = c.Axis(c.attr<int64_t>("split_dim"), c.rank(0));
  Dims sizes = c.dims_attr("size_splits");
  Dim whole = c.dim(0, axis);
  int64_t count = c.attr<int64_t>("num_split");
  c.Check(count == static_cast<int64_t>(sizes.size()) && count > 0,
          "'num_split' must be the number of 'size_splits', {}, but got {}", sizes.size(), count);
  Dim total = 0;
  int64_t unknown = 0;
  for (Dim s : sizes) {
    c.Check(s >= -1 && s <= whole, "'size_splits' must be in [-1, {}], but got ({})", whole,
            fmt::join(sizes, ", "));
    if (s.Is(-1))
      ++unknown;
    else
      total += s;
  }
  c.Check(unknown <= 1, "'size_splits' must have at most one -1, but got ({})",
          fmt::join(sizes, ", "));
  c.Check(unknown ? total <= whole : total == whole,
          "'size_splits' must sum to {}, the size of axis {}, but got ({})", whole, axis,
          fmt::join(sizes, ", "));
  Types types;
  for (Dim s : sizes)
    types.push_back(c.Like(0, c.shape(0).With(axis, s.Is(-1) ? whole - total : s)));
  return types;
}

}  // namespace

void DefineJoin(OpRegistry& ops) {
  ops.Op("Concat")
      .Doc("Tensors joined along an axis.")
      .In("tensors", kAny, "Equal in all sizes but that of the axis; dtypes are promoted.")
      .Variadic()
      .WithAttr("axis", 0, "The axis.")
      .Promote()
      .Axes("axis")
      .Shard(shard::Concat)
      .Infer(InferConcat)
      .Grad(ConcatGrad)
      .Python("concat(tensors, axis=0)")
      .Python("cat(tensors, axis=0)");
  ops.Op("Stack")
      .Doc("Tensors of one shape joined along a new axis.")
      .In("input_x", kAny, "One shape; dtypes are promoted.")
      .Variadic()
      .WithAttr("axis", 0, "Where the new axis is.")
      .Promote()
      .NewAxis("axis")
      .Shard(shard::Stack)
      .Infer(InferStack)
      .Grad([](GradContext& g) {
        return g.CallMany("Unstack", {g.dout()}, {{"axis", g.attr<int64_t>("axis")}});
      })
      .Python("stack(tensors, axis=0)")
      .Class("Stack(axis=0)(input_x)")
      .Class("Pack");
  ops.Op("Unstack")
      .Doc("The pieces of a tensor along an axis, without that axis.")
      .In("input_x", kAny, "At least one dimension.")
      .WithAttr("axis", 0, "The axis.")
      .OptionalAttr<int64_t>("num", "The size of the axis, as a check.")
      .Axes("axis")
      .Returns(kPieces)
      .Shard(shard::Pieces)
      .Infer(InferUnstack)
      .Grad([](GradContext& g) {
        return g.Call("Stack", Douts(g), {{"axis", g.attr<int64_t>("axis")}});
      })
      .Shows(put::Pieces)
      .Python("unstack(input_x, axis=0)")
      .Python("unbind(input, dim=0)", kFunction | kMethod)
      .Class("Unstack(axis=0, num=None)(input_x)")
      .Class("Unpack");
  ops.Op("Split")
      .Doc("A tensor cut into equal pieces along an axis.")
      .In("input_x", kAny, "At least one dimension.")
      .WithAttr("axis", 0, "The axis.")
      .WithAttr("output_num", 1, "How many pieces.")
      .Axes("axis")
      .Returns(kPieces)
      .Shard(shard::Pieces)
      .Infer(InferSplit)
      .Grad([](GradContext& g) {
        return g.Call("Concat", Douts(g), {{"axis", g.attr<int64_t>("axis")}});
      })
      .Shows(put::Pieces);
  ops.Op("SplitV")
      .Doc("A tensor cut into pieces of given sizes along an axis.")
      .In("input_x", kAny, "At least one dimension.")
      .RequiredAttr<Ints>("size_splits",
                          "The sizes; one of them may be -1, which means what is left.")
      .Sizes("size_splits")
      .RequiredAttr<int64_t>("split_dim", "The axis.")
      .RequiredAttr<int64_t>("num_split", "How many sizes there are.")
      .Axes("split_dim")
      .Returns(kPieces)
      .Shard(shard::Pieces)
      .Infer(InferSplitV)
      .Grad([](GradContext& g) {
        return g.Call("Concat", Douts(g), {{"axis", g.attr<int64_t>("split_dim")}});
      })
      .Shows(put::Pieces);
}

}  // namespace ms
