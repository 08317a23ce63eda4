// Convolution with what follows it in inference, as one step, and the preparation of its weight.
// Passes make these ops where no gradient is left to take.
#include "ops/all.h"
#include "ops/conv.h"
#include "ops/joined_activation.h"
#include "ops/shard.h"
#include "ops/window.h"

namespace ms {
namespace {

// The shape of the plain weight.
Shape PlainWeight(const OpDef& op, const Attrs& attrs, const Shape& weight) {
  bool packed = AttrOf<std::string>(op, attrs, "weight_format") == "packed";
  return packed ? Shape(AttrOf<Ints>(op, attrs, "filter_size")) : weight;
}

Type InferConvBias(InferContext& c) {
  c.CheckSameDType(0, 1);
  CheckActivation(c);
  Shape weight = PlainWeight(c.op(), c.attrs(), c.shape(1));
  Shape output = ConvOutput(c.op(), c.attrs(), c.shape(0), weight);
  Shape bias{c.attr<int64_t>("out_channel")};
  c.Check(SameSizes(c.shape(2), bias), "the bias must have shape {}, but got {}", bias, c.shape(2));
  if (c.size() == 4) {
    c.Check(SameSizes(c.shape(3), output), "the addend must have shape {}, but got {}", output,
            c.shape(3));
  }
  for (size_t i = 2; i < c.size(); ++i) c.CheckSameDType(0, i);
  return c.Like(0, output);
}

// A packed weight means something only to the device that packed it.
Terms ExpandConvBias(ExpandContext& c) {
  NamedAttrs attrs;
  for (const char* name : {"kernel_size", "pad", "stride", "dilation"}) {
    attrs.emplace_back(name, c.attr<Ints>(name));
  }
  for (const char* name : {"pad_mode", "data_format", "weight_format"}) {
    attrs.emplace_back(name, c.attr<std::string>(name));
  }
  for (const char* name : {"out_channel", "group"}) {
    attrs.emplace_back(name, c.attr<int64_t>(name));
  }
  Term y = c.Call("Conv2D", {c.in(0), c.in(1)}, attrs);
  y = c.Call("BiasAdd", {y, c.in(2)}, {{"data_format", c.attr<std::string>("data_format")}});
  if (c.inputs().size() == 4) y = y + c.in(3);
  return {Activated(c, y)};
}

OpDef& WithEpilogue(OpDef& op) {
  return WithConvAttrs(op).WithAttr("activation", "", "'', or what follows: 'relu', 'silu', ...");
}

OpDef& Operands(OpRegistry& ops, const char* name) {
  return ops.Op(name)
      .Internal()
      .In("x", kFloating, "Rank 4.")
      .In("weight", kFloating, "That of Conv2D, or a packed one.")
      .In("bias", kFloating, "[channels].");
}

void DefineWithBias(OpDef& op) {
  WithEpilogue(op)
      .Filter("weight_format", 1)
      .WithAttr("filter_size", Ints{}, "The shape of a packed weight before it was packed.")
      .Shard(shard::ConvolutionBias)
      .Infer(InferConvBias)
      .Expand(ExpandConvBias);
}

}  // namespace

void DefineConvBias(OpRegistry& ops) {
  DefineWithBias(
      Operands(ops, "Conv2DBias").Doc("Conv2D, plus a bias per channel, through an activation."));
  DefineWithBias(
      Operands(ops, "Conv2DBiasAdd")
          .In("addend", kFloating, "An image of the shape of the result.")
          .Doc("Conv2D, plus a bias per channel, plus an image, through an activation."));
  WithEpilogue(ops.Op("PackWeight").Internal().In("weight", One(DType::kFloat32), "[O, I, H, W]."))
      .Doc(
          "The weight in the layout, and perhaps the type, that the device wants for Conv2DBias or "
          "Conv2DBiasAdd.")
      .Filter("weight_format", 0)
      .RequiredAttr<Ints>("input_size", "The shape of the images.")
      .WithAttr("adds", false, "Whether an image is added.")
      .RequiredAttr<int64_t>("size", "How many elements the result has.")
      .WithAttr("dtype", DType::kFloat32, "Of the images and the result.")
      .Shard(shard::Whole)
      .Infer([](InferContext& c) {
        ConvOutput(c.op(), c.attrs(), Shape(c.attr<Ints>("input_size")), c.shape(0));
        c.Check(c.attr<int64_t>("size") > 0, "'size' must be positive, but got {}",
                c.attr<int64_t>("size"));
        return Type(c.attr<DType>("dtype"), Shape{c.attr<int64_t>("size")});
      });
}

}  // namespace ms
