// Ops that rearrange elements: views, transposition, repetition, padding, reversal, triangles and
// diagonals.
#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/put.h"
#include "ops/shard.h"

namespace ms {
namespace {

// ---- views
Type InferReshape(InferContext& c) {
  Dims shape = c.dims_attr("shape");
  const Shape& from = c.shape(0);
  int unknown = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    c.Check(shape[i] >= -1, "the sizes of 'shape' must be at least -1, but got ({})",
            fmt::join(shape, ", "));
    if (shape[i].Is(-1)) {
      c.Check(unknown < 0, "'shape' must have at most one -1, but got ({})",
              fmt::join(shape, ", "));
      unknown = static_cast<int>(i);
    }
  }
  if (unknown >= 0) {
    Dim& open = shape[static_cast<size_t>(unknown)];
    open = 1;
    Dim known = Shape(shape).elements();
    bool fits = known == 0 ? from.empty() : from.elements() % known == 0;
    c.Check(fits, "the {} elements of 'input' with shape {} must fit 'shape', but got ({})",
            from.elements(), from, fmt::join(c.dims_attr("shape"), ", "));
    open = known == 0 ? Dim(0) : from.elements() / known;
  }
  Shape result(shape);
  c.Check(result.elements() == from.elements(),
          "the {} elements of 'input' with shape {} must fit 'shape', but got ({})",
          from.elements(), from, fmt::join(c.dims_attr("shape"), ", "));
  return Type(c.dtype(0), result, c.in(0).weak() && result.rank() == 0);
}

Term ReshapeBack(GradContext& g) { return Reshape(g.dout(), g.in_type(0).shape()); }

Type InferExpandDims(InferContext& c) {
  int rank = c.rank(0);
  int64_t axis = c.attr<int64_t>("axis");
  c.Check(axis >= -rank - 1 && axis <= rank, "the axis must be in [{}, {}], but got {}", -rank - 1,
          rank, axis);
  return c.Like(0, c.shape(0).Insert(static_cast<int>(axis), 1));
}

Type InferSqueeze(InferContext& c) {
  Ints given = AxisList(c.op(), c.attrs(), "axis");
  std::vector<int> axes = c.Axes(given, c.rank(0));
  Dims dims;
  for (int i = 0; i < c.rank(0); ++i) {
    bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
    Dim size = c.dim(0, i);
    if (!given.empty() && named) {
      c.Check(!size.symbolic(),
              "the sizes of the squeezed axes must be known, but got {} for axis {} of shape {}",
              size, i, c.shape(0));
    }
    if (!named || size != 1) dims.push_back(size);
  }
  return c.Like(0, dims);
}

void DefineViews(OpRegistry& ops) {
  ops.Op("Reshape")
      .Doc("The same elements in another shape.")
      .In("input", kAny, "Any shape.")
      .RequiredAttr<Ints>("shape",
                          "The new sizes; one of them may be -1, which means what is left.")
      .Sizes("shape")
      .Infer(InferReshape)
      .Grad(ReshapeBack)
      .View()
      .Shows(put::Reshaped)
      .Python("reshape(input, shape)")
      .Class("Reshape()(input, shape)");
  ops.Op("ExpandDims")
      .Doc("Adds an axis of size 1.")
      .In("input_x", kAny, "Any shape.")
      .RequiredAttr<int64_t>("axis", "Where: in [-rank - 1, rank].")
      .NewAxis("axis")
      .Infer(InferExpandDims)
      .Grad(ReshapeBack)
      .View()
      .Shows(put::Reshaped)
      .Python("expand_dims(input_x, axis)", kFunction | kMethod)
      .Python("unsqueeze(input, dim)", kFunction | kMethod)
      .Class("ExpandDims()(input_x, axis)");
  // Like Python's own conversion, it is where gradients end.
  ops.Op("Number")
      .Internal()
      .Doc("The Python number that a tensor of one element holds: its dtype yields to others.")
      .In("input", kAny, "One element.")
      .Infer([](InferContext& c) {
        c.Check(c.shape(0).size() == 1, "the tensor must have one element, but got shape {}",
                c.shape(0));
        return Type(c.dtype(0), {}, true);
      })
      .Batch([](BatchContext& b) {  // the numbers of all items are a tensor
        return Terms{b.Call("StopGradient", {Reshape(b.in(0), {b.size()})})};
      })
      .Grad([](GradContext&) { return Terms(1); })
      .View();
  OpDef& squeeze = ops.Op("Squeeze").In("input", kAny, "Any shape.");
  squeeze
      .AddAttr({"axis", Ints{}, false, Attr(Ints{}).index(), true,
                "Axes of size 1; none means all of them."})
      .Doc("Drops axes of size 1.")
      .Infer(InferSqueeze)
      .Grad(ReshapeBack)
      .View()
      .Shows(put::Reshaped)
      .Python("squeeze(input, axis=None)", kFunction | kMethod);
  ops.Op("Flatten")
      .Doc("Joins all axes but the first.")
      .In("input_x", kAny, "At least one dimension.")
      .Infer([](InferContext& c) {
        c.Check(c.rank(0) > 0, "'input_x' must have at least 1 dimension, but got a scalar");
        return c.Like(0, {c.dim(0, 0), c.shape(0).Elements(1, c.rank(0))});
      })
      .Grad(ReshapeBack)
      .View();
  ops.Op("Identity")
      .Doc("Its input.")
      .In("input_x", kAny, "Any shape.")
      .Infer([](InferContext& c) { return c.in(0); })
      .Grad([](GradContext& g) { return g.dout(); })
      .View()
      .Python("identity(x)")
      .Class("Identity()(input_x)");
  ops.Op("StopGradient")
      .Doc("Its input, through which no gradient flows.")
      .In("value", kAny, "Any shape.")
      .Infer([](InferContext& c) { return c.in(0); })
      .Grad([](GradContext&) { return Terms{}; })
      .View()
      .Shows(put::Reshaped)
      .Python("stop_gradient(value)");
  ops.Op("Require")
      .Internal()
      .Doc("Its input, which is computed even if nobody reads it: what computes it may fail.")
      .In("value", kAny, "Any shape.")
      .Infer([](InferContext& c) { return c.in(0); })
      .Batch([](BatchContext& b) { return Terms{b.Call("Require", {b.in(0)})}; })
      .Grad([](GradContext& g) { return g.dout(); })
      .HasEffect(Effect::kIo)
      .View();
  ops.Op("Depend")
      .Doc("Its first input, computed after the others.")
      .In("value", kAny, "What is returned.")
      .In("expr", kAny, "What must be computed before.")
      .Variadic()
      .Infer([](InferContext& c) { return c.in(0); })
      .Grad([](GradContext& g) { return g.dout(); })
      .View();
}

// ---- transposition and repetition
Type InferTranspose(InferContext& c) {
  const Ints& perm = c.attr<Ints>("perm");
  int rank = c.rank(0);
  c.Check(perm.size() == static_cast<size_t>(rank),
          "'perm' must name each of the {} axes of 'input' once, but got ({})", rank,
          fmt::join(perm, ", "));
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  Dims dims;
  for (int64_t p : perm) {
    int axis = c.Axis(p, rank);
    c.Check(!seen[static_cast<size_t>(axis)], "'perm' must name each axis once, but got ({})",
            fmt::join(perm, ", "));
    seen[static_cast<size_t>(axis)] = true;
    dims.push_back(c.dim(0, axis));
  }
  return c.Like(0, dims);
}

Term TransposeGrad(GradContext& g) {
  const Ints& perm = g.attr<Ints>("perm");
  int rank = static_cast<int>(perm.size());
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    back[static_cast<size_t>(Wrap(perm[i], rank))] = static_cast<int64_t>(i);
  return g.Call("Transpose", {g.dout()}, {{"perm", back}});
}

Type InferTile(InferContext& c) {
  Dims dims = c.dims_attr("dims");
  size_t rank = std::max(dims.size(), static_cast<size_t>(c.rank(0)));
  Dims result(rank, 1);
  for (Dim d : dims)
    c.Check(d >= 0, "'dims' must not be negative, but got ({})", fmt::join(dims, ", "));
  for (size_t i = 0; i < dims.size(); ++i) result[rank - dims.size() + i] = dims[i];
  for (int i = 0; i < c.rank(0); ++i) {
    Dim& size = result[rank - static_cast<size_t>(c.rank(0) - i)];
    bool known = !size.symbolic() && !c.dim(0, i).symbolic();
    c.Check(!known || size == 0 || c.dim(0, i) <= (int64_t{1} << 47) / size,
            "the result must have less than 2^47 elements, but got "
            "shape {} repeated ({}) times",
            c.shape(0), fmt::join(dims, ", "));
    size *= c.dim(0, i);
  }
  return c.Like(0, result);
}

// Each axis is split into (times, size), and the times are summed.
Term TileGrad(GradContext& g) {
  const Shape& x = g.in_type(0).shape();
  const Shape& y = g.out_type(0).shape();
  if (x.empty()) return g.emitter().Full(0, g.in_type(0));
  Term d = g.dout();
  int lead = y.rank() - x.rank();
  // One axis at a time, from the last, so that the rank stays within the limit.
  for (int i = y.rank() - 1; i >= 0; --i) {
    Dim size = i < lead ? Dim(1) : x.dim(i - lead);
    if (y.dim(i).Same(size)) continue;
    Dim before = d.shape().Elements(0, i);
    Dim after = d.shape().Elements(i + 1, d.shape().rank());
    Shape result = d.shape().With(i, size);
    Term split = Reshape(d, {before, y.dim(i) / size, size * after});
    d = Reshape(g.Call("ReduceSum", {split}, {{"axis", Ints{1}}}), result);
  }
  return Reshape(d, x);
}

Type InferBroadcastTo(InferContext& c) {
  Dims shape = c.dims_attr("shape");
  int lead = static_cast<int>(shape.size()) - c.rank(0);
  c.Check(lead >= 0, "'shape' must have at least the {} dimensions of 'input', but got ({})",
          c.rank(0), fmt::join(shape, ", "));
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    Dim& size = shape[static_cast<size_t>(i)];
    if (i < lead) {
      c.Check(size >= 0, "-1 in 'shape' must stand for an axis that 'input' has, but got ({})",
              fmt::join(shape, ", "));
      continue;
    }
    Dim from = c.dim(0, i - lead);
    if (size.Is(-1)) size = from;
    c.Check(from.Is(1) || from == size || from == 1,
            "shape {} must broadcast to 'shape', but got ({})", c.shape(0),
            fmt::join(c.dims_attr("shape"), ", "));
  }
  return c.Like(0, shape);
}

