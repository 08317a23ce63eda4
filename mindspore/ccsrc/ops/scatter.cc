// Writing elements at positions that are tensors. The forms named Tensor* give a new value; those
// named Scatter* give the new value of a Parameter, which the runtime may write in place.
#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/segment.h"
#include "ops/shard.h"
#include "ops/written.h"

namespace ms {
namespace {

// x[indices[..., :]] <- updates, where the last axis of `indices` holds coordinates.
void CheckNd(InferContext& c, const Shape& x, const Shape& indices, const Shape& updates) {
  c.Check(indices.rank() > 0, "'indices' must have at least 1 dimension, but got a scalar");
  int64_t depth = indices.back();
  c.Check(depth >= 1 && depth <= x.rank(),
          "the last size of 'indices' must be in [1, {}], but got {}", x.rank(), depth);
  Shape expected =
      Join({indices.Part(0, indices.rank() - 1), x.Part(static_cast<int>(depth), x.rank())});
  c.Check(SameSizes(updates, expected), "'updates' must have shape {}, but got {}", expected,
          updates);
  c.Check(!x.empty() || updates.empty(), "the written tensor must not be empty, but got shape {}",
          x);
}

// x[indices] <- updates along the first axis.
void CheckFirst(InferContext& c) {
  c.Check(c.rank(0) > 0, "'{}' must have at least 1 dimension, but got a scalar", c.input_name(0));
  Shape expected = Join({c.shape(1), c.shape(0).Part(1, c.rank(0))});
  c.Check(SameSizes(c.shape(2), expected), "'updates' must have shape {}, but got {}", expected,
          c.shape(2));
  c.Check(!c.shape(0).empty() || c.shape(2).empty(),
          "the written tensor must not be empty, but got shape {}", c.shape(0));
}

Type InferNd(InferContext& c) {
  c.CheckSameDType(0, 2);
  CheckNd(c, c.shape(0), c.shape(1), c.shape(2));
  return c.Like(0, c.shape(0));
}

Terms UpdateGrad(GradContext& g) {
  Term zeros = g.emitter().Full(0, g.in_type(2));
  return {g.Call("TensorScatterUpdate", {g.dout(), g.in(1), zeros}), Term{},
          g.Call("GatherNd", {g.dout(), g.in(1)})};
}

Terms AddGrad(GradContext& g) {
  return {g.dout(), Term{}, g.Call("GatherNd", {g.dout(), g.in(1)})};
}
Terms SubGrad(GradContext& g) {
  return {g.dout(), Term{}, -g.Call("GatherNd", {g.dout(), g.in(1)})};
}

// The tangent goes to whoever attained the extreme; to each of them in a tie.
Terms ExtremeGrad(GradContext& g) {
  Term kept = CastTo(g.Call("Equal", {g.out(), g.in(0)}), g.dout().dtype());
  Term reached = g.Call("GatherNd", {g.out(), g.in(1)});
  Term won = CastTo(g.Call("Equal", {reached, g.in(2)}), g.dout().dtype());
  return {g.dout() * kept, Term{}, g.Call("GatherNd", {g.dout(), g.in(1)}) * won};
}

// Of an update, the product of all else at its place, where at most one zero may be left out.
Terms MulGrad(GradContext& g) {
  Term x = Conjugate(g.in(0)), at = g.in(1), updates = Conjugate(g.in(2));
  Terms terms(3);
  if (g.needs(0)) terms[0] = g.Call("TensorScatterMul", {g.dout(), at, updates});
  if (!g.needs(2)) return terms;
  Term is_zero = g.Call("Equal", {updates, ZerosLike(updates)});
  Term zero = CastTo(is_zero, updates.dtype());
  Term safe = updates + zero;
  Term product = g.Call("TensorScatterMul", {g.dout() * x, at, safe});
  Term zeros = g.Call("TensorScatterAdd", {ZerosLike(x), at, zero});
  Term others = g.Call("GatherNd", {zeros, at}) - zero;
  Term rest = g.Call("GatherNd", {product, at}) / safe;
  Term alone = g.Call("Equal", {others, ZerosLike(others)});
  terms[2] = g.Call("Select", {alone, rest, ZerosLike(rest)});
  return terms;
}
Terms DivGrad(GradContext& g) {
  Term x = Conjugate(g.in(0)), updates = Conjugate(g.in(2));
  Term scaled = g.Call("TensorScatterDiv", {g.dout(), g.in(1), updates});
  return {scaled, Term{}, -(g.Call("GatherNd", {scaled * x, g.in(1)}) / updates)};
}

DTypeSet WrittenTypes(std::string_view name) {
  if (name.ends_with("Update")) return kAny;
  return name.ends_with("Max") || name.ends_with("Min") ? kReal : kNumber;
}

void DefineTensorScatter(OpRegistry& ops) {
  struct Form {
    const char* name;
    const char* verb;
    GradFn grad;
    const char* face;
  };
  const Form forms[] = {
      {"TensorScatterUpdate", "replaced by", UpdateGrad,
       "tensor_scatter_update(input_x, indices, updates)"},
      {"TensorScatterAdd", "increased by", AddGrad,
       "tensor_scatter_add(input_x, indices, updates)"},
      {"TensorScatterSub", "decreased by", SubGrad,
       "tensor_scatter_sub(input_x, indices, updates)"},
      {"TensorScatterMax", "raised to at least", ExtremeGrad,
       "tensor_scatter_max(input_x, indices, updates)"},
      {"TensorScatterMin", "lowered to at most", ExtremeGrad,
       "tensor_scatter_min(input_x, indices, updates)"},
      {"TensorScatterMul", "multiplied by", MulGrad,
       "tensor_scatter_mul(input_x, indices, updates)"},
      {"TensorScatterDiv", "divided by", DivGrad, "tensor_scatter_div(input_x, indices, updates)"},
  };
  for (const Form& form : forms) {
    ops.Op(form.name)
        .Doc(fmt::format("The first input with the slices at given coordinates {} the updates.",
                         form.verb))
        .In("input_x", WrittenTypes(form.name), "Any shape.")
        .In("indices", kIndex, "[..., k]: coordinates.")
        .In("updates", kAny, "One slice for each row of coordinates.")
        .Batch(batch::Coordinates(1))
        .Shard(shard::ScatterInto)
        .Infer(InferNd)
        .Grad(form.grad)
        .InPlace(0, 0)
        .Python(form.face, kFunction);
  }
  ops.Op("ScatterNd")
      .Doc("Zeros of a shape with the updates added at given coordinates.")
      .In("indices", kIndex, "[..., k]: coordinates.")
      .In("updates", kNumber | kBoolean, "One slice for each row of coordinates.")
      .RequiredAttr<Ints>("shape", "The shape of the result.")
      .Sizes("shape")
      .Batch(batch::Coordinates(0, "shape"))
      .Shard(shard::ScatterNd)
      .Infer([](InferContext& c) {
        Shape shape(c.attr<Ints>("shape"));
        CheckNd(c, shape, c.shape(0), c.shape(1));
        return Type(c.dtype(1), shape);
      })
      .Grad([](GradContext& g) { return Terms{Term{}, g.Call("GatherNd", {g.dout(), g.in(0)})}; })
      .Python("scatter_nd(indices, updates, shape)")
      .Class("ScatterNd()(indices, updates, shape)");
}

Type InferScatterElements(InferContext& c) {
  c.CheckSameDType(0, 2);
  c.CheckSameShape(1, 2);
  const std::string& reduction = c.attr<std::string>("reduction");
  c.Check(reduction == "none" || reduction == "add",
          "'reduction' must be 'none' or 'add', but got '{}'", reduction);
  c.CheckType(reduction == "none" || !IsBool(c.dtype(0)),
              "'data' must be of numbers to be added to, but got {}", Name(c.dtype(0)));
  int axis = c.Axis(c.attr<int64_t>("axis"), std::max(c.rank(0), 1));
  bool fits = c.rank(0) == c.rank(1);
  for (int i = 0; fits && i < c.rank(0); ++i) fits = i == axis || c.dim(1, i) <= c.dim(0, i);
  c.Check(fits,
          "'indices' must have the rank of 'data' and be no larger except at axis {}, but got "
          "shapes {} and {}",
          axis, c.shape(1), c.shape(0));
  c.Check(!c.shape(0).empty() || c.shape(1).empty(), "'data' must not be empty, but got shape {}",
          c.shape(0));
  return c.Like(0, c.shape(0));
}

Terms ScatterElementsGrad(GradContext& g) {
  NamedAttrs attrs{{"axis", g.attr<int64_t>("axis")}, {"reduction", std::string("none")}};
  Term updates = g.Call("GatherD", {g.dout(), g.in(1)}, {{"dim", g.attr<int64_t>("axis")}});
  if (g.attr<std::string>("reduction") == "add") return {g.dout(), Term{}, updates};
  Term zeros = g.emitter().Full(0, g.in_type(2));
  return {g.Call("TensorScatterElements", {g.dout(), g.in(1), zeros}, attrs), Term{}, updates};
}

// The form of tensors, for updates of another dtype.
Term OnTensor(ExpandContext& c, std::string_view form, bool coordinates) {
  const Shape& at = c.in(1).shape();
  Term rows = coordinates ? c.in(1) : Reshape(c.in(1), at.Insert(at.rank(), 1));
  return c.Call(form, {c.in(0), rows, CastTo(c.in(2), c.in(0).type().dtype())});
}

void DefineParameterScatter(OpRegistry& ops) {
  struct Form {
    const char* name;
    const char* verb;
    const char* face;
  };
  const Form first_axis[] = {
      {"ScatterUpdate", "replaced by", "scatter_update(input_x, indices, updates)"},
      {"ScatterAdd", "increased by", "scatter_add(input_x, indices, updates)"},
      {"ScatterSub", "decreased by", "scatter_sub(input_x, indices, updates)"},
      {"ScatterMul", "multiplied by", "scatter_mul(input_x, indices, updates)"},
      {"ScatterDiv", "divided by", "scatter_div(input_x, indices, updates)"},
      {"ScatterMax", "raised to at least", "scatter_max(input_x, indices, updates)"},
      {"ScatterMin", "lowered to at most", "scatter_min(input_x, indices, updates)"}};
  for (const Form& form : first_axis) {
    ops.Op(form.name)
        .Doc(fmt::format(
            "A Parameter with the slices at given positions of the first axis {} the updates.",
            form.verb))
        .In("input_x", WrittenTypes(form.name), "The Parameter.")
        .In("indices", kIndex, "Positions in [0, n).")
        .In("updates", kAny, "One slice for each position.")
        .WithAttr("use_locking", form.name == std::string_view("ScatterUpdate"),
                  "Accepted; updates never race.")
        .Shard(shard::ScatterFirst)
        .Infer([](InferContext& c) {
          CheckBecomes(c, 2);
          CheckFirst(c);
          return c.Like(0, c.shape(0));
        })
        .Expand([name = fmt::format("Tensor{}", form.name)](ExpandContext& c) {
          return OnTensor(c, name, false);
        })
        .Updates(0, 0)
        .Python(form.face);
  }
  const Form nd[] = {
      {"ScatterNdUpdate", "replaced by", "scatter_nd_update(input_x, indices, updates)"},
      {"ScatterNdAdd", "increased by",
       "scatter_nd_add(input_x, indices, updates, use_locking=False)"},
      {"ScatterNdSub", "decreased by",
       "scatter_nd_sub(input_x, indices, updates, use_locking=False)"},
      {"ScatterNdMul", "multiplied by",
       "scatter_nd_mul(input_x, indices, updates, use_locking=False)"},
      {"ScatterNdDiv", "divided by",
       "scatter_nd_div(input_x, indices, updates, use_locking=False)"},
      {"ScatterNdMax", "raised to at least",
       "scatter_nd_max(input_x, indices, updates, use_locking=False)"},
      {"ScatterNdMin", "lowered to at most",
       "scatter_nd_min(input_x, indices, updates, use_locking=False)"}};
  for (const Form& form : nd) {
    ops.Op(form.name)
        .Doc(fmt::format("A Parameter with the slices at given coordinates {} the updates.",
                         form.verb))
        .In("input_x", WrittenTypes(form.name), "The Parameter.")
        .In("indices", kIndex, "[..., k]: coordinates.")
        .In("updates", kAny, "One slice for each row of coordinates.")
        .WithAttr("use_locking", form.name == std::string_view("ScatterNdUpdate"),
                  "Accepted; updates never race.")
        .Shard(shard::ScatterInto)
        .Infer([](InferContext& c) {
          CheckBecomes(c, 2);
          CheckNd(c, c.shape(0), c.shape(1), c.shape(2));
          return c.Like(0, c.shape(0));
        })
        .Expand([name = fmt::format("TensorScatter{}", std::string_view(form.name).substr(9))](
                    ExpandContext& c) { return OnTensor(c, name, true); })
        .Updates(0, 0)
        .Python(form.face);
  }
}

}  // namespace

void DefineScatter(OpRegistry& ops) {
  DefineTensorScatter(ops);
  ops.Op("TensorScatterElements")
      .Doc(
          "`data` with the elements whose coordinate along an axis is the index replaced by, or "
          "increased by, the updates.")
      .In("data", kAny, "Any shape.")
      .In("indices", kIndex, "Positions in [-n, n); the rank of data.")
      .In("updates", kAny, "The shape of the indices.")
      .WithAttr("axis", 0, "The axis.")
      .WithAttr("reduction", "none", "'none' or 'add'.")
      .Axes("axis")
      .Shard(shard::ScatterElements)
      .Infer(InferScatterElements)
      .Grad(ScatterElementsGrad)
      .InPlace(0, 0)
      .Python("tensor_scatter_elements(input_x, indices, updates, axis=0, reduction='none')")
      .Class("TensorScatterElements(axis=0, reduction='none')(data, indices, updates)");
  DefineParameterScatter(ops);
  DefineSegments(ops);
}

}  // namespace ms
