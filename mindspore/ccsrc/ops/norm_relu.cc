// Batch normalisation in training with the activation that follows, and its gradients: what a pass
// makes of a sequence of ops, so that memory is read once.
#include "ops/all.h"
#include "ops/norm.h"
#include "ops/shard.h"

namespace ms {
namespace {

OpDef& Inputs(OpDef& op) {
  return op.In("input_x", kFloating, "[N, C], or [N, H, W, C] with 'NHWC'.")
      .In("scale", kFloating, "[C].")
      .In("bias", kFloating, "[C].")
      .In("mean", kFloating, "[C], the stored mean.")
      .In("variance", kFloating, "[C], the stored variance.");
}

OpDef& Attributes(OpDef& op) {
  return op.WithAttr("epsilon", 1e-5, "Added to the variance.")
      .WithAttr("momentum", 0.1, "The share of the batch in the stored statistics.")
      .WithAttr("data_format", "NHWC", "'NHWC', unless input_x has rank 2.")
      .Format("data_format")
      .Updates(1, 3)
      .Updates(2, 4);
}

NamedAttrs Shared(ExpandContext& c) {
  return {{"epsilon", c.attr<double>("epsilon")},
          {"data_format", c.attr<std::string>("data_format")}};
}

Terms Norm(ExpandContext& c) {
  NamedAttrs attrs = Shared(c);
  attrs.emplace_back("momentum", c.attr<double>("momentum"));
  return c.emitter().CallMany("BatchNorm", {c.in(0), c.in(1), c.in(2), c.in(3), c.in(4)}, attrs);
}

Terms NormGrad(ExpandContext& c, const Term& dy, const Term& x, const Term& scale, const Term& mean,
               const Term& inverse) {
  return c.emitter().CallMany("BatchNormGrad", {dy, x, scale, mean, inverse}, Shared(c));
}

// (x - mean) * inverse * scale + bias, of the inputs of BatchNormReluGrad.
Term Normalised(ExpandContext& c) {
  const Shape& shape = c.in(1).shape();
  int axis = shape.rank() == 4 && c.attr<std::string>("data_format") == "NHWC" ? 3 : 1;
  Dims dims(static_cast<size_t>(shape.rank()), 1);
  dims[static_cast<size_t>(axis)] = shape.dim(axis);
  DType type = c.in(4).dtype();
  auto channel = [&](size_t i) { return Reshape(CastTo(c.in(i), type), dims); };
  Term z = (CastTo(c.in(1), type) - channel(4)) * (channel(5) * channel(2)) + channel(3);
  return CastTo(z, c.in(0).dtype());
}

const char* ActivationOp(ExpandContext& c) {
  return c.attr<std::string>("activation") == "relu6" ? "ReLU6" : "ReLU";
}

Terms ReluGradParts(ExpandContext& c) {
  std::string slope = ActivationOp(c) == std::string("ReLU6") ? "ReLU6Grad" : "ReluGrad";
  Term g = c.Call(slope, {c.in(0), Normalised(c)});
  return NormGrad(c, g, c.in(1), c.in(2), c.in(4), c.in(5));
}

void CheckActivation(const InferContext& c) {
  const auto& name = c.attr<std::string>("activation");
  c.Check(name == "relu" || name == "relu6", "'activation' must be 'relu' or 'relu6', but got '{}'",
          name);
}

OpDef& Gradient(OpRegistry& ops, const char* name) {
  return ops.Op(name).Internal().In("dy", kFloating, "Shaped as x.");
}

OpDef& Saved(OpDef& op) {
  return op.In("saved_mean", kFloating, "[C], output 3 of the op.")
      .In("saved_inverse", kFloating, "[C], output 4 of the op: 1 / sqrt(variance + epsilon).")
      .WithAttr("epsilon", 1e-5, "As in the op.")
      .WithAttr("data_format", "NHWC", "'NHWC', unless x has rank 2.")
      .Format("data_format");
}

}  // namespace

void DefineNormRelu(OpRegistry& ops) {
  Attributes(Inputs(ops.Op("BatchNormRelu").Internal()))
      .Doc("An activation of BatchNorm in training.")
      .WithAttr("activation", "relu", "'relu' or 'relu6'.")
      .Shard(shard::Channels("whole"))
      .Infer([](InferContext& c) {
        CheckActivation(c);
        return InferBatchNorm(c);
      })
      .Expand([](ExpandContext& c) {
        Terms results = Norm(c);
        results[0] = c.Call(ActivationOp(c), {results[0]});
        return results;
      });
  Attributes(
      Inputs(ops.Op("BatchNormAddRelu").Internal()).In("residual", kFloating, "Shaped as input_x."))
      .Doc("ReLU of the sum of BatchNorm in training and a second image.")
      .InPlace(0, 5)
      .Shard(shard::Channels("whole"))
      .Infer([](InferContext& c) {
        c.CheckSameDType(0, 5);
        c.CheckSameShape(0, 5);
        return InferBatchNorm(c);
      })
      .Expand([](ExpandContext& c) {
        Terms results = Norm(c);
        results[0] = c.Call("ReLU", {results[0] + c.in(5)});
        return results;
      });
  Saved(Gradient(ops, "BatchNormReluGrad")
            .In("x", kFloating, "Input of BatchNormRelu.")
            .In("scale", kFloating, "[C].")
            .In("bias", kFloating, "[C]."))
      .Doc("Gradients of BatchNormRelu with respect to its input, scale and bias.")
      .WithAttr("activation", "relu", "'relu' or 'relu6'.")
      .Shard(shard::Channels("whole"))
      .Infer([](InferContext& c) {
        CheckActivation(c);
        c.CheckSameDType(0, 1);
        c.CheckSameShape(0, 1);
        Type scale = CheckBatchNorm(c, 1, 2, 4);
        CheckBatchNorm(c, 1, 4, 6);
        return Types{c.Like(0, c.shape(0)), scale, scale};
      })
      .Expand(ReluGradParts);
  Saved(Gradient(ops, "BatchNormAddReluGrad")
            .In("y", kFloating, "Output of BatchNormAddRelu.")
            .In("x", kFloating, "Its input.")
            .In("scale", kFloating, "[C]."))
      .Doc("Gradients of BatchNormAddRelu with respect to input, scale, bias and residual.")
      .Shard(shard::Channels("whole"))
      .Infer([](InferContext& c) {
        for (size_t i : {1, 2}) {
          c.CheckSameDType(0, i);
          c.CheckSameShape(0, i);
        }
        Type scale = CheckBatchNorm(c, 2, 3, 4);
        CheckBatchNorm(c, 2, 4, 6);
        return Types{c.Like(0, c.shape(0)), scale, scale, c.Like(0, c.shape(0))};
      })
      .Expand([](ExpandContext& c) {
        Term g = c.Call("ReluGrad", {c.in(0), c.in(1)});
        Terms results = NormGrad(c, g, c.in(2), c.in(3), c.in(4), c.in(5));
        results.push_back(g);
        return results;
      });
}

}  // namespace ms
