// A tiny interpreter of graphs over 0-d tensors, for tests: elementwise ops through their scalar
// bodies, functions, boxes. Recursive, so for short programs only; the runtime has the real
// machine.
#pragma once

#include <cmath>
#include <map>
#include <variant>

#include "ir/testing.h"

namespace ms::testing {

struct Value;
using Values = std::vector<Value>;
struct Closure {
  const Graph* graph;
  Values captures;
};
struct BoxValue {
  bool zero = true;
  Values parts;
};
struct Value {
  std::variant<double, std::shared_ptr<Closure>, std::shared_ptr<BoxValue>> data = 0.0;
  double number() const { return std::get<double>(data); }
  const Closure& function() const { return *std::get<std::shared_ptr<Closure>>(data); }
  const BoxValue& box() const { return *std::get<std::shared_ptr<BoxValue>>(data); }
};

class ScalarMachine {
 public:
  Values Run(const Graph& graph, const Values& inputs) {
    std::map<std::pair<const Node*, uint32_t>, Value> values;
    Vars formal = graph.inputs();
    EXPECT_EQ(formal.size(), inputs.size());
    for (size_t i = 0; i < formal.size(); ++i) values[{formal[i].node, 0}] = inputs[i];
    for (const Node* node : graph.nodes()) {
      if (node->kind == NodeKind::kParameter) continue;
      Values in;
      for (const Var& v : node->inputs) in.push_back(values.at({v.node, v.index}));
      Values out =
          node->kind == NodeKind::kConstant ? Values{{node->value.Item()}} : Apply(*node, in);
      for (uint32_t i = 0; i < node->outputs.size(); ++i) values[{node, i}] = out.at(i);
      ++steps;
    }
    Values outputs;
    for (const Var& v : graph.outputs()) outputs.push_back(values.at({v.node, v.index}));
    return outputs;
  }

  Values Call(const Value& function, const Values& arguments) {
    Values inputs = function.function().captures;
    inputs.insert(inputs.end(), arguments.begin(), arguments.end());
    return Run(*function.function().graph, inputs);
  }

  int steps = 0;
  std::vector<std::string> effects;  // the probability of each Dropout, as they ran

 private:
  static Value MakeBox(bool zero, Values parts) {
    return {std::make_shared<BoxValue>(BoxValue{zero, std::move(parts)})};
  }

  static Value Add(const Value& a, const Value& b) {
    if (std::holds_alternative<double>(a.data)) return {a.number() + b.number()};
    if (a.box().zero) return b;
    if (b.box().zero) return a;
    Values parts;
    for (size_t i = 0; i < a.box().parts.size(); ++i)
      parts.push_back(Add(a.box().parts[i], b.box().parts[i]));
    return MakeBox(false, std::move(parts));
  }

  Values Apply(const Node& node, const Values& in) {
    const std::string& op = node.op->name;
    if (op == "Dropout") effects.push_back(fmt::format("{}", node.attr<double>("keep_prob")));
    if (op == "Partial")
      return {{std::make_shared<Closure>(Closure{node.attr<Graph*>("graph"), in})}};
    if (op == "Switch") return {in[0].number() != 0 ? in[1] : in[2]};
    if (op == "Call") return Call(in[0], Values(in.begin() + 1, in.end()));
    if (op == "BoxMake") return {MakeBox(false, in)};
    if (op == "BoxZero") return {MakeBox(true, {})};
    if (op == "BoxAdd") return {Add(in[0], in[1])};
    if (op == "BoxGet") return Open(node, in[0].box());
    if (op == "Fill") return {{node.attr<double>("value")}};
    if (op == "AddN") {
      Value sum = in[0];
      for (size_t i = 1; i < in.size(); ++i) sum = Add(sum, in[i]);
      return {sum};
    }
    if (op == "Dropout")
      return {in[0], in[0]};  // keeps everything: only the order of effects is of interest
    if (op == "DropoutGrad") return {in[0]};
    if (node.op->view || op == "Cast") return {in[0]};
    EXPECT_TRUE(node.op->scalar) << op;
    return {{Scalar(node, in)}};
  }

  static Values Open(const Node& node, const BoxValue& box) {
    if (!box.zero) return box.parts;
    Values zeros;
    for (const Type& t : node.outputs) zeros.push_back(t.is_box() ? MakeBox(true, {}) : Value{0.0});
    return zeros;
  }

  static double Scalar(const Node& node, const Values& in) {
    std::vector<DType> dtypes;
    for (const Var& v : node.inputs) dtypes.push_back(v.type().dtype());
    static const Attrs kNone;
    ScalarGraph body = TraceScalar(*node.op, dtypes, node.attrs ? *node.attrs : kNone);
    std::vector<double> x;
    for (const ScalarNode& n : body.nodes) {
      auto arg = [&](int i) { return x[static_cast<size_t>(n.args[i])]; };
      double value = std::nan("");
      switch (n.op) {
        case ScalarOp::kInput:
          value = in[static_cast<size_t>(n.input)].number();
          break;
        case ScalarOp::kConstant:
          value = n.value;
          break;
        case ScalarOp::kCast:
          value = arg(0);
          break;
        case ScalarOp::kAdd:
          value = arg(0) + arg(1);
          break;
        case ScalarOp::kSub:
          value = arg(0) - arg(1);
          break;
        case ScalarOp::kMul:
          value = arg(0) * arg(1);
          break;
        case ScalarOp::kDiv:
          value = arg(0) / arg(1);
          break;
        case ScalarOp::kNeg:
          value = -arg(0);
          break;
        case ScalarOp::kSin:
          value = std::sin(arg(0));
          break;
        case ScalarOp::kCos:
          value = std::cos(arg(0));
          break;
        case ScalarOp::kLess:
          value = arg(0) < arg(1);
          break;
        case ScalarOp::kGreater:
          value = arg(0) > arg(1);
          break;
        default:
          ADD_FAILURE() << "scalar op " << static_cast<int>(n.op) << " of " << node.op->name;
      }
      x.push_back(value);
    }
    return x.back();
  }
};

}  // namespace ms::testing
