// Kernels of every op with a scalar body: its trace as a tile program, split between threads; where
// a program of several steps has run for some time, as generated code, which gives the same bits
// and keeps what lies between the steps in registers.
#include <atomic>

#include "backends/cpu/codegen/tile_program.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/isa/tables.h"
#include "backends/cpu/kernels/generated.h"
#include "kernel/range_kernel.h"
#include "loops/machine_code.h"

namespace ms::cpu {
namespace {

class TileKernel : public RangeKernel {
 public:
  explicit TileKernel(TileProgram program) : program_(std::move(program)) {
    SetWork(program_.size(), program_.ns_per_element());
  }

  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    program_.Run(args.in, args.out, begin, end);
  }

 private:
  TileProgram program_;
};

constexpr double kWorthCode = 4000;  // ns: what one run must take
constexpr int64_t kWorthAsking =
    20;  // ms: what all runs must have taken; loading llvmlite takes 200

// Asks for code once it has run long enough, and uses it once it is there.
class HotKernel : public RangeKernel {
 public:
  HotKernel(std::shared_ptr<const TileKernel> tiles, const KernelRequest& r)
      : tiles_(std::move(tiles)), op_(r.op), in_(r.in), out_(r.out), attrs_(r.attrs) {
    SetWork(tiles_->size(), tiles_->ns_per_element());
  }

  void Run(const KernelArgs& args) const override {
    if (const Kernel* code = code_.load(std::memory_order_acquire)) return code->Run(args);
    tiles_->Run(args);
    if (asked_.load(std::memory_order_relaxed)) return;
    auto spent = static_cast<int64_t>(cost_ns());
    if (spent_ns_.fetch_add(spent, std::memory_order_relaxed) + spent < kWorthAsking * 1000000)
      return;
    if (!asked_.exchange(true)) AskForCode();
  }

  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    tiles_->RunRange(args, begin, end);
  }

 private:
  // As of a group that has this op only. Until the code is there, such a kernel runs the tiles.
  void AskForCode() const {
    Module module;
    Graph* body = module.NewGraph("op");
    Vars inputs;
    for (const Type& type : in_) inputs.push_back({body->AddParameter(type.Strong(), "x"), 0});
    auto attrs = attrs_.empty() ? nullptr : std::make_shared<const Attrs>(attrs_);
    Node* node = body->AddApply(op_, std::move(inputs), std::move(attrs), out_, 0);
    body->SetOutputs({{node, 0}});
    static const OpDef& fused = Ops().Get("Fused");
    Attrs fused_attrs{body};
    KernelChoice choice = MakeGenerated({fused, in_, out_, fused_attrs}, tiles_);
    if (!choice.kernel || choice.kernel->workspace_bytes() > 0) return;
    made_ = std::move(choice.kernel);
    code_.store(made_.get(), std::memory_order_release);
  }

  std::shared_ptr<const TileKernel> tiles_;
  const OpDef& op_;
  Types in_, out_;
  Attrs attrs_;
  mutable std::unique_ptr<Kernel> made_;  // by the one thread that asked
  mutable std::atomic<const Kernel*> code_{nullptr};
  mutable std::atomic<bool> asked_{false};
  mutable std::atomic<int64_t> spent_ns_{0};
};

// The body as the output's type wants it: a body traced from weak types may end in a wider one.
loops::LoopBody BodyOf(const KernelRequest& request) {
  std::vector<DType> dtypes;
  for (const Type& type : request.in) dtypes.push_back(type.dtype());
  loops::LoopBody body;
  body.nodes = TraceScalar(request.op, dtypes, request.attrs).nodes;
  int last = static_cast<int>(body.nodes.size()) - 1;
  if (body.nodes[last].dtype != request.out[0].dtype()) {
    ScalarNode cast{ScalarOp::kCast, request.out[0].dtype()};
    cast.args[0] = last++;
    body.nodes.push_back(cast);
  }
  body.outputs = {last};
  return body;
}

KernelChoice MakeTileKernel(const KernelRequest& request) {
  TileProgram program;
  std::string refusal =
      program.Compile(BodyOf(request), request.in, request.out[0].shape(), Vectors());
  if (!refusal.empty()) return No("{}", refusal);
  bool direct = program.direct();
  auto tiles = std::make_unique<TileKernel>(std::move(program));
  if (direct || tiles->cost_ns() < kWorthCode || !loops::HasAssembler()) return tiles;
  return std::make_unique<HotKernel>(std::move(tiles), request);
}

// Not a scalar op, since its weight broadcasts along axis 1; but with the weight's shape extended
// it is one.
KernelChoice MakePrelu(const KernelRequest& request) {
  DType t = request.dtype(0);
  Ints slopes(static_cast<size_t>(request.shape(0).rank()), 1);
  if (slopes.size() >= 2) slopes[1] = request.shape(1).size();
  auto node = [](ScalarOp op, DType dtype, int input, int a, int b, int c) {
    ScalarNode n{op, dtype};
    n.input = input;
    n.args[0] = a;
    n.args[1] = b;
    n.args[2] = c;
    return n;
  };
  loops::LoopBody body;
  body.nodes = {node(ScalarOp::kInput, t, 0, -1, -1, -1),
                node(ScalarOp::kInput, t, 1, -1, -1, -1),
                node(ScalarOp::kConstant, t, -1, -1, -1, -1),
                node(ScalarOp::kGreater, DType::kBool, -1, 0, 2, -1),
                node(ScalarOp::kMul, t, -1, 0, 1, -1),
                node(ScalarOp::kSelect, t, -1, 3, 0, 4)};
  body.outputs = {5};
  TileProgram program;
  std::string refusal = program.Compile(body, {request.in[0], Type(t, Shape(slopes))},
                                        request.out[0].shape(), Vectors());
  if (!refusal.empty()) return No("{}", refusal);
  return std::make_unique<TileKernel>(std::move(program));
}

}  // namespace

void AddElementwise(KernelTable& table) {
  table.ForScalar().Try("tile", MakeTileKernel);
  table.For("PReLU").Try("tile", MakePrelu);
}

}  // namespace ms::cpu
