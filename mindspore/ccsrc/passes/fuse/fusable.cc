#include "passes/fuse/fusable.h"

#include <algorithm>
#include <utility>

#include "ops/axes.h"
#include "ops/fused.h"
#include "passes/update_nodes.h"

namespace ms {
namespace {

struct GlueOps {
  const OpDef* transpose = &Ops().Get("Transpose");
  const OpDef* broadcast = &Ops().Get("BroadcastTo");
  const OpDef* slice = &Ops().Get("Slice");
  const OpDef* strided_slice = &Ops().Get("StridedSlice");
  const OpDef* fill = &Ops().Get("Fill");
  const OpDef* sum = &Ops().Get("ReduceSum");
};
const GlueOps& Glue() {
  static const GlueOps ops;
  return ops;
}

bool IsPlain(const Type& type) {
  return type.is_tensor() && !type.shape().symbolic() && !type.shape().empty() &&
         !IsComplex(type.dtype());
}

// Whether the op's result has the shape of its inputs broadcast together, as NumPy does it.
bool Broadcasts(const Node& node) {
  const Shape& out = node.outputs[0].shape();
  int64_t largest = 1;
  for (const Var& v : node.inputs) {
    const Shape& in = v.type().shape();
    if (in.rank() > out.rank()) return false;
    for (int i = 1; i <= in.rank(); ++i) {
      if (in[-i] != 1 && in[-i] != out[-i]) return false;
    }
    largest = std::max(largest, in.size());
  }
  for (int i = 1; i <= out.rank(); ++i) {
    bool found = out[-i] == 1;
    for (const Var& v : node.inputs) {
      const Shape& in = v.type().shape();
      found = found || (i <= in.rank() && in[-i] == out[-i]);
    }
    if (!found) return false;
  }
  return true;
}

bool IsReductionToFuse(const Node& node) {
  if (!IsFusableReduction(*node.op)) return false;
  if (node.op == Glue().sum && node.attr<bool>("skip_mode")) return false;
  DType dtype = node.outputs[0].dtype();
  if (IsBool(dtype)) return false;
  if (IsInteger(dtype) && node.op == &Ops().Get("ReduceMean")) return false;
  return node.outputs[0].shape().size() < node.inputs[0].type().shape().size();
}

// Whether an assignment is elementwise: as part of a group its value is cast as other casts are,
// which for integers is not what the op does.
bool AssignsAligned(const Node& node) {
  if (node.kind != NodeKind::kApply || !IsAssignment(*node.op)) return false;
  DType to = node.outputs[0].dtype(), from = node.inputs[1].type().dtype();
  return to == from || (IsFloating(to) && IsFloating(from));
}

// Of the nodes of FindAlignedUpdates, those that lead to an update with a kernel of its own, or
// follow one: that kernel takes some of them in, and the others pass through the first-level cache
// (kernel/update_chain.h).
std::vector<bool> FindTied(const Graph& graph, const std::vector<bool>& update) {
  std::vector<bool> tied(graph.nodes().size(), false);
  auto is_tied = [&](const Var& v) { return tied[v.node->id]; };
  for (const Node* node : graph.nodes()) {
    if (node->kind != NodeKind::kApply) continue;
    tied[node->id] = update[node->id]
                         ? std::any_of(node->inputs.begin(), node->inputs.end(), is_tied)
                         : !node->op->updates.empty();
  }
  for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
    if (!tied[(*it)->id]) continue;
    for (const Var& v : (*it)->inputs) {
      if (update[v.node->id]) tied[v.node->id] = true;
    }
  }
  return tied;
}

}  // namespace

bool IsAssignment(const OpDef& op) {
  static const OpDef* const all[] = {&Ops().Get("Assign"), &Ops().Get("AssignAdd"),
                                     &Ops().Get("AssignSub")};
  return std::find(std::begin(all), std::end(all), &op) != std::end(all);
}

bool IsAligned(const Node& node) {
  if (node.kind != NodeKind::kApply || (!node.op->scalar && !node.op->view)) return false;
  int64_t size = node.outputs[0].shape().size();
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Var& v) {
    int64_t in = v.type().shape().size();
    return in == size || in == 1;
  });
}

