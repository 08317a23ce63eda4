#include "passes/parallel/plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/control.h"
#include "passes/parallel/search.h"
#include "passes/parallel/timeline.h"

namespace ms::parallel {
namespace {

constexpr size_t kFew = 3;                       // alternatives of a node
constexpr int kTogether = 3;                     // axes that they differ in
constexpr size_t kWorthAWord = size_t{1} << 20;  // bytes of a value whose gathering is a warning

int RankOf(const Type& type) { return type.is_tensor() ? type.shape().rank() : 0; }

// Writes down what the search has chosen.
class Writer {
 public:
  Writer(const Module& module, const PlanOptions& options, const Problem& problem, Search* search)
      : module_(module), options_(options), problem_(problem), search_(*search) {}

  Plan Write(const Choices& choices) {
    plan_.mesh = options_.mesh;
    plan_.seconds = choices.seconds;
    plan_.bound = choices.bound;
    plan_.limited = choices.limited;
    for (size_t v = 0; v < problem_.variables.size(); ++v) {
      strategies_.emplace_back();
      problem_.variables[v].kind->Build(options_.mesh, choices.of[v], &strategies_.back());
    }
    for (const auto& graph : module_.graphs()) WriteGraph(*graph, choices);
    AddTimes(choices);
    AddMemory(choices);
    WarnOfWhole();
    AddParts();
    if (options_.alternatives) {
      AddAlternatives(choices);
      AddCriticalPath(choices);
    }
    return std::move(plan_);
  }

 private:
  const Layout& LayoutOf(int variable) const {
    return strategies_[static_cast<size_t>(variable)].outputs[0].layout;
  }

  void WriteGraph(const Graph& graph, const Choices& choices) {
    for (const Var& v : graph.inputs()) {
      auto found = problem_.parameters.find(v.node);
      plan_.parameters[v.node] = found == problem_.parameters.end()
                                     ? Layout::Replicated(RankOf(v.type()))
                                     : LayoutOf(found->second);
    }
    for (const Node* node : graph.nodes()) {
      if (node->kind != NodeKind::kApply) continue;
      auto found = problem_.nodes.find(node);
      plan_.nodes[node] =
          found == problem_.nodes.end() ? Structural(*node) : Computed(found->second, choices);
    }
    std::vector<Layout>& results = plan_.results[&graph];
    const std::vector<int>& variables = problem_.results.at(&graph);
    for (size_t i = 0; i < variables.size(); ++i)
      results.push_back(variables[i] < 0 ? Layout::Replicated(RankOf(graph.outputs()[i].type()))
                                         : LayoutOf(variables[i]));
  }

  NodePlan Computed(int variable, const Choices& choices) const {
    const Strategy& strategy = strategies_[static_cast<size_t>(variable)];
    NodePlan plan;
    bool computes = !Hints::OnlyLies(*problem_.variables[static_cast<size_t>(variable)].node);
    for (int axis = 0; axis < options_.mesh.count(); ++axis) {
      int chosen = choices.of[static_cast<size_t>(variable)][static_cast<size_t>(axis)];
      plan.factor_of_axis.push_back(computes ? std::max(-1, chosen) : -1);
    }
    for (const End& end : strategy.inputs) {
      plan.inputs.push_back(end.layout);
      plan.input_gradients.push_back(end.gradient);
    }
    // What a value waits for may be anywhere.
    const Node& node = *problem_.variables[static_cast<size_t>(variable)].node;
    for (size_t i = plan.inputs.size(); i < node.inputs.size(); ++i) {
      plan.inputs.push_back(Layout::Replicated(RankOf(node.inputs[i].type())));
      plan.input_gradients.push_back(plan.inputs.back());
    }
    for (const End& end : strategy.outputs) {
      plan.outputs.push_back(end.layout);
      plan.output_gradients.push_back(end.gradient);
    }
    plan.compute_seconds = strategy.seconds;
    if (options_.alternatives && computes && Alike(plan)) plan.whole = KindOf(variable).WhyWhole();
    return plan;
  }
  const ComputeKind& KindOf(int variable) const {
    return static_cast<const ComputeKind&>(*problem_.variables[static_cast<size_t>(variable)].kind);
  }
  static bool Alike(const NodePlan& plan) {
    return std::all_of(plan.factor_of_axis.begin(), plan.factor_of_axis.end(),
                       [](int f) { return f < 0; });
  }