void DefineTranspose(OpRegistry& ops) {
  ops.Op("Transpose")
      .Doc("Axes in another order: axis i of the result is axis perm[i] of the input.")
      .In("input", kAny, "Any shape.")
      .RequiredAttr<Ints>("perm", "A permutation of the axes.")
      .Batch([](BatchContext& b) {
        Ints perm{0};
        for (int64_t p : b.attr<Ints>("perm")) perm.push_back(Wrap(p, b.rank(0)) + 1);
        return b.Again({b.in(0)}, {{"perm", perm}});
      })
      .Shard(shard::Transpose)
      .Infer(InferTranspose)
      .Grad(TransposeGrad)
      .Shows(put::Transposed)
      .Python("transpose(input, dims)")
      .Python("permute(input, axis)")
      .Class("Transpose()(input, dims)");
  ops.Op("Tile")
      .Doc("The input repeated along each axis.")
      .In("input", kAny, "Any shape.")
      .RequiredAttr<Ints>("dims", "How often, for each of the last axes.")
      .Sizes("dims")
      .PerAxis("dims", {1})
      .Shard(shard::Tile)
      .Infer(InferTile)
      .Grad(TileGrad)
      .Python("tile(input, dims)", kFunction | kMethod)
      .Class("Tile()(input, dims)");
  ops.Op("BroadcastTo")
      .Doc("The input spread to a shape, as in NumPy.")
      .In("input", kAny, "A shape that broadcasts to the new one.")
      .RequiredAttr<Ints>("shape", "The new sizes; -1 keeps a size.")
      .Sizes("shape")
      .PerAxis("shape", {-1})
      .Shard("... -> ...; shape = ...")
      .Infer(InferBroadcastTo)
      .Shows(put::Repeated)
      .Grad([](GradContext& g) { return SumTo(g.dout(), g.in_type(0).shape()); })
      .Python("broadcast_to(input, shape)", kFunction | kMethod);
}

