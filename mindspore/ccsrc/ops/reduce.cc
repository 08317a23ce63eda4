// Reductions over axes, their positions of extremes, and the sum of several tensors. Axes: an empty
// list or None means all of them.
#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/shard.h"

namespace ms {

Ints AxisList(const OpDef& op, const Attrs& attrs, std::string_view name) {
  const Attr& value = attrs.at(static_cast<size_t>(op.AttrIndex(name)));
  return std::holds_alternative<Ints>(value) ? std::get<Ints>(value) : Ints{};
}

std::vector<int> SortedAxes(const Ints& axes, int rank) {
  std::vector<int> sorted;
  for (int i = 0; i < rank; ++i) {
    bool named =
        std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return Wrap(a, rank) == i; });
    if (axes.empty() || named) sorted.push_back(i);
  }
  return sorted;
}

Shape ReducedShape(const Shape& shape, const std::vector<int>& axes, bool keep_dims) {
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), false);
  for (int axis : axes) reduced[static_cast<size_t>(axis)] = true;
  Dims dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!reduced[static_cast<size_t>(i)]) {
      dims.push_back(shape.dim(i));
    } else if (keep_dims) {
      dims.push_back(1);
    }
  }
  return Shape(dims);
}

namespace {

std::vector<int> AxesOf(const GradContext& g) {
  return SortedAxes(AxisList(*g.node().op, *g.node().attrs, "axis"), g.in_type(0).shape().rank());
}

// The shape of the input with the reduced axes at size 1: what broadcasts back to the input.
Shape KeptShape(const GradContext& g) {
  return ReducedShape(g.in_type(0).shape(), AxesOf(g), true);
}

Term Spread(const GradContext& g, const Term& y) {
  return BroadcastTo(Reshape(y, KeptShape(g)), g.in_type(0).shape());
}

Type InferReduce(InferContext& c) {
  std::vector<int> axes = c.Axes(AxisList(c.op(), c.attrs(), "axis"), c.rank(0));
  return c.Like(0, ReducedShape(c.shape(0), axes, c.attr<bool>("keep_dims")));
}

// Maximum and minimum have no value for nothing.
Type InferExtreme(InferContext& c) {
  std::vector<int> axes = c.Axes(AxisList(c.op(), c.attrs(), "axis"), c.rank(0));
  for (int axis : axes) {
    c.Check(c.dim(0, axis) > 0, "the reduced axes must not be empty, but got shape {} and axis {}",
            c.shape(0), axis);
  }
  return c.Like(0, ReducedShape(c.shape(0), axes, c.attr<bool>("keep_dims")));
}

Type InferBoolReduce(InferContext& c) { return Type(DType::kBool, InferReduce(c).shape()); }

Term SumGrad(GradContext& g) { return Spread(g, g.dout()); }

Term MeanGrad(GradContext& g) {
  Dim count = 1;
  for (int axis : AxesOf(g)) count *= g.in_type(0).shape().dim(axis);
  return Spread(g, g.dout() / std::max<Dim>(count, 1));
}

// The tangent goes to the extreme's position, given along an axis.
Term TangentAt(GradContext& g, int axis, const Term& position, const Term& dy) {
  Shape kept = g.in_type(0).shape().With(axis, 1);
  return g.Call("TensorScatterElements",
                {g.emitter().Full(0, g.in_type(0)), Reshape(position, kept), Reshape(dy, kept)},
                {{"axis", int64_t{axis}}, {"reduction", std::string("none")}});
}

// The tangent is shared evenly by the elements that attain the extreme, or goes to the first.
Term ExtremeGrad(GradContext& g) {
  Term x = g.in(0);
  if (std::vector<int> axes = AxesOf(g); g.attr<bool>("first") && axes.size() == 1) {
    bool largest = g.node().op->name == "ReduceMax";
    Term at = g.Call(largest ? "Argmax" : "Argmin", {x},
                     {{"axis", int64_t{axes[0]}}, {"output_type", DType::kInt64}});
    return TangentAt(g, axes[0], at, g.dout());
  }
  Term y = BroadcastTo(Reshape(g.out(), KeptShape(g)), x.shape());
  Term hit = CastTo(g.Call("Equal", {x, y}), x.dtype());
  Ints axes;
  for (int axis : AxesOf(g)) axes.push_back(axis);
  Term count =
      axes.empty() ? hit : g.Call("ReduceSum", {hit}, {{"axis", axes}, {"keep_dims", true}});
  return hit * (Reshape(g.dout(), KeptShape(g)) / count);
}

// The product of the others, without division: right also where elements are zero. The reduced axes
// are brought to the end, where prefix and suffix products are taken.
Term ProdGrad(GradContext& g) {
  Term x = Conjugate(g.in(0));
  const Shape& shape = x.shape();
  std::vector<int> axes = AxesOf(g);
  if (axes.empty()) return Reshape(g.dout(), shape);
  Ints order, back(static_cast<size_t>(shape.rank()));
  Dims kept;
  for (int i = 0; i < shape.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      order.push_back(i), kept.push_back(shape.dim(i));
  }
  for (int axis : axes) order.push_back(axis);
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Term moved = g.Call("Transpose", {x}, {{"perm", order}});
  Shape moved_shape = moved.shape();
  Dim rows = Shape(kept).elements();
  Dim count = moved_shape.Elements(static_cast<int>(kept.size()), moved_shape.rank());
  Term flat = Reshape(moved, {rows, count});
  Term before = g.Call("CumProd", {flat}, {{"axis", int64_t{1}}, {"exclusive", true}});
  Term after =
      g.Call("CumProd", {flat}, {{"axis", int64_t{1}}, {"exclusive", true}, {"reverse", true}});
  Term dx = before * after * Reshape(g.dout(), {rows, 1});
  return g.Call("Transpose", {Reshape(dx, moved_shape)}, {{"perm", back}});
}

constexpr const char* kFirstDoc =
    "Of equal extremes along one axis, the first takes the whole gradient.";

OpDef& Reduction(OpRegistry& ops, const char* name, const char* input, DTypeSet types) {
  OpDef& op = ops.Op(name).In(input, types, "Any shape.");
  op.AddAttr(
      {"axis", Ints{}, false, Attr(Ints{}).index(), true, "Axes to reduce; none means all."});
  return op.WithAttr("keep_dims", false, "Keep the reduced axes with size 1.").Axes("axis");
}

// ---- position of an extreme
Type ArgType(InferContext& c, DType index, bool keep_dims) {
  int axis = c.Axis(c.attr<int64_t>("axis"), std::max(c.rank(0), 1));
  c.Check(c.shape(0).rank() == 0 || c.dim(0, axis) > 0,
          "the axis must not be empty, but got shape {} and axis {}", c.shape(0), axis);
  if (c.rank(0) == 0) return Type(index, {});
  return Type(index, keep_dims ? c.shape(0).With(axis, 1) : c.shape(0).Erase(axis));
}

Type InferArg(InferContext& c) {
  DType index = c.attr<DType>("output_type");
  c.CheckType(Contains(kIndex, index), "'output_type' must be Int32 or Int64, but got {}",
              Name(index));
  return ArgType(c, index, false);
}

Types InferArgWithValue(InferContext& c) {
  Type index = ArgType(c, DType::kInt64, c.attr<bool>("keep_dims"));
  return {index, Type(c.dtype(0), index.shape())};
}

Term ArgWithValueGrad(GradContext& g) {
  const Shape& shape = g.in_type(0).shape();
  if (shape.rank() == 0) return g.dout(1);
  int axis = static_cast<int>(g.attr<int64_t>("axis"));
  if (axis < 0) axis += shape.rank();
  return TangentAt(g, axis, g.out(0), g.dout(1));
}

void DefineArgReductions(OpRegistry& ops) {
  for (const char* name : {"Argmax", "Argmin"}) {
    ops.Op(name)
        .Doc(name == std::string_view("Argmax")
                 ? "Position of the largest element along an axis; a nan counts as largest."
                 : "Position of the smallest element along an axis; a nan counts as smallest.")
        .In(name == std::string_view("Argmax") ? "input_x" : "x", kReal | kBoolean, "Any shape.")
        .WithAttr("axis", -1, "The axis that is searched.")
        .WithAttr("output_type", DType::kInt32, "Int32 or Int64.")
        .Axes("axis")
        .Shard(shard::Along)
        .Infer(InferArg);
  }
  for (const char* name : {"ArgMaxWithValue", "ArgMinWithValue"}) {
    ops.Op(name)
        .Doc("Position and value of the extreme element along an axis.")
        .In("input", kReal, "Any shape.")
        .WithAttr("axis", 0, "The axis that is searched.")
        .WithAttr("keep_dims", false, "Keep that axis with size 1.")
        .Axes("axis")
        .Shard(shard::Along)
        .Infer(InferArgWithValue)
        .Grad(ArgWithValueGrad);
  }
}

}  // namespace

