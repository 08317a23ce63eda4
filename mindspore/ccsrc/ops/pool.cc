// Pooling over images and volumes. The maximum keeps no record of where it was: the gradient finds
// the first maximum again, which costs less memory than it costs time.
#include "ops/all.h"
#include "ops/axes.h"
#include "ops/batch.h"
#include "ops/shard.h"
#include "ops/window.h"

namespace ms {
namespace {

// "MaxPool", "MaxPool3DGrad", ...
std::string Named(const char* kind, int rank, const char* rest = "") {
  return fmt::format("{}{}{}", kind, rank == 3 ? "3D" : "", rest);
}

const char* InputDoc(int rank) {
  return rank == 3 ? "[N, C, D, H, W]." : "[N, C, H, W] or [N, H, W, C].";
}

OpDef& Windows(OpDef& op, int rank) {
  std::string sizes =
      rank == 3 ? "An int, or (depth, height, width)." : "An int, or (height, width).";
  op.WithAttr("kernel_size", Ints{1}, sizes)
      .WithAttr("strides", Ints{1}, sizes)
      .WithAttr("pad_mode", "valid",
                "'valid': none, 'same': as many windows as steps fit in the input, 'pad': by pad.")
      .WithAttr("data_format", rank == 3 ? "NCDHW" : "NCHW",
                rank == 3 ? "'NCDHW'." : "'NCHW' or 'NHWC'.")
      .WithAttr("pad", Ints{0},
                "With 'pad': an int, or (top, bottom, left, right); in three dimensions two more "
                "in front.")
      .WithAttr("ceil_mode", false, "Keep a last window that hangs over the edge.");
  return rank == 3 ? op : op.Format("data_format", {"kernel_size", "strides"});
}

OpDef& MaxWindows(OpDef& op, int rank) {
  Windows(op, rank).WithAttr("dilation", Ints{1}, "Distance between the elements of a window.");
  return rank == 3 ? op : op.Format("data_format", {"dilation"});
}

OpDef& AverageWindows(OpDef& op, int rank) {
  return Windows(op, rank)
      .WithAttr("count_include_pad", false, "Divide by the whole window, also where it hangs over.")
      .WithAttr("divisor_override", 0, "Divide by this number; 0: by the size of the window.");
}

// The op of the same kind and rank as that of a node.
std::string Relative(GradContext& g, const char* kind, const char* rest = "") {
  return Named(kind, SpatialRank(*g.node().op, {}), rest);
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

Terms MaxPoolGrad(GradContext& g) {
  return {g.Call(Relative(g, "MaxPool", "Grad"), {g.in(0), g.dout()}, SameAttrs(g.node()))};
}

void DefineMaxPool(OpRegistry& ops, int rank) {
  OpDef& plain = MaxWindows(ops.Op(Named("MaxPool", rank)).In("x", kFloating, InputDoc(rank)), rank)
                     .Doc("Largest element of each window; a nan wins.")
                     .Batch(batch::FirstAxis())
                     .Shard(shard::Windows())
                     .Infer(InferPool)
                     .Grad(MaxPoolGrad);
  OpDef& indexed =
      MaxWindows(ops.Op(Named("MaxPool", rank, "WithArgmax")).In("x", kFloating, InputDoc(rank)),
                 rank)
          .Doc("Largest element of each window and its position in the image, row by row.")
          .Batch(batch::FirstAxis())
          .Shard(shard::Windows("whole"))
          .Infer([](InferContext& c) {
            Shape out = PoolOutput(c.op(), c.attrs(), c.shape(0));
            return Types{c.Like(0, out), Type(DType::kInt32, out)};
          })
          .Grad(MaxPoolGrad);
  if (rank == 3) return;
  plain.Class("MaxPool(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x)");
  indexed.Class(
      "MaxPoolWithArgmax(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x)");
}

void DefineMaxPoolGrads(OpRegistry& ops, int rank) {
  MaxWindows(ops.Op(Named("MaxPool", rank, "Grad"))
                 .Internal()
                 .In("x", kFloating, "Input of the pooling.")
                 .In("dy", kFloating),
             rank)
      .Doc("Gradient of a maximum over windows: dy goes to the first maximum of each window.")
      .Batch(batch::FirstAxis())
      .Shard(shard::Windows())
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        CheckPooled(c, 1, PoolOutput(c.op(), c.attrs(), c.shape(0)));
        return c.Like(0, c.shape(0));
      })
      .Grad([](GradContext& g) {
        return Terms{
            {},
            g.Call(Relative(g, "MaxPool", "GradGrad"), {g.in(0), g.dout()}, SameAttrs(g.node()))};
      });
  MaxWindows(ops.Op(Named("MaxPool", rank, "GradGrad"))
                 .Internal()
                 .In("x", kFloating, "Input of the pooling.")
                 .In("values", kFloating),
             rank)
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
        Terms dx = MaxPoolGrad(g);
        return Terms{{}, dx[0]};
      });
}

