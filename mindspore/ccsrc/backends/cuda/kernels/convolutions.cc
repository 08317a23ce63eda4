// Convolutions and their gradients by cuDNN, in two and three dimensions. Images with the channels
// last are what its quickest engines take, with weights that lie alike: other weights are turned
// round in the workspace.
#include <array>

#include "backends/cuda/device.h"
#include "backends/cuda/dnn_graphs.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "backends/cuda/kernels/workspace.h"
#include "backends/cuda/policy.h"
#include "base/mutex.h"
#include "ops/window.h"

namespace ms::cuda {
namespace {

using Kind = ConvolutionProblem::Kind;
// Sizes with the channels second, and where such an element lies in memory that has them last or
// second.
DnnTensor TensorOf(const Shape& shape, bool last) {
  auto rank = static_cast<size_t>(shape.rank());
  Ints sizes(rank), strides(rank);
  int64_t dense = 1;
  for (size_t axis = rank; axis-- > 0; dense *= shape[static_cast<int>(axis)]) {
    size_t to = !last || axis == 0 ? axis : axis == rank - 1 ? 1 : axis + 1;
    sizes[to] = shape[static_cast<int>(axis)];
    strides[to] = dense;
  }
  return {sizes, strides};
}

Shape Permuted(const Shape& shape, const Ints& perm) {
  Dims dims;
  for (int64_t from : perm) dims.push_back(shape.dim(static_cast<int>(from)));
  return dims;
}

// A kernel that copies an array in another order of its axes.
std::unique_ptr<Kernel> Turning(DType dtype, const Shape& shape, const Ints& perm) {
  ::ms::Module module;
  Graph* body = module.NewGraph("weight");
  GraphEmitter emitter(body);
  Type in(dtype, shape), out(dtype, Permuted(shape, perm));
  Term x = emitter.Wrap({body->AddParameter(in, "x"), 0});
  body->SetOutputs({emitter.Call("Transpose", {x}, {{"perm", perm}}).var});
  static const Attrs none;
  KernelChoice made = NestOf(*body, {Ops().Get("Transpose"), {in}, {out}, none});
  if (!made.kernel) Throw(ErrorKind::kInternal, "a weight cannot be turned: {}", made.refusal);
  return std::move(made.kernel);
}

// The weight with the channels last, of one with the channels second; and back.
Ints ToLast(int rank) {
  Ints perm{0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}
Ints ToSecond(int rank) {
  Ints perm{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

ConvolutionProblem ProblemOf(Kind kind, const ConvGeometry& g, DType dtype) {
  ConvolutionProblem p;
  p.kind = kind;
  p.policy.dtype = dtype;
  p.x = TensorOf(g.Input(), g.channels_last);
  p.y = TensorOf(g.Output(), g.channels_last);
  ConvGeometry alike = g;
  alike.weight_last = g.channels_last;
  p.w = TensorOf(alike.Weight(), g.channels_last);
  for (const Window& w : g.All()) {
    p.before.push_back(w.pad_before);
    p.after.push_back(w.pad_after);
    p.strides.push_back(w.stride);
    p.dilations.push_back(w.dilation);
  }
  return p;
}

// The plans of a problem: for addresses that are aligned or not, under each policy.
class Plans {
 public:
  explicit Plans(ConvolutionProblem problem) : problem_(std::move(problem)) {}

  std::shared_ptr<const DnnPlan> Find(bool aligned, std::string* why) const {
    bool tf32 = ThePolicy().convolutions_tf32, deterministic = ThePolicy().deterministic;
    std::lock_guard lock(mutex_);
    auto& plan = plans_[static_cast<size_t>(4 * aligned + 2 * tf32 + deterministic)];
    if (plan) return plan;
    ConvolutionProblem problem = problem_;
    problem.alignment = aligned ? 16 : static_cast<int64_t>(ItemSize(problem.policy.dtype));
    problem.policy.tf32 = tf32;
    problem.policy.deterministic = deterministic;
    return plan = PlanOf(problem, why);
  }

 private:
  const ConvolutionProblem problem_;
  mutable Mutex mutex_;
  mutable std::array<std::shared_ptr<const DnnPlan>, 8> plans_;
};

class ConvKernel : public Kernel {
 public:
  // `names`: of the inputs, in their order, and of the output.
  ConvKernel(ConvolutionProblem problem, std::string names, char result)
      : dtype_(problem.policy.dtype), names_(std::move(names)), result_(result), plans_(problem) {
    cost_ns_ = 6000;  // of the host
  }

  // Why there is no plan.
  std::string Prepare() {
    std::string why;
    auto plan = plans_.Find(true, &why);
    if (!plan) return why;
    plan_bytes_ = RoundUp(plan->workspace_bytes());
    workspace_bytes_ = plan_bytes_ + weight_bytes_;
    return "";
  }
  // The weight is given, or wanted, with the channels second, where images have them last.
  void TurnWeight(const Shape& given) {
    bool gives = result_ == 'w';
    Shape last = Permuted(given, ToLast(given.rank()));
    turning_ = gives ? Turning(dtype_, last, ToSecond(given.rank()))
                     : Turning(dtype_, given, ToLast(given.rank()));
    weight_bytes_ = RoundUp(static_cast<size_t>(given.size()) * ItemSize(dtype_));
  }
  // What runs on the result afterwards, in place: its inputs are the result and the `more` inputs
  // that follow those of the convolution.
  void Finish(std::unique_ptr<Kernel> tail, size_t more) {
    tail_ = std::move(tail);
    more_ = more;
  }

  void Run(const KernelArgs& args) const override {
    std::vector<DnnAddress> tensors;
    for (size_t i = 0; i < names_.size(); ++i) tensors.push_back({names_[i], args.in[i]});
    tensors.push_back({result_, args.out[0]});
    const void *turned = static_cast<char*>(args.workspace) + plan_bytes_, *given = nullptr;
    for (DnnAddress& tensor : tensors) {
      if (turning_ && tensor.name == 'w') given = std::exchange(tensor.at, turned);
    }
    if (given && result_ != 'w') Turn(args, given, turned);
    Compute(tensors, args);
    if (given && result_ == 'w') Turn(args, turned, given);
    if (tail_) RunTail(args);
  }

 private:
  void Compute(const std::vector<DnnAddress>& tensors, const KernelArgs& args) const {
    Address all = 0;
    for (const DnnAddress& tensor : tensors) all |= AddressOf(tensor.at);
    std::string why;
    auto plan = plans_.Find(all % 16 == 0, &why);
    if (!plan) Throw(ErrorKind::kRuntime, "libcudnn has no plan: {}", why);
    void* workspace = args.workspace;
    BufferRef more;  // another policy may need more
    if (plan->workspace_bytes() > plan_bytes_) {
      more = Buffer::Allocate(plan->workspace_bytes(), TheMemory());
      workspace = more->data();
    }
    plan->Run(tensors, workspace, StreamOf(args).handle());
  }

  void Turn(const KernelArgs& args, const void* from, const void* to) const {
    void* out = const_cast<void*>(to);
    KernelArgs turn = args;
    turn.in = &from;
    turn.out = &out;
    turning_->Run(turn);
  }

  void RunTail(const KernelArgs& args) const {
    KernelArgs rest = args;
    std::vector<const void*> in{args.out[0]};
    in.insert(in.end(), args.in + names_.size(), args.in + names_.size() + more_);
    rest.in = in.data();
    tail_->Run(rest);
  }

  const DType dtype_;
  const std::string names_;
  const char result_;
  const Plans plans_;
  size_t plan_bytes_ = 0, weight_bytes_ = 0;
  std::unique_ptr<Kernel> turning_, tail_;
  size_t more_ = 0;
};

std::string Refused(const KernelRequest& r, const ConvGeometry& g) {
  DType dtype = r.out[0].dtype();
  if (!IsFloating(dtype)) return fmt::format("needs a floating dtype, got {}", Name(dtype));
  if (g.Input().empty() || g.Output().empty() || g.Weight().empty())
    return "needs elements, got none";
  return "";
}

KernelChoice Prepared(std::unique_ptr<ConvKernel> kernel, const ConvGeometry& g,
                      bool packed = false) {
  if (g.channels_last && !g.weight_last && !packed) kernel->TurnWeight(g.Weight());
  if (std::string why = kernel->Prepare(); !why.empty()) return No("libcudnn: {}", why);
  return kernel;
}

KernelChoice MakeConvolution(const KernelRequest& r) {
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, r.shape(0), r.shape(1));
  if (std::string why = Refused(r, g); !why.empty()) return No("{}", why);
  return Prepared(std::make_unique<ConvKernel>(ProblemOf(Kind::kForward, g, r.dtype(0)), "xw", 'y'),
                  g);
}

KernelChoice MakeInputGrad(const KernelRequest& r) {
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, r.out[0].shape(), r.shape(1));
  if (std::string why = Refused(r, g); !why.empty()) return No("{}", why);
  return Prepared(std::make_unique<ConvKernel>(ProblemOf(Kind::kInput, g, r.dtype(0)), "yw", 'x'),
                  g);
}

KernelChoice MakeFilterGrad(const KernelRequest& r) {
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, r.shape(1), r.out[0].shape());
  if (std::string why = Refused(r, g); !why.empty()) return No("{}", why);
  return Prepared(std::make_unique<ConvKernel>(ProblemOf(Kind::kFilter, g, r.dtype(0)), "yx", 'w'),
                  g);
}

// ---- with what follows --------------------------------------------------------------------------
bool IsPacked(const KernelRequest& r) { return r.attr<std::string>("weight_format") == "packed"; }

// Bias, addend and activation as one loop over the result.
KernelChoice MakeTail(const KernelRequest& r, bool channels_last) {
  ::ms::Module module;
  Graph* body = module.NewGraph("after a convolution");
  GraphEmitter emitter(body);
  Types in{r.out[0]};
  in.insert(in.end(), r.in.begin() + 2, r.in.end());
  Terms x;
  for (const Type& type : in)
    x.push_back(emitter.Wrap({body->AddParameter(type.Strong(), "x"), 0}));
  Term bias = x[1];
  if (!channels_last) bias = Reshape(bias, Shape{bias.shape()[0], 1, 1});
  Term y = x[0] + bias;
  if (x.size() == 3) y = y + x[2];
  if (!r.attr<std::string>("activation").empty()) y = emitter.Call("ReLU", {y});
  body->SetOutputs({y.var});
  return NestOf(*body, {r.op, in, r.out, r.attrs});
}

KernelChoice MakeConvBias(const KernelRequest& r) {
  const auto& activation = r.attr<std::string>("activation");
  if (!activation.empty() && activation != "relu") return No("cannot end with '{}'", activation);
  Shape weight = IsPacked(r) ? Shape(r.attr<Ints>("filter_size")) : r.shape(1);
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, r.shape(0), weight);
  if (std::string why = Refused(r, g); !why.empty()) return No("{}", why);
  ConvolutionProblem joined = ProblemOf(Kind::kForward, g, r.dtype(0)), plain = joined;
  joined.bias = true;
  joined.addend = r.in.size() == 4;
  joined.relu = activation == "relu";
  std::string names = joined.addend ? "xwba" : "xwb";
  KernelChoice one = Prepared(std::make_unique<ConvKernel>(joined, names, 'y'), g, IsPacked(r));
  if (one.kernel) return one;
  // No engine joins these: the convolution, and then a loop.
  auto kernel = std::make_unique<ConvKernel>(plain, "xw", 'y');
  KernelChoice tail = MakeTail(r, g.channels_last);
  if (!tail.kernel) return tail;
  kernel->Finish(std::move(tail.kernel), r.in.size() - 2);
  return Prepared(std::move(kernel), g, IsPacked(r));
}

// A packed weight has its channels where the images have them, and their dtype.
KernelChoice MakePack(const KernelRequest& r) {
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, Shape(r.attr<Ints>("input_size")), r.shape(0));
  ::ms::Module module;
  Graph* body = module.NewGraph("packed weight");
  GraphEmitter emitter(body);
  Term w = emitter.Wrap({body->AddParameter(r.in[0].Strong(), "x"), 0});
  if (g.channels_last && !g.weight_last)
    w = emitter.Call("Transpose", {w}, {{"perm", ToLast(w.shape().rank())}});
  body->SetOutputs({CastTo(w, r.out[0].dtype()).var});  // in the order of its elements
  return NestOf(*body, r);
}

}  // namespace

bool ConvolutionWantsChannelsLast(const KernelRequest& r) {
  DType dtype = r.dtype(0);
  return IsHalf(dtype) || (dtype == DType::kFloat32 && ThePolicy().convolutions_tf32);
}

int64_t PackedWeightSize(const KernelRequest& r) {
  if (!IsHalf(r.dtype(0)) && r.dtype(0) != DType::kFloat32) return 0;
  return MakeConvBias(r).kernel ? r.shape(1).size() : 0;
}

void AddConvolutions(KernelTable& table) {
  for (const char* rank : {"2", "3"}) {
    std::string name = fmt::format("Conv{}D", rank);
    table.For(name).Try("cudnn", MakeConvolution);
    table.For(name + "BackpropInput").Try("cudnn", MakeInputGrad);
    table.For(name + "BackpropFilter").Try("cudnn", MakeFilterGrad);
  }
  table.For("Conv2DBias").Try("cudnn", MakeConvBias);
  table.For("Conv2DBiasAdd").Try("cudnn", MakeConvBias);
  table.For("PackWeight").Try("nest", MakePack);
}

}  // namespace ms::cuda
