#include "loops/loop_nest.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/op.h"

namespace ms::loops {
namespace {

using Kind = FusedValue::Kind;

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

Reduction ReductionOf(const OpDef& op) {
  if (op.name == "ReduceSum") return Reduction::kSum;
  if (op.name == "ReduceMean") return Reduction::kMean;
  if (op.name == "ReduceMax") return Reduction::kMax;
  if (op.name == "ReduceMin") return Reduction::kMin;
  if (op.name == "ReduceProd") return Reduction::kProd;
  return Reduction::kNone;
}

// Whether the op is worth a buffer where two passes need it.
bool IsHeavy(ScalarOp op) {
  switch (op) {
    case ScalarOp::kInput:
    case ScalarOp::kConstant:
    case ScalarOp::kCast:
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
    case ScalarOp::kSelect:
    case ScalarOp::kLess:
    case ScalarOp::kLessEqual:
    case ScalarOp::kGreater:
    case ScalarOp::kGreaterEqual:
    case ScalarOp::kEqual:
    case ScalarOp::kNotEqual:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
      return false;
    default:
      return true;
  }
}

// From the body's values to scalar code, as loops/graph_body.cc does for tile programs.
class NestBuilder {
 public:
  NestBuilder(const FusedBody& body, LoopNest* nest) : body_(body), nest_(*nest) {}

  std::string Run() {
    nest_.sizes = body_.sizes;
    nest_.reduced = body_.reduced;
    for (const FusedValue& value : body_.values) {
      std::string refusal = Add(value);
      if (!refusal.empty()) return refusal;
    }
    for (const FusedOutput& o : body_.outputs)
      nest_.outputs.push_back({at_[static_cast<size_t>(o.value)], o.kept});
    nest_.stages = body_.stages;
    return "";
  }

 private:
  std::string Add(const FusedValue& value) {
    switch (value.kind) {
      case Kind::kInput:
        at_.push_back(AddLeaf(value));
        return "";
      case Kind::kConstant: {
        ScalarNode node{ScalarOp::kConstant, value.dtype};
        node.value = value.number;
        at_.push_back(Intern(node, Reduction::kNone));
        return "";
      }
      case Kind::kElementwise:
        AddScalars(value);
        return "";
      case Kind::kReduce:
        return AddReduction(value);
    }
    return "";
  }

  int AddLeaf(const FusedValue& value) {
    ScalarNode node{ScalarOp::kInput, value.dtype};
    node.input = static_cast<int>(nest_.leaves.size());
    nest_.leaves.push_back({value.input, value.offset, value.strides});
    nest_.inputs = std::max(nest_.inputs, value.input + 1);
    return Intern(node, Reduction::kNone);
  }

  void AddScalars(const FusedValue& value) {
    static const Attrs kNoAttrs;
    std::vector<DType> dtypes;
    std::vector<int> inputs;
    for (int arg : value.args) {
      dtypes.push_back(body_.values[static_cast<size_t>(arg)].dtype);
      inputs.push_back(at_[static_cast<size_t>(arg)]);
    }
    const Node& node = *value.node;
    ScalarGraph trace = TraceScalar(*node.op, dtypes, node.attrs ? *node.attrs : kNoAttrs);
    std::vector<int> position;
    for (ScalarNode scalar : trace.nodes) {
      if (scalar.op == ScalarOp::kInput) {
        position.push_back(inputs[static_cast<size_t>(scalar.input)]);
        continue;
      }
      for (int& arg : scalar.args) {
        if (arg >= 0) arg = position[static_cast<size_t>(arg)];
      }
      position.push_back(Intern(scalar, Reduction::kNone));
    }
    int result = position.back();
    // A half result would stay a float in its register: through Float32 and back it is rounded.
    bool rounds =
        IsHalf(value.dtype) && std::find(inputs.begin(), inputs.end(), result) == inputs.end();
    if (rounds) result = Cast(result, DType::kFloat32);
    at_.push_back(Cast(result, value.dtype));
  }

  std::string AddReduction(const FusedValue& value) {
    Reduction how = ReductionOf(*value.node->op);
    bool real = IsFloating(value.dtype);
    if (how == Reduction::kNone || (how == Reduction::kMean && !real) || IsBool(value.dtype))
      return fmt::format("'{}' of {} has no loop", value.node->op->name, Name(value.dtype));
    ScalarNode node{ScalarOp::kInput, value.dtype};
    node.args[0] = Cast(at_[static_cast<size_t>(value.args[0])], value.dtype);
    at_.push_back(Intern(node, how));
    return "";
  }

