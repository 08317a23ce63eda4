// Updates of many Parameters become one op each batch (ops/update_group.h), and run when their
// gradients are there (passes/update_order.h). Values that only a chain sees are made a few
// elements at a time and never lie in memory.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "ir/uses.h"
#include "ops/fused.h"
#include "ops/update_group.h"
#include "passes/passes.h"
#include "passes/readers.h"
#include "passes/update_order.h"

namespace ms {
namespace {

using Nodes = std::vector<Node*>;

struct Chain {
  Nodes nodes;
  size_t launches = 0;
  size_t places = 0;
};

// What others see of the nodes of some chains.
struct Members {
  Vars results;  // values that others read
  // Views that others read stay beside the group: before it, or behind it where they show what it
  // makes. Those that only others read have no copy in it.
  std::unordered_set<const Node*> stays, left_out;
  Nodes before, behind;

  Members(const std::vector<Chain>& chains, const Readers& readers) {
    Nodes nodes;
    for (const Chain& c : chains) nodes.insert(nodes.end(), c.nodes.begin(), c.nodes.end());
    std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
    auto outside = [&](const Node* reader) {
      return !reader || !inside.contains(reader) || stays.contains(reader);
    };
    // From the last one: a view that stays is a reader of what it shows.
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      Node* node = *it;
      for (uint32_t o = static_cast<uint32_t>(node->outputs.size()); o-- > 0;) {
        auto seen = readers[{node, o}];
        if (std::none_of(seen.begin(), seen.end(), outside)) continue;
        if (!node->op->view) {
          results.push_back({node, o});
          continue;
        }
        stays.insert(node);
        if (std::all_of(seen.begin(), seen.end(), outside)) left_out.insert(node);
        bool of_group = inside.contains(WithoutViews({node, o}).node);
        (of_group ? behind : before).push_back(node);
      }
    }
    std::reverse(results.begin(), results.end());
    std::reverse(before.begin(), before.end());
    std::reverse(behind.begin(), behind.end());
  }
};

struct Body {
  Graph* graph;
  Vars inputs;  // what the parameters stand for
  Ints sizes;   // nodes of each chain

  Body(Module* module, const std::vector<Chain>& chains, const Members& members)
      : graph(module->NewGraph("updates")) {
    std::unordered_map<Var, Var, VarHash> inside;
    auto use = [&](const Var& v) {
      auto [it, fresh] = inside.try_emplace(v);
      if (fresh) {
        it->second = {graph->AddParameter(v.type(), "x"), 0};
        inputs.push_back(v);
      }
      return it->second;
    };
    for (const Chain& chain : chains) {
      sizes.push_back(0);
      for (Node* node : chain.nodes) {
        if (members.left_out.contains(node)) continue;
        ++sizes.back();
        Vars read;
        for (const Var& v : node->inputs) read.push_back(use(v));
        Node* copy = graph->AddApply(*node->op, read, node->attrs, node->outputs, node->span);
        for (uint32_t o = 0; o < node->outputs.size(); ++o) inside[{node, o}] = {copy, o};
      }
    }
    Vars outputs;
    for (const Var& v : members.results) outputs.push_back(inside.at(v));
    graph->SetOutputs(std::move(outputs));
  }
};

class Grouping {
 public:
  explicit Grouping(Graph* graph) : graph_(graph), emitter_(graph), readers_(*graph) {
    Vars inputs = graph->inputs();
    for (auto [output, input] : graph->updates) {
      Var value = WithoutViews(graph->outputs()[static_cast<size_t>(output)]);
      old_.emplace(value, inputs[static_cast<size_t>(input)]);
    }
  }

  bool Run(const EffectAnalysis& effects) {
    UpdateOrder order = OrderUpdates(*graph_, effects);
    size_t at = 0;
    for (auto [begin, end] : order.batches) {
      for (; at < begin; ++at) placed_.push_back(order.nodes[at]);
      while (at < end) {
        Nodes run;
        for (; at < end && MayJoin(*order.nodes[at]); ++at) run.push_back(order.nodes[at]);
        Group(run);
        if (at < end) placed_.push_back(order.nodes[at++]);
      }
    }
    for (; at < order.nodes.size(); ++at) placed_.push_back(order.nodes[at]);
    return Finish();
  }

