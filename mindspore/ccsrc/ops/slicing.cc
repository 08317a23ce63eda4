// Slices: a box of a tensor, a strided slice with NumPy's rules as masks, the gradient of the
// latter and the value of a tensor with a slice replaced.
#include "ops/slicing.h"

#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/put.h"
#include "ops/shard.h"

namespace ms {
namespace {

constexpr const char* kMasks[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                  "shrink_axis_mask"};

NamedAttrs SliceAttrs(GradContext& g) {
  NamedAttrs attrs{{"begin", g.attr<Ints>("begin")},
                   {"end", g.attr<Ints>("end")},
                   {"strides", g.attr<Ints>("strides")}};
  for (const char* mask : kMasks) attrs.emplace_back(mask, g.attr<int64_t>(mask));
  return attrs;
}

// Clips one `begin:end:step` to an axis.
void ResolveAxis(Dim size, Dim begin, Dim end, int64_t step, bool no_begin, bool no_end,
                 SliceSpec* spec) {
  auto clip = [&](Dim i) {
    if (i < 0) i += size;
    return step > 0 ? std::clamp<Dim>(i, 0, size) : std::clamp<Dim>(i, -1, size - 1);
  };
  Dim first = no_begin ? (step > 0 ? Dim(0) : size - 1) : clip(begin);
  Dim last = no_end ? (step > 0 ? size : Dim(-1)) : clip(end);
  Dim span = step > 0 ? last - first : first - last;
  int64_t stride = step > 0 ? step : -step;
  auto least = span.LowerBound();
  bool surely = least && *least >= 0;
  Dim count = 0;
  if (surely || span > 0) count = stride == 1 ? span : (span - 1) / stride + 1;
  spec->begin.push_back(count.Is(0) ? Dim(0) : first);
  spec->step.push_back(step);
  spec->size.push_back(count);
}

OpDef& WithSliceAttrs(OpDef& op) {
  op.RequiredAttr<Ints>("begin", "First position, for each index.")
      .RequiredAttr<Ints>("end", "Position after the last one.")
      .Sizes("begin")
      .Sizes("end")
      .RequiredAttr<Ints>("strides", "Steps, not zero.")
      .WithAttr("begin_mask", 0, "Bit i: begin[i] is ignored, the slice starts at the border.")
      .WithAttr("end_mask", 0, "Bit i: end[i] is ignored, the slice ends at the border.")
      .WithAttr("ellipsis_mask", 0,
                "Bit i: index i stands for all axes that are not named (one bit at most).")
      .WithAttr("new_axis_mask", 0, "Bit i: index i adds an axis of size 1.")
      .WithAttr("shrink_axis_mask", 0,
                "Bit i: index i takes the element begin[i] and drops the axis.");
  return op;
}

constexpr const char* kSliceClass =
    "(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)";

void DefineStridedSlice(OpRegistry& ops) {
  WithSliceAttrs(ops.Op("StridedSlice").In("input_x", kAny, "Any shape."))
      .Doc("A slice with steps along every axis.")
      .Batch(batch::StridedSlice)
      .Shard(shard::StridedSlice)
      .Infer([](InferContext& c) {
        return c.Like(0, ResolveSlice(c.op(), c.attrs(), c.shape(0)).result);
      })
      .Shows(put::Strided)
      .Grad([](GradContext& g) {
        NamedAttrs attrs = SliceAttrs(g);
        attrs.emplace_back("shape", g.in_type(0).shape().ToCodes());
        return g.Call("StridedSliceGrad", {g.dout()}, attrs);
      })
      .Python(
          "strided_slice(input_x, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, "
          "new_axis_mask=0, "
          "shrink_axis_mask=0)")
      .Class(std::string("StridedSlice") + kSliceClass + "(input_x, begin, end, strides)");
  WithSliceAttrs(ops.Op("StridedSliceGrad").Internal().In("dout", kAny, "The shape of the slice."))
      .RequiredAttr<Ints>("shape", "The shape that was sliced.")
      .Sizes("shape")
      .Doc("Gradient of StridedSlice: zeros with `dout` in the place of the slice.")
      .Batch(batch::StridedSlice)
      .Shard(shard::StridedSlice)
      .Infer([](InferContext& c) {
        Shape shape(c.attr<Ints>("shape"));
        SliceSpec spec = ResolveSlice(c.op(), c.attrs(), shape);
        c.Check(SameSizes(spec.result, c.shape(0)),
                "'dout' must have the shape of the slice, {}, but got {}", spec.result, c.shape(0));
        return c.Like(0, shape);
      })
      .Grad([](GradContext& g) { return g.Call("StridedSlice", {g.dout()}, SliceAttrs(g)); });
  WithSliceAttrs(ops.Op("StridedSliceAssign")
                     .Internal()
                     .In("x", kAny, "Any shape.")
                     .In("value", kAny, "The shape of the slice."))
      .Doc("The value of x after `x[slice] = value`.")
      .Batch(batch::StridedSlice)
      .Shard(shard::StridedSlice)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        Shape slice = ResolveSlice(c.op(), c.attrs(), c.shape(0)).result;
        c.Check(SameSizes(slice, c.shape(1)),
                "'value' must have the shape of the slice, {}, but got {}", slice, c.shape(1));
        return c.Like(0, c.shape(0));
      })
      .Grad([](GradContext& g) {
        Term zeros = g.emitter().Full(0, g.in_type(1));
        Term dx = g.Call("StridedSliceAssign", {g.dout(), zeros}, SliceAttrs(g));
        return Terms{dx, g.Call("StridedSlice", {g.dout()}, SliceAttrs(g))};
      })
      .InPlace(0, 0);
}

}  // namespace

