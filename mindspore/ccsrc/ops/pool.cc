// Pooling over images. The maximum keeps no record of where it was: the gradient finds the first
// maximum again, which costs less memory than it costs time.
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/shard.h"
#include "ops/window.h"

namespace ms {
namespace {

OpDef& Windows(OpDef& op) {
  return op.WithAttr("kernel_size", Ints{1}, "An int, or (height, width).")
      .WithAttr("strides", Ints{1}, "An int, or (vertical, horizontal).")
      .WithAttr("pad_mode", "valid",
                "'valid': none, 'same': as many windows as steps fit in the input, 'pad': by pad.")
      .WithAttr("data_format", "NCHW", "'NCHW' or 'NHWC'.")
      .WithAttr("pad", Ints{0}, "With 'pad': an int, or (top, bottom, left, right).")
      .WithAttr("ceil_mode", false, "Keep a last window that hangs over the edge.")
      .Format("data_format", {"kernel_size", "strides"});
}

OpDef& MaxWindows(OpDef& op) {
  return Windows(op)
      .WithAttr("dilation", Ints{1}, "Distance between the elements of a window.")
      .Format("data_format", {"dilation"});
}

OpDef& AverageWindows(OpDef& op) {
  return Windows(op)
      .WithAttr("count_include_pad", false, "Divide by the whole window, also where it hangs over.")
      .WithAttr("divisor_override", 0, "Divide by this number; 0: by the size of the window.");
}

NamedAttrs SameAttrs(const Node& node) {
  NamedAttrs attrs;
  for (size_t i = 0; i < node.op->attributes.size(); ++i) {
    if (node.op->attributes[i].name != "input_size") {
      attrs.emplace_back(node.op->attributes[i].name, (*node.attrs)[i]);
    }
  }
  return attrs;
}

Type InferPool(InferContext& c) { return c.Like(0, PoolOutput(c.op(), c.attrs(), c.shape(0))); }

void CheckPooled(const InferContext& c, size_t i, const Shape& output) {
  c.Check(SameSizes(c.shape(i), output),
          "'{}' must have the shape {} of the pooled input, but got {}", c.input_name(i), output,
          c.shape(i));
}

void DefineMaxPool(OpRegistry& ops) {
  MaxWindows(ops.Op("MaxPool").In("x", kFloating, "[N, C, H, W] or [N, H, W, C]."))
      .Doc("Largest element of each window; a nan wins.")
      .Batch(batch::FirstAxis())
      .Shard(shard::Windows())
      .Infer(InferPool)
      .Grad([](GradContext& g) {
        return g.Call("MaxPoolGrad", {g.in(0), g.dout()}, SameAttrs(g.node()));
      })
      .Class("MaxPool(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x)");
  MaxWindows(ops.Op("MaxPoolWithArgmax").In("x", kFloating, "[N, C, H, W] or [N, H, W, C]."))
      .Doc("Largest element of each window and its position in the plane, row by row.")
      .Batch(batch::FirstAxis())
      .Shard(shard::Windows("whole"))
      .Infer([](InferContext& c) {
        Shape out = PoolOutput(c.op(), c.attrs(), c.shape(0));
        return Types{c.Like(0, out), Type(DType::kInt32, out)};
      })
      .Grad([](GradContext& g) {
        return g.Call("MaxPoolGrad", {g.in(0), g.dout()}, SameAttrs(g.node()));
      })
      .Class(
          "MaxPoolWithArgmax(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x)");
  MaxWindows(
      ops.Op("MaxPoolGrad").Internal().In("x", kFloating, "Input of MaxPool.").In("dy", kFloating))
      .Doc("Gradient of MaxPool: dy goes to the first maximum of each window.")
      .Batch(batch::FirstAxis())
      .Shard(shard::Windows())
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        CheckPooled(c, 1, PoolOutput(c.op(), c.attrs(), c.shape(0)));
        return c.Like(0, c.shape(0));
      })
      .Grad([](GradContext& g) {
        return Terms{{}, g.Call("MaxPoolGradGrad", {g.in(0), g.dout()}, SameAttrs(g.node()))};
      });
  MaxWindows(ops.Op("MaxPoolGradGrad")
                 .Internal()
                 .In("x", kFloating, "Input of MaxPool.")
                 .In("values", kFloating))
      .Doc("The values at the first maximum of each window of x.")
      .Batch(batch::FirstAxis())
      .Shard(shard::Windows())
      .Infer([](InferContext& c) {
        Type pooled = InferPool(c);
        c.CheckSameDType(0, 1);
        c.CheckSameShape(0, 1);
        return pooled;
      })
      .Grad([](GradContext& g) {
        return Terms{{}, g.Call("MaxPoolGrad", {g.in(0), g.dout()}, SameAttrs(g.node()))};
      });
}

Type InferAvgPool(InferContext& c) {
  c.Check(c.attr<int64_t>("divisor_override") >= 0,
          "'divisor_override' must not be negative, but got {}",
          c.attr<int64_t>("divisor_override"));
  return InferPool(c);
}