  int Cast(int value, DType dtype) {
    if (nest_.values[static_cast<size_t>(value)].node.dtype == dtype) return value;
    ScalarNode cast{ScalarOp::kCast, dtype};
    cast.args[0] = value;
    return Intern(cast, Reduction::kNone);
  }

  int Intern(const ScalarNode& node, Reduction reduction) {
    bool negative_zero = std::signbit(node.value) && node.value == 0;  // equals 0, but is another
    for (size_t i = 0; i < nest_.values.size() && !negative_zero; ++i) {
      const NestValue& v = nest_.values[i];
      if (v.node == node && v.reduction == reduction && !std::signbit(v.node.value - node.value))
        return static_cast<int>(i);
    }
    NestValue value;
    value.node = node;
    value.reduction = reduction;
    Classify(value);
    nest_.values.push_back(value);
    return static_cast<int>(nest_.values.size()) - 1;
  }

  void Classify(NestValue& value) const {
    bool reduces = body_.form != FusedBody::Form::kElementwise;
    value.kept = reduces;
    value.flat = value.uniform = true;
    if (value.reduction != Reduction::kNone) {
      value.stage = nest_.values[static_cast<size_t>(value.node.args[0])].stage + 1;
      value.flat = body_.reduced.back();
      value.uniform = body_.form == FusedBody::Form::kFull;
      return;
    }
    if (value.node.op == ScalarOp::kInput) {
      const Ints& strides = nest_.leaves[static_cast<size_t>(value.node.input)].strides;
      for (size_t d = 0; d < strides.size(); ++d) {
        if (strides[d] == 0) continue;
        value.uniform = false;
        if (body_.reduced[d]) value.kept = false;
        if (d + 1 == strides.size()) value.flat = false;
      }
      return;
    }
    value.heavy = IsHeavy(value.node.op);
    for (int arg : value.node.args) {
      if (arg < 0) continue;
      const NestValue& a = nest_.values[static_cast<size_t>(arg)];
      value.stage = std::max(value.stage, a.stage);
      value.kept = value.kept && a.kept;
      value.flat = value.flat && a.flat;
      value.uniform = value.uniform && a.uniform;
      value.heavy = value.heavy || (a.heavy && !a.flat);
    }
  }

  const FusedBody& body_;
  LoopNest& nest_;
  std::vector<int> at_;  // by value of the body
};

// Follows what each pass computes, and marks what an earlier pass computed too and what would cost
// more to compute again than to read back: functions, and long ways of cheap ops.
class BufferFinder {
 public:
  explicit BufferFinder(LoopNest* nest) : nest_(*nest) {}

  void Run() {
    for (int pass = 0; pass < nest_.passes(); ++pass) {
      std::set<int> now;
      for (size_t v = 0; v < nest_.values.size(); ++v) {
        const NestValue& value = nest_.values[v];
        if (value.reduction != Reduction::kNone && value.stage == pass + 1)
          Visit(value.node.args[0], now);
      }
      if (pass + 1 == nest_.passes()) {
        for (const NestOutput& o : nest_.outputs) {
          if (!o.kept) Visit(o.value, now);
        }
      }
      seen_.insert(now.begin(), now.end());
    }
  }

 private:
  static constexpr int kWay = 4;  // cheap ops that are quicker than a store and a load

  void Visit(int v, std::set<int>& now) {
    const NestValue& value = nest_.values[static_cast<size_t>(v)];
    if (Ends(value) || now.contains(v)) return;
    if (seen_.contains(v) && value.heavy && Again(v, kWay + 1) > kWay) {
      nest_.buffered.push_back(v);
      buffered_.insert(v);
    }
    if (buffered_.contains(v)) return;
    now.insert(v);
    for (int arg : value.node.args) {
      if (arg >= 0) Visit(arg, now);
    }
  }

  static bool Ends(const NestValue& value) {
    return value.flat || value.reduction != Reduction::kNone || value.node.op == ScalarOp::kInput;
  }

