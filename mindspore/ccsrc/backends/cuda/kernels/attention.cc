// Attention of halves and its gradient by cuDNN, without the matrix of scores. What it does not
// take is the composition of products and a softmax that the op is declared as: other dtypes, a
// share that is dropped (its choice would be another than the host's), masks that are spread
// unevenly, and gradients where sums must be made in a fixed order.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "backends/cuda/device.h"
#include "backends/cuda/dnn_graphs.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "backends/cuda/kernels/workspace.h"
#include "backends/cuda/policy.h"

namespace ms::cuda {
namespace {

enum : size_t { kQuery, kKey, kValue, kMask, kLargest = 5, kLogSum, kOutGrad = 8, kOut };

// What is added to a score to hide it: it is nothing else then, and nothing after as much is added
// again. A power of two stays itself when cuDNN multiplies by a number and takes that away again.
constexpr float kHidden = -0x1p100f;
// Below this, an added mask hides; above the other one, a boolean mask does not for sure.
constexpr double kHides = -1e8, kHidesForSure = -1e20;

// The sizes of a mask over batch, heads, queries and keys; none where it is spread over some of the
// axes that the batch is made of.
Ints MaskSizes(const Shape& mask, const Shape& lead, const Shape& scores) {
  Ints sizes(static_cast<size_t>(scores.rank()), 1);
  for (int i = 0; i < mask.rank(); ++i)
    sizes[static_cast<size_t>(i + scores.rank() - mask.rank())] = mask[i];
  auto at = [&](int axis) { return sizes[static_cast<size_t>(axis)]; };
  int64_t batch = 1, whole = 1;
  for (int i = 0; i + 1 < lead.rank(); ++i) {
    batch *= at(i);
    whole *= lead[i];
  }
  if (batch != 1 && batch != whole) return {};
  int64_t heads = lead.rank() ? at(lead.rank() - 1) : 1;
  return {batch, heads, at(scores.rank() - 2), at(scores.rank() - 1)};
}

using Function = std::function<Term(GraphEmitter&, const Terms&)>;

// A nest of one function of some values.
std::unique_ptr<Kernel> Nest(const KernelRequest& r, const Types& in, const Type& out,
                             const Function& function) {
  ::ms::Module module;
  Graph* body = module.NewGraph("beside attention");
  GraphEmitter emitter(body);
  Terms x;
  for (const Type& type : in)
    x.push_back(emitter.Wrap({body->AddParameter(type.Strong(), "x"), 0}));
  body->SetOutputs({CastTo(function(emitter, x), out.dtype()).var});
  KernelChoice made = NestOf(*body, {r.op, in, {out}, r.attrs});
  if (!made.kernel) Throw(ErrorKind::kInternal, "no nest beside attention: {}", made.refusal);
  return std::move(made.kernel);
}

bool Hides(const KernelRequest& r) { return r.attr<bool>("masked") && IsBool(r.dtype(kMask)); }

// A number of each row, beside its elements; of an input.
Term Column(const Term& rows) { return Reshape(rows, Join({rows.shape(), Shape{int64_t{1}}})); }

Term Below(GraphEmitter& e, const Term& x, double limit) {
  return e.Call("LessEqual", {x, e.Scalar(limit, DType::kFloat32)});
}

// A number that hides, made so large that a score is nothing beside it.
Term Enlarged(GraphEmitter& e, const Term& hides) {
  return e.Call("Select", {Below(e, hides, -1e17), hides, hides * 0x1p40});
}

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const KernelRequest& r, const AttentionProblem& problem,
                  std::shared_ptr<const DnnPlan> plan)
      : plan_(std::move(plan)),
        causal_(problem.causal),
        masked_(!problem.mask.empty()),
        factor_(static_cast<float>(r.attr<double>("scale"))) {
    for (const Type& type : r.in) in_bytes_.push_back(type.bytes());
    workspace_bytes_ = RoundUp(plan_->workspace_bytes());
    cost_ns_ = 8000;  // of the host
    if (Hides(r)) {
      double fill = std::isinf(r.attr<double>("fill")) ? -INFINITY : double{kHidden};
      Prepare(r, 'm', {kMask}, Type(DType::kFloat32, r.shape(kMask)),
              [fill](GraphEmitter& e, const Terms& x) {
                return e.Call("Select", {x[0], e.Scalar(fill, DType::kFloat32),
                                         e.Scalar(0, DType::kFloat32)});
              });
    }
  }

