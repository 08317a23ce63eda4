#include "passes/fuse/groups.h"

#include <algorithm>

#include "passes/update_nodes.h"

namespace ms {
namespace {

constexpr size_t kMostNodes = 48;  // of one group
// Units looked at for one merge. Where more than these need the first unit, the second one nearly
// always needs one of them, as a gradient does that reads a value from the other end of a network.
constexpr int kMostVisited = 128;

// Whether a good part of what a node reads is an output of `source`.
bool ReadsMuch(const Node& node, const Node& source) {
  if (!source.outputs[0].is_tensor() || source.outputs[0].shape().symbolic()) return false;
  const Shape& shape = node.op->scalar ? node.outputs[0].shape() : node.inputs[0].type().shape();
  return 2 * source.outputs[0].shape().size() >= shape.size();
}

bool IsUnit(FuseKind kind, const Node& node) {
  return node.kind == NodeKind::kApply && kind != FuseKind::kGlue && kind != FuseKind::kNumber;
}

}  // namespace

Groups::Groups(const Graph& graph, const FuseNodes& nodes, GroupTable& table,
               const EffectAnalysis& effects)
    : graph_(graph), nodes_(nodes), table_(table), unit_of_(graph.nodes().size(), -1) {
  units_.reserve(graph.nodes().size());
  order_.reserve(graph.nodes().size());
  for (Node* node : graph.nodes()) {
    if (!IsUnit(nodes.kind(node), *node)) continue;
    int unit = static_cast<int>(units_.size());
    unit_of_[node->id] = unit;
    order_.push_back(unit);
    units_.push_back({{node}, unit});
  }
  AddEdges(effects);
}

// Glue is looked through; nodes with effects stay in their order.
void Groups::AddEdges(const EffectAnalysis& effects) {
  NodeLists::Edges edges;
  const Node* last = nullptr;
  for (Node* node : graph_.nodes()) {
    if (UnitOf(node) < 0) continue;
    for (const Var& v : node->inputs) {
      const Node* source = nodes_.Source(v).node;
      if (UnitOf(source) >= 0) edges.emplace_back(source->id, node);
    }
    if (!effects.HasEffect(*node)) continue;
    if (last) edges.emplace_back(last->id, node);
    last = node;
  }
  if (!graph_.updates.empty()) KeepUpdatesBetweenGuards(effects, &edges);
  users_ = NodeLists(graph_.nodes().size(), edges);
}

void Groups::KeepUpdatesBetweenGuards(const EffectAnalysis& effects, NodeLists::Edges* edges) {
  std::vector<bool> guards = FindGuards(graph_, effects), update(graph_.nodes().size(), false);
  for (auto [output, input] : graph_.updates)
    update[nodes_.Source(graph_.outputs()[static_cast<size_t>(output)]).node->id] = true;
  const Node* guard = nullptr;
  std::vector<const Node*> since;  // updates behind it
  for (Node* node : graph_.nodes()) {
    if (UnitOf(node) < 0) continue;
    if (guards[node->id]) {
      for (const Node* u : since) edges->emplace_back(u->id, node);
      since.clear();
      guard = node;
    } else if (update[node->id] || (node->op && !node->op->updates.empty())) {
      if (guard) edges->emplace_back(guard->id, node);
      since.push_back(node);
    }
  }
}

void Groups::Merge() {
  MergeWithProducers();
  MergeSiblings();
}

// In program order, so that a group grows from its first node on. The largest value first: of
// several producers it saves most.
void Groups::MergeWithProducers() {
  Vars sources;
  for (const Node* node : graph_.nodes()) {
    if (nodes_.kind(node) != FuseKind::kCompute) continue;
    sources.clear();
    for (const Var& v : node->inputs) sources.push_back(nodes_.Source(v));
    std::stable_sort(sources.begin(), sources.end(), [](const Var& a, const Var& b) {
      return a.type().bytes() > b.type().bytes();
    });
    for (const Var& source : sources) {
      if (nodes_.kind(source.node) == FuseKind::kCompute) Try(UnitOf(source.node), UnitOf(node));
    }
  }
}

// Units that read the same large value.
void Groups::MergeSiblings() {
  std::vector<Node*> readers;
  std::vector<const Node*> pending;
  for (const Node* source : graph_.nodes()) {
    readers.clear();
    pending.assign(1, source);
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      for (Node* user : nodes_.users(node)) {
        if (nodes_.kind(user) == FuseKind::kGlue) pending.push_back(user);
        if (nodes_.kind(user) == FuseKind::kCompute) readers.push_back(user);
      }
    }
    if (readers.size() < 2) continue;  // most values: before types are looked at
    std::erase_if(readers, [&](const Node* user) { return !ReadsMuch(*user, *source); });
    std::sort(readers.begin(), readers.end(),
              [](const Node* a, const Node* b) { return a->id < b->id; });
    for (size_t i = 1; i < readers.size(); ++i) {
      for (size_t j = std::max<size_t>(i, 4) - 4; j < i; ++j) {
        if (Try(UnitOf(readers[j]), UnitOf(readers[i]))) break;
      }
    }
  }
}

