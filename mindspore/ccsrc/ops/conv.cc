// Two-dimensional convolution and its two gradients. Each is linear in both operands, and the
// gradients of the three are the three again: differentiable to any order.
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

// The attributes of the node, for one of its two relatives, and the shape that this one needs.
Term CallRelated(GradContext& g, const char* op, const Terms& inputs,
                 const char* size_name = nullptr, const Shape& size = {}) {
  NamedAttrs attrs;
  for (const char* name : kConvAttrs) {
    attrs.emplace_back(name, (*g.node().attrs)[static_cast<size_t>(g.node().op->AttrIndex(name))]);
  }
  if (size_name) attrs.emplace_back(size_name, size.ToCodes());
  return g.Call(op, inputs, attrs);
}

Term Forward(GradContext& g, const Term& x, const Term& weight) {
  return CallRelated(g, "Conv2D", {x, weight});
}
Term InputGrad(GradContext& g, const Term& dy, const Term& weight, const Shape& input) {
  return CallRelated(g, "Conv2DBackpropInput", {dy, weight}, "input_size", input);
}
Term FilterGrad(GradContext& g, const Term& dy, const Term& x, const Shape& weight) {
  return CallRelated(g, "Conv2DBackpropFilter", {dy, x}, "filter_size", weight);
}

OpDef& Convolution(OpRegistry& ops, const char* name, const char* first, const char* second,
                   const char* second_doc, DTypeSet types = kFloating) {
  return WithConvAttrs(ops.Op(name).In(first, types, "Rank 4.").In(second, types, second_doc));
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
  c.Check(zero || ParsePads("pad_list", list) == ParsePads("pad", c.attr<Ints>("pad")),
          "'pad_list' must equal 'pad' where it is given, but got ({})", fmt::join(list, ", "));
}

}  // namespace

OpDef& WithConvAttrs(OpDef& op) {
  return op.RequiredAttr<int64_t>("out_channel", "Channels of the output of the convolution.")
      .RequiredAttr<Ints>("kernel_size", "An int, or (height, width).")
      .WithAttr("mode", 1, "1: cross-correlation, the only mode.")
      .WithAttr("pad_mode", "valid",
                "'valid': none, 'same': as many windows as steps fit in the input, 'pad': by pad.")
      .WithAttr("pad", Ints{0}, "With 'pad': an int, or (top, bottom, left, right).")
      .WithAttr("stride", Ints{1}, "An int, or (vertical, horizontal).")
      .WithAttr("dilation", Ints{1}, "An int, or (vertical, horizontal).")
      .WithAttr("group", 1, "Channels are split in that many independent groups.")
      .WithAttr("data_format", "NCHW", "'NCHW' or 'NHWC'.")
      .WithAttr("weight_format", "",
                "For passes. 'OIHW': the layout of the weight, whatever the images have; 'packed': "
                "what PackWeight made of that; otherwise the layout of the images.")
      .Format("data_format", {"kernel_size", "stride", "dilation"});
}

void DefineConv(OpRegistry& ops) {
  Convolution(ops, "Conv2D", "x", "weight", "[out channels, in channels / group, height, width].",
              kFloating | One(DType::kInt8))
      .Filter("weight_format", 1)
      .Doc(
          "Two-dimensional convolution (cross-correlation) of images with a bank of filters. Of "
          "Int8 the sums are Int32.")
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
      .Class(
          "Conv2D(out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, "
          "group=1, data_format='NCHW')(x, weight)");
  Convolution(ops, "Conv2DBackpropInput", "out_backprop", "filter",
              "[out channels, in channels / group, height, width].")
      .Filter("weight_format", 1)
      .Doc("Gradient of Conv2D with respect to its input: the transposed convolution.")
      .RequiredAttr<Ints>("input_size", "Shape of the result.")
      .Sizes("input_size")
      .Format("data_format", {"input_size"})
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
      .Class(
          "Conv2DBackpropInput(out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None, "
          "mode=1, "
          "stride=1, dilation=1, group=1, data_format='NCHW')(out_backprop, filter, input_size)")
      .Class("Conv2DTranspose");
  Convolution(ops, "Conv2DBackpropFilter", "out_backprop", "input", "The input of the convolution.")
      .Internal()
      .Filter("weight_format", 2)
      .Doc("Gradient of Conv2D with respect to its weight.")
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
        if (g.needs(0)) grads[0] = Forward(g, g.in(1), g.dout());
        if (g.needs(1)) grads[1] = InputGrad(g, g.in(0), g.dout(), g.in_type(1).shape());
        return grads;
      })
      .Class(
          "Conv2DBackpropFilter(out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None, "
          "mode=1, "
          "stride=1, dilation=1, group=1, data_format='NCHW')(out_backprop, input, filter_size)");
}

}  // namespace ms
