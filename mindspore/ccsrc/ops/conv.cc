// Convolution in two and three dimensions and its two gradients. Each is linear in both operands,
// and the gradients of the three are the three again: differentiable to any order.
#include "ops/conv.h"
#include "ops/all.h"
#include "ops/batch.h"
#include "ops/shard.h"
#include "ops/window.h"

namespace ms {
namespace {

constexpr const char* kConvAttrs[] = {"out_channel", "kernel_size",  "mode",     "pad_mode",
                                      "pad",         "stride",       "dilation", "group",
                                      "data_format", "weight_format"};

// "Conv2D", "Conv3DBackpropInput", ...
std::string Named(int rank, const char* rest = "") { return fmt::format("Conv{}D{}", rank, rest); }

const char* Format(int rank) { return rank == 2 ? "NCHW" : "NCDHW"; }

// The attributes of the node, for one of its two relatives, and the shape that this one needs.
Term CallRelated(GradContext& g, const char* rest, const Terms& inputs,
                 const char* size_name = nullptr, const Shape& size = {}) {
  NamedAttrs attrs;
  for (const char* name : kConvAttrs) {
    int i = g.node().op->AttrIndex(name);
    if (i >= 0) attrs.emplace_back(name, (*g.node().attrs)[static_cast<size_t>(i)]);
  }
  if (size_name) attrs.emplace_back(size_name, size.ToCodes());
  return g.Call(Named(g.out_type().shape().rank() - 2, rest), inputs, attrs);
}

Term Forward(GradContext& g, const Term& x, const Term& weight) {
  return CallRelated(g, "", {x, weight});
}
Term InputGrad(GradContext& g, const Term& dy, const Term& weight, const Shape& input) {
  return CallRelated(g, "BackpropInput", {dy, weight}, "input_size", input);
}
Term FilterGrad(GradContext& g, const Term& dy, const Term& x, const Shape& weight) {
  return CallRelated(g, "BackpropFilter", {dy, x}, "filter_size", weight);
}

OpDef& Convolution(OpRegistry& ops, int rank, const char* rest, const char* first,
                   const char* second, const std::string& second_doc, DTypeSet types = kFloating) {
  OpDef& op = ops.Op(Named(rank, rest))
                  .In(first, types, fmt::format("Rank {}.", rank + 2))
                  .In(second, types, second_doc);
  return WithConvAttrs(op, rank);
}

std::string WeightDoc(int rank) {
  return fmt::format("[out channels, in channels / group, {}height, width].",
                     rank == 3 ? "depth, " : "");
}

void CheckOutput(const InferContext& c, size_t i, const Shape& output) {
  c.Check(SameSizes(c.shape(i), output),
          "'{}' must have the shape {} of the convolution's output, but got {}", c.input_name(i),
          output, c.shape(i));
}

// pad_list is an older way to say the padding; it may only repeat it.
void CheckPadList(const InferContext& c) {
  if (c.is_none("pad_list")) return;
  const Ints& list = c.attr<Ints>("pad_list");
  bool zero = std::all_of(list.begin(), list.end(), [](int64_t v) { return v == 0; });
  int rank = SpatialRank(c.op(), c.shape(0));
  c.Check(zero || ParsePads("pad_list", list, rank) == ParsePads("pad", c.attr<Ints>("pad"), rank),
          "'pad_list' must equal 'pad' where it is given, but got ({})", fmt::join(list, ", "));
}

void DefineForward(OpRegistry& ops, int rank) {
  DTypeSet types = rank == 2 ? kFloating | One(DType::kInt8) : kFloating;
  OpDef& op = Convolution(ops, rank, "", "x", "weight", WeightDoc(rank), types);
  if (rank == 2) op.Filter("weight_format", 1);
  op.Doc(rank == 2 ? "Two-dimensional convolution (cross-correlation) of images with a bank of "
                     "filters. Of Int8 the sums are Int32."
                   : "Three-dimensional convolution (cross-correlation) of volumes with a bank of "
                     "filters.")
      .Batch(batch::Convolution)
      .Shard(shard::Convolution)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        Shape output = ConvOutput(c.op(), c.attrs(), c.shape(0), c.shape(1));
        return c.dtype(0) == DType::kInt8 ? Type(DType::kInt32, output) : c.Like(0, output);
      })
      .Grad([](GradContext& g) {
        Terms grads(2);
        if (g.needs(0)) grads[0] = InputGrad(g, g.dout(), g.in(1), g.in_type(0).shape());
        if (g.needs(1)) grads[1] = FilterGrad(g, g.dout(), g.in(0), g.in_type(1).shape());
        return grads;
      })
      .Class(fmt::format("{}(out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, "
                         "dilation=1, group=1, data_format='{}')(x, weight)",
                         Named(rank), Format(rank)));
}