  // What all devices compute, though it is much, and the reason is not that it is cheaper so.
  void WarnOfWhole() {
    if (options_.mesh.devices() == 1) return;
    for (const auto& [node, variable] : InOrder()) {
      if (Hints::OnlyLies(*node) || node->op->view || !KindOf(variable).data()) continue;
      if (!Alike(plan_.nodes.at(node))) continue;
      const Type* largest = Largest(*node);
      if (!largest || warned_.contains(node->op)) continue;
      std::string why = KindOf(variable).WhyWhole();
      if (why.empty()) continue;
      warned_.insert(node->op);
      plan_.warnings.push_back(
          fmt::format("{}, each device computes all of {}: {}.", ForNode(*node), *largest, why));
    }
  }
  // Of what is over the size of which something is said; null: nothing is.
  static const Type* Largest(const Node& node) {
    const Type* largest = nullptr;
    auto see = [&](const Type& type) {
      bool large = type.is_tensor() && !type.shape().symbolic() && type.bytes() > kWorthAWord;
      if (large && (!largest || type.bytes() > largest->bytes())) largest = &type;
    };
    for (const Var& v : node.inputs) see(v.type());
    for (const Type& type : node.outputs) see(type);
    return largest;
  }
  std::vector<std::pair<const Node*, int>> InOrder() const {
    std::vector<std::pair<const Node*, int>> all;
    for (const auto& graph : module_.graphs()) {
      for (const Node* node : graph->nodes()) {
        auto found = problem_.nodes.find(node);
        if (found != problem_.nodes.end()) all.emplace_back(node, found->second);
      }
    }
    return all;
  }

  // Control flow: as the values lie that are bound.
  NodePlan Structural(const Node& node) const {
    NodePlan plan;
    plan.factor_of_axis.assign(options_.mesh.axes.size(), -1);
    for (const Var& v : node.inputs) plan.inputs.push_back(Layout::Replicated(RankOf(v.type())));
    auto bound = problem_.bound.find(&node);
    if (bound != problem_.bound.end()) {
      for (const auto& [input, variable] : bound->second)
        plan.inputs[static_cast<size_t>(input)] = LayoutOf(variable);
    }
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      auto handed = problem_.handed.find({const_cast<Node*>(&node), i});
      plan.outputs.push_back(handed == problem_.handed.end()
                                 ? Layout::Replicated(RankOf(node.outputs[i]))
                                 : LayoutOf(handed->second));
    }
    plan.input_gradients = plan.inputs;
    plan.output_gradients = plan.outputs;
    return plan;
  }

  // Of communication to who reads.
  void AddTimes(const Choices& choices) {
    StateTables& tables = search_.tables();
    auto states = [&](int v) -> const States& { return Chosen(choices, v); };
    // What several readers share is told of the first.
    std::unordered_map<int, const Node*> first;
    for (const Link& link : problem_.links) {
      if (const Node* node = problem_.variables[static_cast<size_t>(link.to)].node)
        first.try_emplace(link.from, node);
    }
    for (const Link& link : problem_.links) {
      const Node* node = problem_.variables[static_cast<size_t>(link.to)].node;
      if (!node) {
        auto found = first.find(link.to);
        if (found == first.end()) continue;
        node = found->second;
      }
      plan_.nodes.at(node).communication_seconds +=
          tables.Seconds(link, states(link.from), 0, states(link.to), 0);
    }
    for (const Link& link : problem_.links) AddMove(link);
  }
  // Of the fullest stage.
  void AddMemory(const Choices& choices) {
    plan_.stages = choices.stages;
    int64_t most = -1;
    for (size_t s = 0; s < choices.stages.size(); ++s) {
      int parts = options_.stages.most_parts[s];
      const StageMemory& stage = choices.stages[s];
      if (stage.Whole(parts) <= most) continue;
      most = stage.Whole(parts);
      plan_.memory.parameters = stage.Parameters();
      plan_.memory.activations = stage.Activations(parts);
    }
  }
  // The one state of a variable that was chosen.
  const States& Chosen(const Choices& choices, int variable) {
    auto v = static_cast<size_t>(variable);
    return search_.tables().Of(*problem_.variables[v].kind, choices.of[v]);
  }

