#include "passes/parallel/problem.h"

#include <algorithm>
#include <numeric>

#include "ir/control.h"
#include "passes/parallel/kind_table.h"
#include "passes/parallel/module_values.h"

namespace ms::parallel {
namespace {

bool Computes(const Node& node) { return node.kind == NodeKind::kApply && !node.op->structural; }

class Builder {
 public:
  Builder(const Module& module, const PlanOptions& options)
      : module_(module),
        options_(options),
        callees_(module),
        hints_(module, options.mesh),
        known_(module, options, callees_, hints_),
        kinds_(options.mesh, options.device) {
    blocks_in_.resize(static_cast<size_t>(options.stages.count()), 0);
    for (const Graph* block : callees_.blocks()) {
      std::vector<double> shares = options.stages.SharesOf(block);
      for (size_t s = 0; s < shares.size(); ++s) blocks_in_[s] += shares[s] > 0;
    }
  }

  Problem Make() {
    for (const auto& graph : module_.graphs()) AddGraph(*graph);
    for (const auto& graph : module_.graphs()) AddLinks(*graph);
    problem_.types = kinds_.TakeTypes();
    problem_.kinds = kinds_.TakeKinds();
    return std::move(problem_);
  }

 private:
  // ---- variables
  int Add(const Kind* kind, const Node* node, const Keeping& keeping) {
    problem_.variables.push_back({kind, node, keeping});
    return static_cast<int>(problem_.variables.size()) - 1;
  }
  Variable& At(int variable) { return problem_.variables[static_cast<size_t>(variable)]; }

  void AddGraph(const Graph& graph) {
    Values& values = known_.all();
    for (const Var& v : graph.inputs()) {
      if (v.type().is_tensor()) problem_.parameters[v.node] = OfValue(values.Of(v.node));
    }
    for (Node* node : graph.nodes()) {
      if (Computes(*node)) problem_.nodes[node] = Add(KindOf(*node), node, KeepingOf(*node));
      if (node->op == Control().call) AddHanded(node);
    }
    std::vector<int>& results = problem_.results[&graph];
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      bool tensor = graph.outputs()[i].type().is_tensor();
      results.push_back(tensor ? OfValue(values.Of(&graph, i)) : -1);
    }
  }
  void AddHanded(Node* call) {
    for (uint32_t i = 0; i < call->outputs.size(); ++i) {
      int value = known_.Of({call, i});
      if (value >= 0) problem_.handed[{call, i}] = OfValue(value);
    }
  }

  int OfValue(int value) {
    int leader = known_.all().Find(value);
    auto [place, fresh] = of_values_.try_emplace(leader, 0);
    if (!fresh) return place->second;
    const Values::Value& v = known_.all().at(leader);
    ValueKind::Facts facts{.pin = v.pin, .trained = v.trained};
    bool lasts = v.bytes > 0;
    if (v.type.is_tensor() && v.type.bytes() > 0) {
      // A Parameter lies there with its states, which have become one value with it.
      double states = v.bytes / static_cast<double>(v.type.bytes());
      double gradients = v.trained ? std::max(1, v.updated) : 0;
      facts.copies = lasts ? states + gradients : v.kept;
    }
    Keeping keeping{lasts ? Keeping::kLasting : Keeping::kPart,
                    lasts ? Shares(v.bytes_in) : Shares(v.kept_in)};
    return place->second = Add(kinds_.OfValue(v.type, facts), nullptr, keeping);
  }

  const Kind* KindOf(const Node& node) {
    bool trained = known_.Trained(node);
    if (Hints::OnlyLies(node)) {
      ValueKind::Facts facts{.trained = trained};
      if (Hints::IsHint(node)) facts.pin = hints_.of(&node);
      return kinds_.OfValue(node.outputs[0], facts);
    }
    NodeFacts facts{.trained = trained,
                    .times = callees_.Times(node.graph),
                    .keeps = trained && !node.op->view,
                    .data = known_.FromData(node)};
    return kinds_.OfNode(node, facts, hints_.PinsOf(&node));
  }
  Keeping KeepingOf(const Node& node) const {
    Keeping keeping{Keeping::kPart, options_.stages.SharesOf(&node)};
    if (!callees_.Again(node.graph)) return keeping;
    keeping.how = Keeping::kOnce;
    for (size_t s = 0; s < blocks_in_.size(); ++s)
      keeping.shares[s] = keeping.shares[s] > 0 ? 1.0 / std::max(1, blocks_in_[s]) : 0;
    return keeping;
  }
  // Where nothing is known, each stage has all of it.
  std::vector<double> Shares(std::vector<double> known) const {
    double all = std::reduce(known.begin(), known.end());
    if (all == 0) return std::vector<double>(blocks_in_.size(), 1);
    for (double& share : known) share /= all;
    return known;
  }

