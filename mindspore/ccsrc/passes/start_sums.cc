// AllReduce ops of gradients, which the program makes one after the other behind the backward pass,
// become sums that begin where their gradients are made (StartSum) and are waited for together
// (AwaitSums): so they are made while the rest of the backward pass runs, in buckets that the
// runtime chooses (kernel/joint_sums.h).
//
// Nothing else that processes do together may come between. What reads a sum waits for all of them.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/var_map.h"
#include "passes/applies.h"
#include "passes/effects.h"
#include "passes/passes.h"

namespace ms {
namespace {

using Nodes = std::vector<Node*>;

bool IsSum(const Node& node) {
  static const OpDef& all_reduce = Ops().Get("AllReduce");
  return node.op == &all_reduce && node.attr<std::string>("op") == "sum" &&
         !node.inputs[0].type().shape().symbolic();
}

// Sums of one group of processes that do not depend on each other.
struct Set {
  Nodes sums;
  Nodes behind;    // what stands between them and reads them: it goes behind them
  size_t after;    // no sum may begin before this place
  size_t end = 0;  // where they are waited for
};

class Starting {
 public:
  Starting(Graph* graph, const EffectAnalysis& effects) : graph_(graph), emitter_(graph) {
    for (Node* node : graph->nodes()) {
      if (node->kind == NodeKind::kApply) nodes_.push_back(node);
    }
    FindSets(effects);
  }

  bool Run() {
    if (sets_.empty()) return false;
    for (size_t i = 0; i < nodes_.size(); ++i) place_[nodes_[i]] = i;
    for (const Set& set : sets_) Split(set);
    Nodes order;
    for (Node* node : graph_->nodes()) {
      if (node->kind != NodeKind::kApply) order.push_back(node);
    }
    for (size_t i = 0; i <= nodes_.size(); ++i) {
      for (Node* node : before_[i]) order.push_back(node);
      if (i < nodes_.size() && !moved_.contains(nodes_[i])) order.push_back(nodes_[i]);
    }
    size_t kept = order.size();
    Replace(order);
    for (const Set& set : sets_) order.insert(order.end(), set.sums.begin(), set.sums.end());
    graph_->Reorder(std::move(order));
    std::vector<bool> keep(graph_->nodes().size(), true);
    std::fill(keep.begin() + static_cast<std::ptrdiff_t>(kept), keep.end(), false);
    graph_->Sweep(keep);
    return true;
  }

 private:
  // Random numbers are drawn by each process for itself; what else has an effect may be a call of
  // all, or lead to one.
  static bool Parts(const Node& node, const EffectAnalysis& effects) {
    return effects.HasEffect(node) && node.op->effect != Effect::kRandom;
  }

  void FindSets(const EffectAnalysis& effects) {
    Set set{{}, {}, 0};
    std::unordered_set<const Node*> behind;
    size_t last_part = 0;  // place behind what no sum may pass
    auto close = [&](size_t i) {
      if (!set.sums.empty()) {
        set.end = i;
        if (IsWorthIt(set)) sets_.push_back(std::move(set));
        last_part = i;
      }
      set = {{}, {}, 0};
      behind.clear();
    };
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Node* node = nodes_[i];
      bool reads = std::any_of(node->inputs.begin(), node->inputs.end(),
                               [&](const Var& v) { return behind.contains(v.node); });
      bool sum = IsSum(*node), parts = Parts(*node, effects);
      if (parts && (reads || !sum || !Fits(*node, set))) {
        close(i);
        reads = false;
      }
      if (sum) {
        if (set.sums.empty()) set.after = last_part;
        set.sums.push_back(node);
        behind.insert(node);
      } else if (parts) {
        last_part = i + 1;
      } else if (reads) {
        set.behind.push_back(node);
        behind.insert(node);
      }
    }
    close(nodes_.size());
  }

  static bool Fits(const Node& node, const Set& set) {
    return set.sums.empty() ||
           node.attr<std::string>("group") == set.sums[0]->attr<std::string>("group");
  }

  // A sum alone, where nothing runs between what it adds up and itself, stays what it is.
  bool IsWorthIt(const Set& set) const {
    if (set.sums.size() > 1) return true;
    auto end = std::find(nodes_.begin(), nodes_.end(), set.sums[0]);
    auto made = std::find(nodes_.begin(), end, set.sums[0]->inputs[0].node);
    auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(set.after);
    if (made != end) begin = std::max(begin, made + 1);
    return std::any_of(begin, end, [](const Node* node) { return !node->op->view; });
  }

  void Split(const Set& set) {
    static const OpDef &start = Ops().Get("StartSum"), &await = Ops().Get("AwaitSums");
    Ints counts, dtypes;
    for (const Node* sum : set.sums) {
      counts.push_back(sum->outputs[0].shape().size());
      dtypes.push_back(static_cast<int64_t>(sum->outputs[0].dtype()));
    }
    Vars started;
    for (size_t i = 0; i < set.sums.size(); ++i) {
      const Node& sum = *set.sums[i];
      emitter_.span = sum.span;
      Var x = sum.inputs[0];
      AttrsRef attrs = MakeAttrs(start, {{"group", sum.attr<std::string>("group")},
                                         {"index", static_cast<int64_t>(i)},
                                         {"counts", counts},
                                         {"dtypes", dtypes}});
      started.push_back(emitter_.Emit(start, {x}, std::move(attrs))[0]);
      auto made = place_.find(x.node);
      size_t place = std::max(set.after, made == place_.end() ? 0 : made->second + 1);
      before_[place].push_back(started.back().node);
    }
    emitter_.span = set.sums[0]->span;
    Vars sums = emitter_.Emit(
        await, started, MakeAttrs(await, {{"group", set.sums[0]->attr<std::string>("group")}}));
    before_[set.end].push_back(sums[0].node);
    before_[set.end].insert(before_[set.end].end(), set.behind.begin(), set.behind.end());
    moved_.insert(set.sums.begin(), set.sums.end());
    moved_.insert(set.behind.begin(), set.behind.end());
    for (size_t i = 0; i < sums.size(); ++i) replaced_[{set.sums[i], 0}] = sums[i];
  }

  void Replace(const Nodes& order) {
    auto current = [&](Var& v) {
      if (auto it = replaced_.find(v); it != replaced_.end()) v = it->second;
    };
    for (Node* node : order) std::for_each(node->inputs.begin(), node->inputs.end(), current);
    Vars outputs = graph_->outputs();
    std::for_each(outputs.begin(), outputs.end(), current);
    graph_->SetOutputs(std::move(outputs));
  }

  Graph* graph_;
  GraphEmitter emitter_;
  Nodes nodes_;  // that apply ops, as the program has them
  std::vector<Set> sets_;
  std::unordered_map<const Node*, size_t> place_;
  std::unordered_map<size_t, Nodes> before_;  // what comes in front of a place
  std::unordered_set<const Node*> moved_;     // from where they stood
  std::unordered_map<Var, Var, VarHash> replaced_;
};

}  // namespace

bool StartSums(Module& module) {
  bool changed = false;
  EffectAnalysis effects(module);
  for (const auto& graph : module.graphs()) {
    if (Applies(*graph, "AllReduce")) changed |= Starting(graph.get(), effects).Run();
  }
  return changed;
}

}  // namespace ms
