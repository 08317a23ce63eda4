#include "passes/parallel/strategy.h"

#include <algorithm>

namespace ms::parallel {
namespace {

constexpr double kUnevenPenalty = 1.05;  // even pieces are better where they cost the same

bool Holds(const ShardOperand& operand, int factor) {
  return std::any_of(operand.begin(), operand.end(), [&](const ShardDim& dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

int DimOf(const ShardOperand& operand, int factor) {
  for (size_t d = 0; d < operand.size(); ++d) {
    if (!operand[d].empty() && operand[d][0] == factor) return static_cast<int>(d);
  }
  return -1;
}

Partial JoinOf(ShardMark mark) {
  if (mark == ShardMark::kMax) return Partial::kMax;
  if (mark == ShardMark::kMin) return Partial::kMin;
  return Partial::kSum;
}

// Linear, and blind to where elements lie: of parts of a sum it makes parts of the result.
bool PassesSums(const Node& node) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return false;
  const std::string& name = node.op->name;
  if (node.op->view || name == "Transpose") return true;
  return name == "Cast" && IsFloating(node.inputs[0].type().dtype()) &&
         IsFloating(node.outputs[0].dtype());
}

double Bytes(const Type& type, const Layout& layout, const Mesh& mesh) {
  if (!type.is_tensor()) return 0;
  return static_cast<double>(layout.LocalElements(type.shape(), mesh)) *
         static_cast<double>(ItemSize(type.dtype()));
}

int RankOf(const Type& type) { return type.is_tensor() ? type.shape().rank() : 0; }

}  // namespace

Choice AllAlike() {
  Choice choice;
  choice.fill(kAlike);
  return choice;
}

int LayoutTable::Number(const Layout& layout) {
  auto [place, fresh] = numbers_.try_emplace(layout, size());
  if (fresh) layouts_.push_back(layout);
  return place->second;
}

// ---- nodes ----------------------------------------------------------------------------------
ComputeKind::ComputeKind(const Node& node, const NodeFacts& facts, const Device& device)
    : outputs_(node.outputs), facts_(facts), device_(device), view_(node.op->view) {
  for (const Var& v : node.inputs) inputs_.push_back(v.type());
  bool tensors =
      std::all_of(inputs_.begin(), inputs_.end(), [](const Type& t) { return t.is_tensor(); });
  // What only has its input computed (Require) is where that is.
  bool outside =
      (node.op->effect == Effect::kIo && !node.op->view) || node.op->effect == Effect::kComm;
  static const Attrs kNone;
  if (tensors && !node.op->structural && !outside)
    rule_ = ShardRuleOf(*node.op, inputs_, node.attrs ? *node.attrs : kNone);
  reads_.assign(inputs_.size(), true);
  if (!rule_) return;
  const ShardRule& rule = *rule_;
  alone_.assign(rule.factors.size(), true);
  for (const auto* side : {&rule.operands, &rule.results}) {
    for (const ShardOperand& operand : *side) {
      for (const ShardDim& dim : operand) {
        for (int f : dim)
          alone_[static_cast<size_t>(f)] = alone_[static_cast<size_t>(f)] && dim.size() == 1;
      }
    }
  }
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    if (MayCut(rule.factors[f])) options_.push_back(static_cast<int8_t>(f));
    auto number = static_cast<int>(f);
    auto uses = std::count_if(rule.operands.begin(), rule.operands.end(),
                              [&](const ShardOperand& o) { return Holds(o, number); });
    contracts_ |= rule.factors[f].mark == ShardMark::kSum && uses >= 2;
    for (size_t i = 0; i < rule.operands.size(); ++i) {
      if (rule.factors[f].mark == ShardMark::kIndexed && Holds(rule.operands[i], number))
        reads_[i] = false;
    }
  }
  if (!PassesSums(node)) return;
  options_.push_back(kPass);
  if (facts_.trained && node.op->name != "Transpose") options_.push_back(kReaders);
}

bool ComputeKind::MayCut(const ShardFactor& factor) const {
  if (!factor.splits() || factor.mark == ShardMark::kHalo || factor.size.symbolic()) return false;
  bool extreme = factor.mark == ShardMark::kMax || factor.mark == ShardMark::kMin;
  return !extreme || !facts_.trained;
}

bool ComputeKind::SameChoices(const ComputeKind& other) const {
  if (rule_.has_value() != other.rule_.has_value() || options_ != other.options_) return false;
  if (!rule_) return true;
  const ShardRule &a = *rule_, &b = *other.rule_;
  auto same = [](const ShardFactor& x, const ShardFactor& y) {
    return x.name == y.name && x.size == y.size && x.mark == y.mark && x.by == y.by &&
           x.leads == y.leads;
  };
  return a.operands == b.operands && a.results == b.results && a.seeded == b.seeded &&
         std::equal(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(), same);
}

bool ComputeKind::CutsBatch(int factor) const {
  for (const ShardOperand& result : rule_->results) {
    if (!result.empty()) return DimOf(result, factor) == 0;
  }
  // Only scalars: of what is summed.
  return !rule_->operands.empty() && DimOf(rule_->operands[0], factor) == 0;
}

bool ComputeKind::Cuts(const Mesh& mesh, const Choice& choice, std::vector<int64_t>* cuts) const {
  cuts->assign(rule_ ? rule_->factors.size() : 0, 1);
  for (int axis = 0; axis < mesh.count(); ++axis) {
    int f = choice[static_cast<size_t>(axis)];
    if (f >= 0) (*cuts)[static_cast<size_t>(f)] *= mesh.size(axis);
  }
  for (size_t f = 0; f < cuts->size(); ++f) {
    if ((*cuts)[f] == 1) continue;
    int64_t size = rule_->factors[f].size.value();
    if ((*cuts)[f] > size || (!alone_[f] && size % (*cuts)[f] != 0)) return false;
  }
  return true;
}

End ComputeKind::Operand(const Mesh& mesh, const Choice& choice, size_t i) const {
  Layout layout = Layout::Replicated(RankOf(inputs_[i])), gradient = layout;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    int f = choice[static_cast<size_t>(axis)];
    if (f == kPass) layout = layout.With(axis, Partial::kSum);
    if (f == kReaders) gradient = gradient.With(axis, Partial::kSum);
    if (f < 0) continue;
    int dim = DimOf(rule_->operands[i], f);
    layout = dim >= 0 ? layout.Cut(dim, axis) : layout;
    gradient = dim >= 0 ? gradient.Cut(dim, axis) : gradient.With(axis, Partial::kSum);
  }
  return {layout, gradient};
}

End ComputeKind::Result(const Mesh& mesh, const Choice& choice, size_t i) const {
  Layout layout = Layout::Replicated(RankOf(outputs_[i])), gradient = layout;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    int f = choice[static_cast<size_t>(axis)];
    if (f == kPass) layout = layout.With(axis, Partial::kSum);
    if (f == kReaders) gradient = gradient.With(axis, Partial::kSum);
    if (f < 0) continue;
    int dim = DimOf(rule_->results[i], f);
    if (dim >= 0) {
      layout = layout.Cut(dim, axis);
      gradient = gradient.Cut(dim, axis);
    } else if (!outputs_[i].shape().empty()) {
      layout = layout.With(axis, JoinOf(rule_->factors[static_cast<size_t>(f)].mark));
    }
  }
  return {layout, gradient};
}