  // The best few other ways for each node, where its neighbours stay.
  void AddAlternatives(const Choices& choices) {
    std::vector<std::vector<const Link*>> around(problem_.variables.size());
    for (const Link& link : problem_.links) {
      around[static_cast<size_t>(link.from)].push_back(&link);
      around[static_cast<size_t>(link.to)].push_back(&link);
    }
    for (size_t v = 0; v < problem_.variables.size(); ++v) {
      const Node* node = problem_.variables[v].node;
      if (node) plan_.nodes.at(node).alternatives = Others(choices, static_cast<int>(v), around[v]);
    }
  }
  std::vector<Alternative> Others(const Choices& choices, int variable,
                                  const std::vector<const Link*>& links) {
    auto v = static_cast<size_t>(variable);
    StateTables& tables = search_.tables();
    uint32_t axes = 0;
    for (int axis = 0; axis < options_.mesh.count() && axis < kTogether; ++axis) axes |= 1u << axis;
    const States& states = tables.Of(*problem_.variables[v].kind, choices.of[v], axes);
    std::vector<Alternative> all;
    double mine = 0;
    for (int s = 0; s < states.size(); ++s) {
      double cost = states.seconds[static_cast<size_t>(s)];
      for (const Link* link : links) {
        bool comes = link->to == variable;
        const States& other = Chosen(choices, comes ? link->from : link->to);
        cost += comes ? tables.Seconds(*link, other, 0, states, s)
                      : tables.Seconds(*link, states, s, other, 0);
      }
      const Choice& choice = states.choices[static_cast<size_t>(s)];
      if (choice == choices.of[v]) mine = cost;
      bool passes = std::any_of(choice.begin(), choice.end(), [](int8_t c) { return c <= kPass; });
      if (choice == choices.of[v] || passes || cost >= kNever) continue;
      all.push_back(
          {std::vector<int>(choice.begin(), choice.begin() + options_.mesh.count()), cost});
    }
    std::sort(all.begin(), all.end(), [](const Alternative& a, const Alternative& b) {
      return a.more_seconds < b.more_seconds;
    });
    all.resize(std::min(all.size(), kFew));
    for (Alternative& a : all) a.more_seconds -= mine;
    return all;
  }

  // ---- where the time goes
  void AddParts() {
    double forward = 0, back = 0;
    int64_t ops = 0;
    for (const auto& [node, variable] : InOrder()) {
      auto [there, home] = Halves(variable);
      forward += there, back += home;
      ++ops;
    }
    plan_.parts.push_back({"computing", "", false, forward, 0, ops});
    if (back > 0) plan_.parts.push_back({"computing", "", true, back, 0, ops});
    std::map<std::tuple<bool, std::string, std::string>, Part> parts;
    for (const Link& link : problem_.links) {
      const auto& [from, to] = EndsOf(link);
      AddPath(link, from.layout, to.layout, false, &parts);
      if (link.back) AddPath(link, to.gradient, from.gradient, true, &parts);
    }
    for (auto& [key, part] : parts) plan_.parts.push_back(std::move(part));
  }
  void AddPath(const Link& link, const Layout& from, const Layout& to, bool back,
               std::map<std::tuple<bool, std::string, std::string>, Part>* parts) {
    if (from == to) return;
    const Type& type = problem_.types[static_cast<size_t>(link.type)];
    auto times = static_cast<double>(link.times);
    for (const Move& move : search_.tables().redistributor().Find(type, from, to).moves) {
      if (move.kind == Move::kSlice) continue;
      std::string what(Name(move.kind)), axes = AxesText(move.axes, options_.mesh);
      Part& part = (*parts)[{back, what, axes}];
      part.what = what, part.axes = axes, part.back = back;
      part.seconds += times * move.seconds;
      part.bytes += static_cast<int64_t>(times * static_cast<double>(move.bytes));
      part.count += static_cast<int64_t>(times);
    }
  }
  std::pair<const End&, const End&> EndsOf(const Link& link) const {
    return {strategies_[static_cast<size_t>(link.from)].outputs[static_cast<size_t>(link.from_end)],
            strategies_[static_cast<size_t>(link.to)].inputs[static_cast<size_t>(link.to_end)]};
  }
  // Seconds of a node, forward and backward.
  std::pair<double, double> Halves(int variable) const {
    double all = strategies_[static_cast<size_t>(variable)].seconds;
    const Node& node = *problem_.variables[static_cast<size_t>(variable)].node;
    double there =
        !Hints::OnlyLies(node) && KindOf(variable).trained() ? all / (1 + kBackward) : all;
    return {there, all - there};
  }

