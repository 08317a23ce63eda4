// Kernels that are loop nests, as generated text.
#include <algorithm>

#include "backends/cuda/codegen/nest_text.h"
#include "backends/cuda/device.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/program.h"
#include "ops/axes.h"
#include "ops/fused.h"

namespace ms::cuda {
namespace {

class NestKernel : public Kernel {
 public:
  NestKernel(const loops::LoopNest& nest, const NestPlan& plan, NestText text)
      : plan_(plan),
        text_(std::move(text)),
        passes_(nest.stages ? nest.passes() : 1),
        kept_(nest.kept_size()),
        size_(nest.size()),
        reduces_(nest.stages > 0),
        program_(Program::Of(text_.text, text_.phases)) {
    workspace_bytes_ = text_.workspace_bytes;
    cost_ns_ = 2000;  // of the host: a launch
  }

  void Run(const KernelArgs& args) const override {
    auto& stream = static_cast<CudaStream&>(*args.stream);
    std::vector<const void*> addresses;
    for (int input : text_.inputs) addresses.push_back(args.in[input]);
    for (size_t o = 0; o < text_.out.size(); ++o) addresses.push_back(args.out[o]);
    addresses.push_back(args.workspace);
    std::vector<long long> numbers = text_.numbers;
    if (numbers.empty()) numbers.push_back(0);
    if (text_.packs_number >= 0 && !IsAligned(addresses))
      numbers[static_cast<size_t>(text_.packs_number)] = 0;
    std::vector<void*> arguments;
    for (const void*& address : addresses) arguments.push_back(&address);
    arguments.push_back(numbers.data());
    for (int phase = 0; phase < text_.phases; ++phase)
      stream.Launch(program_->phase(phase), GridOf(phase), arguments);
  }
  std::string Contents() const override { return text_.text; }

 private:
  static bool IsAligned(const std::vector<const void*>& addresses) {
    return std::all_of(addresses.begin(), addresses.end(),
                       [](const void* a) { return AddressOf(a) % 16 == 0; });
  }

  Grid GridOf(int phase) const {
    Grid grid;
    if (!reduces_) return Elementwise();
    int64_t per_block = kBlock / plan_.along;
    grid.x = static_cast<unsigned>((kept_ + per_block - 1) / per_block);
    if (plan_.chunks > 1 && phase < passes_) grid.y = static_cast<unsigned>(plan_.chunks);
    return grid;
  }

  Grid Elementwise() const {
    int64_t per_block = int64_t{kBlock} * plan_.pack;
    int64_t blocks = (size_ + per_block - 1) / per_block;
    Grid grid;
    grid.x = static_cast<unsigned>(std::min<int64_t>(blocks, 32 * TheDevice().multiprocessors));
    return grid;
  }

  const NestPlan plan_;
  const NestText text_;
  const int passes_;
  const int64_t kept_, size_;
  const bool reduces_;
  std::shared_ptr<Program> program_;
};

// Outputs without elements.
KernelChoice Nothing() {
  return FunctionKernel([](const KernelArgs&) {}, 10);
}

bool IsEmpty(const Types& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const Type& type) { return type.shape().size() == 0; });
}

// The op alone, as a body.
KernelChoice MakeSingle(const KernelRequest& request) {
  ::ms::Module module;
  Graph* body = module.NewGraph("op");
  Vars inputs;
  for (const Type& type : request.in) inputs.push_back({body->AddParameter(type.Strong(), "x"), 0});
  auto attrs = request.attrs.empty() ? nullptr : std::make_shared<const Attrs>(request.attrs);
  Node* node = body->AddApply(request.op, std::move(inputs), std::move(attrs), request.out, 0);
  body->SetOutputs({{node, 0}});
  return NestOf(*body, request);
}

KernelChoice MakeFused(const KernelRequest& request) {
  return NestOf(*request.attr<Graph*>("body"), request);
}

// The axes of a shape in another order: those that are kept as they were, beside the reduced ones.
// The innermost axis stays there, so that neighbours are read together.
Ints Sorted(const std::vector<int>& reduced, int rank) {
  Ints kept, perm(reduced.begin(), reduced.end());
  for (int axis = 0; axis < rank; ++axis) {
    if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) kept.push_back(axis);
  }
  bool rows = std::find(reduced.begin(), reduced.end(), rank - 1) != reduced.end();
  perm.insert(rows ? perm.begin() : perm.end(), kept.begin(), kept.end());
  return perm;
}