// ---- padding
Shape PaddedShape(InferContext& c, const Shape& shape) {
  Dims paddings = c.dims_attr("paddings");
  c.Check(paddings.size() == 2 * static_cast<size_t>(shape.rank()),
          "'paddings' must hold two numbers for each of {} axes, but got ({})", shape.rank(),
          fmt::join(paddings, ", "));
  Dims dims;
  for (int i = 0; i < shape.rank(); ++i) {
    Dim before = paddings[2 * static_cast<size_t>(i)],
        after = paddings[2 * static_cast<size_t>(i) + 1];
    auto sane = [](Dim d) { return d >= 0 && (d.symbolic() || d < (int64_t{1} << 47)); };
    c.Check(sane(before) && sane(after),
            "'paddings' must not be negative or above 2^47, but got ({})",
            fmt::join(paddings, ", "));
    dims.push_back(shape.dim(i) + before + after);
  }
  return Shape(dims);
}

Type InferMirrorPad(InferContext& c) {
  Shape result = PaddedShape(c, c.shape(0));
  const std::string& mode = c.attr<std::string>("mode");
  c.Check(mode == "REFLECT" || mode == "SYMMETRIC" || mode == "EDGE" || mode == "CIRCULAR",
          "'mode' must be 'REFLECT', 'SYMMETRIC', 'EDGE' or 'CIRCULAR', but got '{}'", mode);
  const Ints& paddings = c.attr<Ints>("paddings");
  for (int i = 0; i < c.rank(0); ++i) {
    Dim size = c.dim(0, i);
    Dim widest =
        std::max(paddings[2 * static_cast<size_t>(i)], paddings[2 * static_cast<size_t>(i) + 1]);
    Dim limit = mode == "REFLECT"            ? std::max<Dim>(size - 1, 0)
                : mode == "EDGE" && size > 0 ? widest
                                             : size;
    c.Check(widest <= limit,
            "the paddings of axis {} of size {} must be at most {} in mode '{}', but got {}", i,
            size, limit, mode, widest);
  }
  return c.Like(0, result);
}

