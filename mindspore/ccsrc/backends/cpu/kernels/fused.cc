// Kernels of Fused: tile programs, and each op of the body by its own kernel as the reference.
#include "backends/cpu/kernels/fused.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/isa/tables.h"
#include "backends/cpu/kernels/fused_tiles.h"
#include "backends/cpu/kernels/generated.h"
#include "kernel/prepare.h"
#include "kernel/range_kernel.h"

namespace ms::cpu {
namespace {

using Place = FusedPlace::Kind;

constexpr int64_t kRowBlock = 8192;    // elements of a block of rows
constexpr int64_t kPartBlock = 32768;  // elements between two additions to partial results
constexpr int64_t kPart = 1 << 16;     // elements that a task adds up, at least
constexpr int64_t kMostParts = 64;
constexpr double kWorthCode = 2000;  // nanoseconds of work below which nothing is generated

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Scratch memory of a thread; it grows to what the largest body needs.
char* Scratch(size_t bytes) {
  thread_local std::vector<char> memory;
  if (memory.size() < bytes + 64) memory.resize(bytes + 64);
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + (64 - address % 64) % 64;
}

// Only the shapes decide where work is cut, never the number of threads.
class FusedTiles : public Kernel {
 public:
  explicit FusedTiles(FusedProgram program) : p_(std::move(program)) {
    cost_ns_ = p_.ns_per_element * static_cast<double>(p_.size) + 100;
    for (size_t item : p_.arrays) {
      arrays_.push_back(workspace_bytes_);
      workspace_bytes_ += Aligned(item * static_cast<size_t>(p_.kept));
    }
    if (p_.rows()) {
      block_rows_ = std::clamp<int64_t>(kRowBlock / p_.reduced, 1, p_.kept);
      whole_ = RowPlan(block_rows_);
      rest_ = RowPlan(p_.kept % block_rows_);
      scratch_bytes_ = LayOutBlocks(block_rows_ * p_.reduced);
    } else if (p_.stages.size() > 1) {
      PlanParts();
    }
  }

  const FusedProgram& program() const { return p_; }

  // Of an elementwise body.
  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const {
    const FusedPass& pass = p_.stages[0].full;
    if (Overwrites(pass, args))
      RunBeside(pass, args, begin, end);
    else
      RunPass(pass, args, begin, end, nullptr);
  }

  void Run(const KernelArgs& args) const override {
    if (p_.rows()) return RunRows(args);
    for (const FusedStage& stage : p_.stages) {
      RunPass(stage.kept, args, 0, p_.kept, nullptr);
      if (stage.reductions.empty())
        RunFull(stage.full, args);
      else
        RunParts(stage, args);
    }
  }

 private:
  // ---- where values are
  // `at`: the element at which a block begins, so that positions in blocks count from there.
  char* Find(const FusedPlace& place, const KernelArgs& args, const char* block, int64_t at) const {
    auto i = static_cast<size_t>(place.index);
    switch (place.kind) {
      case Place::kParameter:
        return static_cast<char*>(const_cast<void*>(args.in[i]));
      case Place::kOutput:
        return static_cast<char*>(args.out[i]);
      case Place::kKept:
        return static_cast<char*>(args.workspace) + arrays_[i];
      case Place::kBlock:
        break;
    }
    auto base = reinterpret_cast<uintptr_t>(block) + blocks_[i];
    return reinterpret_cast<char*>(base - static_cast<uintptr_t>(at) * place.item);
  }

  void RunPass(const FusedPass& pass, const KernelArgs& args, int64_t begin, int64_t end,
               const char* block) const {
    if (pass.empty()) return;
    constexpr size_t kFew = 32;
    const void* few_in[kFew];
    void* few_out[kFew];
    std::vector<const void*> many_in(pass.in.size() > kFew ? pass.in.size() : 0);
    std::vector<void*> many_out(pass.out.size() > kFew ? pass.out.size() : 0);
    const void** in = many_in.empty() ? few_in : many_in.data();
    void** out = many_out.empty() ? few_out : many_out.data();
    for (size_t i = 0; i < pass.in.size(); ++i) in[i] = Find(pass.in[i], args, block, begin);
    for (size_t i = 0; i < pass.out.size(); ++i) out[i] = Find(pass.out[i], args, block, begin);
    pass.program.Run(in, out, begin, end);
  }

  void RunFull(const FusedPass& pass, const KernelArgs& args) const {
    if (pass.empty()) return;
    bool copies = Overwrites(pass, args);
    ParallelFor(p_.size, p_.ns_per_element, [&](int64_t begin, int64_t end) {
      if (copies)
        RunBeside(pass, args, begin, end);
      else
        RunPass(pass, args, begin, end, nullptr);
    });
  }

