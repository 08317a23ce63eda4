// From the analysis of a body to its stages.
#include <algorithm>
#include <set>

#include "backends/cpu/isa/tables.h"
#include "backends/cpu/kernels/find_reduce.h"
#include "backends/cpu/kernels/fused_tiles.h"
#include "ir/op.h"
#include "loops/graph_body.h"

namespace ms::cpu {
namespace {

using Kind = FusedValue::Kind;
using Place = FusedPlace::Kind;

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

class Compiler {
 public:
  Compiler(const FusedBody& body, FusedProgram* program) : body_(body), program_(*program) {}

  std::string Run() {
    program_ = {};
    program_.form = body_.form;
    program_.size = body_.size();
    program_.kept = body_.kept_size();
    program_.reduced = body_.reduced_size();
    program_.inner = program_.size;
    for (size_t a = 0; a < body_.sizes.size() && body_.reduced[a]; ++a)
      program_.inner /= body_.sizes[a];
    auto stages = static_cast<size_t>(body_.stages) + 1;
    program_.stages.resize(stages);
    full_.resize(stages);
    kept_.resize(stages);
    places_.resize(body_.values.size());
    blocks_.resize(body_.values.size(), -1);
    PlaceResults();
    for (int s = body_.stages; s >= 0; --s) {
      for (int v : std::set<int>(full_[Index(s)])) Require(v, s, false);
      for (int v : std::set<int>(kept_[Index(s)])) Require(v, s, true);
    }
    for (int s = 0; s <= body_.stages; ++s) {
      std::string refusal = CompileKept(s);
      if (refusal.empty()) refusal = CompileFull(s);
      if (refusal.empty()) refusal = CompileReductions(s);
      if (!refusal.empty()) return refusal;
    }
    return "";
  }

 private:
  static size_t Index(int i) { return static_cast<size_t>(i); }
  const FusedValue& At(int v) const { return body_.values[Index(v)]; }

  // Whether a value is computed once for each index of the kept axes.
  bool IsKept(int v) const {
    const FusedValue& value = At(v);
    return value.kind == Kind::kElementwise && value.kept && !(value.uniform && value.stage == 0);
  }
  bool IsDenseLeaf(int v) const {
    const FusedValue& value = At(v);
    return value.kind == Kind::kInput && loops::IsDense({value.offset, value.strides}, body_.sizes);
  }

  // Outputs, and what reductions read and give.
  void PlaceResults() {
    for (size_t o = 0; o < body_.outputs.size(); ++o) {
      auto [v, kept] = body_.outputs[o];
      if (kept && At(v).kind == Kind::kReduce && places_[Index(v)].index < 0)
        places_[Index(v)] = {Place::kOutput, static_cast<int>(o), ItemSize(At(v).dtype)};
      else
        (kept ? kept_ : full_)[Index(At(v).stage)].insert(v);
    }
    for (int v = 0; v < static_cast<int>(body_.values.size()); ++v) {
      if (At(v).kind != Kind::kReduce) continue;
      Array(v);
      int arg = At(v).args[0];
      if (IsDenseLeaf(arg) && (program_.rows() || !IsHalf(At(arg).dtype))) continue;
      Block(arg);
      full_[Index(At(v).stage - 1)].insert(arg);
    }
  }

  void Array(int v) {
    FusedPlace& place = places_[Index(v)];
    if (place.index >= 0) return;
    size_t item = ItemSize(At(v).dtype);
    place = {Place::kKept, static_cast<int>(program_.arrays.size()), item};
    program_.arrays.push_back(item);
  }

  // The type in which a block holds a value.
  DType BlockType(int v) const {
    return IsHalf(At(v).dtype) && !program_.rows() ? DType::kFloat32 : At(v).dtype;
  }
  void Block(int v) {
    if (blocks_[Index(v)] >= 0) return;
    blocks_[Index(v)] = static_cast<int>(program_.blocks.size());
    program_.blocks.push_back(ItemSize(BlockType(v)));
  }