void ComputeKind::Count(const Mesh& mesh, const std::vector<int64_t>& cuts,
                        Strategy* strategy) const {
  double bytes = 0, flops = 0;
  for (size_t i = 0; i < outputs_.size(); ++i)
    bytes += Bytes(outputs_[i], strategy->outputs[i].layout, mesh);
  double made = bytes;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (reads_[i]) bytes += Bytes(inputs_[i], strategy->inputs[i].layout, mesh);
  }
  bool uneven = false;
  if (contracts_) flops = 2;
  for (size_t f = 0; f < cuts.size(); ++f) {
    int64_t size = rule_->factors[f].size.value();
    flops *= static_cast<double>((size + cuts[f] - 1) / cuts[f]);
    uneven |= size % cuts[f] != 0;
  }
  if (view_) return;
  strategy->seconds = Seconds(flops, bytes) * (uneven ? kUnevenPenalty : 1);
  if (facts_.keeps) strategy->bytes = made;
}

// Products bring blocks of their operands into place before they multiply them, so both take time.
double ComputeKind::Seconds(double flops, double bytes) const {
  double seconds = flops / device_.flops + bytes / device_.bytes + device_.launch;
  return seconds * facts_.times * (facts_.trained ? 1 + kBackward : 1);
}

// Everything that it reads, makes and multiplies, shared by all devices.
double ComputeKind::Least(const Mesh& mesh) const {
  if (view_) return 0;
  double bytes = 0, flops = contracts_ ? 2 : 0;
  for (const Type& type : outputs_) bytes += Bytes(type, Layout::Replicated(RankOf(type)), mesh);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (reads_[i]) bytes += Bytes(inputs_[i], Layout::Replicated(RankOf(inputs_[i])), mesh);
  }
  for (size_t f = 0; contracts_ && f < rule_->factors.size(); ++f)
    flops *= static_cast<double>(rule_->factors[f].size.value());
  double devices = cuts() ? static_cast<double>(mesh.devices()) : 1;
  return Seconds(flops / devices, bytes / devices);
}

