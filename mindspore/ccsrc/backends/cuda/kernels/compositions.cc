// Ops that are one loop nest when they are written in other ops: a body is made of each, as the
// fuse pass makes them of several nodes.
#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/memory.h"

namespace ms::cuda {
namespace {

bool IsEmpty(const Types& types) {
  return std::all_of(types.begin(), types.end(),
                     [](const Type& type) { return type.shape().size() == 0; });
}

// The inputs as terms, and the request.
struct Composer {
  Emitter& emitter;
  Terms in;
  const KernelRequest& request;

  Term Call(const char* op, const Terms& args, const NamedAttrs& attrs = {}) const {
    return emitter.Call(op, args, attrs);
  }
  Term Along(const char* op, const Term& x, const Ints& axes) const {
    return Call(op, {x}, {{"axis", axes}, {"keep_dims", true}});
  }
  // Half types compute in Float32, and are rounded once.
  Term Wide(size_t i) const {
    bool half = ItemSize(in[i].dtype()) == 2;
    return half ? CastTo(in[i], DType::kFloat32) : in[i];
  }
};
using Compose = Terms (*)(const Composer&);

KernelMaker Composition(Compose compose) {
  return [compose](const KernelRequest& request) -> KernelChoice {
    if (IsEmpty(request.out)) return FunctionKernel([](const KernelArgs&) {}, 10);
    ::ms::Module module;
    Graph* body = module.NewGraph("composition");
    GraphEmitter emitter(body);
    Composer composer{emitter, {}, request};
    for (const Type& type : request.in)
      composer.in.push_back(emitter.Wrap({body->AddParameter(type.Strong(), "x"), 0}));
    Terms results = compose(composer);
    Vars outputs;
    for (size_t o = 0; o < results.size(); ++o) {
      Term result = CastTo(results[o], request.out[o].dtype());
      if (!(result.shape() == request.out[o].shape()))
        result = Reshape(result, request.out[o].shape());
      outputs.push_back(result.var);
    }
    body->SetOutputs(std::move(outputs));
    return NestOf(*body, request);
  };
}

Ints SoftmaxAxes(const KernelRequest& request) {
  if (request.op.name == "Softmax") return request.attr<Ints>("axis");
  return {request.attr<int64_t>("axis")};
}

Terms Softmax(const Composer& c) {
  Ints axes = SoftmaxAxes(c.request);
  Term x = c.Wide(0);
  Term e = c.Call("Exp", {x - c.Along("ReduceMax", x, axes)});
  return {e / c.Along("ReduceSum", e, axes)};
}

Terms LogSoftmax(const Composer& c) {
  Ints axes = SoftmaxAxes(c.request);
  Term x = c.Wide(0);
  Term d = x - c.Along("ReduceMax", x, axes);
  Term sum = c.Along("ReduceSum", c.Call("Exp", {d}), axes);
  return {d - c.Call("Log", {sum})};
}

Terms SoftmaxGrad(const Composer& c) {
  Term y = c.Wide(0), dy = c.Wide(1);
  return {y * (dy - c.Along("ReduceSum", y * dy, SoftmaxAxes(c.request)))};
}

Terms LogSoftmaxGrad(const Composer& c) {
  Term y = c.Wide(0), dy = c.Wide(1);
  return {dy - c.Call("Exp", {y}) * c.Along("ReduceSum", dy, SoftmaxAxes(c.request))};
}

Terms CrossEntropy(const Composer& c) {
  Ints row{1};
  Term x = c.Wide(0), wanted = c.Wide(1);
  Term d = x - c.Along("ReduceMax", x, row);
  Term e = c.Call("Exp", {d});
  Term sum = c.Along("ReduceSum", e, row);
  Term loss = c.Along("ReduceSum", wanted * (c.Call("Log", {sum}) - d), row);
  return {loss, e / sum * c.Along("ReduceSum", wanted, row) - wanted};
}

// Gamma and beta have the shape of x from an axis on, so that they broadcast as they are.
Terms LayerNorm(const Composer& c) {
  int rank = c.request.shape(0).rank();
  int64_t begin = c.request.attr<int64_t>("begin_norm_axis");
  Ints axes;
  for (int64_t i = begin < 0 ? begin + rank : begin; i < rank; ++i) axes.push_back(i);
  Term x = c.Wide(0);
  Term mean = c.Along("ReduceMean", x, axes);
  Term d = x - mean;
  Term variance = c.Along("ReduceMean", d * d, axes);
  Term scale = c.Call("Rsqrt", {variance + c.request.attr<double>("epsilon")});
  return {d * scale * CastTo(c.in[1], x.dtype()) + CastTo(c.in[2], x.dtype()), mean, variance};
}

// One value everywhere.
KernelMaker Constant(double value) {
  return [value](const KernelRequest& request) -> KernelChoice {
    const Type& type = request.out[0];
    if (type.shape().size() == 0) return FunctionKernel([](const KernelArgs&) {}, 10);
    if (value == 0)
      return FunctionKernel(
          [bytes = type.bytes()](const KernelArgs& args) {
            TheMemory().Zero(args.out[0], bytes);
          },
          1000);
    ::ms::Module module;
    Graph* body = module.NewGraph("constant");
    GraphEmitter emitter(body);
    for (const Type& in : request.in) body->AddParameter(in.Strong(), "x");
    body->SetOutputs({emitter.Full(value, type.Strong()).var});
    return NestOf(*body, request);
  };
}

}  // namespace

void AddCompositions(KernelTable& table) {
  table.For("Softmax").Try("nest", Composition(Softmax));
  table.For("LogSoftmax").Try("nest", Composition(LogSoftmax));
  table.For("SoftmaxGrad").Try("nest", Composition(SoftmaxGrad));
  table.For("LogSoftmaxGrad").Try("nest", Composition(LogSoftmaxGrad));
  table.For("SoftmaxCrossEntropyWithLogits").Try("nest", Composition(CrossEntropy));
  table.For("LayerNorm").Try("nest", Composition(LayerNorm));
  for (const char* op : {"Zeros", "ZerosLike"}) table.For(op).Try("nest", Constant(0));
  for (const char* op : {"Ones", "OnesLike"}) table.For(op).Try("nest", Constant(1));
}

}  // namespace ms::cuda