Type InferAvgPool(InferContext& c) {
  c.Check(c.attr<int64_t>("divisor_override") >= 0,
          "'divisor_override' must not be negative, but got {}",
          c.attr<int64_t>("divisor_override"));
  return InferPool(c);
}

void DefineAvgPool(OpRegistry& ops, int rank) {
  OpDef& plain =
      AverageWindows(ops.Op(Named("AvgPool", rank)).In("x", kFloating, InputDoc(rank)), rank)
          .Doc("Mean of each window; what hangs over the edge does not count.")
          .Batch(batch::FirstAxis())
          .Shard(shard::Windows())
          .Infer(InferAvgPool)
          .Grad([](GradContext& g) {
            NamedAttrs attrs = SameAttrs(g.node());
            attrs.emplace_back("input_size", g.in_type(0).shape().ToCodes());
            return g.Call(Relative(g, "AvgPool", "Grad"), {g.dout()}, attrs);
          });
  if (rank == 2)
    plain.Class("AvgPool(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(x)");
  OpDef& gradient = AverageWindows(ops.Op(Named("AvgPool", rank, "Grad"))
                                       .Internal()
                                       .In("dy", kFloating, "Shaped as the output of the pooling."),
                                   rank)
                        .Doc("Gradient of a mean over windows: dy is spread evenly over each.")
                        .RequiredAttr<Ints>("input_size", "Shape of the result.")
                        .Sizes("input_size")
                        .Batch(batch::FirstAxis(1, "input_size"))
                        .Shard(shard::Windows())
                        .Infer([](InferContext& c) {
                          Shape input = c.attr<Ints>("input_size");
                          CheckPooled(c, 0, PoolOutput(c.op(), c.attrs(), input));
                          return c.Like(0, input);
                        })
                        .Grad([](GradContext& g) {
                          return g.Call(Relative(g, "AvgPool"), {g.dout()}, SameAttrs(g.node()));
                        });
  if (rank == 2) gradient.Format("data_format", {"input_size"});
}

// ---- adaptive -----------------------------------------------------------------------------------
// The input's shape with the spatial dimensions, the last `rank`, replaced; -1 in `size` keeps one.
Shape AdaptiveShape(const InferContext& c, int rank, const Shape& input, const Dims& size) {
  c.Check(input.rank() == rank + 1 || input.rank() == rank + 2,
          "the input must have {} or {} dimensions, but got shape {}", rank + 1, rank + 2, input);
  c.Check(size.size() == 1 || static_cast<int>(size.size()) == rank,
          "'output_size' must be an int or a tuple of {} ints, but got ({})", rank,
          fmt::join(size, ", "));
  Shape output = input;
  for (int i = 0; i < rank; ++i) {
    c.Check(input.dim(i - rank) > 0,
            "the {}height and width of the input must be positive, but got shape {}",
            rank == 3 ? "depth, " : "", input);
    Dim wanted = size[size.size() == 1 ? 0 : static_cast<size_t>(i)];
    c.Check(wanted.Is(-1) || wanted >= 1,
            "'output_size' must be positive, or -1 to keep a size, but got {}", wanted);
    if (!wanted.Is(-1)) output = output.With(i - rank, wanted);
  }
  return output;
}

// Inputs without a batch take the items as one.
BatchFn AdaptiveBatch(int rank, const char* size_attr = nullptr) {
  return [=](BatchContext& b) {
    if (b.rank(0) == rank + 2) return batch::FirstAxis(1, size_attr)(b);
    if (!size_attr) return b.Again({b.in(0)});
    Ints sizes = b.attr<Ints>(size_attr);
    sizes.insert(sizes.begin(), b.size());
    return b.Again({b.in(0)}, {{size_attr, sizes}});
  };
}

using shard::operator+;