SliceSpec ResolveSlice(const OpDef& op, const Attrs& attrs, const Shape& shape) {
  static const Types kNoInputs;
  InferContext c(op, kNoInputs, attrs);
  Dims begin = c.dims_attr("begin");
  Dims end = c.dims_attr("end");
  const Ints& strides = c.attr<Ints>("strides");
  size_t n = begin.size();
  c.Check(end.size() == n && strides.size() == n && n <= 31,
          "'begin', 'end' and 'strides' must have one length, at most 31, but got {}, {} and {}", n,
          end.size(), strides.size());
  int64_t masks[5];
  for (int i = 0; i < 5; ++i) masks[i] = c.attr<int64_t>(kMasks[i]);
  auto bit = [&](int mask, size_t i) { return (masks[mask] >> i & 1) != 0; };
  int named = 0, ellipses = 0;
  for (size_t i = 0; i < n; ++i) {
    if (bit(2, i))
      ++ellipses;
    else if (!bit(3, i))
      ++named;
  }
  c.Check(ellipses <= 1, "'ellipsis_mask' must have at most one bit, but got {}", masks[2]);
  int rank = shape.rank();
  if (named > rank) {
    c.Fail(ErrorKind::kIndex,
           fmt::format("a tensor of {} dimensions takes at most that many indices, but got {}",
                       rank, named));
  }
  SliceSpec spec;
  Dims result;
  int axis = 0;
  auto keep_whole = [&](int count) {
    for (; count > 0; --count, ++axis) {
      ResolveAxis(shape.dim(axis), 0, 0, 1, true, true, &spec);
      result.push_back(shape.dim(axis));
      spec.axes.push_back(axis);
    }
  };
  for (size_t i = 0; i < n; ++i) {
    if (bit(2, i)) {
      keep_whole(rank - named);
    } else if (bit(3, i)) {
      result.push_back(1);
      spec.axes.push_back(-1);
    } else if (bit(4, i)) {
      Dim size = shape.dim(axis);
      if (begin[i] < size * -1 || begin[i] >= size) {
        c.Fail(ErrorKind::kIndex,
               fmt::format("the index into axis {} must be in [{}, {}), but got {}", axis,
                           size * -1, size, begin[i]));
      }
      spec.begin.push_back(begin[i] < 0 ? begin[i] + size : begin[i]);
      spec.step.push_back(1);
      spec.size.push_back(1);
      ++axis;
    } else {
      c.Check(strides[i] != 0 && strides[i] > -(int64_t{1} << 62),
              "the steps must not be zero, but got {}", strides[i]);
      spec.axes.push_back(axis);
      ResolveAxis(shape.dim(axis++), begin[i], end[i], strides[i], bit(0, i), bit(1, i), &spec);
      result.push_back(spec.size.back());
    }
  }
  keep_whole(rank - axis);
  spec.result = Shape(result);
  return spec;
}

void DefineSlicing(OpRegistry& ops) {
  ops.Op("Slice")
      .Doc("The box of `size` elements that starts at `begin`.")
      .In("input", kAny, "Any shape.")
      .RequiredAttr<Ints>("begin", "First position along each axis.")
      .RequiredAttr<Ints>("size", "Sizes; -1 means up to the end.")
      .Sizes("begin")
      .Sizes("size")
      .PerAxis("begin", {0})
      .PerAxis("size", {-1})
      .Shard(shard::Slice)
      .Infer([](InferContext& c) {
        Dims begin = c.dims_attr("begin");
        Dims size = c.dims_attr("size");
        auto rank = static_cast<size_t>(c.rank(0));
        c.Check(begin.size() == rank && size.size() == rank,
                "'begin' and 'size' must have one entry for each of the {} axes, but got {} and {}",
                rank, begin.size(), size.size());
        for (size_t i = 0; i < rank; ++i) {
          Dim whole = c.dim(0, static_cast<int>(i));
          bool inside = begin[i] >= 0 && begin[i] <= whole;
          if (size[i].Is(-1)) size[i] = whole - begin[i];
          inside = inside && size[i] >= 0 && size[i] <= whole - begin[i];
          c.Check(inside, "the slice of axis {} must lie in [0, {}], but got begin {} and size {}",
                  i, whole, begin[i], c.dims_attr("size")[i]);
        }
        return c.Like(0, size);
      })
      .Grad([](GradContext& g) {
        const Ints& begin = g.attr<Ints>("begin");
        Ints paddings;
        for (size_t i = 0; i < begin.size(); ++i) {
          int axis = static_cast<int>(i);
          Dim before = Dim::FromCode(begin[i]);
          Dim after = g.in_type(0).shape().dim(axis) - before - g.out_type(0).shape().dim(axis);
          paddings.push_back(before.code());
          paddings.push_back(after.code());
        }
        return g.Call("Pad", {g.dout()}, {{"paddings", paddings}});
      })
      .Shows(put::Box)
      .Python("slice(input_x, begin, size)")
      .Class("Slice()(input, begin, size)");
  DefineStridedSlice(ops);
}

}  // namespace ms