  void AddCriticalPath(const Choices& choices) {
    StateTables& tables = search_.tables();
    std::vector<Timeline::Move> moves;
    for (size_t i = 0; i < problem_.links.size(); ++i) {
      Link link = problem_.links[i];
      double both =
          tables.Seconds(link, Chosen(choices, link.from), 0, Chosen(choices, link.to), 0);
      link.back = false;
      double there =
          tables.Seconds(link, Chosen(choices, link.from), 0, Chosen(choices, link.to), 0);
      moves.push_back({static_cast<int>(i), there, both - there});
    }
    std::vector<Timeline::Work> works;
    for (const auto& graph : module_.graphs()) {
      bool late = false;
      for (const Node* node : graph->nodes()) {
        bool call = node->op == Control().call;
        late |= call && node->inputs[0].node->op == Control().call;
        auto found = problem_.nodes.find(node);
        if (found == problem_.nodes.end()) continue;
        auto [there, back] = Halves(found->second);
        works.push_back({found->second, there, back, late});
      }
    }
    plan_.critical = Timeline(problem_, std::move(works), moves).Path();
  }

  void AddMove(const Link& link) {
    const Type& type = problem_.types[static_cast<size_t>(link.type)];
    const Layout& a = strategies_[static_cast<size_t>(link.from)]
                          .outputs[static_cast<size_t>(link.from_end)]
                          .layout;
    const Layout& b =
        strategies_[static_cast<size_t>(link.to)].inputs[static_cast<size_t>(link.to_end)].layout;
    if (a == b) return;
    const Path& path = search_.tables().redistributor().Find(type, a, b);
    plan_.memory.largest = std::max(plan_.memory.largest, path.peak_bytes);
    const Node* node = problem_.variables[static_cast<size_t>(link.to)].node;
    bool gathered = b.replicated() && path.seconds > 1e-8 && type.bytes() > kWorthAWord;
    const Kind& kind = *problem_.variables[static_cast<size_t>(link.to)].kind;
    if (!node || !gathered || kind.cuts() || Hints::OnlyLies(*node) ||
        !warned_.insert(node->op).second)
      return;
    plan_.warnings.push_back(
        fmt::format("{}, nothing can be cut, so each device gathers the whole {} and computes all "
                    "of it: {}.",
                    ForNode(*node), type, KindOf(link.to).WhyWhole()));
  }

  const Module& module_;
  const PlanOptions& options_;
  const Problem& problem_;
  Search& search_;
  Plan plan_;
  std::vector<Strategy> strategies_;
  std::unordered_set<const OpDef*> warned_;
};

}  // namespace

Layout Plan::LayoutOf(const Var& value) const {
  if (value.node->kind == NodeKind::kParameter) return parameters.at(value.node);
  if (value.node->kind == NodeKind::kApply) return of(value.node).outputs[value.index];
  return Layout::Replicated(RankOf(value.type()));
}

std::vector<double> InStages::SharesOf(const Node* node) const {
  int64_t stage = Of(node);
  if (stage == kAllStages) return SharesOf(node->graph);
  std::vector<double> shares(most_parts.size(), 0);
  shares[static_cast<size_t>(stage)] = 1;
  return shares;
}

std::vector<double> InStages::SharesOf(const Graph* graph) const {
  auto found = calls.find(graph);
  if (found == calls.end()) return std::vector<double>(most_parts.size(), 1);  // all compute it
  std::vector<double> shares = found->second;
  double all = std::reduce(shares.begin(), shares.end());
  for (double& share : shares) share /= all;
  return shares;
}

void LackOfMemory(int64_t least, int64_t devices, int64_t limit, const std::string& why) {
  Throw(
      ErrorKind::kValue,
      "For 'max_device_memory', the memory limit must be at least {} bytes for each of {} devices "
      "{}, but got {}.",
      least, devices, why, limit);
}

Plan MakePlan(const Module& module, const PlanOptions& options) {
  options.mesh.Check();
  Problem problem = MakeProblem(module, options);
  Search search(problem, options);
  Choices choices = FindChoices(problem, options, &search);
  return Writer(module, options, problem, &search).Write(choices);
}

}  // namespace ms::parallel
