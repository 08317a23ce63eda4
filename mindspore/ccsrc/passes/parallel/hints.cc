#include "passes/parallel/hints.h"

#include <algorithm>

#include "ir/op.h"
#include "ir/users_span.h"

namespace ms::parallel {
namespace {

const std::string& Text(const Node& hint, const char* attribute) {
  return AttrOf<std::string>(*hint.op, *hint.attrs, attribute);
}

// Of one op, not of a value or a whole cell.
bool OfOneOp(const Node& hint) { return Text(hint, "strategy").find('#') != std::string::npos; }

// "For 'Dense.shard' at net.py:14": whoever said it.
std::string ForOwner(const Node& hint) {
  const std::string& strategy = Text(hint, "strategy");
  std::string owner = strategy.substr(0, strategy.find('#')),
              where = ShortSpan(UsersSpan(hint.span));
  return fmt::format("For '{}'{}", owner.empty() ? "ShardHint" : owner,
                     where.empty() ? "" : " at " + where);
}

bool Named(const Node& node, const Node& hint) {
  return Text(hint, "strategy").starts_with(node.op->name + "#");
}

// Without the axes of one device, and in the order of the mesh: as ops are cut.
Layout AsOpsAreCut(const Layout& layout, const Mesh& mesh) {
  Layout result = layout;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (mesh.size(axis) == 1) result = result.Free(axis);
  }
  return result.Sorted();
}

Layout LayoutOf(const Node& hint, const Mesh& mesh) {
  const Shape& shape = hint.outputs[0].shape();
  Layout layout;
  const std::string& text = Text(hint, "layout");
  try {
    layout = AsOpsAreCut(Layout::Parse(text, shape.rank(), mesh), mesh);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}, {}", ForOwner(hint), error.message()))
        .WithSpan(hint.span);
  }
  for (int dim = 0; dim < layout.rank() && !shape.symbolic(); ++dim) {
    int64_t cuts = layout.Cuts(dim, mesh);
    if (cuts == 1 || cuts <= shape[dim]) continue;
    throw Error(ErrorKind::kValue,
                fmt::format("{}, a dimension must have an element for each of its pieces, but got "
                            "{} pieces of dimension {} of {}, from the layout {}.",
                            ForOwner(hint), cuts, dim, hint.outputs[0], text))
        .WithSpan(hint.span);
  }
  return layout;
}

}  // namespace

std::string ForNode(const Node& node) {
  std::string where = ShortSpan(UsersSpan(node.span));
  return fmt::format("For '{}'{}", node.op->name, where.empty() ? "" : " at " + where);
}

std::string NodePins::ToString(const Mesh& mesh) const {
  auto side = [&](const char* name, const std::vector<std::optional<Layout>>& layouts) {
    std::string text = name;
    for (const auto& layout : layouts) text += " " + (layout ? layout->ToString(mesh) : "any");
    return text;
  };
  return side("inputs", inputs) + ", " + side("outputs", outputs);
}

bool Hints::IsHint(const Node& node) {
  static const OpDef& hint = Ops().Get("ShardHint");
  return node.kind == NodeKind::kApply && node.op == &hint;
}

bool Hints::Waits(const Node& node) {
  static const OpDef& depend = Ops().Get("Depend");
  return node.kind == NodeKind::kApply && node.op == &depend && node.outputs[0].is_tensor();
}

bool Hints::OnlyLies(const Node& node) { return IsHint(node) || Waits(node); }

Hints::Hints(const Module& module, const Mesh& mesh) : mesh_(mesh) {
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (!IsHint(*node)) continue;
      all_.push_back(node);
      layouts_[node] = LayoutOf(*node, mesh);
    }
  }
  if (all_.empty()) return;
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      bool computes = node->kind == NodeKind::kApply && !node->op->structural && !IsHint(*node);
      if (computes) AddPins(*node);
    }
  }
  for (const Node* hint : all_) {
    if (OfResult(hint)) AddResult(*hint);
  }
}

const NodePins* Hints::PinsOf(const Node* node) const {
  auto found = pins_.find(node);
  return found == pins_.end() ? nullptr : &found->second;
}

bool Hints::OfResult(const Node* hint) const {
  const Node& maker = *hint->inputs[0].node;
  if (maker.kind != NodeKind::kApply || IsHint(maker) || !OfOneOp(*hint)) return false;
  // Its operands have hints of the same call.
  return std::any_of(maker.inputs.begin(), maker.inputs.end(), [&](const Var& v) {
    return IsHint(*v.node) && Text(*v.node, "strategy") == Text(*hint, "strategy");
  });
}

void Hints::AddPins(const Node& node) {
  NodePins pins{std::vector<std::optional<Layout>>(node.inputs.size()),
                std::vector<std::optional<Layout>>(node.outputs.size())};
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Node* hint = node.inputs[i].node;
    if (!IsHint(*hint) || !OfOneOp(*hint) || OfResult(hint)) continue;
    pins.inputs[i] = of(hint);
    pins.strict &= Named(node, *hint);
    any = true;
  }
  if (any) pins_.emplace(&node, std::move(pins));
}

void Hints::AddResult(const Node& hint) {
  auto found = pins_.find(hint.inputs[0].node);
  if (found == pins_.end()) return;
  std::optional<Layout>& pin = found->second.outputs[hint.inputs[0].index];
  const Layout& layout = of(&hint);
  if (pin && !(*pin == layout)) {
    const Node& maker = *hint.inputs[0].node;
    throw Error(ErrorKind::kValue,
                fmt::format("{}, a result must have one layout, but got {} and {} for output {}.",
                            ForNode(maker), pin->ToString(mesh_), layout.ToString(mesh_),
                            hint.inputs[0].index))
        .WithSpan(maker.span);
  }
  pin = layout;
}

}  // namespace ms::parallel