  // ---- links
  struct Reader {
    int variable, end;
  };
  // Of the values of a graph, in the order in which they are first read.
  struct Readers {
    std::unordered_map<Var, std::vector<Reader>, VarHash> of;
    std::vector<Var> order;
  };

  void AddLinks(const Graph& graph) {
    auto times = static_cast<float>(callees_.Times(&graph));
    Readers readers = FindReaders(graph);
    for (const Var& v : readers.order) AddLinks(v, readers.of.at(v), times);
  }

  Readers FindReaders(const Graph& graph) {
    Readers readers;
    auto read = [&](const Var& v, int variable, int end) {
      int source = problem_.Source(v).first;
      if (source < 0 || source == variable) return;
      std::vector<Reader>& list = readers.of[v];
      if (list.empty()) readers.order.push_back(v);
      list.push_back({variable, end});
    };
    for (const Node* node : graph.nodes()) {
      if (!Computes(*node)) continue;
      size_t count = Hints::Waits(*node) ? 1 : node->inputs.size();
      for (size_t i = 0; i < count; ++i)
        read(node->inputs[i], problem_.nodes.at(node), static_cast<int>(i));
    }
    known_.ForBindings(graph, [&](const Var& v, int value, const Node* node, size_t input) {
      if (!v.type().is_tensor() || !known_.all().at(value).type.is_tensor()) return;
      int variable = OfValue(value);
      if (Bind(node, static_cast<int>(input), variable)) read(v, variable, 0);
    });
    return readers;
  }
  // False where another function at the same call, which takes it alike, was first.
  bool Bind(const Node* node, int input, int variable) {
    if (!node) return true;  // a result
    auto& bound = problem_.bound[node];
    bool known = std::any_of(bound.begin(), bound.end(),
                             [&](const auto& binding) { return binding.first == input; });
    if (!known) bound.emplace_back(input, variable);
    return !known;
  }

  // Readers of one kind move the value once.
  void AddLinks(const Var& v, const std::vector<Reader>& readers, float times) {
    auto [source, end] = problem_.Source(v);
    int type = kinds_.NumberOf(v.type());
    bool back = known_.Trained(v);
    // What comes from outside lies as it does: each reader for itself.
    bool given = At(source).kind->fixed() != nullptr;
    for (const std::vector<Reader>& group : Alike(readers)) {
      int from = source, from_end = end;
      if (group.size() > 1 && !given) {
        from = Add(kinds_.OfValue(v.type(), {.shared = true, .trained = back}), nullptr, {});
        from_end = 0;
        problem_.links.push_back({source, end, from, 0, type, back, times});
      }
      for (const Reader& r : group)
        problem_.links.push_back({from, from_end, r.variable, r.end, type, back, times});
    }
  }
  std::vector<std::vector<Reader>> Alike(const std::vector<Reader>& readers) {
    std::vector<std::vector<Reader>> groups;
    for (const Reader& r : readers) {
      auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return At(group[0].variable).kind == At(r.variable).kind && group[0].end == r.end;
      });
      if (same == groups.end())
        groups.push_back({r});
      else
        same->push_back(r);
    }
    return groups;
  }

  const Module& module_;
  const PlanOptions& options_;
  Callees callees_;
  Hints hints_;
  ModuleValues known_;
  KindTable kinds_;
  std::vector<int> blocks_in_;              // by stage: that are computed again, one at a time
  std::unordered_map<int, int> of_values_;  // variables, by the numbers of values
  Problem problem_;
};

}  // namespace

std::pair<int, int> Problem::Source(const Var& value) const {
  if (value.node->kind == NodeKind::kParameter) {
    auto found = parameters.find(value.node);
    return {found == parameters.end() ? -1 : found->second, 0};
  }
  auto found = nodes.find(value.node);
  if (found != nodes.end()) return {found->second, static_cast<int>(value.index)};
  auto call = handed.find(value);
  return {call == handed.end() ? -1 : call->second, 0};
}

Problem MakeProblem(const Module& module, const PlanOptions& options) {
  return Builder(module, options).Make();
}

}  // namespace ms::parallel