 protected:
  // What cuDNN reads under a name and nobody has: a function of inputs, in the workspace.
  void Prepare(const KernelRequest& r, char name, std::vector<size_t> from, const Type& type,
               const Function& function) {
    Types in;
    for (size_t i : from) in.push_back(r.in[i]);
    prepared_.push_back({name, std::move(from), Nest(r, in, type, function), Room(type)});
  }
  // Where something of the type has its place in the workspace.
  size_t Room(const Type& type) {
    size_t at = workspace_bytes_;
    workspace_bytes_ += RoundUp(type.bytes());
    return at;
  }

  // Calls cuDNN with results in `tensors` and inputs under the names, as far as these are wanted
  // and not prepared.
  void Compute(const KernelArgs& args, const std::vector<std::pair<char, size_t>>& inputs,
               std::vector<DnnAddress> tensors) const {
    const float infinity = -std::numeric_limits<float>::infinity();
    tensors.push_back({'f', &factor_});
    if (causal_) tensors.push_back({'i', &infinity});
    for (const Prepared& p : prepared_) {
      std::vector<const void*> in;
      for (size_t i : p.from) in.push_back(args.in[i]);
      tensors.push_back({p.name, Make(*p.kernel, args, in, InWorkspace(args, p.at))});
    }
    std::vector<BufferRef> copies;
    for (auto [name, i] : inputs) {
      auto same = [name = name](const DnnAddress& tensor) { return tensor.name == name; };
      bool wanted = name != 'm' || masked_;
      if (wanted && std::ranges::none_of(tensors, same))
        tensors.push_back({name, Aligned(args.in[i], in_bytes_[i], &copies)});
    }
    plan_->Run(tensors, args.workspace, StreamOf(args).handle());
  }

  static void* InWorkspace(const KernelArgs& args, size_t at) {
    return static_cast<char*>(args.workspace) + at;
  }
  static void* Make(const Kernel& kernel, const KernelArgs& args,
                    const std::vector<const void*>& in, void* out) {
    KernelArgs inner = args;
    inner.in = in.data();
    inner.out = &out;
    kernel.Run(inner);
    return out;
  }

 private:
  // A view may begin anywhere.
  static const void* Aligned(const void* given, size_t bytes, std::vector<BufferRef>* copies) {
    if (AddressOf(given) % 16 == 0) return given;
    BufferRef copy = copies->emplace_back(Buffer::Allocate(bytes, TheMemory()));
    TheMemory().CopyInRun(copy->data(), given, bytes);
    return copy->data();
  }

  struct Prepared {
    char name;
    std::vector<size_t> from;
    std::unique_ptr<Kernel> kernel;
    size_t at;
  };
  const std::shared_ptr<const DnnPlan> plan_;
  const bool causal_, masked_;
  const float factor_;
  std::vector<size_t> in_bytes_;
  std::vector<Prepared> prepared_;
};

class Forward : public AttentionKernel {
 public:
  Forward(const KernelRequest& r, const AttentionProblem& problem,
          std::shared_ptr<const DnnPlan> plan)
      : AttentionKernel(r, problem, std::move(plan)) {
    const Type& rows = r.out[1];
    logarithm_ = Nest(r, {rows}, rows,
                      [](GraphEmitter& e, const Terms& x) { return e.Call("Log", {x[0]}); });
    // Where all is hidden the largest score is what the op hides by.
    double fill = r.attr<double>("fill");
    rest_ = Nest(r, {rows, rows}, rows, [&](GraphEmitter& e, const Terms& x) {
      Term largest = x[0] - x[1];
      if (!Hides(r)) return largest;
      return e.Call("Select",
                    {Below(e, largest, kHidden / 2), e.Scalar(fill, DType::kFloat32), largest});
    });
    log_sum_ = Room(rows);
    sum_ = Room(rows);
  }

  void Run(const KernelArgs& args) const override {
    void *log_sum = InWorkspace(args, log_sum_), *sum = InWorkspace(args, sum_);
    Compute(args, {{'q', kQuery}, {'k', kKey}, {'v', kValue}, {'m', kMask}},
            {{'o', args.out[0]}, {'s', log_sum}, {'e', sum}});
    Make(*logarithm_, args, {sum}, args.out[2]);
    Make(*rest_, args, {log_sum, args.out[2]}, args.out[1]);
  }

 private:
  std::unique_ptr<Kernel> logarithm_, rest_;
  size_t log_sum_, sum_;  // in the workspace
};

