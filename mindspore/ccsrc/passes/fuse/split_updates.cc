#include "passes/fuse/split_updates.h"

#include <algorithm>

#include "passes/fuse/fusable.h"

namespace ms {
namespace {

constexpr int kMostSteps = 4;  // from memory: what is computed twice is cheap

class Splitter {
 public:
  explicit Splitter(Graph* graph)
      : graph_(graph),
        nodes_(*graph),
        update_(FindAlignedUpdates(*graph)),
        old_(graph->nodes().size(), false),
        steps_(graph->nodes().size(), 0),
        twins_(graph->nodes().size(), nullptr),
        readers_(graph->nodes().size()) {}

  bool Run() {
    Vars inputs = graph_->inputs();
    for (auto [output, input] : graph_->updates)
      old_[inputs[static_cast<size_t>(input)].node->id] = true;
    const std::vector<Node*> nodes(graph_->nodes().begin(), graph_->nodes().end());
    for (const Node* node : nodes) steps_[node->id] = StepsFromMemory(*node);
    bool changed = false;
    for (size_t i = nodes.size(); i-- > 0;) changed |= steps_[i] > 0 && Split(nodes[i]);
    if (!changed) return false;
    std::vector<Node*> order;
    for (Node* node : nodes) {
      order.push_back(node);
      if (Node* twin = twins_[node->id]) order.push_back(twin);
    }
    graph_->Reorder(std::move(order));
    return true;
  }

 private:
  // How many elementwise steps lead from one value in memory, which stays as it is until the
  // updates run, to this node; 0: it is not made so, or too many.
  int StepsFromMemory(const Node& node) const {
    if (node.kind != NodeKind::kApply || update_[node.id] || nodes_.IsResult(&node)) return 0;
    if (nodes_.kind(&node) != FuseKind::kCompute || !IsAligned(node)) return 0;
    const Node* source = nullptr;
    for (const Var& v : node.inputs) {
      if (v.type().shape().size() <= 1) continue;
      if (source && source != v.node) return 0;
      source = v.node;
    }
    if (!source) return 0;
    int steps = steps_[source->id];
    bool in_memory = nodes_.kind(source) == FuseKind::kOther && !old_[source->id] &&
                     !update_[source->id] && !(source->op && source->op->view);
    if (in_memory) return 1;
    return steps > 0 && steps < kMostSteps ? steps + 1 : 0;
  }

  bool Updates(const Node& node) const {
    return update_[node.id] || (node.kind == NodeKind::kApply && !node.op->updates.empty());
  }

  bool Split(Node* node) {
    std::vector<Node*> updates = readers_[node->id];
    bool others = false;
    for (Node* user : nodes_.users(node)) {
      if (Updates(*user))
        updates.push_back(user);
      else if (nodes_.kind(user) == FuseKind::kCompute)
        others = true;
      else
        return false;  // which needs it in memory
    }
    if (updates.empty() || !others) return false;
    Node* twin = graph_->AddApply(*node->op, node->inputs, node->attrs, node->outputs, node->span);
    twins_[node->id] = twin;
    for (Node* user : updates) {
      for (Var& v : user->inputs) {
        if (v.node == node) v.node = twin;
      }
    }
    for (const Var& v : node->inputs) {
      if (v.type().shape().size() > 1) {
        readers_[v.node->id].push_back(twin);
        break;  // they are all the same
      }
    }
    return true;
  }

  Graph* graph_;
  FuseNodes nodes_;
  std::vector<bool> update_;
  std::vector<bool> old_;  // a Parameter's old value
  std::vector<int> steps_;
  std::vector<Node*> twins_;
  std::vector<std::vector<Node*>> readers_;  // twins that read the node
};

}  // namespace

bool SplitUpdates(Graph* graph) { return !graph->updates.empty() && Splitter(graph).Run(); }

}  // namespace ms