 private:
  // Element i of its outputs is made of elements i of its inputs, and of single elements.
  bool MayJoin(const Node& node) {
    auto plain = [](const Type& t) {
      return t.is_tensor() && !t.shape().symbolic() && !IsComplex(t.dtype());
    };
    for (const Var& v : node.inputs) {
      if (!plain(v.type())) return false;
    }
    if (!std::all_of(node.outputs.begin(), node.outputs.end(), plain)) return false;
    if (node.op->view) return true;
    if (node.outputs.empty()) return false;
    int64_t size = node.outputs[0].shape().size();
    auto full = [&](const Type& t) { return t.shape().size() == size; };
    bool fits = size > 1 && std::all_of(node.outputs.begin(), node.outputs.end(), full) &&
                std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Var& v) {
                  return full(v.type()) || v.type().shape().size() == 1;
                });
    return fits && (node.op->scalar || node.op->elementwise || JoinsFused(node));
  }

  bool JoinsFused(const Node& node) {
    if (!IsFused(node)) return false;
    auto [it, fresh] = aligned_.try_emplace(FusedGraph(node), false);
    if (fresh) {
      Types in;
      for (const Var& v : node.inputs) in.push_back(v.type());
      FusedBody body;
      it->second = AnalyzeFused(*it->first, &body).empty() && IsAligned(body, in);
    }
    return it->second;
  }

  // Nodes that touch the same value of more than one element are one chain. The new value of a
  // Parameter touches the old one, in whose memory it may be.
  std::vector<Chain> FindChains(const Nodes& run) const {
    std::vector<size_t> parent(run.size());
    std::iota(parent.begin(), parent.end(), size_t{0});
    auto root = [&](size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    std::unordered_map<Var, size_t, VarHash> toucher;
    for (size_t i = 0; i < run.size(); ++i) {
      auto touch = [&](const Var& v) {
        if (v.type().shape().size() <= 1) return;
        auto [it, fresh] = toucher.try_emplace(WithoutViews(v), i);
        if (!fresh) parent[root(i)] = root(it->second);
      };
      for (const Var& v : run[i]->inputs) touch(v);
      for (uint32_t o = 0; o < run[i]->outputs.size(); ++o) {
        touch({run[i], o});
        if (auto old = old_.find({run[i], o}); old != old_.end()) touch(old->second);
      }
    }
    std::map<size_t, size_t> number;
    std::vector<Chain> chains;
    for (size_t i = 0; i < run.size(); ++i) {
      auto [it, fresh] = number.try_emplace(root(i), chains.size());
      if (fresh) chains.emplace_back();
      Chain& chain = chains[it->second];
      chain.nodes.push_back(run[i]);
      if (run[i]->op->view) continue;
      ++chain.launches;
      chain.places += run[i]->inputs.size() + run[i]->outputs.size();
    }
    return chains;
  }

  // Views alone come first, chains that are too long run node by node after the others.
  void Group(const Nodes& run) {
    std::vector<Chain> together, apart;
    size_t launches = 0;
    for (Chain& chain : FindChains(run)) {
      bool fits = chain.launches > 0 && chain.places <= kMaxChainPlaces;
      if (fits) launches += chain.launches;
      if (chain.launches == 0)
        Place(chain.nodes);
      else
        (fits ? together : apart).push_back(std::move(chain));
    }
    if (launches > 1) {
      Emit(together);
    } else {
      for (const Chain& chain : together) Place(chain.nodes);
    }
    for (const Chain& chain : apart) Place(chain.nodes);
  }

  void Place(const Nodes& nodes) { placed_.insert(placed_.end(), nodes.begin(), nodes.end()); }

  void Emit(const std::vector<Chain>& chains) {
    static const OpDef& op = Ops().Get("UpdateGroup");
    Members members(chains, readers_);
    Body body(graph_->module(), chains, members);
    Place(members.before);
    emitter_.span = chains[0].nodes[0]->span;
    AttrsRef attrs = MakeAttrs(op, {{"body", body.graph}, {"chains", body.sizes}});
    Vars made = emitter_.Emit(op, body.inputs, std::move(attrs));
    placed_.push_back(made[0].node);
    Place(members.behind);
    for (size_t i = 0; i < made.size(); ++i) replaced_[members.results[i]] = made[i];
    for (const Chain& c : chains) {
      for (Node* node : c.nodes) {
        if (!members.stays.contains(node)) dropped_.push_back(node);
      }
    }
  }

  // Gradients die early even where nothing was grouped.
  bool Finish() {
    auto current = [&](Var& v) {
      if (auto it = replaced_.find(v); it != replaced_.end()) v = it->second;
    };
    for (Node* node : placed_) std::for_each(node->inputs.begin(), node->inputs.end(), current);
    Vars outputs = graph_->outputs();
    std::for_each(outputs.begin(), outputs.end(), current);
    graph_->SetOutputs(std::move(outputs));
    Nodes order;
    for (Node* node : graph_->nodes()) {
      if (node->kind != NodeKind::kApply) order.push_back(node);
    }
    order.insert(order.end(), placed_.begin(), placed_.end());
    size_t kept = order.size();
    order.insert(order.end(), dropped_.begin(), dropped_.end());
    bool changed = order != graph_->nodes();
    graph_->Reorder(std::move(order));
    std::vector<bool> keep(graph_->nodes().size(), true);
    std::fill(keep.begin() + static_cast<std::ptrdiff_t>(kept), keep.end(), false);
    if (!dropped_.empty()) graph_->Sweep(keep);
    return changed;
  }

  Graph* graph_;
  GraphEmitter emitter_;
  Readers readers_;
  std::unordered_map<Var, Var, VarHash> old_;  // by a Parameter's new value
  std::unordered_map<const Graph*, bool> aligned_;
  Nodes placed_;  // what applies ops, in the order in which it will run
  Nodes dropped_;
  std::unordered_map<Var, Var, VarHash> replaced_;
};

}  // namespace

bool GroupUpdates(Module& module) {
  bool changed = false;
  std::vector<Graph*> graphs;  // as they are now: groups have graphs of their own
  for (const auto& graph : module.graphs()) graphs.push_back(graph.get());
  EffectAnalysis effects(module);
  for (Graph* graph : graphs) {
    if (!graph->updates.empty()) changed |= Grouping(graph).Run(effects);
  }
  return changed;
}

}  // namespace ms
