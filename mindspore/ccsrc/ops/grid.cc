// Images at positions that a grid holds, the adjoint of that, and the gradient of the positions. An
// attribute asks for slopes of samples in place of samples, so the three give each other's
// gradients, of every order.
#include "ops/grid.h"

#include "ops/all.h"
#include "ops/batch.h"
#include "ops/shard.h"

namespace ms {

GridRule ParseGridRule(const OpDef& op, const Attrs& attrs, int axes) {
  auto refuse = [&](const char* what, const auto& came) {
    Throw(ErrorKind::kValue, "For '{}', {}, but got {}.", op.name, what, came);
  };
  const auto& mode = AttrOf<std::string>(op, attrs, "mode");
  const auto& padding = AttrOf<std::string>(op, attrs, "padding_mode");
  if (mode != "bilinear" && mode != "nearest")
    refuse("'mode' must be one of bilinear, nearest", fmt::format("'{}'", mode));
  GridRule rule;
  rule.nearest = mode == "nearest";
  rule.align_corners = AttrOf<bool>(op, attrs, "align_corners");
  if (padding == "border") {
    rule.padding = GridPadding::kBorder;
  } else if (padding == "reflection") {
    rule.padding = GridPadding::kReflection;
  } else if (padding != "zeros") {
    refuse("'padding_mode' must be one of zeros, border, reflection", fmt::format("'{}'", padding));
  }
  const Ints& slopes = AttrOf<Ints>(op, attrs, "slopes");
  for (int64_t k : slopes) {
    if (rule.nearest || k < 0 || k >= axes || (rule.slopes >> k & 1) != 0)
      refuse("'slopes' must be different coordinates of the grid, none with mode 'nearest'",
             fmt::format("({})", fmt::join(slopes, ", ")));
    rule.slopes |= 1u << k;
  }
  return rule;
}

namespace {

constexpr const char* kPositions =
    "[N, ..., 2] or [N, ..., 3]: x, y and z, between -1 and 1 from one end of an axis to the "
    "other.";

OpDef& Sampling(OpDef& op) {
  return op.Internal()
      .WithAttr("mode", "bilinear", "'bilinear' or 'nearest'.")
      .WithAttr("padding_mode", "zeros", "What is outside: 'zeros', 'border' or 'reflection'.")
      .WithAttr("align_corners", false,
                "Whether -1 and 1 are the middles of the outermost elements.")
      .WithAttr("slopes", Ints{}, "Coordinates by which samples are differentiated.");
}

NamedAttrs SameAttrs(GradContext& g, const Ints& slopes) {
  return {{"mode", g.attr<std::string>("mode")},
          {"padding_mode", g.attr<std::string>("padding_mode")},
          {"align_corners", g.attr<bool>("align_corners")},
          {"slopes", slopes}};
}
NamedAttrs SameAttrs(GradContext& g) { return SameAttrs(g, g.attr<Ints>("slopes")); }

bool Smooth(GradContext& g) { return g.attr<std::string>("mode") != "nearest"; }

// The shape of samples of images of a shape at the positions of input `grid`.
Shape Samples(const InferContext& c, const Shape& images, size_t grid) {
  int rank = images.rank();
  c.Check(rank == 4 || rank == 5, "the input must have 4 or 5 dimensions, but got shape {}",
          images);
  c.CheckSameDType(0, grid);
  const Shape& g = c.shape(grid);
  c.Check(g.rank() == rank && g[-1] == Dim(rank - 2) && g.dim(0) == images.dim(0),
          "the grid must have {} dimensions, the first of {} and the last of {}, but got shape {}",
          rank, images.dim(0), rank - 2, g);
  for (int i = 2; i < rank; ++i)
    c.Check(images.dim(i) > 0, "images must not be empty, but got shape {}", images);
  ParseGridRule(c.op(), c.attrs(), rank - 2);
  return Join({images.Part(0, 2), g.Part(1, rank - 1)});
}

void CheckSamples(const InferContext& c, const Shape& samples) {
  c.Check(SameSizes(c.shape(0), samples), "'dy' must have the shape of the samples, {}, but got {}",
          samples, c.shape(0));
}

// Images, samples and grids by their dimensions.
struct Factors {
  shard::Names image, sample, grid, sizes, points;
  explicit Factors(int rank)
      : sizes(shard::Axes(rank - 2, "x")), points(shard::Axes(rank - 2, "p")) {
    using shard::operator+;
    image = shard::Names{"n", "c"} + sizes;
    sample = shard::Names{"n", "c"} + points;
    grid = shard::Names{"n"} + points + shard::Names{"k"};
  }
};

Terms SampleGradients(GradContext& g) {
  Terms grads(2);
  Term dout = g.dout();
  if (g.needs(0)) {
    NamedAttrs attrs = SameAttrs(g);
    attrs.emplace_back("input_size", g.in_type(0).shape().ToCodes());
    grads[0] = g.Call("GridSampleGrad", {dout, g.in(1)}, attrs);
  }
  if (g.needs(1) && Smooth(g))
    grads[1] = g.Call("GridSampleGridGrad", {dout, g.in(0), g.in(1)}, SameAttrs(g));
  return grads;
}

// dgrid[k] is the sum over channels of dy times the slope of the samples by coordinate k, which is
// constant along that coordinate.
Terms SlopeGradients(GradContext& g) {
  Term dout = g.dout(), dy = g.in(0), x = g.in(1), grid = g.in(2);
  Terms grads(3);
  const Shape& dims = grid.shape();
  auto add = [&](size_t i, const Term& part) { grads[i] = grads[i] ? grads[i] + part : part; };
  Terms along = g.CallMany("Unstack", {dout}, {{"axis", int64_t{-1}}});
  for (int k = 0; k < dims.rank() - 2; ++k) {
    Ints slopes = g.attr<Ints>("slopes");
    if (std::find(slopes.begin(), slopes.end(), k) != slopes.end()) continue;
    slopes.push_back(k);
    NamedAttrs attrs = SameAttrs(g, slopes);
    // One for all channels.
    Term v = Reshape(along[static_cast<size_t>(k)], dims.Part(0, dims.rank() - 1).Insert(1, 1));
    if (g.needs(0)) add(0, v * g.Call("GridSample", {x, grid}, attrs));
    if (g.needs(2)) add(2, g.Call("GridSampleGridGrad", {dy * v, x, grid}, attrs));
    if (!g.needs(1)) continue;
    attrs.emplace_back("input_size", x.shape().ToCodes());
    add(1, g.Call("GridSampleGrad", {dy * v, grid}, attrs));
  }
  return grads;
}

}  // namespace

void DefineGrid(OpRegistry& ops) {
  Sampling(ops.Op("GridSample")
               .In("x", kFloating, "[N, C, H, W] or [N, C, D, H, W].")
               .In("grid", kFloating, kPositions))
      .Doc("Images, or volumes, at the positions of a grid.")
      .Batch(batch::FirstAxis())
      .Shard([](const ShardContext& c) {
        Factors f(c.rank(0));
        return shard::Rule()
            .In(f.image)
            .In(f.grid)
            .Out(f.sample)
            .Mark(f.sizes, "whole")
            .Mark({"k"}, "whole")
            .Text();
      })
      .Infer([](InferContext& c) { return c.Like(0, Samples(c, c.shape(0), 1)); })
      .Grad(SampleGradients);
  Sampling(ops.Op("GridSampleGrad")
               .In("dy", kFloating, "Shaped as the output of GridSample.")
               .In("grid", kFloating, kPositions))
      .RequiredAttr<Ints>("input_size", "The shape of the images.")
      .Sizes("input_size")
      .Doc("The gradient of GridSample with respect to the images.")
      .Batch(batch::FirstAxis(100, "input_size"))
      .Shard([](const ShardContext& c) {
        Factors f(c.rank(0));
        return shard::Rule()
            .In(f.sample)
            .In(f.grid)
            .Out(f.image)
            .Mark(f.points, "sum")
            .Mark(f.sizes, "whole")
            .Mark({"k"}, "whole")
            .Clause(fmt::format("input_size = {}", fmt::join(f.image, " ")))
            .Text();
      })
      .Infer([](InferContext& c) {
        Shape images(c.dims_attr("input_size"));
        CheckSamples(c, Samples(c, images, 1));
        return c.Like(0, images);
      })
      .Grad([](GradContext& g) {
        Terms grads(2);
        Term v = g.dout();
        if (g.needs(0)) grads[0] = g.Call("GridSample", {v, g.in(1)}, SameAttrs(g));
        if (g.needs(1) && Smooth(g))
          grads[1] = g.Call("GridSampleGridGrad", {g.in(0), v, g.in(1)}, SameAttrs(g));
        return grads;
      });
  Sampling(ops.Op("GridSampleGridGrad")
               .In("dy", kFloating, "Shaped as the output of GridSample.")
               .In("x", kFloating, "[N, C, H, W] or [N, C, D, H, W].")
               .In("grid", kFloating, kPositions))
      .Doc("The gradient of GridSample with respect to the grid.")
      .Batch(batch::FirstAxis())
      .Shard([](const ShardContext& c) {
        Factors f(c.rank(0));
        return shard::Rule()
            .In(f.sample)
            .In(f.image)
            .In(f.grid)
            .Out(f.grid)
            .Mark({"c"}, "sum")
            .Mark(f.sizes, "whole")
            .Mark({"k"}, "whole")
            .Text();
      })
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        CheckSamples(c, Samples(c, c.shape(1), 2));
        c.Check(c.attr<std::string>("mode") != "nearest", "'mode' must be 'bilinear', but got '{}'",
                c.attr<std::string>("mode"));
        return c.Like(2, c.shape(2));
      })
      .Grad(SlopeGradients);
}

}  // namespace ms
