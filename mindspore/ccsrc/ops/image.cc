// Images: sampling along their last axes by weights that positions alone decide, which serves all
// interpolation; means of the insides of boxes; boxes that others suppress.
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/resample.h"
#include "ops/shard.h"

namespace ms {
namespace {

// ---- sampling
constexpr int64_t kMostSamples = 1 << 24;  // along an axis: each has weights

OpDef& Sampling(OpDef& op) {
  return op
      .WithAttr("mode", "linear",
                "'nearest', 'linear', 'cubic', 'keys', 'mean' or 'area': see ops/resample.h.")
      .WithAttr("coordinates", "half_pixel",
                "'half_pixel', 'half_pixel_or_first', 'align_corners' or 'asymmetric'.")
      .WithAttr("scales", std::vector<double>{},
                "Sizes of the result per size of x, if positions follow others than the quotients.")
      .Batch(batch::Leading)
      .Shard([](const ShardContext& c) {
        using shard::operator+;
        auto axes = static_cast<int>(c.attr<Ints>("size").size());
        shard::Names from = shard::Axes(axes, "x"), to = shard::Axes(axes, "y");
        shard::Names all = shard::Names{"..."};
        return shard::Rule().In(all + from).Out(all + to).Mark(from + to, "whole").Text();
      });
}

// The shape of input 0 with other sizes at the end.
Shape Resized(const InferContext& c) {
  Dims size = c.dims_attr("size");
  int axes = static_cast<int>(size.size()), rank = c.rank(0);
  c.Check(axes >= 1 && axes <= 3, "'size' must have 1 to 3 items, but got ({})",
          fmt::join(size, ", "));
  c.Check(rank >= axes, "'{}' must have at least {} dimensions, but got {}", c.input_name(0), axes,
          rank);
  Shape result = c.shape(0);
  for (int i = 0; i < axes; ++i) {
    Dim wanted = size[static_cast<size_t>(i)];
    c.Check(wanted > 0 && wanted <= Dim(kMostSamples), "'size' must be in [1, {}], but got ({})",
            kMostSamples, fmt::join(size, ", "));
    c.Check(c.dim(0, rank - axes + i) > 0, "sizes of images must be positive, but got shape {}",
            c.shape(0));
    result = result.With(rank - axes + i, wanted);
  }
  const auto& scales = c.attr<std::vector<double>>("scales");
  bool positive = std::all_of(scales.begin(), scales.end(), [](double s) { return s > 0; });
  c.Check((scales.empty() || static_cast<int>(scales.size()) == axes) && positive,
          "'scales' must be positive, as many as there are sizes, but got ({})",
          fmt::join(scales, ", "));
  ParseSampling(c.op(), c.attrs());
  return result;
}

NamedAttrs SamplingAttrs(GradContext& g) {
  const Shape& x = g.in_type(0).shape();
  int axes = static_cast<int>(g.attr<Ints>("size").size());
  return {{"size", x.Part(x.rank() - axes, x.rank()).ToCodes()},
          {"mode", g.attr<std::string>("mode")},
          {"coordinates", g.attr<std::string>("coordinates")},
          {"scales", g.attr<std::vector<double>>("scales")}};
}

void DefineSampling(OpRegistry& ops) {
  Sampling(ops.Op("Resample")
               .Internal()
               .In("x", kReal | kBoolean,
                   "[..., sizes of an image]; of 'nearest' any type, else floating.")
               .RequiredAttr<Ints>("size", "Sizes of the last 1 to 3 dimensions of the result.")
               .Sizes("size"))
      .Doc("Images of another size: elements of the last axes by weights of their neighbours.")
      .Infer([](InferContext& c) {
        Type made = c.Like(0, Resized(c));
        c.CheckType(c.attr<std::string>("mode") == "nearest" || Contains(kFloating, c.dtype(0)),
                    "'x' must be of a floating type unless 'mode' is 'nearest', but got {}",
                    Name(c.dtype(0)));
        return made;
      })
      .Grad([](GradContext& g) {
        DType dtype = g.in_type(0).dtype();
        if (Contains(kFloating, dtype)) return g.Call("ResampleGrad", {g.dout()}, SamplingAttrs(g));
        Term wide = g.Call("Cast", {g.dout()}, {{"dtype", DType::kFloat64}});
        Term dx = g.Call("ResampleGrad", {wide}, SamplingAttrs(g));
        return g.Call("Cast", {dx}, {{"dtype", dtype}});
      });
  Sampling(ops.Op("ResampleGrad")
               .Internal()
               .In("dy", kFloating, "Shaped as the output of Resample.")
               .RequiredAttr<Ints>("size", "Sizes of the last dimensions of the input of Resample.")
               .Sizes("size"))
      .Doc("Gradient of Resample.")
      .Infer([](InferContext& c) { return c.Like(0, Resized(c)); })
      .Grad([](GradContext& g) { return g.Call("Resample", {g.dout()}, SamplingAttrs(g)); });
}

// ---- means of the insides of boxes
OpDef& Regions(OpDef& op) {
  return op.In("rois", kFloating, "[n, 5]: the number of an image, and x, y of two corners.")
      .RequiredAttr<int64_t>("pooled_height", "Rows of the result.")
      .RequiredAttr<int64_t>("pooled_width", "Columns of the result.")
      .RequiredAttr<double>("spatial_scale", "Elements of `features` per unit of the corners.")
      .WithAttr("sample_num", 2,
                "Points in each direction whose mean an element is; 0: as many as elements lie "
                "there.")
      .WithAttr("roi_end_mode", 1,
                "1: the second corner counts as part of the box; 0: it does not.");
}

Shape RegionsShape(const InferContext& c, const Shape& features) {
  c.CheckSameDType(0, 1);
  c.Check(features.rank() == 4, "'features' must have 4 dimensions, but got shape {}", features);
  c.Check(c.rank(1) == 2 && c.dim(1, 1) == 5, "'rois' must have shape (n, 5), but got {}",
          c.shape(1));
  int64_t height = c.attr<int64_t>("pooled_height"), width = c.attr<int64_t>("pooled_width");
  c.Check(height > 0 && width > 0,
          "'pooled_height' and 'pooled_width' must be positive, but got {} and {}", height, width);
  int64_t mode = c.attr<int64_t>("roi_end_mode");
  c.Check(mode == 0 || mode == 1, "'roi_end_mode' must be 0 or 1, but got {}", mode);
  return {c.dim(1, 0), features.dim(1), Dim(height), Dim(width)};
}

NamedAttrs RegionsAttrs(GradContext& g) {
  return {{"pooled_height", g.attr<int64_t>("pooled_height")},
          {"pooled_width", g.attr<int64_t>("pooled_width")},
          {"spatial_scale", g.attr<double>("spatial_scale")},
          {"sample_num", g.attr<int64_t>("sample_num")},
          {"roi_end_mode", g.attr<int64_t>("roi_end_mode")}};
}

void DefineRegions(OpRegistry& ops) {
  Regions(ops.Op("ROIAlign").In("features", kFloating, "[N, C, H, W]."))
      .Doc("Features inside of boxes, as grids of means of points between elements.")
      .Shard("i c h w, n k -> n c y x; i h w k y x whole")
      .Infer([](InferContext& c) { return c.Like(0, RegionsShape(c, c.shape(0))); })
      .Grad([](GradContext& g) {
        NamedAttrs attrs = RegionsAttrs(g);
        attrs.emplace_back("input_size", g.in_type(0).shape().ToCodes());
        return Terms{g.Call("ROIAlignGrad", {g.dout(), g.in(1)}, attrs), Term{}};
      })
      .Class(
          "ROIAlign(pooled_height, pooled_width, spatial_scale, sample_num=2, roi_end_mode=1)"
          "(features, rois)");
  Regions(ops.Op("ROIAlignGrad").Internal().In("dy", kFloating, "Shaped as ROIAlign's output."))
      .Doc("Gradient of ROIAlign.")
      .RequiredAttr<Ints>("input_size", "The shape of the features.")
      .Sizes("input_size")
      .Shard("n c y x, n k -> i c h w; n sum, i h w k y x whole, input_size = _ c _ _")
      .Infer([](InferContext& c) {
        Shape features(c.attr<Ints>("input_size"));
        Shape pooled = RegionsShape(c, features);
        c.Check(SameSizes(c.shape(0), pooled),
                "'dy' must have the shape of ROIAlign's result, {}, but got {}", pooled,
                c.shape(0));
        return c.Like(0, features);
      })
      .Grad([](GradContext& g) {
        return Terms{g.Call("ROIAlign", {g.dout(), g.in(1)}, RegionsAttrs(g)), Term{}};
      });
}

}  // namespace

void DefineImage(OpRegistry& ops) {
  DefineSampling(ops);
  DefineRegions(ops);
  ops.Op("UnsuppressedBoxes")
      .Internal()
      .Doc(
          "For each box whether it stays: none before it that stays has a larger part in common "
          "with it.")
      .In("boxes", One(DType::kFloat32) | One(DType::kFloat64), "[..., n, 4]: x, y of two corners.")
      .WithAttr("iou_threshold", 0.5, "The largest share of their union that boxes may share.")
      .Batch(batch::Leading)
      .Shard("... n k -> ... n; n k whole")
      .Infer([](InferContext& c) {
        int rank = c.rank(0);
        c.Check(rank >= 2 && c.dim(0, -1) == 4, "'boxes' must have shape (..., n, 4), but got {}",
                c.shape(0));
        return Type(DType::kBool, c.shape(0).Part(0, rank - 1));
      });
}

}  // namespace ms