  // Whether an output has the memory of an input that the program reads after it is written.
  static bool Overwrites(const FusedPass& pass, const KernelArgs& args) {
    for (size_t o = 0; o < pass.out.size(); ++o) {
      for (size_t i = 0; i < pass.in.size(); ++i) {
        if (pass.in[i].kind != Place::kParameter || pass.out[o].kind != Place::kOutput) continue;
        bool same = args.in[pass.in[i].index] == args.out[pass.out[o].index];
        if (same && !pass.program.MayOverwrite(static_cast<int>(o), static_cast<int>(i)))
          return true;
      }
    }
    return false;
  }

  // A piece at a time into scratch memory, and from there to the outputs.
  void RunBeside(const FusedPass& pass, const KernelArgs& args, int64_t begin, int64_t end) const {
    constexpr int64_t kPiece = 1024;
    std::vector<size_t> offsets;
    size_t bytes = 0;
    for (const FusedPlace& place : pass.out) {
      offsets.push_back(bytes);
      bytes += Aligned(place.item * kPiece);
    }
    char* memory = Scratch(bytes);
    std::vector<void*> shifted(pass.out.size());
    std::vector<const void*> in;
    for (const FusedPlace& place : pass.in) in.push_back(args.in[place.index]);
    for (; begin < end; begin += kPiece) {
      int64_t n = std::min(kPiece, end - begin);
      for (size_t o = 0; o < pass.out.size(); ++o) {
        auto base = reinterpret_cast<uintptr_t>(memory) + offsets[o];
        shifted[o] =
            reinterpret_cast<void*>(base - static_cast<uintptr_t>(begin * Bytes(pass.out[o].item)));
      }
      pass.program.Run(in.data(), shifted.data(), begin, begin + n);
      for (size_t o = 0; o < pass.out.size(); ++o) {
        int64_t item = Bytes(pass.out[o].item);
        const char* from = memory + offsets[o];
        std::copy(from, from + n * item,
                  static_cast<char*>(args.out[pass.out[o].index]) + begin * item);
      }
    }
  }

  // ---- rows
  ReducePlan RowPlan(int64_t rows) const {
    if (rows == 0) return {};
    ReducePlan plan = PlanReduce(Shape{rows, p_.reduced}, {1});
    plan.chunks = 1;
    return plan;
  }

  // Lays out a block's values in a thread's scratch memory.
  size_t LayOutBlocks(int64_t elements) {
    size_t bytes = 0;
    blocks_.clear();
    for (size_t item : p_.blocks) {
      blocks_.push_back(bytes);
      bytes += Aligned(item * static_cast<size_t>(elements));
    }
    return bytes;
  }

  void RunRows(const KernelArgs& args) const {
    int64_t count = (p_.kept + block_rows_ - 1) / block_rows_;
    double ns = p_.ns_per_element * static_cast<double>(block_rows_ * p_.reduced);
    ParallelFor(count, ns, [&](int64_t begin, int64_t end) {
      char* block = Scratch(scratch_bytes_);
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i * block_rows_, last = std::min(first + block_rows_, p_.kept);
        RunRowBlock(args, first, last, block);
      }
    });
  }

  void RunRowBlock(const KernelArgs& args, int64_t first, int64_t last, char* block) const {
    const ReducePlan& plan = last - first == block_rows_ ? whole_ : rest_;
    int64_t begin = first * p_.reduced, end = last * p_.reduced;
    for (const FusedStage& stage : p_.stages) {
      RunPass(stage.kept, args, first, last, block);
      RunPass(stage.full, args, begin, end, block);
      for (const FusedReduction& r : stage.reductions) {
        const char* from = Find(r.from, args, block, begin) + begin * Bytes(r.from.item);
        r.reduce(plan, from, Find(r.to, args, block, 0) + first * Bytes(r.to.item), nullptr);
      }
    }
  }
  static int64_t Bytes(size_t item) { return static_cast<int64_t>(item); }

  // ---- reductions in parts: every task adds up some of the leading indices
  void PlanParts() {
    int64_t leading = p_.size / p_.inner;
    parts_ = std::clamp<int64_t>(std::min(p_.size / kPart, leading), 1, kMostParts);
    part_rows_ = std::clamp<int64_t>(kPartBlock / p_.inner, 1, (leading + parts_ - 1) / parts_);
    scratch_bytes_ = LayOutBlocks(part_rows_ * p_.inner);
    fresh_ = scratch_bytes_;
    scratch_bytes_ += Aligned(16 * static_cast<size_t>(p_.kept));
    for (const FusedStage& stage : p_.stages) {
      size_t bytes = 0;
      for (const FusedReduction& r : stage.reductions) bytes += PartBytes(r);
      parts_bytes_ = std::max(parts_bytes_, bytes);
    }
    parts_at_ = workspace_bytes_;
    workspace_bytes_ += parts_bytes_;
    gather_ = PlanReduce(Shape{parts_, p_.kept}, {0});
    gather_.chunks = 1;
  }