void DefinePadding(OpRegistry& ops) {
  ops.Op("Pad")
      .Doc("The input with constant elements around it.")
      .In("input_x", kAny, "Any shape.")
      .RequiredAttr<Ints>("paddings", "For each axis, how many elements before and after.")
      .Sizes("paddings")
      .WithAttr("value", 0.0, "The constant.")
      .PerAxis("paddings", {0, 0})
      .Shard(shard::Padding)
      .Infer([](InferContext& c) {
        CheckFits(c, c.attr<double>("value"), c.dtype(0));
        return c.Like(0, PaddedShape(c, c.shape(0)));
      })
      .Grad([](GradContext& g) {
        const Ints& paddings = g.attr<Ints>("paddings");
        Ints begin;
        for (size_t i = 0; i < paddings.size(); i += 2) begin.push_back(paddings[i]);
        return g.Call("Slice", {g.dout()},
                      {{"begin", begin}, {"size", g.in_type(0).shape().ToCodes()}});
      })
      .Class("Pad(paddings)(input_x)");
  ops.Op("MirrorPad")
      .Doc(
          "The input with elements of itself around it: mirrored without or with the border, the "
          "border, or wrapped.")
      .In("input_x", kAny, "Any shape.")
      .RequiredAttr<Ints>("paddings", "For each axis, how many elements before and after.")
      .WithAttr("mode", "REFLECT", "'REFLECT', 'SYMMETRIC', 'EDGE' or 'CIRCULAR'.")
      .PerAxis("paddings", {0, 0})
      .Shard(shard::Padding)
      .Infer(InferMirrorPad)
      .Grad([](GradContext& g) {
        return g.Call(
            "MirrorPadGrad", {g.dout()},
            {{"paddings", g.attr<Ints>("paddings")}, {"mode", g.attr<std::string>("mode")}});
      })
      .Class("MirrorPad(mode='REFLECT')(input_x, paddings)");
  ops.Op("MirrorPadGrad")
      .Internal()
      .Doc("Gradient of MirrorPad: adds every element to the one that it was a copy of.")
      .In("dout", kNumber, "The shape of MirrorPad's result.")
      .RequiredAttr<Ints>("paddings", "As in MirrorPad.")
      .WithAttr("mode", "REFLECT", "As in MirrorPad.")
      .PerAxis("paddings", {0, 0})
      .Shard(shard::Padding)
      .Infer([](InferContext& c) {
        const Ints& paddings = c.attr<Ints>("paddings");
        c.Check(paddings.size() == 2 * static_cast<size_t>(c.rank(0)),
                "'paddings' must hold two numbers for each of {} axes, but got ({})", c.rank(0),
                fmt::join(paddings, ", "));
        Dims dims;
        for (size_t i = 0; i < paddings.size() / 2; ++i) {
          dims.push_back(c.dim(0, static_cast<int>(i)) - paddings[2 * i] - paddings[2 * i + 1]);
        }
        return c.Like(0, dims);
      })
      .Grad([](GradContext& g) {
        return g.Call(
            "MirrorPad", {g.dout()},
            {{"paddings", g.attr<Ints>("paddings")}, {"mode", g.attr<std::string>("mode")}});
      });
}