  // Ops to compute a value from inputs, buffers and functions; counts to `most`. A function itself
  // is worth a buffer always.
  int Again(int v, int most) const {
    const NestValue& value = nest_.values[static_cast<size_t>(v)];
    if (Ends(value) || buffered_.contains(v)) return 0;
    if (IsHeavy(value.node.op)) return most;
    int count = 1;
    for (int arg : value.node.args) {
      if (arg < 0 || count >= most) continue;
      const NestValue& a = nest_.values[static_cast<size_t>(arg)];
      bool function = !Ends(a) && IsHeavy(a.node.op);  // will be buffered in its turn
      count += function ? 0 : Again(arg, most - count);
    }
    return count;
  }

  LoopNest& nest_;
  std::set<int> seen_;
  std::set<int> buffered_;
};

// What measurements found best for most bodies. The code takes longer to make, so that small work
// does without.
void ChooseTuning(LoopNest* nest) {
  constexpr int64_t kMuch = 1 << 16;  // elements
  if (nest->size() < kMuch) return;
  bool functions = std::any_of(nest->values.begin(), nest->values.end(), [](const NestValue& v) {
    return !v.flat && IsHeavy(v.node.op) && v.reduction == Reduction::kNone;
  });
  bool elementwise = nest->schedule == LoopNest::Schedule::kElementwise;
  bool columns = nest->schedule == LoopNest::Schedule::kColumns;
  if (elementwise && functions) nest->tuning.unroll = 2;
  if (columns && !functions && nest->OuterSize(true) >= 64) nest->tuning.rows = 4;
}

// Enough tasks for many threads, but chunks of some size.
void ChooseSchedule(const FusedBody& body, LoopNest* nest) {
  constexpr int64_t kTasks = 64;
  constexpr int64_t kSmall = 1 << 17;  // elements that one thread may as well take
  if (body.form == FusedBody::Form::kElementwise) return;
  bool rows = body.reduced.back();
  nest->schedule = rows ? LoopNest::Schedule::kRows : LoopNest::Schedule::kColumns;
  int64_t tasks = rows ? nest->kept_size() : nest->OuterSize(false) * nest->tiles();
  int64_t most = rows ? nest->pieces() : nest->OuterSize(true) / 16;
  if (tasks < kTasks / 2 && nest->size() > kSmall && most > 1)
    nest->chunks = std::clamp<int64_t>(kTasks / tasks, 2, most);
  bool buffers =
      rows && nest->chunks == 1 && nest->pieces() * nest->piece_span() <= LoopNest::kBuffer;
  if (buffers) BufferFinder(nest).Run();
}

}  // namespace

int64_t LoopNest::size() const {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

int64_t LoopNest::kept_size() const {
  int64_t n = 1;
  for (size_t d = 0; d < sizes.size(); ++d) n *= reduced[d] ? 1 : sizes[d];
  return n;
}

std::vector<int> LoopNest::Outer(bool reduced_axes) const {
  std::vector<int> axes;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) {
    if (reduced[d] == reduced_axes) axes.push_back(static_cast<int>(d));
  }
  return axes;
}

int64_t LoopNest::OuterSize(bool reduced_axes) const {
  int64_t n = 1;
  for (int d : Outer(reduced_axes)) n *= sizes[static_cast<size_t>(d)];
  return n;
}

int64_t LoopNest::piece_span() const { return (std::min(inner(), piece) + 63) / 64 * 64; }
int64_t LoopNest::pieces() const { return OuterSize(true) * row_pieces(); }

bool LoopNest::HasFullOutputs() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const NestOutput& o) { return !o.kept; });
}

// Full outputs that wait for no reduction of the last stage are written by the pass that makes it.
int LoopNest::passes() const {
  int last = stages - 1;
  for (const NestOutput& o : outputs) {
    if (!o.kept) last = std::max(last, values[static_cast<size_t>(o.value)].stage);
  }
  return std::max(last, 0) + 1;
}

LoopNest Retuned(const LoopNest& nest, const Tuning& tuning) {
  LoopNest result = nest;
  result.tuning = tuning;
  if (!tuning.buffers) result.buffered.clear();
  return result;
}

std::string MakeNest(const FusedBody& body, int vector_bytes, LoopNest* nest) {
  *nest = {};
  nest->piece = 32 * vector_bytes;  // 128 additions in each lane of floats
  std::string refusal = NestBuilder(body, nest).Run();
  if (!refusal.empty()) return refusal;
  ChooseSchedule(body, nest);
  ChooseTuning(nest);
  // Short vectors would be all remainder: tiles of the interpreter span several rows.
  if (nest->inner() < 8 && nest->size() > 64)
    return fmt::format("the innermost axis has only {} elements", nest->inner());
  return "";
}

}  // namespace ms::loops