  // Of all tasks, and one more row for their total.
  size_t PartBytes(const FusedReduction& r) const {
    return Aligned(ItemSize(r.dtype) * static_cast<size_t>(p_.kept * (parts_ + 1)));
  }

  ReducePlan BlockPlan(int64_t rows) const {
    ReducePlan plan = p_.kept == 1 ? PlanReduce(Shape{rows * p_.inner}, {0})
                                   : PlanReduce(Shape{rows, p_.kept, p_.inner / p_.kept}, {0, 2});
    plan.chunks = 1;
    return plan;
  }

  void RunParts(const FusedStage& stage, const KernelArgs& args) const {
    int64_t leading = p_.size / p_.inner;
    double ns = p_.ns_per_element * static_cast<double>(p_.size / parts_);
    ParallelFor(parts_, ns, [&](int64_t begin, int64_t end) {
      char* block = Scratch(scratch_bytes_);
      for (int64_t part = begin; part < end; ++part)
        RunPart(stage, args, part, leading * part / parts_, leading * (part + 1) / parts_, block);
    });
    char* partials = static_cast<char*>(args.workspace) + parts_at_;
    for (const FusedReduction& r : stage.reductions) {
      Combine(r, partials, Find(r.to, args, nullptr, 0));
      partials += PartBytes(r);
    }
  }

  void RunPart(const FusedStage& stage, const KernelArgs& args, int64_t part, int64_t first,
               int64_t last, char* block) const {
    for (int64_t row = first; row < last; row += part_rows_) {
      int64_t rows = std::min(part_rows_, last - row);
      int64_t begin = row * p_.inner;
      RunPass(stage.full, args, begin, begin + rows * p_.inner, block);
      ReducePlan plan = BlockPlan(rows);
      char* partials = static_cast<char*>(args.workspace) + parts_at_;
      for (const FusedReduction& r : stage.reductions) {
        char* mine = partials + part * p_.kept * Bytes(ItemSize(r.dtype));
        char* to = row == first ? mine : block + fresh_;
        r.reduce(plan, Find(r.from, args, block, begin) + begin * Bytes(r.from.item), to, nullptr);
        if (row != first) r.combine(mine, mine, to, mine, p_.kept);
        partials += PartBytes(r);
      }
    }
  }

  void Combine(const FusedReduction& r, char* partials, char* to) const {
    char* total = r.dtype == r.result && !r.mean
                      ? to
                      : partials + parts_ * p_.kept * Bytes(ItemSize(r.dtype));
    r.reduce(gather_, partials, total, nullptr);
    if (r.mean && r.dtype == DType::kFloat64) Divide<double>(total);
    if (r.mean && r.dtype == DType::kFloat32) Divide<float>(total);
    if (total == to) return;
    if (r.dtype == r.result)
      std::copy(total, total + p_.kept * Bytes(ItemSize(r.dtype)), to);
    else
      Vectors().Cast(r.dtype, r.result)(to, total, total, total, p_.kept);
  }

  template <class T>
  void Divide(char* sums) const {
    auto* x = reinterpret_cast<T*>(sums);
    for (int64_t i = 0; i < p_.kept; ++i)
      x[i] = static_cast<T>(static_cast<double>(x[i]) / static_cast<double>(p_.reduced));
  }

  FusedProgram p_;
  std::vector<size_t> arrays_;  // offsets in the workspace
  std::vector<size_t> blocks_;  // offsets in a thread's scratch memory
  size_t scratch_bytes_ = 0;
  int64_t block_rows_ = 1;
  ReducePlan whole_, rest_;
  int64_t parts_ = 1, part_rows_ = 1;
  size_t parts_at_ = 0, parts_bytes_ = 0, fresh_ = 0;
  ReducePlan gather_;
};

class AlignedTiles : public RangeKernel {
 public:
  explicit AlignedTiles(FusedProgram program) : tiles_(std::move(program)) {
    SetWork(tiles_.program().size, tiles_.program().ns_per_element, 100);
  }
  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    tiles_.RunRange(args, begin, end);
  }

 private:
  FusedTiles tiles_;
};

