#include "passes/parallel/problem.h"

#include <algorithm>
#include <set>

#include "ir/control.h"
#include "passes/parallel/values.h"

namespace ms::parallel {
namespace {

bool IsStructural(const Node& node) { return node.op && node.op->structural; }

struct KindKey {
  const OpDef* op;
  const Attrs* attrs;
  std::vector<int> types;
  int facts;
  double times;
  std::string pins;
};
struct KindKeyHash {
  size_t operator()(const KindKey& k) const {
    size_t hash = HashCombine(std::hash<const void*>()(k.op), static_cast<size_t>(k.facts));
    if (k.attrs) hash = HashCombine(hash, Hash(*k.attrs));
    for (int t : k.types) hash = HashCombine(hash, static_cast<size_t>(t));
    return HashCombine(hash, std::hash<double>()(k.times));
  }
};
struct KindKeyEqual {
  bool operator()(const KindKey& a, const KindKey& b) const {
    bool same = a.op == b.op && a.types == b.types && a.facts == b.facts && a.times == b.times &&
                a.pins == b.pins;
    if (!same || a.attrs == b.attrs) return same;
    return a.attrs && b.attrs && Equal(*a.attrs, *b.attrs);
  }
};
struct TypeHash {
  size_t operator()(const Type& t) const { return t.Hash(); }
};

class Builder {
 public:
  Builder(const Module& module, const PlanOptions& options)
      : module_(module), options_(options), callees_(module), hints_(module, options.mesh) {}

  Problem Make() {
    PinMain();
    for (const auto& graph : module_.graphs()) JoinCalls(*graph);
    for (const auto& graph : module_.graphs()) JoinOwnGradients(*graph);
    JoinUpdates();
    PinParameters();
    for (int value : own_) MarkTrained(value);
    for (const auto& graph : module_.graphs()) FindTrained(*graph);
    for (const auto& graph : module_.graphs()) FindData(*graph);
    for (const auto& graph : module_.graphs()) AddGraph(*graph);
    for (const auto& graph : module_.graphs()) AddLinks(*graph);
    return std::move(problem_);
  }

