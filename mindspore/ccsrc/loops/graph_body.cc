#include "loops/graph_body.h"

#include <algorithm>
#include <cmath>

#include "ir/op.h"

namespace ms::loops {
namespace {

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

class BodyBuilder {
 public:
  explicit BodyBuilder(LoopBody* body) : body_(*body) {}

  void AddInput(const Node* node) {
    ScalarNode scalar{ScalarOp::kInput, node->outputs[0].dtype()};
    scalar.input = inputs_++;
    value_of_[Var{const_cast<Node*>(node), 0}] = Intern(scalar);
  }

  std::string AddConstant(const Node* node) {
    const Tensor& value = node->value;
    if (value.size() != 1) return fmt::format("the constant {} is not a number", value.ToString());
    ScalarNode scalar{ScalarOp::kConstant, value.dtype()};
    scalar.value = value.Item();
    bool exact = !IsComplex(value.dtype()) &&
                 (!IsInteger(value.dtype()) || std::fabs(scalar.value) < 0x1p53);
    if (!exact) return fmt::format("the constant {} is not exact as a double", value.ToString());
    value_of_[Var{const_cast<Node*>(node), 0}] = Intern(scalar);
    return "";
  }

  std::string AddApply(const Node* node) {
    if (!node->op->scalar) return fmt::format("the op '{}' is not elementwise", node->op->name);
    static const Attrs kNone;
    std::vector<DType> dtypes;
    std::vector<int> inputs;
    for (const Var& input : node->inputs) {
      dtypes.push_back(input.type().dtype());
      inputs.push_back(value_of_.at(input));
    }
    ScalarGraph trace = TraceScalar(*node->op, dtypes, node->attrs ? *node->attrs : kNone);
    std::vector<int> position;
    for (ScalarNode scalar : trace.nodes) {
      if (scalar.op == ScalarOp::kInput) {
        position.push_back(inputs[scalar.input]);
        continue;
      }
      for (int& arg : scalar.args) {
        if (arg >= 0) arg = position[arg];
      }
      position.push_back(Intern(scalar));
    }
    int result = position.back();
    DType wanted = node->outputs[0].dtype();
    // A half result would stay a float in its register: through Float32 and back it is rounded.
    if (IsHalf(wanted) && result != inputs[0]) result = Cast(result, DType::kFloat32);
    value_of_[Var{const_cast<Node*>(node), 0}] = Cast(result, wanted);
    return "";
  }

  void AddOutput(const Var& output) { body_.outputs.push_back(value_of_.at(output)); }

 private:
  int Cast(int value, DType dtype) {
    if (body_.nodes[value].dtype == dtype) return value;
    ScalarNode cast{ScalarOp::kCast, dtype};
    cast.args[0] = value;
    return Intern(cast);
  }

  int Intern(const ScalarNode& node) {
    if (std::signbit(node.value) && node.value == 0) {  // -0 equals 0, but is another constant
      body_.nodes.push_back(node);
      return static_cast<int>(body_.nodes.size()) - 1;
    }
    auto it = std::find(body_.nodes.begin(), body_.nodes.end(), node);
    if (it != body_.nodes.end()) return static_cast<int>(it - body_.nodes.begin());
    body_.nodes.push_back(node);
    return static_cast<int>(body_.nodes.size()) - 1;
  }

  LoopBody& body_;
  int inputs_ = 0;
  std::unordered_map<Var, int, VarHash> value_of_;
};

}  // namespace

std::string BodyOfGraph(const Graph& graph, LoopBody* body) {
  *body = {};
  BodyBuilder builder(body);
  for (const Var& input : graph.inputs()) builder.AddInput(input.node);
  for (const Node* node : graph.nodes()) {
    std::string refusal;
    if (node->kind == NodeKind::kConstant) refusal = builder.AddConstant(node);
    if (node->kind == NodeKind::kApply) refusal = builder.AddApply(node);
    if (!refusal.empty()) return refusal;
  }
  for (const Var& output : graph.outputs()) builder.AddOutput(output);
  return "";
}

}  // namespace ms::loops
