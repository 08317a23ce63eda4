#include "ops/joined_activation.h"

#include "ir/graph.h"

namespace ms {
namespace {

struct Known {
  const OpDef* op;
  const JoinedActivation* activation;
};

const std::vector<Known>& All() {
  static const auto* const all = [] {
    auto* found = new std::vector<Known>;
    for (const OpDef* op : Ops().All()) {
      for (const JoinedActivation& activation : op->joined) found->push_back({op, &activation});
    }
    return found;
  }();
  return *all;
}

const Known* Find(std::string_view name) {
  for (const Known& known : All()) {
    if (known.activation->name == name) return &known;
  }
  return nullptr;
}

}  // namespace

const JoinedActivation* JoinedActivationOf(const Node* node) {
  if (!node || !node->op || node->outputs.size() != 1) return nullptr;
  for (const JoinedActivation& known : node->op->joined) {
    if (known.attr.empty() || node->attr<std::string>(known.attr) == known.value) return &known;
  }
  return nullptr;
}

std::vector<std::string> JoinedActivations() {
  std::vector<std::string> names;
  for (const Known& known : All()) names.push_back(known.activation->name);
  return names;
}

void CheckActivation(const InferContext& c) {
  const auto& activation = c.attr<std::string>("activation");
  if (activation.empty() || Find(activation)) return;
  c.Check(false, "'activation' must be '' or one of '{}', but got '{}'",
          fmt::join(JoinedActivations(), "', '"), activation);
}

Term Activated(ExpandContext& c, const Term& x) {
  const Known* known = Find(c.attr<std::string>("activation"));
  if (!known) return x;
  NamedAttrs attrs;
  const JoinedActivation& activation = *known->activation;
  if (!activation.attr.empty()) attrs.emplace_back(activation.attr, activation.value);
  return c.Call(known->op->name, {x}, attrs);
}

}  // namespace ms