std::string ComputeKind::WhyWhole() const {
  if (!rule_) return "nothing says how to compute it in parts";
  std::vector<std::string> neighbours, extremes, whole;
  for (const ShardFactor& f : rule_->factors) {
    if (f.mark == ShardMark::kWhole && !f.size.Is(1)) whole.push_back(f.name);
    if (!f.splits() || MayCut(f)) continue;
    if (f.mark == ShardMark::kHalo)
      neighbours.push_back(f.name);
    else if (f.mark == ShardMark::kMax || f.mark == ShardMark::kMin)
      extremes.push_back(f.name);
  }
  std::string text;
  auto add = [&](const std::vector<std::string>& names, const char* why) {
    if (!names.empty())
      text += fmt::format("{}'{}' {}", text.empty() ? "" : "; ", fmt::join(names, "', '"), why);
  };
  add(neighbours, "would need rows of the neighbours");
  add(extremes, "is that of a maximum or minimum, whose gradient needs all of it");
  add(whole, "must be whole");
  return text;
}

bool ComputeKind::Build(const Mesh& mesh, const Choice& choice, Strategy* strategy) const {
  std::vector<int64_t> cuts;
  if (!Cuts(mesh, choice, &cuts)) return false;
  for (size_t i = 0; i < inputs_.size(); ++i) strategy->inputs.push_back(Operand(mesh, choice, i));
  for (size_t i = 0; i < outputs_.size(); ++i) strategy->outputs.push_back(Result(mesh, choice, i));
  Count(mesh, cuts, strategy);
  return true;
}

// ---- values ---------------------------------------------------------------------------------
ValueKind::ValueKind(const Type& type, const Facts& facts)
    : type_(type), facts_(facts), fixed_(AllAlike()) {
  if (facts_.pin) {
    for (int axis = 0; axis < kMaxAxes; ++axis)
      fixed_[static_cast<size_t>(axis)] = static_cast<int8_t>(facts_.pin->dim_of(axis));
    return;
  }
  for (int dim = 0; dim < RankOf(type); ++dim) {
    if (type.shape()[dim] > 1) options_.push_back(static_cast<int8_t>(dim));
  }
  if (facts.shared && facts.trained) options_.push_back(kReaders);
}

bool ValueKind::Build(const Mesh& mesh, const Choice& choice, Strategy* strategy) const {
  Layout layout = Layout::Replicated(RankOf(type_));
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (choice[static_cast<size_t>(axis)] >= 0)
      layout = layout.Cut(choice[static_cast<size_t>(axis)], axis);
  }
  for (int dim = 0; dim < layout.rank() && !facts_.pin; ++dim) {
    if (layout.Cuts(dim, mesh) > std::max<int64_t>(1, type_.shape()[dim])) return false;
  }
  if (facts_.pin) layout = *facts_.pin;
  Layout gradient = layout;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (choice[static_cast<size_t>(axis)] == kReaders)
      gradient = gradient.With(axis, Partial::kSum);
  }
  strategy->inputs = strategy->outputs = {{layout, gradient}};
  strategy->bytes = facts_.copies * Bytes(type_, layout, mesh);
  return true;
}

}  // namespace ms::parallel
