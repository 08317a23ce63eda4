#include "passes/parallel/begin_sums.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/control.h"
#include "ir/var_map.h"
#include "passes/effects.h"

namespace ms::parallel {
namespace {

using Nodes = std::vector<Node*>;

// Ops of ops/sharded.cc that wait for others.
bool Communicates(const Node& node) {
  static const std::unordered_set<const OpDef*> ops{
      &Ops().Get("ShardSum"), &Ops().Get("ShardGather"), &Ops().Get("ShardScatter"),
      &Ops().Get("ShardExchange")};
  return ops.contains(node.op);
}

// What depends on a sum and cannot go behind others of its kind. A Require only raises.
bool IsStop(const Node& node, const EffectAnalysis& effects) {
  static const OpDef& require = Ops().Get("Require");
  return Communicates(node) || (effects.HasEffect(node) && node.op != &require);
}

// Whether calls may lead to something that waits for others.
bool CallsWait(const Module& module, const EffectAnalysis& effects) {
  for (const auto& graph : module.graphs()) {
    if (graph.get() == module.main()) continue;
    for (const Node* node : graph->nodes()) {
      if (node->kind == NodeKind::kApply && IsStop(*node, effects)) return true;
    }
  }
  return false;
}

// A sum that may begin before it is needed, by places among the nodes.
struct Candidate {
  Node* sum;
  size_t place;
  size_t need;  // of the first stop that depends on it
};

// Sums of one group that are waited for together, before the node at the place `end`.
struct Set {
  std::vector<Candidate> sums;
  size_t end = 0;
};

// Chooses from the sums of one group: first as many as can be waited for at one place, then from
// what lies before and behind them.
class Choosing {
 public:
  Choosing(const std::vector<bool>& stops, std::vector<Set>* sets) : stops_(stops), sets_(sets) {}

  // `sums` by their places.
  void From(const std::vector<Candidate>& sums) {
    if (sums.empty()) return;
    auto [end, most] = BestEnd(sums);
    if (most == 1) return OneByOne(sums);
    Set set{{}, end};
    std::vector<Candidate> before, behind;
    for (const Candidate& c : sums) {
      if (c.place >= end)
        behind.push_back(c);
      else if (c.need >= end)
        set.sums.push_back(c);
    }
    for (const Candidate& c : sums) {
      if (c.need <= set.sums[0].place) before.push_back(c);
    }
    sets_->push_back(std::move(set));
    From(before);
    From(behind);
  }

 private:
  // The latest of the places before which the most are under way, and how many these are.
  static std::pair<size_t, size_t> BestEnd(const std::vector<Candidate>& sums) {
    std::vector<size_t> needs;
    for (const Candidate& c : sums) needs.push_back(c.need);
    std::sort(needs.begin(), needs.end());
    size_t best = 0, most = 0, begun = 0;
    for (size_t i = 0; i < needs.size(); ++i) {
      if (i > 0 && needs[i] == needs[i - 1]) continue;
      while (begun < sums.size() && sums[begun].place < needs[i]) ++begun;
      if (begun - i >= most) most = begun - i, best = needs[i];
    }
    return {best, most};
  }

  // None is under way beside another one: each must have something else to go beside.
  void OneByOne(const std::vector<Candidate>& sums) {
    for (const Candidate& c : sums) {
      size_t last = std::min(c.need, stops_.size());
      for (size_t i = c.place + 1; i < last; ++i) {
        if (!stops_[i]) continue;
        sets_->push_back({{c}, c.need});
        break;
      }
    }
  }