std::vector<bool> FindAlignedUpdates(const Graph& graph) {
  auto applies = [](const Node& node) { return !node.op->updates.empty(); };
  auto may = [&](const Node& node) {
    return IsAligned(node) || AssignsAligned(node) || applies(node);
  };
  std::vector<bool> update = FindUpdateNodes(graph, may);
  for (const Node* node : graph.nodes()) {
    if (update[node->id] && applies(*node) && !AssignsAligned(*node)) update[node->id] = false;
  }
  return update;
}

NodeLists::NodeLists(size_t nodes, const Edges& edges)
    : begin_(nodes + 1, 0), items_(edges.size()) {
  for (const auto& [id, node] : edges) ++begin_[id + 1];
  for (size_t i = 0; i < nodes; ++i) begin_[i + 1] += begin_[i];
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const auto& [id, node] : edges) items_[next[id]++] = node;
}

FuseNodes::FuseNodes(const Graph& graph)
    : kinds_(graph.nodes().size(), FuseKind::kOther),
      reduction_(graph.nodes().size()),
      update_(graph.nodes().size()),
      result_(graph.nodes().size()) {
  NodeLists::Edges edges;
  std::vector<const Node*> last(graph.nodes().size());  // reader of each node
  for (Node* node : graph.nodes()) {
    for (const Var& v : node->inputs) {
      if (std::exchange(last[v.node->id], node) != node) edges.emplace_back(v.node->id, node);
    }
  }
  users_ = NodeLists(graph.nodes().size(), edges);
  for (const Var& v : graph.outputs()) result_[v.node->id] = true;
  std::vector<bool> update = FindAlignedUpdates(graph), tied = FindTied(graph, update);
  for (const Node* node : graph.nodes()) {
    uint32_t id = node->id;
    if (!update[id]) kinds_[id] = KindOf(*node);
    // Rates and the like are single elements that the updates of all Parameters read.
    if (!update[id] || tied[id] || node->outputs[0].shape().size() <= 1) continue;
    kinds_[id] = IsAssignment(*node->op) ? FuseKind::kCompute : KindOf(*node);
    update_[id] = kinds_[id] == FuseKind::kCompute;
  }
  // From the last one, so that the users of glue are known.
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Node* node = graph.nodes()[i];
    if (kinds_[i] == FuseKind::kGlue && !Absorbed(*node)) kinds_[i] = FuseKind::kOther;
    reduction_[i] = kinds_[i] == FuseKind::kCompute && !node->op->scalar && !update_[i];
  }
}

FuseKind FuseNodes::KindOf(const Node& node) const {
  if (node.kind == NodeKind::kParameter) return FuseKind::kOther;
  for (const Type& type : node.outputs) {
    if (!IsPlain(type)) return FuseKind::kOther;
  }
  if (node.kind == NodeKind::kConstant) {
    bool exact = !IsInteger(node.value.dtype()) ||
                 (node.value.size() == 1 && std::abs(node.value.Item()) < 0x1p53);
    return node.value.size() == 1 && exact ? FuseKind::kNumber : FuseKind::kOther;
  }
  if (node.op == Glue().fill) return FuseKind::kNumber;
  if (node.outputs.size() != 1 || node.op->effect != Effect::kNone) return FuseKind::kOther;
  for (const Var& v : node.inputs) {
    if (!IsPlain(v.type())) return FuseKind::kOther;
  }
  bool moves = node.op->view || node.op == Glue().broadcast || node.op == Glue().transpose ||
               node.op == Glue().slice || node.op == Glue().strided_slice;
  if (moves && node.inputs.size() == 1) return FuseKind::kGlue;
  if (node.op->scalar && !node.inputs.empty() && Broadcasts(node)) return FuseKind::kCompute;
  if (!node.op->scalar && IsReductionToFuse(node)) return FuseKind::kCompute;
  return FuseKind::kOther;
}

// What costs time as a node of its own is read through only where all its users do so: if one needs
// it in memory, the others may as well read it there. Updates read what lies as the Parameters do.
bool FuseNodes::Absorbed(const Node& glue) const {
  if (glue.op->view || glue.op == Glue().broadcast) return true;
  if (result_[glue.id]) return false;
  auto users = users_[glue.id];
  return std::all_of(users.begin(), users.end(), [&](const Node* user) {
    return (kinds_[user->id] == FuseKind::kCompute && !update_[user->id]) ||
           kinds_[user->id] == FuseKind::kGlue;
  });
}

Var FuseNodes::Source(Var v) const {
  while (kind(v.node) == FuseKind::kGlue) v = v.node->inputs[0];
  return v;
}

}  // namespace ms
