#include "loops/loop_nest.h"

#include <algorithm>
#include <cmath>

#include "ir/op.h"
#include "loops/scalar_costs.h"

namespace ms::loops {
namespace {

using Kind = FusedValue::Kind;

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

const char* const kReductionNames[] = {"", "sum", "mean", "max", "min", "prod"};

Reduction ReductionOf(const OpDef& op) {
  if (op.name == "ReduceSum") return Reduction::kSum;
  if (op.name == "ReduceMean") return Reduction::kMean;
  if (op.name == "ReduceMax") return Reduction::kMax;
  if (op.name == "ReduceMin") return Reduction::kMin;
  if (op.name == "ReduceProd") return Reduction::kProd;
  return Reduction::kNone;
}

// From the body's values to scalar code, as loops/graph_body.cc does for elementwise ones.
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
    bool real = IsContinuous(value.dtype);
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

std::string Describe(const LoopNest& nest, int v) {
  const NestValue& value = nest.values[static_cast<size_t>(v)];
  const ScalarNode& node = value.node;
  if (value.reduction != Reduction::kNone) {
    return fmt::format("{}(%{})", kReductionNames[static_cast<int>(value.reduction)], node.args[0]);
  }
  if (node.op == ScalarOp::kConstant) return fmt::format("{}", node.value);
  if (node.op == ScalarOp::kInput) {
    const NestLeaf& leaf = nest.leaves[static_cast<size_t>(node.input)];
    return fmt::format("in{}[{} + i * ({})]", leaf.input, leaf.offset,
                       fmt::join(leaf.strides, ", "));
  }
  std::string args;
  for (int arg : node.args) {
    if (arg >= 0) args += fmt::format("{}%{}", args.empty() ? "" : ", ", arg);
  }
  return fmt::format("{}({})", Name(node.op), args);
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

std::string MakeNest(const FusedBody& body, LoopNest* nest) {
  *nest = {};
  return NestBuilder(body, nest).Run();
}

std::string Print(const LoopNest& nest, const std::string& schedule,
                  const std::vector<int>& buffered) {
  std::string axes;
  for (size_t d = 0; d < nest.sizes.size(); ++d)
    axes += fmt::format("{}{}{}", d ? ", " : "", nest.sizes[d], nest.reduced[d] ? " reduced" : "");
  std::string text = fmt::format("space [{}]: {}\n", axes, schedule);
  for (size_t v = 0; v < nest.values.size(); ++v) {
    const NestValue& value = nest.values[v];
    bool stored =
        std::find(buffered.begin(), buffered.end(), static_cast<int>(v)) != buffered.end();
    text += fmt::format("  %{}: {} = {}{}{}{}\n", v, Name(value.node.dtype),
                        Describe(nest, static_cast<int>(v)),
                        value.stage > 0 ? fmt::format("  stage {}", value.stage) : "",
                        value.uniform ? "  uniform"
                        : value.kept  ? "  kept"
                                      : "",
                        stored ? "  buffered" : "");
  }
  for (size_t o = 0; o < nest.outputs.size(); ++o)
    text += fmt::format("  out{} = %{}{}\n", o, nest.outputs[o].value,
                        nest.outputs[o].kept ? "  kept" : "");
  return text;
}

}  // namespace ms::loops
