#include "kernel/update_chain.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/uses.h"

namespace ms {
namespace {

struct Product {
  Var array, factor;
};

class Chain {
 public:
  Chain(const std::vector<ChainStep>& steps, const std::function<bool(const Var&)>& inside)
      : inside_(inside) {
    static const OpDef& select = Ops().Get("Select");
    for (const ChainStep& step : steps) {
      places_.emplace(step.node, places_.size());
      for (const Var& v : step.inputs) ++uses_[WithoutViews(v)];
      if (step.node->op != &select) continue;
      for (size_t side : {1, 2}) choices_[WithoutViews(step.inputs[side])] = step.node;
    }
  }

  // An input that the kernel makes by itself.
  void TakeInput(ChainStep* step) {
    const Node& node = *step->node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Found found = Find(node.inputs, i);
      if (found.made.empty() || !StandTogether(found.made, node)) continue;
      std::vector<DType> dtypes;
      for (const Var& factor : found.factors) dtypes.push_back(factor.type().dtype());
      auto with = step->kernel->With(found.blend, dtypes);
      if (!with) continue;
      step->kernel = std::move(with);
      step->inputs[i] = found.array;
      step->inputs.insert(step->inputs.end(), found.factors.begin(), found.factors.end());
      taken_.insert(found.made.begin(), found.made.end());
      return;
    }
  }

  // Where every new value is one arm of a choice whose other arm is the old value, the kernel
  // chooses: it need not run for what would be dropped.
  void TakeChoice(ChainStep* step) {
    const Node& node = *step->node;
    if (node.op->updates.empty() || node.op->updates.size() != node.outputs.size()) return;
    std::vector<const Node*> choices;
    Vars outputs(node.outputs.size());
    Var condition;
    bool when = true;
    for (auto [output, input] : node.op->updates) {
      Var made{const_cast<Node*>(&node), static_cast<uint32_t>(output)};
      const Node* choice = ChoiceOf(made);
      if (!choice) return;
      bool first = WithoutViews(choice->inputs[1]) == made;
      Var old = WithoutViews(choice->inputs[first ? 2 : 1]);
      if (!(old == WithoutViews(node.inputs[static_cast<size_t>(input)]))) return;
      bool fits = choices.empty() || (first == when && choice->inputs[0] == condition);
      if (!fits || choice->inputs[0].type().shape().size() != 1) return;
      when = first, condition = choice->inputs[0];
      choices.push_back(choice);
      outputs[static_cast<size_t>(output)] = {const_cast<Node*>(choice), 0};
    }
    auto chooses = step->kernel->When(when);
    if (!chooses || !StandTogether(choices, node)) return;
    step->outputs = std::move(outputs);
    step->kernel = std::move(chooses);
    step->inputs.push_back(condition);
    taken_.insert(choices.begin(), choices.end());
  }

  bool Taken(const Node* node) const { return taken_.contains(node); }

 private:
  struct Found {
    Blend blend;
    Var array;
    Vars factors;
    std::vector<const Node*> made;  // by these nodes so far
  };

  // Whether nothing else runs between `others` and `node`: what they read or write is then the same
  // at the place of `node`.
  bool StandTogether(const std::vector<const Node*>& others, const Node& node) const {
    size_t low = places_.at(&node), high = low;
    for (const Node* other : others) {
      low = std::min(low, places_.at(other));
      high = std::max(high, places_.at(other));
    }
    return high - low == others.size();
  }

  // The choice that alone reads a value.
  const Node* ChoiceOf(const Var& made) const {
    auto choice = choices_.find(made);
    bool only = choice != choices_.end() && inside_(made) && uses_.at(made) == 1;
    return only ? choice->second : nullptr;
  }

  // The node that makes a value of this type for one reader.
  const Node* Maker(const Var& v, const OpDef& op, const Type& type) const {
    Var made = WithoutViews(v);
    bool only = made.node->op == &op && inside_(made) && uses_.at(made) == 1;
    return only && made.type().dtype() == type.dtype() ? made.node : nullptr;
  }

  std::optional<Product> AsProduct(const Var& v, const Type& type, Found* found) const {
    static const OpDef& mul = Ops().Get("Mul");
    const Node* node = Maker(v, mul, type);
    if (!node) return {};
    for (size_t i : {0, 1}) {
      const Var &array = node->inputs[i], &factor = node->inputs[1 - i];
      bool scales = factor.type().shape().size() == 1 && IsFloating(factor.type().dtype());
      if (!scales || array.type().dtype() != type.dtype() || array.type().shape().size() <= 1)
        continue;
      found->made.push_back(node);
      return Product{array, factor};
    }
    return {};
  }

  // The last factor first, as the input is looked through from its end.
  Found Find(const Vars& inputs, size_t input) const {
    static const OpDef& add = Ops().Get("Add");
    const Type& type = inputs[input].type();
    Found found;
    if (type.shape().size() <= 1) return found;
    found.blend.input = input;
    found.array = inputs[input];
    Vars last_first;
    if (auto outer = AsProduct(found.array, type, &found)) {
      found.blend.after = true;
      found.array = outer->array;
      last_first.push_back(outer->factor);
    }
    const Node* sum = Maker(found.array, add, type);
    for (size_t side = 0; sum && side < 2 && found.blend.of < 0; ++side) {
      Found with = found;
      auto term = AsProduct(sum->inputs[side], type, &with);
      const Var& other = sum->inputs[1 - side];
      if (!term || other.type().dtype() != type.dtype() || other.type().shape().size() <= 1)
        continue;
      with.blend.of = PlaceOf(inputs, term->array);
      if (with.blend.of < 0) continue;
      found = std::move(with);
      found.made.push_back(sum);
      found.array = other;
      last_first.push_back(term->factor);
    }
    if (auto inner = AsProduct(found.array, type, &found)) {
      found.blend.before = true;
      found.array = inner->array;
      last_first.push_back(inner->factor);
    }
    found.factors.assign(last_first.rbegin(), last_first.rend());
    return found;
  }

  static int PlaceOf(const Vars& inputs, const Var& array) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (WithoutViews(inputs[i]) == WithoutViews(array)) return static_cast<int>(i);
    }
    return -1;
  }

  const std::function<bool(const Var&)>& inside_;
  std::unordered_map<const Node*, size_t> places_;         // of steps, in order
  std::unordered_map<Var, const Node*, VarHash> choices_;  // by what they choose from
  std::unordered_map<Var, size_t, VarHash> uses_;          // by steps of the chain
  std::unordered_set<const Node*> taken_;
};

}  // namespace

void JoinSteps(std::vector<ChainStep>* steps, const std::function<bool(const Var&)>& inside) {
  Chain chain(*steps, inside);
  for (ChainStep& step : *steps) {
    chain.TakeInput(&step);
    chain.TakeChoice(&step);
  }
  std::erase_if(*steps, [&](const ChainStep& step) { return chain.Taken(step.node); });
}

}  // namespace ms