 private:
  // ---- what is known of values
  void PinMain() {
    const Graph* main = module_.main();
    Vars inputs = main->inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].type().is_tensor()) continue;
      Values::Value& value = values_.at(values_.Of(inputs[i].node));
      bool parameter = i < options_.parameters.size() && options_.parameters[i];
      value.data = !parameter;
      if (parameter) value.bytes = static_cast<double>(inputs[i].type().bytes());
      if (i < options_.inputs.size()) value.pin = options_.inputs[i];
      int rank = inputs[i].type().shape().rank();
      bool whole = !parameter || options_.mode == Mode::kDataParallel;
      if (whole && !value.pin) value.pin = Layout::Replicated(rank);
      if (value.pin) CheckPin(*value.pin, inputs[i].type(), "input", i);
    }
    for (size_t i = 0; i < main->outputs().size(); ++i) {
      if (!main->outputs()[i].type().is_tensor() || i >= options_.outputs.size()) continue;
      if (!options_.outputs[i]) continue;
      CheckPin(*options_.outputs[i], main->outputs()[i].type(), "output", i);
      values_.at(values_.Of(main, i)).pin = options_.outputs[i];
    }
    for (const auto& graph : module_.graphs()) {
      if (!callees_.Escapes(graph.get())) continue;
      for (const Var& v : graph->inputs()) PinWhole(values_.Of(v.node));
      for (size_t i = 0; i < graph->outputs().size(); ++i) PinWhole(values_.Of(graph.get(), i));
    }
  }
  void PinWhole(int value) {
    const Type& type = values_.at(value).type;
    if (type.is_tensor()) values_.at(value).pin = Layout::Replicated(type.shape().rank());
  }
  void CheckPin(const Layout& pin, const Type& type, const char* what, size_t i) const {
    bool fits = pin.rank() == type.shape().rank() && !pin.has_partial();
    if (!fits)
      Throw(ErrorKind::kValue,
            "the layout of {} {} must be of {} dimensions without partial sums, "
            "but got {}",
            what, i, type.shape().rank(), pin.ToString(options_.mesh));
  }

  // The value that a Var is, if it is one: -1 for what a node computes, and constants.
  int ValueOf(const Var& v) {
    if (!v.type().is_tensor()) return -1;
    if (v.node->kind == NodeKind::kParameter) return values_.Of(v.node);
    if (v.node->op != Control().call) return -1;
    for (const Callee& c : callees_.Of(v.node->inputs[0])) {
      if (c.role != Callee::kBackward) return values_.Of(c.graph, v.index);
      const Node* to = GradientOf(c.graph, v.index);
      if (to) return values_.Of(to);
    }
    return -1;
  }
  // The closure of Vjp returns the captures' tangents as a Box, then one for each parameter that
  // has one.
  static const Node* GradientOf(const Graph* graph, uint32_t index) {
    uint32_t at = 1;
    for (const Node* p : graph->parameters()) {
      if (!p->outputs[0].has_tangent()) continue;
      if (at++ == index) return p;
    }
    return nullptr;
  }
  // Calls use(Var, value, node, input) for every binding of the graph; of results without a node.
  template <class F>
  void ForBindings(const Graph& graph, F use) {
    for (const Node* node : graph.nodes()) {
      if (const Graph* made = PartialGraph(node)) {
        for (size_t i = 0; i < node->inputs.size(); ++i)
          use(node->inputs[i], values_.Of(made->captures()[i]), node, i);
      } else if (node->op == Control().call) {
        for (const Callee& c : callees_.Of(node->inputs[0])) ForArguments(*node, c, use);
      }
    }
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      use(graph.outputs()[i], values_.Of(&graph, i), nullptr, i);
  }
  template <class F>
  void ForArguments(const Node& call, const Callee& callee, F use) {
    if (callee.role != Callee::kBackward) {
      for (size_t i = 1; i < call.inputs.size(); ++i)
        use(call.inputs[i], values_.Of(callee.graph->parameters()[i - 1]), &call, i);
      return;
    }
    size_t at = 1;
    for (size_t i = 0; i < callee.graph->outputs().size(); ++i) {
      const Type& type = callee.graph->outputs()[i].type();
      if (!type.has_tangent() || at >= call.inputs.size()) continue;
      use(call.inputs[at], values_.Of(callee.graph, i), &call, at);
      ++at;
    }
  }

  void JoinCalls(const Graph& graph) {
    // Several functions at one call lie alike.
    for (const Node* node : graph.nodes()) {
      if (node->op != Control().call) continue;
      const CalleeList& list = callees_.Of(node->inputs[0]);
      for (size_t k = 1; k < list.size(); ++k) JoinGraphs(list[0].graph, list[k].graph);
    }
    ForBindings(graph, [&](const Var& v, int value, const Node* node, size_t) {
      int given = ValueOf(v);
      if (given < 0) return;
      // What comes from outside lies as it does; what a block of several takes need not.
      bool own =
          node && node->op == Control().call && OwnGradientOf(*node->inputs[0].node).function;
      bool outside = values_.at(given).data && values_.at(given).pin;
      if (!own || !outside) values_.Join(given, value);
    });
  }
  // What the gradient of a function is given lies as it does there, and so do tangents.
  void JoinOwnGradients(const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      OwnGradient own = OwnGradientOf(*node);
      if (!own.function) continue;
      std::vector<int> ends, given;  // of the function: all, what goes in
      for (const Node* p : own.function->parameters()) ends.push_back(values_.Of(p));
      given = ends;
      for (size_t i = 0; i < own.function->outputs().size(); ++i)
        ends.push_back(values_.Of(own.function, i));
      size_t at = 0, tangent = 0;
      auto next = [&](int value) {
        values_.Join(value, values_.Of(own.backward->parameters()[at++]));
      };
      for (int value : ends) next(value);
      for (size_t i = given.size(); i < ends.size(); ++i) {
        if (own.function->outputs()[i - given.size()].type().has_tangent()) next(ends[i]);
      }
      bool first = seen_.insert(own.function).second;  // of several nodes with it
      for (int value : given) {
        if (first) values_.at(value).kept += callees_.Times(own.function);
        if (values_.at(value).type.has_tangent())
          values_.Join(value, values_.Of(own.backward, tangent++));
      }
      own_.insert(ends.begin(), ends.end());
    }
  }
  void JoinGraphs(const Graph* a, const Graph* b) {
    for (size_t i = 0; i < a->parameters().size(); ++i)
      values_.Join(values_.Of(a->parameters()[i]), values_.Of(b->parameters()[i]));
    for (size_t i = 0; i < a->outputs().size(); ++i)
      values_.Join(values_.Of(a, i), values_.Of(b, i));
  }

  // States of an optimizer lie as their Parameter, and so do new values. Other results of main are
  // whole where nothing else is said.
  void JoinUpdates() {
    const Graph* main = module_.main();
    Vars inputs = main->inputs();
    for (const auto& [output, input] : main->updates)
      values_.Join(values_.Of(inputs[static_cast<size_t>(input)].node),
                   values_.Of(main, static_cast<size_t>(output)));
    for (const Node* node : main->nodes()) {
      if (!node->op || node->op->updates.empty()) continue;
      for (const auto& [output, input] : node->op->updates) {
        int first = ValueOf(node->inputs[static_cast<size_t>(node->op->updates[0].second)]);
        int other = ValueOf(node->inputs[static_cast<size_t>(input)]);
        if (first >= 0 && other >= 0) values_.Join(first, other);
      }
    }
    for (size_t i = 0; i < main->outputs().size(); ++i) {
      const Var& v = main->outputs()[i];
      if (!v.type().is_tensor()) continue;
      int value = values_.Of(main, i);
      if (v.node->op && !v.node->op->structural) {
        for (const auto& [output, input] : v.node->op->updates) {
          int old = ValueOf(v.node->inputs[static_cast<size_t>(input)]);
          if (static_cast<uint32_t>(output) == v.index && old >= 0) values_.Join(old, value);
        }
      }
      bool updated = values_.at(value).bytes > 0;
      if (!updated && !values_.at(value).pin) PinWhole(value);
    }
  }

  // Where nothing is searched, a Parameter lies as the first op that was pinned wants it.
  void PinParameters() {
    if (options_.mode == Mode::kSearch || options_.mode == Mode::kRecursive) return;
    for (const Node* hint : hints_.all()) {
      int value = ValueOf(hint->inputs[0]);
      if (value < 0 || values_.at(value).bytes == 0 || values_.at(value).pin) continue;
      values_.at(value).pin = hints_.of(hint);
    }
  }

  void MarkTrained(int number) {
    Values::Value& value = values_.at(number);
    bool floats = value.type.is_tensor() && IsFloating(value.type.dtype());
    value.trained |= floats && !value.data;
  }
  // Whether gradients go to a value: not to what comes from outside.
  void FindTrained(const Graph& graph) {
    if (!callees_.Differentiated(&graph)) return;
    for (const Var& v : graph.inputs()) MarkTrained(values_.Of(v.node));
    for (const Node* node : graph.nodes()) {
      if (node->kind != NodeKind::kApply) continue;
      bool any = std::any_of(node->inputs.begin(), node->inputs.end(),
                             [&](const Var& v) { return Trained(v); });
      if (any) trained_.insert(node);
    }
  }
  // What depends on values from outside; values that nodes hand to calls are taken for such.
  void FindData(const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      if (node->kind != NodeKind::kApply || IsStructural(*node)) continue;
      bool any = std::any_of(node->inputs.begin(), node->inputs.end(), [&](const Var& v) {
        int value = ValueOf(v);
        if (value < 0) return from_data_.contains(v.node);
        const Values::Value& given = values_.at(value);
        return given.data || (given.bytes == 0 && v.node->kind == NodeKind::kParameter);
      });
      if (any) from_data_.insert(node);
    }
  }
  bool Trained(const Var& v) {
    if (!v.type().is_tensor() || !IsFloating(v.type().dtype())) return false;
    if (!callees_.Differentiated(v.node->graph)) return false;
    int value = ValueOf(v);
    return value >= 0 ? values_.at(value).trained : trained_.contains(v.node);
  }

  // ---- variables
  int TypeNumber(const Type& type) {
    auto [place, fresh] = type_numbers_.try_emplace(type, static_cast<int>(problem_.types.size()));
    if (fresh) problem_.types.push_back(type);
    return place->second;
  }
  int AddVariable(const Kind* kind, const Node* node) {
    problem_.variables.push_back({kind, node});
    return static_cast<int>(problem_.variables.size()) - 1;
  }
  // One kind for nodes of equal choices, as slices of one size from different places.
  const Kind* KeepAlike(const KindKey& key, std::unique_ptr<ComputeKind> made) {
    KindKey rest = key;
    rest.attrs = nullptr;
    std::vector<const ComputeKind*>& all = alike_[std::move(rest)];
    for (const ComputeKind* kind : all) {
      if (kind->SameChoices(*made)) return kind;
    }
    all.push_back(made.get());
    return Keep(std::move(made));
  }
  template <class K>
  const Kind* Keep(std::unique_ptr<K> kind) {
    kind->id = static_cast<int>(problem_.kinds.size());
    problem_.kinds.push_back(std::move(kind));
    return problem_.kinds.back().get();
  }

  int VariableOf(int value) {
    int leader = values_.Find(value);
    auto [place, fresh] = of_value_.try_emplace(leader, 0);
    if (fresh) place->second = AddVariable(KindOfValue(leader, false), nullptr);
    return place->second;
  }
  const Kind* KindOfValue(int value, bool shared) {
    const Values::Value& v = values_.at(value);
    ValueKind::Facts facts;
    facts.pin = v.pin;
    if (v.type.is_tensor() && v.type.bytes() > 0)
      facts.copies =
          v.bytes > 0 ? v.bytes / static_cast<double>(v.type.bytes()) + v.trained : v.kept;
    facts.lasts = v.bytes > 0;
    facts.trained = v.trained;
    return KindOf(v.type, facts, shared);
  }
  const Kind* KindOf(const Type& type, ValueKind::Facts facts, bool shared) {
    facts.shared = shared;
    std::tuple key(TypeNumber(type), facts.pin ? facts.pin->ToString(options_.mesh) : "",
                   facts.copies, shared, facts.trained + 2 * facts.lasts);
    const Kind*& kind = value_kinds_[key];
    if (!kind) kind = Keep(std::make_unique<ValueKind>(type, facts));
    return kind;
  }
  const Kind* KindOf(const Node& node) {
    NodeFacts facts;
    facts.trained = trained_.contains(&node);
    if (Hints::OnlyLies(node)) {
      ValueKind::Facts value;
      if (Hints::IsHint(node)) value.pin = hints_.of(&node);
      value.trained = facts.trained;
      return KindOf(node.outputs[0], value, false);
    }
    const NodePins* pins = hints_.PinsOf(&node);
    facts.times = callees_.Times(node.graph);
    bool again = callees_.Again(node.graph);
    if (facts.trained && !node.op->view) facts.keeps = again ? 1.0 / callees_.again_count() : 1;
    facts.data = from_data_.contains(&node);
    KindKey key{node.op,     node.attrs.get(),
                {},          facts.trained + 2 * facts.data + 4 * again,
                facts.times, pins ? pins->ToString(options_.mesh) : ""};
    for (const Var& v : node.inputs) key.types.push_back(TypeNumber(v.type()));
    const Kind*& kind = node_kinds_[key];
    if (kind) return kind;
    auto made = std::make_unique<ComputeKind>(node, facts, options_.device);
    if (pins) made->Pin(node, *pins, options_.mesh);
    return kind = KeepAlike(key, std::move(made));
  }

  void AddGraph(const Graph& graph) {
    for (const Var& v : graph.inputs()) {
      if (v.type().is_tensor()) problem_.parameters[v.node] = VariableOf(values_.Of(v.node));
    }
    for (const Node* node : graph.nodes()) {
      if (node->kind == NodeKind::kApply && !IsStructural(*node))
        problem_.nodes[node] = AddVariable(KindOf(*node), node);
      if (node->op != Control().call) continue;
      for (uint32_t i = 0; i < node->outputs.size(); ++i) {
        int value = ValueOf({const_cast<Node*>(node), i});
        if (value >= 0) problem_.handed[{const_cast<Node*>(node), i}] = VariableOf(value);
      }
    }
    std::vector<int>& results = problem_.results[&graph];
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      bool tensor = graph.outputs()[i].type().is_tensor();
      results.push_back(tensor ? VariableOf(values_.Of(&graph, i)) : -1);
    }
  }

  // ---- links
  struct Reader {
    int variable;
    int end;
    float times;
  };
  void AddLinks(const Graph& graph) {
    auto times = static_cast<float>(callees_.Times(&graph));
    std::unordered_map<Var, std::vector<Reader>, VarHash> readers;
    std::vector<Var> order;
    auto read = [&](const Var& v, int variable, int end) {
      auto [source, source_end] = problem_.Source(v);
      if (source < 0 || source == variable) return;
      std::vector<Reader>& list = readers[v];
      if (list.empty()) order.push_back(v);
      list.push_back({variable, end, times});
    };
    for (const Node* node : graph.nodes()) {
      if (node->kind != NodeKind::kApply || IsStructural(*node)) continue;
      size_t count = Hints::Waits(*node) ? 1 : node->inputs.size();
      for (size_t i = 0; i < count; ++i)
        read(node->inputs[i], problem_.nodes.at(node), static_cast<int>(i));
    }
    ForBindings(graph, [&](const Var& v, int value, const Node* node, size_t input) {
      if (!v.type().is_tensor() || !values_.at(value).type.is_tensor()) return;
      int variable = VariableOf(value);
      bool first = std::none_of(problem_.bound[node].begin(), problem_.bound[node].end(),
                                [&](const auto& b) { return b.first == static_cast<int>(input); });
      if (!first) return;  // another function at the same call, which takes it alike
      if (node) problem_.bound[node].emplace_back(static_cast<int>(input), variable);
      read(v, variable, 0);
    });
    for (const Var& v : order) LinkReaders(v, readers.at(v));
  }
  // Readers of one kind move the value once.
  void LinkReaders(const Var& v, std::vector<Reader>& readers) {
    auto [source, end] = problem_.Source(v);
    int type = TypeNumber(v.type());
    bool back = Trained(v);
    auto same = [&](const Reader& a, const Reader& b) {
      return problem_.variables[static_cast<size_t>(a.variable)].kind ==
                 problem_.variables[static_cast<size_t>(b.variable)].kind &&
             a.end == b.end;
    };
    std::vector<bool> done(readers.size());
    for (size_t i = 0; i < readers.size(); ++i) {
      if (done[i]) continue;
      std::vector<size_t> group;
      for (size_t j = i; j < readers.size(); ++j) {
        if (!done[j] && same(readers[i], readers[j])) group.push_back(j), done[j] = true;
      }
      int from = source, from_end = end;
      // What comes from outside lies as it does: each reader for itself.
      bool given = problem_.variables[static_cast<size_t>(source)].kind->fixed() != nullptr;
      if (group.size() > 1 && !given) {
        ValueKind::Facts facts;
        facts.trained = back;
        from = AddVariable(KindOf(v.type(), facts, true), nullptr);
        from_end = 0;
        problem_.links.push_back({source, end, from, 0, type, back, readers[i].times});
      }
      for (size_t j : group)
        problem_.links.push_back(
            {from, from_end, readers[j].variable, readers[j].end, type, back, readers[j].times});
    }
  }

  const Module& module_;
  const PlanOptions& options_;
  Callees callees_;
  Hints hints_;
  Values values_;
  Problem problem_;
  std::unordered_set<const Node*> trained_, from_data_;
  std::set<const Graph*> seen_;
  std::set<int> own_;  // values that go into and come out of functions with gradients of their own
  std::unordered_map<int, int> of_value_;
  std::unordered_map<Type, int, TypeHash> type_numbers_;
  std::unordered_map<KindKey, const Kind*, KindKeyHash, KindKeyEqual> node_kinds_;
  std::unordered_map<KindKey, std::vector<const ComputeKind*>, KindKeyHash, KindKeyEqual> alike_;
  std::map<std::tuple<int, std::string, double, bool, int>, const Kind*> value_kinds_;
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