// Images and results alike; all spatial dimensions are whole.
ShardFn AdaptiveShard(int rank, bool gradient = false) {
  return [=](const ShardContext& c) {
    shard::Names in = shard::Axes(rank, "h"), out = shard::Axes(rank, "y");
    shard::Rule rule;
    shard::Names image = shard::Names{"..."} + (gradient ? out : in);
    shard::Names result = shard::Names{"..."} + (gradient ? in : out);
    rule.In(image);
    for (size_t i = 0; i < c.outputs().size(); ++i) rule.Out(result);
    rule.Mark(in, "whole").Mark(out, "whole");
    if (gradient) {
      rule.Clause(
          fmt::format("input_size = ... {}",
                      fmt::join(std::vector<std::string>(static_cast<size_t>(rank), "_"), " ")));
    }
    return rule.Text();
  };
}

OpDef& Adaptive(OpRegistry& ops, const std::string& name, int rank) {
  return ops.Op(name)
      .In("input_x", kFloating,
          rank == 3 ? "[N, C, D, H, W] or [C, D, H, W]." : "[N, C, H, W] or [C, H, W].")
      .RequiredAttr<Ints>("output_size",
                          "An int, or one for each dimension; -1 keeps the size of the input.")
      .Sizes("output_size")
      .Batch(AdaptiveBatch(rank))
      .Shard(AdaptiveShard(rank));
}

void DefineAdaptiveAverage(OpRegistry& ops, int rank) {
  std::string name = fmt::format("AdaptiveAvgPool{}D", rank);
  Adaptive(ops, name, rank)
      .Doc("Means over a grid of windows that covers the image as evenly as it can.")
      .Infer([rank](InferContext& c) {
        return c.Like(0, AdaptiveShape(c, rank, c.shape(0), c.dims_attr("output_size")));
      })
      .Grad([name](GradContext& g) {
        return g.Call(name + "Grad", {g.dout()}, {{"input_size", g.in_type(0).shape().ToCodes()}});
      });
  ops.Op(name + "Grad")
      .Internal()
      .Doc(fmt::format("Gradient of {}.", name))
      .Batch(AdaptiveBatch(rank, "input_size"))
      .In("dy", kFloating, fmt::format("Shaped as the output of {}.", name))
      .RequiredAttr<Ints>("input_size", "Shape of the result.")
      .Sizes("input_size")
      .Shard(AdaptiveShard(rank, true))
      .Infer([rank](InferContext& c) {
        Shape input = c.attr<Ints>("input_size");
        c.Check(c.rank(0) == input.rank() && c.rank(0) > rank,
                "'dy' must have as many dimensions as the input, {} or {}, but got {} for {}",
                rank + 1, rank + 2, c.rank(0), input.rank());
        Dims size;
        for (int i = -rank; i < 0; ++i) size.push_back(c.dim(0, i));
        CheckPooled(c, 0, AdaptiveShape(c, rank, input, size));
        return c.Like(0, input);
      })
      .Grad([name, rank](GradContext& g) {
        const Shape& dy = g.in_type(0).shape();
        return g.Call(name, {g.dout()},
                      {{"output_size", dy.Part(dy.rank() - rank, dy.rank()).ToCodes()}});
      });
}

// Each image in one row, for indices that count its elements.
Term Rows(const Term& x, int rank) {
  const Shape& shape = x.shape();
  Dim size = 1;
  for (int i = -rank; i < 0; ++i) size = size * shape.dim(i);
  Dims dims = shape.Part(0, shape.rank() - rank).dims();
  dims.push_back(size);
  return Reshape(x, dims);
}

void DefineAdaptiveMaximum(OpRegistry& ops, int rank) {
  Adaptive(ops, fmt::format("AdaptiveMaxPool{}D", rank), rank)
      .Internal()
      .Doc(
          "The largest elements, a nan or else the first one, over a grid of windows that covers "
          "the "
          "image as evenly as it can, and their positions in the image, row by row.")
      .Infer([rank](InferContext& c) {
        Shape out = AdaptiveShape(c, rank, c.shape(0), c.dims_attr("output_size"));
        return Types{c.Like(0, out), Type(DType::kInt32, out)};
      })
      .Grad([rank](GradContext& g) {
        Term zeros = Rows(g.emitter().Full(0, g.in_type(0)), rank);
        Term dx =
            g.Call("TensorScatterElements", {zeros, Rows(g.out(1), rank), Rows(g.dout(), rank)},
                   {{"axis", int64_t{-1}}, {"reduction", std::string("add")}});
        return Reshape(dx, g.in_type(0).shape());
      });
}

}  // namespace

void DefinePool(OpRegistry& ops) {
  for (int rank : {2, 3}) {
    DefineMaxPool(ops, rank);
    DefineMaxPoolGrads(ops, rank);
    DefineAvgPool(ops, rank);
    DefineAdaptiveAverage(ops, rank);
    DefineAdaptiveMaximum(ops, rank);
  }
}

}  // namespace ms