void DefineReduce(OpRegistry& ops) {
  Reduction(ops, "ReduceSum", "x", kNumber | kBoolean)
      .Doc("Sum over axes, in the dtype of x (of Bool: whether any is true).")
      .Batch([](BatchContext& b) {
        bool skip =
            b.attr<bool>("skip_mode") && AxisList(*b.node().op, *b.node().attrs, "axis").empty();
        return skip ? Terms{b.in(0)} : batch::ByAxes(b);
      })
      .WithAttr("skip_mode", false, "An empty list of axes returns x as it is.")
      .Shard(shard::Reduction("sum"))
      .Infer([](InferContext& c) {
        bool skip = c.attr<bool>("skip_mode") && AxisList(c.op(), c.attrs(), "axis").empty();
        return skip ? c.Like(0, c.shape(0)) : InferReduce(c);
      })
      .Grad([](GradContext& g) {
        bool skip =
            g.attr<bool>("skip_mode") && AxisList(*g.node().op, *g.node().attrs, "axis").empty();
        return skip ? g.dout() : SumGrad(g);
      })
      .Python("reduce_sum(x, axis=())")
      .Class("ReduceSum(keep_dims=False, skip_mode=False)(x, axis=())");
  Reduction(ops, "ReduceMean", "x", kNumber)
      .Doc("Mean over axes; of integers, rounded towards zero. The mean of nothing is nan.")
      .Shard(shard::Reduction("mean"))
      .Infer(InferReduce)
      .Grad(MeanGrad)
      .Python("mean(x, axis=None, keep_dims=False)", kFunction | kMethod)
      .Python("reduce_mean(x, axis=())")
      .Class("ReduceMean(keep_dims=False)(x, axis=())");
  Reduction(ops, "ReduceMax", "x", kReal | kBoolean)
      .Doc("Largest element over axes; a nan wins.")
      .WithAttr("first", false, kFirstDoc)
      .Shard(shard::Reduction("max"))
      .Infer(InferExtreme)
      .Grad(ExtremeGrad)
      .Python("reduce_max(x, axis=())")
      .Class("ReduceMax(keep_dims=False)(x, axis=())");
  Reduction(ops, "ReduceMin", "x", kReal | kBoolean)
      .Doc("Smallest element over axes; a nan wins.")
      .WithAttr("first", false, kFirstDoc)
      .Shard(shard::Reduction("min"))
      .Infer(InferExtreme)
      .Grad(ExtremeGrad)
      .Python("reduce_min(x, axis=())")
      .Class("ReduceMin(keep_dims=False)(x, axis=())");
  Reduction(ops, "ReduceProd", "x", kNumber)
      .Doc("Product over axes, in the dtype of x.")
      .Shard(shard::Reduction("whole"))
      .Infer(InferReduce)
      .Grad(ProdGrad)
      .Class("ReduceProd(keep_dims=False)(x, axis=())");
  Reduction(ops, "ReduceAll", "input", kAny)
      .Doc("Whether all elements over axes are true (not zero).")
      .Shard(shard::Reduction("min"))
      .Infer(InferBoolReduce)
      .Python("all(input, axis=None, keep_dims=False)", kFunction | kMethod)
      .Class("ReduceAll(keep_dims=False)(input, axis=None)");
  Reduction(ops, "ReduceAny", "x", kAny)
      .Doc("Whether any element over axes is true (not zero).")
      .Shard(shard::Reduction("max"))
      .Infer(InferBoolReduce)
      .Python("any(input, axis=None, keep_dims=False)", kFunction | kMethod)
      .Class("ReduceAny(keep_dims=False)(x, axis=())");
  DefineArgReductions(ops);
  DefineScan(ops);
  ops.Op("AddN")
      .Doc("Sum of tensors of one shape and dtype.")
      .In("x", kNumber | kBoolean, "One or more tensors of the same shape.")
      .Variadic()
      .Batch(batch::Leading)
      .Shard(ElementwiseShard)
      .Infer([](InferContext& c) {
        for (size_t i = 1; i < c.size(); ++i) {
          c.CheckType(c.dtype(i) == c.dtype(0),
                      "all tensors must have the same dtype, but got {} and {}", Name(c.dtype(0)),
                      Name(c.dtype(i)));
          c.Check(SameSizes(c.shape(i), c.shape(0)),
                  "all tensors must have the same shape, but got {} and {}", c.shape(0),
                  c.shape(i));
        }
        return c.Like(0, c.shape(0));
      })
      .Grad([](GradContext& g) { return Terms(g.inputs(), g.dout()); })
      .InPlace(0, 0)
      .Python("addn(x)");
}

}  // namespace ms
