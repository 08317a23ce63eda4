// Ops that are one loop nest when they are written in other ops: a body is made of each, as the
// fuse pass makes them of several nodes.
#include <algorithm>

#include "backends/cuda/kernels/compositions.h"
#include "backends/cuda/memory.h"

namespace ms::cuda {
namespace {

bool IsEmpty(const Types& types) {
  return std::all_of(types.begin(), types.end(),
                     [](const Type& type) { return type.shape().size() == 0; });
}

KernelChoice Composed(Compose compose, const KernelRequest& request) {
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
}

}  // namespace

KernelMaker Composition(Compose compose) {
  return [compose](const KernelRequest& request) { return Composed(compose, request); };
}

namespace {

// Two nests that reduce along different axes: the first one for the first output, the second one
// for all others.
class Pair : public Kernel {
 public:
  Pair(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> others)
      : first_(std::move(first)), others_(std::move(others)) {
    workspace_bytes_ = std::max(first_->workspace_bytes(), others_->workspace_bytes());
    cost_ns_ = first_->cost_ns() + others_->cost_ns();
  }
  void Run(const KernelArgs& args) const override {
    first_->Run(args);
    KernelArgs rest = args;
    rest.out = args.out + 1;
    others_->Run(rest);
  }
  std::string Contents() const override { return first_->Contents() + others_->Contents(); }

 private:
  std::unique_ptr<Kernel> first_, others_;
};

KernelMaker Compositions(Compose first, Compose others) {
  return [first, others](const KernelRequest& request) -> KernelChoice {
    KernelChoice one = Composed(first, {request.op, request.in, {request.out[0]}, request.attrs});
    if (!one.kernel) return one;
    Types rest(request.out.begin() + 1, request.out.end());
    KernelChoice two = Composed(others, {request.op, request.in, rest, request.attrs});
    if (!two.kernel) return two;
    return std::make_unique<Pair>(std::move(one.kernel), std::move(two.kernel));
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

Ints AxesFrom(const KernelRequest& request, const char* attr, int rank) {
  int64_t begin = request.attr<int64_t>(attr);
  Ints axes;
  for (int64_t i = begin < 0 ? begin + rank : begin; i < rank; ++i) axes.push_back(i);
  return axes;
}

// Gamma and beta have the shape of x from an axis on, so that they broadcast as they are.
Terms LayerNorm(const Composer& c) {
  Ints axes = AxesFrom(c.request, "begin_norm_axis", c.request.shape(0).rank());
  Term x = c.Wide(0);
  Term mean = c.Along("ReduceMean", x, axes);
  Term d = x - mean;
  Term variance = c.Along("ReduceMean", d * d, axes);
  Term scale = c.Call("Rsqrt", {variance + c.request.attr<double>("epsilon")});
  return {d * scale * CastTo(c.in[1], x.dtype()) + CastTo(c.in[2], x.dtype()), mean, variance};
}

// Inputs: dy, x, variance, mean, gamma.
Term Normalized(const Composer& c, Term* scale) {
  Term x = c.Wide(1);
  *scale = c.Call("Rsqrt", {CastTo(c.in[2], x.dtype()) + c.request.attr<double>("epsilon")});
  return (x - CastTo(c.in[3], x.dtype())) * *scale;
}

Terms LayerNormGradOfX(const Composer& c) {
  Ints axes = AxesFrom(c.request, "begin_norm_axis", c.request.shape(1).rank());
  Term scale, n = Normalized(c, &scale);
  Term dn = c.Wide(0) * CastTo(c.in[4], n.dtype());
  Term mean = c.Along("ReduceMean", dn, axes), along = c.Along("ReduceMean", dn * n, axes);
  return {(dn - mean - n * along) * scale};
}

// Of gamma and beta: sums over the axes before theirs.
Terms LayerNormGradOfScale(const Composer& c) {
  int rank = c.request.shape(1).rank();
  Ints axes;
  for (int64_t i = 0; i < rank - c.request.shape(4).rank(); ++i) axes.push_back(i);
  Term scale, n = Normalized(c, &scale), dy = c.Wide(0);
  if (axes.empty()) return {dy * n, dy};
  return {c.Along("ReduceSum", dy * n, axes), c.Along("ReduceSum", dy, axes)};
}

Terms DropoutGrad(const Composer& c) {
  return {c.Wide(0) * c.Wide(1) * (1 / c.request.attr<double>("keep_prob"))};
}

// The weights are of the channels, axis 1, or one for all.
Terms SlopeOfChannels(const Composer& c) {
  Term x = c.Wide(0), weight = c.Wide(1);
  Dims dims(static_cast<size_t>(std::max(x.shape().rank(), 1)), 1);
  if (dims.size() > 1) dims[1] = weight.shape().size();
  Term slope = Reshape(weight, dims);
  Term zero = c.emitter.Scalar(0, x.dtype());
  return {c.Call("Select", {c.Call("Greater", {x, zero}), x, x * slope})};
}

Terms Sum(const Composer& c) {
  Term sum = c.Wide(0);
  for (size_t i = 1; i < c.in.size(); ++i) sum = sum + c.Wide(i);
  return {sum};
}

// What an op is declared as, where that is one nest: of two kernels, the second one would read what
// the first one wrote, and a Parameter would get new memory for its new value.
Terms Expanded(const Composer& c) {
  ExpandContext context(c.emitter, c.in, c.request.op, c.request.attrs);
  return c.request.op.expand(context);
}

// One value everywhere.
KernelMaker Constant(double value) {
  return [value](const KernelRequest& request) -> KernelChoice {
    const Type& type = request.out[0];
    if (type.shape().size() == 0) return FunctionKernel([](const KernelArgs&) {}, 10);
    if (value == 0)
      return FunctionKernel(
          [bytes = type.bytes()](const KernelArgs& args) { TheMemory().Zero(args.out[0], bytes); },
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
  for (const OpDef* op : Ops().All()) {
    // Internal ones are what passes make where a device gains by it: see host.cc. What a bias is
    // added by, passes that join it to a convolution know as an Add alone.
    if (op->expand && !op->internal && op->name != "BiasAdd")
      table.For(op->name).Try("nest", Composition(Expanded));
  }
  table.For("AddN").Try("nest", Composition(Sum));
  table.For("PReLU").Try("nest", Composition(SlopeOfChannels));
  table.For("DropoutGrad").Try("nest", Composition(DropoutGrad));
  table.For("Softmax").Try("nest", Composition(Softmax));
  table.For("LogSoftmax").Try("nest", Composition(LogSoftmax));
  table.For("SoftmaxGrad").Try("nest", Composition(SoftmaxGrad));
  table.For("LogSoftmaxGrad").Try("nest", Composition(LogSoftmaxGrad));
  table.For("SoftmaxCrossEntropyWithLogits").Try("nest", Composition(CrossEntropy));
  table.For("LayerNorm").Try("nest", Composition(LayerNorm));
  table.For("LayerNormGrad").Try("nests", Compositions(LayerNormGradOfX, LayerNormGradOfScale));
  for (const char* op : {"Zeros", "ZerosLike"}) table.For(op).Try("nest", Constant(0));
  for (const char* op : {"Ones", "OnesLike"}) table.For(op).Try("nest", Constant(1));
}

}  // namespace ms::cuda
