#include "ops/joined_activation.h"

#include "ir/graph.h"

namespace ms {
namespace {

constexpr JoinedActivation kAll[] = {
    {"relu", "ReLU", "", true}, {"relu6", "ReLU6", "", true},   {"sigmoid", "Sigmoid", ""},
    {"tanh", "Tanh", ""},       {"gelu", "GeLU", "none"},       {"gelu_tanh", "GeLU", "tanh"},
    {"silu", "SiLU", ""},       {"hswish", "HSwish", "", true},
};

}  // namespace

const JoinedActivation* FindJoinedActivation(std::string_view name) {
  for (const JoinedActivation& known : kAll) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

const JoinedActivation* JoinedActivationOf(const Node* node) {
  if (!node || !node->op || node->outputs.size() != 1) return nullptr;
  for (const JoinedActivation& known : kAll) {
    if (node->op->name != known.op) continue;
    if (known.approximate.empty() || node->attr<std::string>("approximate") == known.approximate) {
      return &known;
    }
  }
  return nullptr;
}

void CheckActivation(const InferContext& c) {
  const auto& activation = c.attr<std::string>("activation");
  c.Check(activation.empty() || FindJoinedActivation(activation),
          "'activation' must be '' or one of 'relu', 'relu6', 'sigmoid', 'tanh', 'gelu', "
          "'gelu_tanh', 'silu' and 'hswish', but got '{}'",
          activation);
}

Term Activated(ExpandContext& c, const Term& x) {
  const JoinedActivation* activation = FindJoinedActivation(c.attr<std::string>("activation"));
  if (!activation) return x;
  NamedAttrs attrs;
  if (!activation->approximate.empty()) {
    attrs.emplace_back("approximate", std::string(activation->approximate));
  }
  return c.Call(activation->op, {x}, attrs);
}

}  // namespace ms