// Reduces as bodies have it, with the reduced axes left as ones, and then without. `sorted`: of the
// axes in another order, where those of the op are none that a body may reduce.
KernelChoice Reduced(const KernelRequest& request, const char* op, bool sorted) {
  ::ms::Module module;
  Graph* body = module.NewGraph("op");
  GraphEmitter emitter(body);
  Term x = emitter.Wrap({body->AddParameter(request.in[0].Strong(), "x"), 0});
  int rank = x.shape().rank();
  std::vector<int> axes = SortedAxes(AxisList(request.op, request.attrs, "axis"), rank);
  std::erase_if(axes, [&](int axis) { return x.shape()[axis] == 1; });
  if (request.out[0].shape().size() == x.shape().size()) axes.clear();
  Ints reduced(axes.begin(), axes.end());
  if (sorted) {
    Ints perm = Sorted(axes, rank);
    x = emitter.Call("Transpose", {x}, {{"perm", perm}});
    for (size_t i = 0; i < axes.size(); ++i)
      reduced[i] = std::find(perm.begin(), perm.end(), axes[i]) - perm.begin();
  }
  DType dtype = request.out[0].dtype();
  Term y = CastTo(x, dtype);
  if (!reduced.empty()) {
    if (dtype == DType::kBool) y = CastTo(y, DType::kUInt8);  // no loop joins Bools
    auto joined = [&](const char* with, const Term& term) {
      return emitter.Call(with, {term}, {{"axis", reduced}, {"keep_dims", true}});
    };
    if (IsInteger(dtype) && op == std::string_view("ReduceMean")) {
      // In 64 bits, by how many there are: a size would make a text for each.
      DType wide = RangeOf(dtype).low < 0 ? DType::kInt64 : DType::kUInt64;
      Term ones = CastTo(emitter.Call("Equal", {y, y}), wide);
      y = emitter.Call("TruncateDiv",
                       {joined("ReduceSum", CastTo(y, wide)), joined("ReduceSum", ones)});
    } else {
      y = joined(op, y);
    }
    y = CastTo(y, dtype);
  }
  if (!(y.shape() == request.out[0].shape())) y = Reshape(y, request.out[0].shape());
  body->SetOutputs({y.var});
  return NestOf(*body, request);
}

// What is left of no elements at all.
KernelChoice OfNothing(const KernelRequest& request) {
  const std::string& name = request.op.name;
  const Type& type = request.out[0];
  double value = name == "ReduceProd" || name == "ReduceAll";
  if (name == "ReduceMean" && !IsInteger(type.dtype()))
    value = std::numeric_limits<double>::quiet_NaN();
  ::ms::Module module;
  Graph* body = module.NewGraph("op");
  GraphEmitter emitter(body);
  body->SetOutputs({BroadcastTo(emitter.Scalar(value, type.dtype()), type.shape()).var});
  return NestOf(*body, {request.op, {}, request.out, request.attrs});
}

KernelMaker Reduction(const char* of_numbers, const char* of_bools) {
  return [=](const KernelRequest& request) -> KernelChoice {
    if (IsEmpty(request.out)) return Nothing();
    if (IsEmpty(request.in)) return OfNothing(request);
    const char* op = request.out[0].dtype() == DType::kBool ? of_bools : of_numbers;
    KernelChoice made = Reduced(request, op, false);
    return made.kernel ? std::move(made) : Reduced(request, op, true);
  };
}

}  // namespace

KernelChoice NestOf(const Graph& body, const KernelRequest& request) {
  if (IsEmpty(request.out)) return Nothing();
  if (IsEmpty(request.in)) return No("an input without elements has no loop");
  FusedBody fused;
  if (std::string why = AnalyzeFused(body, &fused); !why.empty()) return No("{}", why);
  loops::LoopNest nest;
  if (std::string why = loops::MakeNest(fused, &nest); !why.empty()) return No("{}", why);
  NestPlan plan = PlanNest(nest, TheDevice().multiprocessors);
  NestText text;
  if (std::string why = PrintNest(nest, plan, &text); !why.empty()) return No("{}", why);
  return std::make_unique<NestKernel>(nest, plan, std::move(text));
}

void AddNests(KernelTable& table) {
  for (const OpDef* op : Ops().All()) {
    if (op->scalar) table.For(op->name).Try("nest", MakeSingle);
  }
  table.For("Fused").Try("nest", MakeFused);
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"})
    table.For(op).Try("nest", Reduction(op, op));
  table.For("ReduceSum").Try("nest", Reduction("ReduceSum", "ReduceMax"));
  table.For("ReduceAll").Try("nest", Reduction("", "ReduceMin"));
  table.For("ReduceAny").Try("nest", Reduction("", "ReduceMax"));
  for (const char* op : {"Transpose", "BroadcastTo", "Slice", "StridedSlice", "Identity", "Fill"})
    table.For(op).Try("nest", MakeSingle);
}

}  // namespace ms::cuda