  const std::vector<bool>& stops_;
  std::vector<Set>* sets_;
};

class Beginning {
 public:
  Beginning(Graph* graph, const EffectAnalysis& effects, bool calls_wait)
      : graph_(graph), emitter_(graph), nodes_(graph->nodes()), stops_(nodes_.size(), false) {
    separators_ = stops_;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i]->kind != NodeKind::kApply) continue;
      separators_[i] = calls_wait && nodes_[i]->op == Control().call;
      stops_[i] = separators_[i] || IsStop(*nodes_[i], effects);
    }
    FindSets();
  }

  // The groups whose sums begin early go to `groups`.
  bool Run(std::vector<std::string>* groups) {
    if (sets_.empty()) return false;
    for (const Set& set : sets_) Split(set, groups);
    MoveBehind();
    std::vector<std::pair<Key, Node*>> order;
    for (size_t i = 0; i < graph_->nodes().size(); ++i) {
      Node* node = graph_->nodes()[i];
      auto key = keys_.find(node);
      order.emplace_back(key == keys_.end() ? Key{i, kStays, i} : key->second, node);
    }
    std::sort(order.begin(), order.end());
    Nodes nodes;
    for (const auto& [key, node] : order) nodes.push_back(node);
    Replace();
    graph_->Reorder(std::move(nodes));
    std::vector<bool> keep;
    for (const Node* node : graph_->nodes())
      keep.push_back(!replaced_.contains({const_cast<Node*>(node), 0}));
    graph_->Sweep(keep);
    return true;
  }

 private:
  // By the place, then by what it is, then as in the program.
  using Key = std::tuple<size_t, int, size_t>;
  static constexpr int kAwaits = 0, kGoesBehind = 1, kStays = 2;
  static constexpr size_t kEnd = std::numeric_limits<size_t>::max();

  static bool IsSum(const Node& node) {
    static const OpDef& sum = Ops().Get("ShardSum");
    return node.op == &sum && node.attr<std::string>("op") == "sum" &&
           !IsBool(node.outputs[0].dtype()) && !node.outputs[0].shape().symbolic();
  }

  // By node, where the first stop stands that depends on it; no sum goes over a separator.
  std::vector<size_t> Needs() const {
    std::vector<size_t> needs(nodes_.size(), kEnd);
    size_t separator = kEnd;
    for (size_t i = nodes_.size(); i-- > 0;) {
      needs[i] = std::min(needs[i], separator);
      if (separators_[i]) separator = i;
      size_t mine = stops_[i] ? i : needs[i];
      for (const Var& v : nodes_[i]->inputs) needs[v.node->id] = std::min(needs[v.node->id], mine);
    }
    return needs;
  }

  void FindSets() {
    std::vector<size_t> needs = Needs();
    std::vector<std::string> names;  // as they come: the same order in all processes
    std::map<std::string, std::vector<Candidate>> groups;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i]->kind != NodeKind::kApply || !IsSum(*nodes_[i])) continue;
      const auto& name = nodes_[i]->attr<std::string>("group");
      auto& sums = groups[name];
      if (sums.empty()) names.push_back(name);
      sums.push_back({nodes_[i], i, needs[i]});
    }
    for (const std::string& name : names) Choosing(stops_, &sets_).From(groups[name]);
  }

  void Split(const Set& set, std::vector<std::string>* groups) {
    static const OpDef &start = Ops().Get("StartSum"), &await = Ops().Get("AwaitSums");
    const auto& name = set.sums[0].sum->attr<std::string>("group");
    if (std::find(groups->begin(), groups->end(), name) == groups->end()) groups->push_back(name);
    std::string group = BesideName(name);
    Ints counts, dtypes;
    for (const Candidate& c : set.sums) {
      counts.push_back(c.sum->outputs[0].shape().size());
      dtypes.push_back(static_cast<int64_t>(c.sum->outputs[0].dtype()));
    }
    Vars started;
    for (size_t i = 0; i < set.sums.size(); ++i) {
      const Candidate& c = set.sums[i];
      emitter_.span = c.sum->span;
      AttrsRef attrs = MakeAttrs(start, {{"group", group},
                                         {"index", static_cast<int64_t>(i)},
                                         {"counts", counts},
                                         {"dtypes", dtypes},
                                         {"beside", true}});
      started.push_back(emitter_.Emit(start, {c.sum->inputs[0]}, std::move(attrs))[0]);
      keys_[started.back().node] = {c.place, kStays, 0};
    }
    emitter_.span = set.sums[0].sum->span;
    Vars sums = emitter_.Emit(await, started, MakeAttrs(await, {{"group", group}}));
    keys_[sums[0].node] = {set.end, kAwaits, set.sums[0].place};
    for (size_t i = 0; i < sums.size(); ++i) {
      replaced_[{set.sums[i].sum, 0}] = sums[i];
      end_of_[set.sums[i].sum] = set.end;
    }
  }

  // What reads a sum goes behind where it is waited for.
  void MoveBehind() {
    std::vector<size_t> waits(nodes_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Var& v : nodes_[i]->inputs) waits[i] = std::max(waits[i], waits[v.node->id]);
      if (waits[i] > i) keys_[nodes_[i]] = {waits[i], kGoesBehind, i};
      if (auto end = end_of_.find(nodes_[i]); end != end_of_.end()) waits[i] = end->second;
    }
  }

  void Replace() {
    auto current = [&](Var& v) {
      if (auto it = replaced_.find(v); it != replaced_.end()) v = it->second;
    };
    for (Node* node : graph_->nodes())
      std::for_each(node->inputs.begin(), node->inputs.end(), current);
    Vars outputs = graph_->outputs();
    std::for_each(outputs.begin(), outputs.end(), current);
    graph_->SetOutputs(std::move(outputs));
  }

  Graph* graph_;
  GraphEmitter emitter_;
  Nodes nodes_;  // as the program has them
  std::vector<bool> stops_, separators_;
  std::vector<Set> sets_;
  std::unordered_map<const Node*, Key> keys_;  // of nodes that are new, or moved
  std::unordered_map<const Node*, size_t> end_of_;
  std::unordered_map<Var, Var, VarHash> replaced_;
};

}  // namespace

bool BeginSums(Module& module, Lowered* lowered) {
  EffectAnalysis effects(module);
  bool calls_wait = CallsWait(module, effects);
  std::vector<std::string> begun;
  bool changed = false;
  for (const auto& graph : module.graphs())
    changed |= Beginning(graph.get(), effects, calls_wait).Run(&begun);
  for (const std::string& name : begun) {
    auto group = std::find_if(lowered->groups.begin(), lowered->groups.end(),
                              [&](const ProcessGroup& g) { return g.name == name; });
    MS_ASSERT(group != lowered->groups.end());
    lowered->groups.push_back({BesideName(name), group->ranks, true});
  }
  return changed;
}

}  // namespace ms::parallel