  // What a pass of stage s needs for `v` from other passes.
  void Require(int v, int s, bool kept_pass) {
    const FusedValue& value = At(v);
    if (value.kind != Kind::kElementwise) return;
    bool root = (kept_pass ? kept_ : full_)[Index(s)].contains(v) && value.stage == s;
    if (IsKept(v) && !(kept_pass && root)) {
      if (kept_pass && value.stage == s) return RequireArguments(v, s, kept_pass);
      Array(v);
      kept_[Index(value.stage)].insert(v);
      return;
    }
    if (!kept_pass && program_.rows() && value.stage < s && !value.kept) {
      Block(v);
      full_[Index(value.stage)].insert(v);
      return;
    }
    RequireArguments(v, s, kept_pass);
  }
  void RequireArguments(int v, int s, bool kept_pass) {
    for (int arg : At(v).args) Require(arg, s, kept_pass);
  }

  // ---- programs
  struct Build {
    bool kept;
    int stage;
    FusedPass* pass;
    loops::LoopBody body;
    std::vector<loops::Access> accesses;
    std::vector<int> node_of;  // by value; -1: not there yet
  };

  Build Begin(FusedPass* pass, int stage, bool kept) {
    return {kept, stage, pass, {}, {}, std::vector<int>(body_.values.size(), -1)};
  }

  // Strides of an array over the kept axes, as the pass walks.
  loops::Access ArrayAccess(bool kept_pass) const {
    loops::Access access;
    int64_t stride = 1;
    for (size_t a = body_.sizes.size(); a-- > 0;) {
      if (body_.reduced[a] && kept_pass) continue;
      access.strides.insert(access.strides.begin(), body_.reduced[a] ? 0 : stride);
      if (!body_.reduced[a]) stride *= body_.sizes[a];
    }
    return access;
  }
  loops::Access LeafAccess(const FusedValue& value, bool kept_pass) const {
    loops::Access access{value.offset, {}};
    for (size_t a = 0; a < body_.sizes.size(); ++a) {
      if (!(kept_pass && body_.reduced[a])) access.strides.push_back(value.strides[a]);
    }
    return access;
  }
  Ints PassSizes(bool kept_pass) const {
    Ints sizes;
    for (size_t a = 0; a < body_.sizes.size(); ++a) {
      if (!(kept_pass && body_.reduced[a])) sizes.push_back(body_.sizes[a]);
    }
    return sizes;
  }

  int AddInput(Build& b, loops::BodyBuilder& builder, FusedPlace place, loops::Access access,
               DType dtype) {
    b.pass->in.push_back(place);
    b.accesses.push_back(std::move(access));
    return builder.AddInput(dtype);
  }

  int Node(Build& b, loops::BodyBuilder& builder, int v, bool root) {
    int& node = b.node_of[Index(v)];
    if (node >= 0) return node;
    const FusedValue& value = At(v);
    if (value.kind == Kind::kConstant) return node = builder.AddConstant(value.number, value.dtype);
    if (value.kind == Kind::kInput) {
      FusedPlace place{Place::kParameter, value.input, ItemSize(value.dtype)};
      return node = AddInput(b, builder, place, LeafAccess(value, b.kept), value.dtype);
    }
    bool ready = value.kind == Kind::kReduce || (IsKept(v) && !(b.kept && value.stage == b.stage));
    if (ready)
      return node = AddInput(b, builder, places_[Index(v)], ArrayAccess(b.kept), value.dtype);
    if (!b.kept && !root && value.stage < b.stage && blocks_[Index(v)] >= 0 && program_.rows()) {
      loops::Access dense;
      int64_t stride = 1;
      for (size_t a = body_.sizes.size(); a-- > 0; stride *= body_.sizes[a])
        dense.strides.insert(dense.strides.begin(), stride);
      FusedPlace place{Place::kBlock, blocks_[Index(v)], ItemSize(value.dtype)};
      return node = AddInput(b, builder, place, std::move(dense), value.dtype);
    }
    std::vector<int> args;
    for (int arg : value.args) args.push_back(Node(b, builder, arg, false));
    node = builder.AddApply(*value.node, args);
    return node;
  }

  std::string End(Build& b) {
    if (b.body.outputs.empty()) return "";
    Ints sizes = PassSizes(b.kept);
    if (sizes.empty()) {
      sizes = {1};
      for (auto& access : b.accesses) access.strides = {1};
    }
    std::string refusal =
        b.pass->program.Compile(b.body, std::move(b.accesses), std::move(sizes), Vectors());
    if (!b.kept) program_.ns_per_element += b.pass->program.ns_per_element();
    return refusal;
  }