// The scores are less their row's largest, so that the logarithm of the sum is a small number: what
// hides is so large that nothing would be left of what is added to it. In rows that are hidden
// whole, all scores are 0 then. Where that is by a boolean mask, no gradient goes from there to
// queries and keys.
class Backward : public AttentionKernel {
 public:
  Backward(const KernelRequest& r, const AttentionProblem& problem,
           std::shared_ptr<const DnnPlan> plan)
      : AttentionKernel(r, problem, std::move(plan)) {
    bool hides = Hides(r), adds = !hides && !problem.mask.empty();
    double hidden = hides ? r.attr<double>("fill") / 2 : kHides;
    Prepare(r, 'l', {kLargest}, r.in[kLargest], [&](GraphEmitter& e, const Terms& x) {
      if (!hides && !adds) return -x[0];
      // The mask's own number, without what is left of a score.
      Term mask = CastTo(CastTo(x[0], r.dtype(kQuery)), DType::kFloat32);
      Term most = hides ? e.Scalar(kHidden, DType::kFloat32) : Enlarged(e, mask);
      return -e.Call("Select", {Below(e, x[0], hidden), most, x[0]});
    });
    if (adds) {
      Prepare(r, 'm', {kMask}, Type(DType::kFloat32, r.shape(kMask)),
              [](GraphEmitter& e, const Terms& x) {
                Term mask = CastTo(x[0], DType::kFloat32);
                return e.Call("Select", {Below(e, mask, kHides), Enlarged(e, mask), mask});
              });
    }
    if (!hides) return;
    Function seen = [hidden](GraphEmitter& e, const Terms& x) {
      return e.Call("Select", {Below(e, Column(x[1]), hidden), e.Scalar(0, x[0].dtype()), x[0]});
    };
    Prepare(r, 'q', {kQuery, kLargest}, r.in[kQuery], seen);
    seen_ = Nest(r, {r.out[0], r.in[kLargest]}, r.out[0], seen);
    gradient_ = Room(r.out[0]);
  }

  void Run(const KernelArgs& args) const override {
    void* gradient = seen_ ? InWorkspace(args, gradient_) : args.out[0];
    Compute(args,
            {{'q', kQuery},
             {'k', kKey},
             {'v', kValue},
             {'m', kMask},
             {'s', kLogSum},
             {'o', kOut},
             {'O', kOutGrad}},
            {{'Q', gradient}, {'K', args.out[1]}, {'V', args.out[2]}});
    if (seen_) Make(*seen_, args, {gradient, args.in[kLargest]}, args.out[0]);
  }

 private:
  std::unique_ptr<Kernel> seen_;
  size_t gradient_ = 0;
};

std::string Refused(const KernelRequest& r, bool backward) {
  if (!IsHalf(r.dtype(kQuery))) return fmt::format("needs halves, got {}", Name(r.dtype(kQuery)));
  if (r.attr<double>("keep_prob") < 1) return "would drop others than the host";
  for (size_t i : {kQuery, kKey, kValue})
    if (r.shape(i).empty()) return "needs elements, got none";
  if (Hides(r) && r.attr<double>("fill") > kHidesForSure)
    return fmt::format("hides by numbers below {} only", kHidesForSure);
  if (backward && !r.attr<bool>("of_out")) return "makes no gradient of the sums";
  if (backward && ThePolicy().deterministic) return "adds in an order of chance";
  return "";
}

KernelMaker ByDnn(bool backward) {
  return [backward](const KernelRequest& r) -> KernelChoice {
    if (std::string why = Refused(r, backward); !why.empty()) return No("{}", why);
    const Shape &q = r.shape(kQuery), &k = r.shape(kKey);
    Shape lead = q.Part(0, q.rank() - 2);
    AttentionProblem p;
    p.backward = backward;
    p.policy.dtype = r.dtype(kQuery);
    p.heads = lead.rank() ? lead[-1] : 1;
    p.batch = lead.size() / p.heads;
    p.queries = q[-2];
    p.keys = k[-2];
    p.depth = q[-1];
    p.value_depth = r.shape(kValue)[-1];
    p.causal = r.attr<bool>("causal");
    if (r.attr<bool>("masked")) {
      p.mask = MaskSizes(r.shape(kMask), lead, Join({lead, {q.dim(-2), k.dim(-2)}}));
      if (p.mask.empty()) return No("needs a mask that all or none of the batch shares");
      if (!Hides(r) && !backward) p.mask_type = DnnTypeOf(r.dtype(kMask));  // else prepared
    }
    // The composition would need more than what the scores take.
    int64_t scores = p.batch * p.heads * p.queries * p.keys * int64_t{sizeof(float)};
    p.policy.most_workspace = std::max(p.policy.most_workspace, scores);
    std::string why;
    auto plan = PlanOf(p, &why);
    if (!plan) return No("libcudnn: {}", why);
    if (backward) return std::make_unique<Backward>(r, p, std::move(plan));
    return std::make_unique<Forward>(r, p, std::move(plan));
  };
}

}  // namespace

void AddAttention(KernelTable& table) {
  table.For("Attention").Try("cudnn", ByDnn(false));
  table.For("AttentionGrad").Try("cudnn", ByDnn(true));
}

}  // namespace ms::cuda