KernelChoice MakeTiles(const KernelRequest& request) {
  FusedBody body;
  std::string refusal = AnalyzeFused(*request.attr<Graph*>("body"), &body);
  if (!refusal.empty()) return No("{}", refusal);
  FusedProgram program;
  refusal = CompileFused(body, &program);
  if (!refusal.empty()) return No("{}", refusal);
  if (IsAligned(body, request.in)) return std::make_unique<AlignedTiles>(std::move(program));
  return std::make_unique<FusedTiles>(std::move(program));
}

// Every op of the body by its kernel, with all values in memory.
class FusedReference : public Kernel {
 public:
  FusedReference(const Graph& body, const Backend& backend) {
    std::unordered_map<Var, size_t, VarHash> place;
    for (const Var& v : body.inputs()) place[v] = Add({});
    inputs_ = values_.size();
    for (Node* node : body.nodes()) {
      if (node->kind == NodeKind::kParameter) continue;
      Var out{node, 0};
      if (node->kind == NodeKind::kConstant) {
        place[out] = Add({node->value, 0});
      } else if (node->op->view) {
        place[out] = place.at(node->inputs[0]);
      } else {
        AddStep(*node, backend, place);
      }
    }
    for (const Var& v : body.outputs()) outputs_.push_back({place.at(v), v.type().bytes()});
    workspace_at_ = workspace_bytes_;
    workspace_bytes_ += inner_workspace_;
  }

  void Run(const KernelArgs& args) const override {
    char* memory = static_cast<char*>(args.workspace);
    auto at = [&](size_t value) -> void* {
      if (value < inputs_) return const_cast<void*>(args.in[value]);
      const Value& v = values_[value];
      return v.constant.defined() ? const_cast<void*>(v.constant.raw()) : memory + v.offset;
    };
    for (const Step& step : steps_) {
      std::vector<const void*> in;
      for (size_t v : step.in) in.push_back(at(v));
      void* out = at(step.out);
      step.kernel->Run({in.data(), &out, memory + workspace_at_, args.random});
    }
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const char* from = static_cast<const char*>(at(outputs_[o].first));
      std::copy(from, from + outputs_[o].second, static_cast<char*>(args.out[o]));
    }
  }

 private:
  struct Value {
    Tensor constant;
    size_t offset = 0;
  };
  struct Step {
    std::shared_ptr<const Kernel> kernel;
    std::vector<size_t> in;
    size_t out;
  };

  size_t Add(Value value) {
    values_.push_back(std::move(value));
    return values_.size() - 1;
  }

  void AddStep(const Node& node, const Backend& backend,
               std::unordered_map<Var, size_t, VarHash>& place) {
    static const Attrs kNone;
    Step step;
    Types types;
    for (const Var& v : node.inputs) {
      step.in.push_back(place.at(v));
      types.push_back(v.type());
    }
    step.kernel =
        PrepareKernel(backend, {*node.op, types, node.outputs, node.attrs ? *node.attrs : kNone});
    step.out = Add({{}, workspace_bytes_});
    place[{const_cast<Node*>(&node), 0}] = step.out;
    workspace_bytes_ += Aligned(node.outputs[0].bytes());
    inner_workspace_ = std::max(inner_workspace_, step.kernel->workspace_bytes());
    cost_ns_ += step.kernel->cost_ns();
    steps_.push_back(std::move(step));
  }

  std::vector<Value> values_;
  std::vector<Step> steps_;
  std::vector<std::pair<size_t, size_t>> outputs_;  // value, bytes
  size_t inputs_ = 0, inner_workspace_ = 0, workspace_at_ = 0;
};

KernelChoice MakeReference(const KernelRequest& request) {
  return std::make_unique<FusedReference>(*request.attr<Graph*>("body"), GetBackend("CPU"));
}

// What runs until the code is there.
std::shared_ptr<const Kernel> Interpreted(const KernelRequest& request) {
  KernelChoice choice = MakeTiles(request);
  if (!choice.kernel) choice = MakeReference(request);
  return std::move(choice.kernel);
}

KernelChoice MakeWorthwhileCode(const KernelRequest& request) {
  std::shared_ptr<const Kernel> interpreted = Interpreted(request);
  if (!GeneratesAlways() && interpreted->cost_ns() < kWorthCode)
    return No("is little work, which code cannot make less");
  return MakeGenerated(request, std::move(interpreted));
}

}  // namespace

void AddFused(KernelTable& table) {
  table.For("Fused")
      .Try("generated", MakeWorthwhileCode)
      .Try("tiles", MakeTiles)
      .Try("reference", MakeReference);
}

}  // namespace ms::cpu