  void AddOutputs(Build& b, loops::BodyBuilder& builder, int v) {
    for (size_t o = 0; o < body_.outputs.size(); ++o) {
      if (body_.outputs[o].value != v || body_.outputs[o].kept != b.kept) continue;
      FusedPlace place{Place::kOutput, static_cast<int>(o), ItemSize(At(v).dtype)};
      if (places_[Index(v)].kind == Place::kOutput && places_[Index(v)].index == place.index &&
          At(v).kind == Kind::kReduce)
        continue;
      b.pass->out.push_back(place);
      b.body.outputs.push_back(Node(b, builder, v, true));
    }
  }

  std::string CompileKept(int s) {
    FusedPass& pass = program_.stages[Index(s)].kept;
    Build b = Begin(&pass, s, true);
    loops::BodyBuilder builder(&b.body);
    for (int v : kept_[Index(s)]) {
      AddOutputs(b, builder, v);
      if (places_[Index(v)].kind != Place::kKept || places_[Index(v)].index < 0 || !IsKept(v))
        continue;
      pass.out.push_back(places_[Index(v)]);
      b.body.outputs.push_back(Node(b, builder, v, true));
    }
    return End(b);
  }

  std::string CompileFull(int s) {
    FusedPass& pass = program_.stages[Index(s)].full;
    Build b = Begin(&pass, s, false);
    loops::BodyBuilder builder(&b.body);
    for (int v : full_[Index(s)]) {
      AddOutputs(b, builder, v);
      // Without rows, a block's values serve the reductions of the next stage alone.
      if (blocks_[Index(v)] < 0) continue;
      pass.out.push_back({Place::kBlock, blocks_[Index(v)], ItemSize(BlockType(v))});
      b.body.outputs.push_back(builder.Cast(Node(b, builder, v, true), BlockType(v)));
    }
    return End(b);
  }

  std::string CompileReductions(int s) {
    for (int v = 0; v < static_cast<int>(body_.values.size()); ++v) {
      const FusedValue& value = At(v);
      if (value.kind != Kind::kReduce || value.stage != s + 1) continue;
      int arg = value.args[0];
      FusedReduction r;
      r.dtype = BlockType(arg);
      r.result = value.dtype;
      r.to = places_[Index(v)];
      r.from = {Place::kBlock, blocks_[Index(arg)], ItemSize(r.dtype)};
      if (r.from.index < 0) r.from = {Place::kParameter, At(arg).input, ItemSize(r.dtype)};
      if (std::string refusal = ChooseLoops(value.node->op->name, &r); !refusal.empty())
        return refusal;
      program_.stages[Index(s)].reductions.push_back(r);
      program_.ns_per_element += 0.05 * static_cast<double>(r.from.item);
    }
    return "";
  }

  std::string ChooseLoops(const std::string& op, FusedReduction* r) const {
    struct Loops {
      const char* op;
      ReduceKind kind;
      ScalarOp combine;
    };
    static const Loops kLoops[] = {{"ReduceSum", ReduceKind::kSum, ScalarOp::kAdd},
                                   {"ReduceMean", ReduceKind::kMean, ScalarOp::kAdd},
                                   {"ReduceMax", ReduceKind::kMax, ScalarOp::kMax},
                                   {"ReduceMin", ReduceKind::kMin, ScalarOp::kMin},
                                   {"ReduceProd", ReduceKind::kProd, ScalarOp::kMul}};
    for (const Loops& loops : kLoops) {
      if (op != loops.op) continue;
      bool parts = !program_.rows();
      r->mean = parts && loops.kind == ReduceKind::kMean;
      if (IsBool(r->dtype) || (r->mean && !IsContinuous(r->dtype)))
        return fmt::format("'{}' of {} is not done in parts", op, Name(r->dtype));
      r->reduce = FindReduceLoop(r->mean ? ReduceKind::kSum : loops.kind, r->dtype);
      r->combine = parts ? Vectors().Get(loops.combine, r->dtype) : nullptr;
      if (!r->reduce || (parts && !r->combine))
        return fmt::format("'{}' has no loop for {}", op, Name(r->dtype));
      return "";
    }
    return fmt::format("'{}' is no reduction of bodies", op);
  }

  const FusedBody& body_;
  FusedProgram& program_;
  std::vector<std::set<int>> full_, kept_;  // by stage: values that its passes write
  std::vector<FusedPlace> places_;          // by value: its array of kept elements
  std::vector<int> blocks_;                 // by value
};

}  // namespace

std::string CompileFused(const FusedBody& body, FusedProgram* program) {
  return Compiler(body, program).Run();
}

}  // namespace ms::cpu