void DefineAvgPool(OpRegistry& ops) {
  AverageWindows(ops.Op("AvgPool").In("x", kFloating, "[N, C, H, W] or [N, H, W, C]."))
      .Doc("Mean of each window; what hangs over the edge does not count.")
      .Batch(batch::FirstAxis())
      .Shard(shard::Windows())
      .Infer(InferAvgPool)
      .Grad([](GradContext& g) {
        NamedAttrs attrs = SameAttrs(g.node());
        attrs.emplace_back("input_size", g.in_type(0).shape().ToCodes());
        return g.Call("AvgPoolGrad", {g.dout()}, attrs);
      })
      .Class("AvgPool(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(x)");
  AverageWindows(
      ops.Op("AvgPoolGrad").Internal().In("dy", kFloating, "Shaped as the output of AvgPool."))
      .Doc("Gradient of AvgPool: dy is spread evenly over each window.")
      .RequiredAttr<Ints>("input_size", "Shape of the result.")
      .Sizes("input_size")
      .Format("data_format", {"input_size"})
      .Batch(batch::FirstAxis(1, "input_size"))
      .Shard(shard::Windows())
      .Infer([](InferContext& c) {
        Shape input = c.attr<Ints>("input_size");
        CheckPooled(c, 0, PoolOutput(c.op(), c.attrs(), input));
        return c.Like(0, input);
      })
      .Grad([](GradContext& g) { return g.Call("AvgPool", {g.dout()}, SameAttrs(g.node())); });
}

// ---- adaptive -----------------------------------------------------------------------------------
// The input's shape with the last two dimensions replaced; -1 in `size` keeps one.
Shape AdaptiveShape(const InferContext& c, const Shape& input, const Dims& size) {
  c.Check(input.rank() == 3 || input.rank() == 4,
          "the input must have 3 or 4 dimensions, but got shape {}", input);
  c.Check(input.dim(-1) > 0 && input.dim(-2) > 0,
          "the height and width of the input must be positive, but got shape {}", input);
  c.Check(size.size() == 1 || size.size() == 2,
          "'output_size' must be an int or a tuple of 2 ints, but got ({})", fmt::join(size, ", "));
  Shape output = input;
  for (int i : {0, 1}) {
    Dim wanted = size[size.size() == 1 ? 0 : static_cast<size_t>(i)];
    c.Check(wanted.Is(-1) || wanted >= 1,
            "'output_size' must be positive, or -1 to keep a size, but got {}", wanted);
    if (!wanted.Is(-1)) output = output.With(i - 2, wanted);
  }
  return output;
}

void DefineAdaptivePool(OpRegistry& ops) {
  ops.Op("AdaptiveAvgPool2D")
      .Doc("Means over a grid of windows that covers the image as evenly as it can.")
      .In("input_x", kFloating, "[N, C, H, W] or [C, H, W].")
      .RequiredAttr<Ints>("output_size",
                          "An int, or (height, width); -1 keeps the size of the input.")
      .Sizes("output_size")
      .Batch([](BatchContext& b) {
        return b.rank(0) == 3 ? b.Again({b.in(0)}) : batch::FirstAxis()(b);
      })
      .Shard("... h w -> ... y x; h w y x whole")
      .Infer([](InferContext& c) {
        return c.Like(0, AdaptiveShape(c, c.shape(0), c.dims_attr("output_size")));
      })
      .Grad([](GradContext& g) {
        return g.Call("AdaptiveAvgPool2DGrad", {g.dout()},
                      {{"input_size", g.in_type(0).shape().ToCodes()}});
      });
  ops.Op("AdaptiveAvgPool2DGrad")
      .Internal()
      .Doc("Gradient of AdaptiveAvgPool2D.")
      .Batch([](BatchContext& b) {
        if (b.rank(0) == 4) return batch::FirstAxis(1, "input_size")(b);
        Ints sizes = b.attr<Ints>("input_size");
        sizes.insert(sizes.begin(), b.size());
        return b.Again({b.in(0)}, {{"input_size", sizes}});
      })
      .In("dy", kFloating, "Shaped as the output of AdaptiveAvgPool2D.")
      .RequiredAttr<Ints>("input_size", "Shape of the result.")
      .Sizes("input_size")
      .Shard("... y x -> ... h w; h w y x whole, input_size = ... _ _")
      .Infer([](InferContext& c) {
        Shape input = c.attr<Ints>("input_size");
        c.Check(c.rank(0) == input.rank() && c.rank(0) >= 3,
                "'dy' must have as many dimensions as the input, 3 or 4, but got {} for {}",
                c.rank(0), input.rank());
        Shape pooled = AdaptiveShape(c, input, {c.dim(0, -2), c.dim(0, -1)});
        CheckPooled(c, 0, pooled);
        return c.Like(0, input);
      })
      .Grad([](GradContext& g) {
        const Shape& dy = g.in_type(0).shape();
        return g.Call("AdaptiveAvgPool2D", {g.dout()},
                      {{"output_size", dy.Part(dy.rank() - 2, dy.rank()).ToCodes()}});
      });
}

}  // namespace

void DefinePool(OpRegistry& ops) {
  DefineMaxPool(ops);
  DefineAvgPool(ops);
  DefineAdaptivePool(ops);
}

}  // namespace ms
