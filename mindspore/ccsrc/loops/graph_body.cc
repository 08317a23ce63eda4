#include "loops/graph_body.h"

#include <algorithm>
#include <cmath>

#include "ir/op.h"

namespace ms::loops {
namespace {

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

// The value of a constant as a body has it, or why it has none.
std::string NumberOf(const Tensor& value, double* number) {
  if (value.size() != 1) return fmt::format("the constant {} is not a number", value.ToString());
  *number = value.Item();
  bool exact =
      !IsComplex(value.dtype()) && (!IsInteger(value.dtype()) || std::fabs(*number) < 0x1p53);
  return exact ? "" : fmt::format("the constant {} is not exact as a double", value.ToString());
}

}  // namespace

int BodyBuilder::AddInput(DType dtype) {
  ScalarNode scalar{ScalarOp::kInput, dtype};
  scalar.input = inputs_++;
  return Intern(scalar);
}

int BodyBuilder::AddConstant(double value, DType dtype) {
  ScalarNode scalar{ScalarOp::kConstant, dtype};
  scalar.value = value;
  return Intern(scalar);
}

int BodyBuilder::AddApply(const Node& node, const std::vector<int>& args) {
  static const Attrs kNone;
  std::vector<DType> dtypes;
  for (const Var& input : node.inputs) dtypes.push_back(input.type().dtype());
  ScalarGraph trace = TraceScalar(*node.op, dtypes, node.attrs ? *node.attrs : kNone);
  std::vector<int> position;
  for (ScalarNode scalar : trace.nodes) {
    if (scalar.op == ScalarOp::kInput) {
      position.push_back(args[static_cast<size_t>(scalar.input)]);
      continue;
    }
    for (int& arg : scalar.args) {
      if (arg >= 0) arg = position[static_cast<size_t>(arg)];
    }
    position.push_back(Intern(scalar));
  }
  int result = position.back();
  DType wanted = node.outputs[0].dtype();
  // A half result would stay a float in its register: through Float32 and back it is rounded.
  if (IsHalf(wanted) && result != args[0]) result = Cast(result, DType::kFloat32);
  return Cast(result, wanted);
}

int BodyBuilder::Cast(int value, DType dtype) {
  if (body_.nodes[static_cast<size_t>(value)].dtype == dtype) return value;
  ScalarNode cast{ScalarOp::kCast, dtype};
  cast.args[0] = value;
  return Intern(cast);
}

int BodyBuilder::Intern(const ScalarNode& node) {
  if (std::signbit(node.value) && node.value == 0) {  // -0 equals 0, but is another constant
    body_.nodes.push_back(node);
    return static_cast<int>(body_.nodes.size()) - 1;
  }
  auto it = std::find(body_.nodes.begin(), body_.nodes.end(), node);
  if (it != body_.nodes.end()) return static_cast<int>(it - body_.nodes.begin());
  body_.nodes.push_back(node);
  return static_cast<int>(body_.nodes.size()) - 1;
}

std::string BodyOfGraph(const Graph& graph, LoopBody* body) {
  *body = {};
  BodyBuilder builder(body);
  std::unordered_map<Var, int, VarHash> value_of;
  for (const Var& input : graph.inputs()) value_of[input] = builder.AddInput(input.type().dtype());
  for (Node* node : graph.nodes()) {
    if (node->kind == NodeKind::kParameter) continue;
    int value;
    if (node->kind == NodeKind::kConstant) {
      double number = 0;
      if (std::string why = NumberOf(node->value, &number); !why.empty()) return why;
      value = builder.AddConstant(number, node->value.dtype());
    } else {
      if (!node->op->scalar) return fmt::format("the op '{}' is not elementwise", node->op->name);
      std::vector<int> args;
      for (const Var& input : node->inputs) args.push_back(value_of.at(input));
      value = builder.AddApply(*node, args);
    }
    value_of[{node, 0}] = value;
  }
  for (const Var& output : graph.outputs()) body->outputs.push_back(value_of.at(output));
  return "";
}

}  // namespace ms::loops