bool Groups::Try(int a, int b) {
  if (a == b) return false;
  Unit *first = &units_[static_cast<size_t>(a)], *second = &units_[static_cast<size_t>(b)];
  if (first->position > second->position) {
    std::swap(a, b);
    std::swap(first, second);
  }
  if (first->nodes.size() + second->nodes.size() > kMostNodes) return false;
  if (nodes_.IsUpdate(first->nodes[0]) != nodes_.IsUpdate(second->nodes[0])) return false;
  std::vector<bool> after;
  if (FindBetween(a, b, &after)) return false;
  std::vector<Node*> members;
  std::merge(first->nodes.begin(), first->nodes.end(), second->nodes.begin(), second->nodes.end(),
             std::back_inserter(members),
             [](const Node* x, const Node* y) { return x->id < y->id; });
  if (!table_.Find(members).fits) return false;
  Join(a, b, after);
  return true;
}

// Marks the units between the two that need `a`; true where `b` needs one of them, or when there
// are too many.
bool Groups::FindBetween(int a, int b, std::vector<bool>* after) const {
  int from = units_[static_cast<size_t>(a)].position, to = units_[static_cast<size_t>(b)].position;
  after->assign(static_cast<size_t>(to - from + 1), false);
  std::vector<int> pending{a};
  int visited = 0;
  while (!pending.empty()) {
    int unit = pending.back();
    pending.pop_back();
    if (++visited > kMostVisited) return true;
    for (const Node* node : units_[static_cast<size_t>(unit)].nodes) {
      for (const Node* user : users_[node->id]) {
        int next = UnitOf(user);
        if (next == b && unit != a) return true;
        int place = units_[static_cast<size_t>(next)].position - from;
        if (next == b || next == a || place >= to - from) continue;
        if ((*after)[static_cast<size_t>(place)]) continue;
        (*after)[static_cast<size_t>(place)] = true;
        pending.push_back(next);
      }
    }
  }
  return false;
}

// `b` takes the nodes of `a`; units between them that need `a` move behind.
void Groups::Join(int a, int b, const std::vector<bool>& after) {
  Unit &first = units_[static_cast<size_t>(a)], &second = units_[static_cast<size_t>(b)];
  auto from = static_cast<size_t>(first.position), to = static_cast<size_t>(second.position);
  std::vector<int> before, behind;
  for (size_t p = from + 1; p < to; ++p) {
    if (order_[p] >= 0) (after[p - from] ? behind : before).push_back(order_[p]);
  }
  size_t next = to + 1;
  auto place = [&](int unit) {
    order_[--next] = unit;
    if (unit >= 0) units_[static_cast<size_t>(unit)].position = static_cast<int>(next);
  };
  for (size_t i = behind.size(); i-- > 0;) place(behind[i]);
  place(b);
  for (size_t i = before.size(); i-- > 0;) place(before[i]);
  while (next > from) place(-1);
  std::vector<Node*> nodes;
  std::merge(first.nodes.begin(), first.nodes.end(), second.nodes.begin(), second.nodes.end(),
             std::back_inserter(nodes), [](const Node* x, const Node* y) { return x->id < y->id; });
  for (const Node* node : first.nodes) unit_of_[node->id] = b;
  second.nodes = std::move(nodes);
  first.nodes.clear();
}

std::vector<const Groups::Unit*> Groups::Order() const {
  std::vector<const Unit*> result;
  for (int unit : order_) {
    if (unit >= 0) result.push_back(&units_[static_cast<size_t>(unit)]);
  }
  return result;
}

}  // namespace ms