// The constructor of a gradient, and what it takes in the call.
std::string GradClass(int rank, const char* rest, const char* call) {
  return fmt::format(
      "{}(out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None, mode=1, stride=1, "
      "dilation=1, group=1, data_format='{}'){}",
      Named(rank, rest), Format(rank), call);
}

void DefineInputGrad(OpRegistry& ops, int rank) {
  OpDef& op = Convolution(ops, rank, "BackpropInput", "out_backprop", "filter", WeightDoc(rank));
  if (rank == 2) op.Filter("weight_format", 1);
  op.Doc(fmt::format("Gradient of {} with respect to its input: the transposed convolution.",
                     Named(rank)))
      .RequiredAttr<Ints>("input_size", "Shape of the result.")
      .Sizes("input_size")
      .OptionalAttr<Ints>("pad_list", "May repeat pad.")
      .Batch(batch::Convolution)
      .Shard(shard::ConvolutionInput)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        CheckPadList(c);
        Shape input = c.attr<Ints>("input_size");
        CheckOutput(c, 0, ConvOutput(c.op(), c.attrs(), input, c.shape(1)));
        return c.Like(0, input);
      })
      .Grad([](GradContext& g) {
        Terms grads(2);
        if (g.needs(0)) grads[0] = Forward(g, g.dout(), g.in(1));
        if (g.needs(1)) grads[1] = FilterGrad(g, g.in(0), g.dout(), g.in_type(1).shape());
        return grads;
      })
      .Class(GradClass(rank, "BackpropInput", "(out_backprop, filter, input_size)"));
  if (rank == 2) op.Format("data_format", {"input_size"}).Class("Conv2DTranspose");
}

void DefineFilterGrad(OpRegistry& ops, int rank) {
  OpDef& op = Convolution(ops, rank, "BackpropFilter", "out_backprop", "input",
                          "The input of the convolution.");
  if (rank == 2) op.Filter("weight_format", 2);
  op.Internal()
      .Doc(fmt::format("Gradient of {} with respect to its weight.", Named(rank)))
      .RequiredAttr<Ints>("filter_size", "Shape of the result.")
      .OptionalAttr<Ints>("pad_list", "May repeat pad.")
      .Batch(batch::ConvolutionFilter)
      .Shard(shard::ConvolutionFilter)
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 1);
        CheckPadList(c);
        Shape weight = c.attr<Ints>("filter_size");
        CheckOutput(c, 0, ConvOutput(c.op(), c.attrs(), c.shape(1), weight));
        return c.Like(0, weight);
      })
      .Grad([](GradContext& g) {
        Terms grads(2);
        Shape input = g.in_type(1).shape();
        if (g.needs(0)) grads[0] = Forward(g, g.in(1), g.dout());
        if (g.needs(1)) grads[1] = InputGrad(g, g.in(0), g.dout(), input);
        return grads;
      })
      .Class(GradClass(rank, "BackpropFilter", "(out_backprop, input, filter_size)"));
}

}  // namespace

OpDef& WithConvAttrs(OpDef& op, int rank) {
  std::string pads = rank == 2 ? "(top, bottom, left, right)" : "two for each dimension";
  std::string sizes =
      rank == 2 ? "An int, or (height, width)." : "An int, or (depth, height, width).";
  op.RequiredAttr<int64_t>("out_channel", "Channels of the output of the convolution.")
      .RequiredAttr<Ints>("kernel_size", sizes)
      .WithAttr("mode", 1, "1: cross-correlation, the only mode.")
      .WithAttr("pad_mode", "valid",
                "'valid': none, 'same': as many windows as steps fit in the input, 'pad': by pad.")
      .WithAttr("pad", Ints{0}, fmt::format("With 'pad': an int, or {}.", pads))
      .WithAttr("stride", Ints{1}, sizes)
      .WithAttr("dilation", Ints{1}, sizes)
      .WithAttr("group", 1, "Channels are split in that many independent groups.");
  if (rank == 3) return op.WithAttr("data_format", Format(rank), "'NCDHW'.");
  return op.WithAttr("data_format", Format(rank), "'NCHW' or 'NHWC'.")
      .WithAttr("weight_format", "",
                "For passes. 'OIHW': the layout of the weight, whatever the images have; 'packed': "
                "what PackWeight made of that; otherwise the layout of the images.")
      .Format("data_format", {"kernel_size", "stride", "dilation"});
}

void DefineConv(OpRegistry& ops) {
  for (int rank : {2, 3}) {
    DefineForward(ops, rank);
    DefineInputGrad(ops, rank);
    DefineFilterGrad(ops, rank);
  }
}

}  // namespace ms
