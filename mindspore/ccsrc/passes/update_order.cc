#include "passes/update_order.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/uses.h"
#include "passes/update_nodes.h"

namespace ms {
namespace {

// Gradients that wait for each other, so that their updates run together, take at most a part of
// what all gradients take, and no more than is enough for a long loop.
constexpr size_t kPartOfGradients = 16;
constexpr size_t kLeastBatch = 64 << 10;
constexpr size_t kMostBatch = 8 << 20;

// `floating` nodes are cheap and used by updates alone; a root is the node that makes a Parameter's
// new value; it and what it needs run once the other nodes that it waits for have run, together
// with other roots.
class Ordering {
 public:
  Ordering(const Graph& graph, const EffectAnalysis& effects)
      : graph_(graph),
        floating_(FindUpdateNodes(graph, MayUpdate)),
        placed_(graph.nodes().size(), false),
        readers_(graph.nodes().size()) {
    FindReaders();
    std::vector<bool> guards = FindGuards(graph, effects);
    for (const Node* node : graph.nodes()) {
      if (guards[node->id] && !floating_[node->id]) guards_.push_back(node);
    }
    Vars inputs = graph.inputs();
    std::vector<Node*> makers;  // a node may make new values of several Parameters
    for (auto [output, input] : graph.updates) {
      Node* maker = graph.outputs()[static_cast<size_t>(output)].node;
      auto [it, fresh] = updated_.try_emplace(maker);
      if (fresh) makers.push_back(maker);
      it->second.push_back(inputs[static_cast<size_t>(input)].node);
    }
    for (Node* maker : makers) AddRoot(maker);
    size_t gradients = 0;
    for (const Root& root : roots_) gradients += root.bytes;
    batch_bytes_ = std::clamp(gradients / kPartOfGradients, kLeastBatch, kMostBatch);
  }

  UpdateOrder Run() {
    for (size_t r = 0; r < roots_.size(); ++r) {
      if (roots_[r].waits == 0) Ready(roots_[r]);
    }
    auto guard = guards_.begin();
    for (Node* node : graph_.nodes()) {
      if (node->kind != NodeKind::kApply || floating_[node->id]) continue;
      if (guard != guards_.end() && *guard == node) {
        PlaceBatch();  // all stand before the node
        ++guard;
      }
      Emit(node);
    }
    PlaceBatch();
    return std::move(order_);
  }

 private:
  struct Root {
    std::vector<Node*> nodes;  // in program order, the root last
    size_t waits = 0;
    size_t bytes = 0;  // of the gradients that no root before it needs
  };

  // Of Parameters, perhaps through views: all but updates.
  void FindReaders() {
    for (Node* node : graph_.nodes()) {
      if (node->kind != NodeKind::kApply || floating_[node->id]) continue;
      VisitUses(*node, [&](const Var& v, Use) {
        const Node* source = WithoutViews(v).node;
        if (source->kind == NodeKind::kParameter) readers_[source->id].push_back(node);
      });
    }
  }

  // What is not an update runs in program order, so that the last one has run after all.
  const Node* LastGuardBefore(const Node* root) const {
    auto after = std::upper_bound(guards_.begin(), guards_.end(), root,
                                  [](auto* a, auto* b) { return a->id < b->id; });
    return after == guards_.begin() ? nullptr : *std::prev(after);
  }

  void AddRoot(Node* root) {
    if (root->kind != NodeKind::kApply || !floating_[root->id]) return;
    Root entry;
    std::set<const Node*> seen{root}, waits;
    std::vector<Node*> pending{root};
    while (!pending.empty()) {
      Node* node = pending.back();
      pending.pop_back();
      entry.nodes.push_back(node);
      for (const Var& v : node->inputs) {
        if (v.node->kind != NodeKind::kApply) continue;
        if (!floating_[v.node->id]) {
          waits.insert(v.node);
          if (gradients_.insert(v).second) entry.bytes += v.type().bytes();
        } else if (seen.insert(v.node).second) {
          pending.push_back(v.node);
        }
      }
    }
    // Old values must have been read by then, or the new ones could not be written over them.
    for (const Node* node : entry.nodes) {
      auto parameters = updated_.find(node);
      if (parameters == updated_.end()) continue;
      for (const Node* p : parameters->second)
        waits.insert(readers_[p->id].begin(), readers_[p->id].end());
    }
    if (const Node* guard = LastGuardBefore(root)) waits.insert(guard);
    std::sort(entry.nodes.begin(), entry.nodes.end(),
              [](auto* a, auto* b) { return a->id < b->id; });
    entry.waits = waits.size();
    waiting_.resize(graph_.nodes().size());
    for (const Node* node : waits) waiting_[node->id].push_back(roots_.size());
    roots_.push_back(std::move(entry));
  }

  void Emit(Node* node) {
    order_.nodes.push_back(node);
    if (waiting_.empty()) return;
    for (size_t r : waiting_[node->id]) {
      if (--roots_[r].waits == 0) Ready(roots_[r]);
    }
  }

  void Ready(const Root& root) {
    for (Node* node : root.nodes) {
      if (!placed_[node->id]) batch_.push_back(node);
      placed_[node->id] = true;
    }
    waiting_bytes_ += root.bytes;
    if (waiting_bytes_ > batch_bytes_) PlaceBatch();
  }

  // In program order, single elements (rates and the like) first: they would part what could be one
  // launch.
  void PlaceBatch() {
    waiting_bytes_ = 0;
    std::sort(batch_.begin(), batch_.end(), [](auto* a, auto* b) { return a->id < b->id; });
    std::vector<Node*> single, rest;
    std::set<const Node*> later;  // what `rest` makes
    for (Node* node : batch_) {
      auto alone = [&](const Type& t) { return t.is_tensor() && t.shape().size() <= 1; };
      bool first = std::all_of(node->outputs.begin(), node->outputs.end(), alone) &&
                   std::none_of(node->inputs.begin(), node->inputs.end(),
                                [&](const Var& v) { return later.contains(v.node); });
      if (!first) later.insert(node);
      (first ? single : rest).push_back(node);
    }
    batch_.clear();
    order_.nodes.insert(order_.nodes.end(), single.begin(), single.end());
    if (rest.empty()) return;
    order_.batches.emplace_back(order_.nodes.size(), order_.nodes.size() + rest.size());
    order_.nodes.insert(order_.nodes.end(), rest.begin(), rest.end());
  }

  const Graph& graph_;
  const std::vector<bool> floating_;
  std::vector<bool> placed_;
  std::vector<std::vector<const Node*>> readers_;  // of a Parameter, floating ones left out
  std::vector<const Node*> guards_;                // in program order
  std::unordered_map<const Node*, std::vector<const Node*>> updated_;  // parameters that it updates
  std::vector<std::vector<size_t>> waiting_;                           // roots that wait for a node
  std::unordered_set<Var, VarHash> gradients_;  // counted in some root's bytes
  std::vector<Root> roots_;
  std::vector<Node*> batch_;  // whose turn has come
  size_t waiting_bytes_ = 0;
  size_t batch_bytes_ = 0;
  UpdateOrder order_;
};

}  // namespace

UpdateOrder OrderUpdates(const Graph& graph, const EffectAnalysis& effects) {
  return Ordering(graph, effects).Run();
}

}  // namespace ms