// ---- reversal, triangles, diagonals
void DefineTriangle(OpRegistry& ops, const char* name, const char* face) {
  ops.Op(name)
      .Doc(name == std::string_view("Tril")
               ? "The lower triangle of the last two axes; zeros elsewhere."
               : "The upper triangle of the last two axes; zeros elsewhere.")
      .In("input", kAny, "At least two dimensions.")
      .WithAttr("diagonal", 0,
                "The last diagonal that is kept: 0 is the main one, 1 the one above it.")
      .Batch(batch::Leading)
      .Shard("... m n -> ... m n; m n whole")
      .Infer([](InferContext& c) {
        c.Check(c.rank(0) >= 2, "'input' must have at least 2 dimensions, but got shape {}",
                c.shape(0));
        return c.Like(0, c.shape(0));
      })
      .Grad([name](GradContext& g) {
        return g.Call(name, {g.dout()}, {{"diagonal", g.attr<int64_t>("diagonal")}});
      })
      .InPlace(0, 0)
      .Python(face, kFunction | kMethod);
}

void DefineDiagonals(OpRegistry& ops) {
  ops.Op("ReverseV2")
      .Doc("The elements in reverse order along axes.")
      .In("input", kAny, "Any shape.")
      .RequiredAttr<Ints>("axis", "The axes.")
      .Axes("axis", false)
      .Shard(shard::Along)
      .Infer([](InferContext& c) {
        if (!c.attr<Ints>("axis").empty()) c.Axes(c.attr<Ints>("axis"), c.rank(0));
        return c.Like(0, c.shape(0));
      })
      .Grad([](GradContext& g) {
        return g.Call("ReverseV2", {g.dout()}, {{"axis", g.attr<Ints>("axis")}});
      })
      .Class("ReverseV2(axis)(input)")
      .Python("reverse(x, axis)")
      .Python("flip(input, dims)", kFunction | kMethod);
  DefineTriangle(ops, "Tril", "tril(input, diagonal=0)");
  DefineTriangle(ops, "Triu", "triu(input, diagonal=0)");
  ops.Op("Diag")
      .Doc("A square matrix with the input on its main diagonal.")
      .In("input", kAny, "[n]")
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        c.CheckRank(0, 1);
        return c.Like(0, {c.dim(0, 0), c.dim(0, 0)});
      })
      .Grad([](GradContext& g) { return g.Call("DiagPart", {g.dout()}); });
  ops.Op("DiagPart")
      .Doc("The main diagonal of a square matrix.")
      .In("input_x", kAny, "[n, n]")
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        c.CheckRank(0, 2);
        c.Check(c.dim(0, 0) == c.dim(0, 1), "'input_x' must be square, but got shape {}",
                c.shape(0));
        return c.Like(0, {c.dim(0, 0)});
      })
      .Grad([](GradContext& g) { return g.Call("Diag", {g.dout()}); });
}

}  // namespace

void DefineArray(OpRegistry& ops) {
  DefineViews(ops);
  DefineTranspose(ops);
  DefinePadding(ops);
  DefineDiagonals(ops);
  DefineJoin(ops);
  DefineSlicing(ops);
}

}  // namespace ms
