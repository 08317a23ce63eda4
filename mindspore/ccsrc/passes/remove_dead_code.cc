// Liveness of single values, across calls. A capture lives when the graph reads it; a parameter or
// result of functions whose callers are all known lives when somebody reads it. What a closure
// saves for a gradient that is not asked for, or a loop carries for nothing, goes with the nodes
// that made it.
//
// An unused value that may fail to be computed is no such thing: x[i] raises in eager code whether
// or not anybody reads it. RequireRefusals, which runs first, ties such nodes to an effect. In what
// is to be differentiated it ties those that are read, too: a gradient may do without their values.
// DropMetRequirements unties those that are still read in the end. Nodes of gradients come later:
// what they refuse, the forward code has refused before.
#include <algorithm>

#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/effects.h"
#include "passes/function_classes.h"
#include "passes/passes.h"

namespace ms {
namespace {

using Flags = std::vector<bool>;

bool SetFlag(Flags& flags, size_t i) {
  if (flags.size() <= i) flags.resize(i + 1);
  if (flags[i]) return false;
  flags[i] = true;
  return true;
}
bool HasFlag(const Flags& flags, size_t i) { return i < flags.size() && flags[i]; }

// What is known of one graph.
struct GraphState {
  std::vector<uint32_t> first;     // by node id: where its outputs start in live
  Flags live;                      // outputs of nodes
  Flags kept;                      // nodes
  std::vector<uint32_t> place;     // by node id: of an input, among the captures or parameters
  std::vector<bool> is_parameter;  // by node id; captures are none
  std::vector<const Node*> users;  // live Partials of the graph
  bool active = false;             // some live Partial refers to it, or it is main
};

// What is known of functions with the same callers.
struct ClassState {
  std::vector<const Graph*> graphs;  // active ones
  std::vector<const Node*> calls;    // live ones
  Flags parameters;
  Flags results;
};

class Liveness {
 public:
  // Nodes of the op `no_effect` live where they are read.
  explicit Liveness(const Module& module, const OpDef* no_effect = nullptr)
      : effects_(module), classes_(module), no_effect_(no_effect) {
    for (const auto& graph : module.graphs()) {
      GraphState& state = graphs_[graph.get()];
      uint32_t outputs = 0;
      state.first.reserve(graph->nodes().size());
      for (const Node* n : graph->nodes()) {
        state.first.push_back(outputs);
        outputs += static_cast<uint32_t>(n->outputs.size());
      }
      state.live.resize(outputs);
      state.kept.resize(graph->nodes().size());
      NumberInputs(*graph, &state);
    }
    for (const Node* p : module.main()->parameters()) MarkVar({const_cast<Node*>(p), 0});
    Activate(module.main());
    while (!pending_.empty()) {
      Var v = pending_.back();
      pending_.pop_back();
      Process(v);
    }
  }

  const GraphState& Of(const Graph* graph) const { return graphs_.at(graph); }
  const FunctionClasses& classes() const { return classes_; }
  bool ParameterLives(int c, size_t i) const {
    return c == FunctionClasses::kOpen || HasFlag(states_.at(c).parameters, i);
  }
  bool ResultLives(int c, size_t i) const {
    return c == FunctionClasses::kOpen || HasFlag(states_.at(c).results, i);
  }
  bool Reads(const Node& node) const { return Of(node.graph).kept[node.id]; }
  bool HasClass(int c) const { return c != FunctionClasses::kOpen && states_.contains(c); }

 private:
  static void NumberInputs(const Graph& graph, GraphState* state) {
    state->place.resize(graph.nodes().size());
    state->is_parameter.resize(graph.nodes().size());
    uint32_t place = 0;
    for (const Node* n : graph.captures()) state->place[n->id] = place++;
    place = 0;
    for (const Node* n : graph.parameters()) {
      state->place[n->id] = place++;
      state->is_parameter[n->id] = true;
    }
  }

  // Most of what is asked for in a row is of one graph.
  GraphState& StateOf(const Graph* graph) {
    if (graph != last_) {
      last_ = graph;
      last_state_ = &graphs_.at(graph);
    }
    return *last_state_;
  }

  void MarkVar(const Var& v) {
    GraphState& state = StateOf(v.node->graph);
    size_t place = state.first[v.node->id] + v.index;
    if (state.live[place]) return;
    state.live[place] = true;
    pending_.push_back(v);
  }

  void Activate(const Graph* graph) {
    GraphState& state = StateOf(graph);
    if (state.active) return;
    state.active = true;
    for (Node* node : graph->nodes()) {
      if (effects_.HasEffect(*node) && (!no_effect_ || node->op != no_effect_)) Keep(*node);
    }
    int c = classes_.Of(graph);
    if (c == FunctionClasses::kOpen) {
      for (const Var& v : graph->outputs()) MarkVar(v);
      return;
    }
    ClassState& functions = states_[c];
    functions.graphs.push_back(graph);
    for (size_t i = 0; i < graph->outputs().size(); ++i) {
      if (HasFlag(functions.results, i)) MarkVar(graph->outputs()[i]);
    }
  }

  // An output of v.node is read.
  void Process(const Var& v) {
    Node& node = *v.node;
    Keep(node);
    if (node.kind == NodeKind::kParameter) return InputRead(node);
    if (node.op == Control().call) ResultRead(classes_.Of(node.inputs[0]), v.index);
  }

  // The node must run.
  void Keep(Node& node) {
    GraphState& state = StateOf(node.graph);
    if (state.kept[node.id]) return;
    state.kept[node.id] = true;
    if (const Graph* callee = PartialGraph(&node)) {
      KeepPartial(node, callee);
    } else if (node.op == Control().call) {
      KeepCall(node);
    } else {
      for (const Var& v : node.inputs) MarkVar(v);
    }
  }

  void KeepPartial(const Node& node, const Graph* callee) {
    Activate(callee);
    GraphState& state = StateOf(callee);
    state.users.push_back(&node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (state.live[state.first[callee->captures()[i]->id]]) MarkVar(node.inputs[i]);
    }
  }

  void KeepCall(const Node& node) {
    MarkVar(node.inputs[0]);
    int c = classes_.Of(node.inputs[0]);
    if (c != FunctionClasses::kOpen) states_[c].calls.push_back(&node);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (c == FunctionClasses::kOpen || HasFlag(states_[c].parameters, i - 1))
        MarkVar(node.inputs[i]);
    }
  }

  // A graph reads one of its inputs.
  void InputRead(const Node& input) {
    const GraphState& state = StateOf(input.graph);
    size_t i = state.place[input.id];
    if (!state.is_parameter[input.id]) {
      for (const Node* user : state.users) MarkVar(user->inputs[i]);
      return;
    }
    int c = classes_.Of(input.graph);
    if (c == FunctionClasses::kOpen) return;
    ClassState& functions = states_[c];
    if (!SetFlag(functions.parameters, i)) return;
    for (const Node* call : functions.calls) MarkVar(call->inputs[i + 1]);
  }

  void ResultRead(int c, size_t i) {
    if (c == FunctionClasses::kOpen) return;
    ClassState& functions = states_[c];
    if (!SetFlag(functions.results, i)) return;
    for (const Graph* graph : functions.graphs) MarkVar(graph->outputs()[i]);
  }

  EffectAnalysis effects_;
  FunctionClasses classes_;
  const OpDef* no_effect_;
  std::unordered_map<const Graph*, GraphState> graphs_;
  const Graph* last_ = nullptr;
  GraphState* last_state_ = nullptr;
  std::unordered_map<int, ClassState> states_;
  Vars pending_;
};

// Takes away what does not live. Types of functions shrink with their parameters and results.
class Removal {
 public:
  Removal(Module& module, const Liveness& liveness) : module_(module), liveness_(liveness) {}

  bool Run() {
    for (const auto& graph : module_.graphs()) {
      if (!liveness_.Of(graph.get()).active) continue;
      for (Node* node : graph->nodes()) Shrink(*node);
    }
    for (const auto& graph : module_.graphs()) {
      if (liveness_.Of(graph.get()).active) Finish(*graph);
    }
    size_t before = module_.graphs().size();
    module_.SweepGraphs();
    return changed_ || module_.graphs().size() != before;
  }

 private:
  // Parameters of closed functions that are read by none are dropped from all; others stay in all
  // of them.
  bool InputStays(const Node& input) const {
    const GraphState& state = liveness_.Of(input.graph);
    if (!state.is_parameter[input.id]) return IsLive({const_cast<Node*>(&input), 0});
    return liveness_.ParameterLives(liveness_.classes().Of(input.graph), state.place[input.id]);
  }
  bool IsLive(const Var& v) const {
    const GraphState& state = liveness_.Of(v.node->graph);
    return state.live[state.first[v.node->id] + v.index];
  }

  Type Shrunk(const Type& type, int c) const {
    Types parameters, results;
    const FunctionType& f = type.function();
    for (size_t i = 0; i < f.parameters.size(); ++i) {
      if (liveness_.ParameterLives(c, i)) parameters.push_back(f.parameters[i]);
    }
    for (size_t i = 0; i < f.results.size(); ++i) {
      if (liveness_.ResultLives(c, i)) results.push_back(f.results[i]);
    }
    return Type::Function(std::move(parameters), std::move(results));
  }

  void Shrink(Node& node) {
    const GraphState& state = liveness_.Of(node.graph);
    if (node.kind != NodeKind::kApply || !state.kept[node.id]) return;
    if (const Graph* callee = PartialGraph(&node)) {
      Filter(node.inputs, [&](size_t i) { return IsLive({callee->captures()[i], 0}); });
    }
    if (node.op == Control().call) ShrinkCall(node);
    if (!node.outputs.empty() && node.outputs[0].is_function()) {
      int c = liveness_.classes().Of(Var{&node, 0});
      if (liveness_.HasClass(c)) node.outputs[0] = Shrunk(node.outputs[0], c);
    }
  }

  void ShrinkCall(Node& node) {
    int c = liveness_.classes().Of(node.inputs[0]);
    if (!liveness_.HasClass(c)) return;
    Filter(node.inputs, [&](size_t i) { return i == 0 || liveness_.ParameterLives(c, i - 1); });
    std::vector<uint32_t> place(node.outputs.size());
    uint32_t next = 0;
    for (size_t i = 0; i < place.size(); ++i) {
      place[i] = next;
      next += liveness_.ResultLives(c, i);
    }
    if (next == place.size()) return;
    Filter(node.outputs, [&](size_t i) { return liveness_.ResultLives(c, i); });
    moved_.emplace(&node, std::move(place));
  }

  template <class T, class F>
  void Filter(std::vector<T>& items, F keep) {
    size_t kept = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (!keep(i)) continue;
      if (kept != i) items[kept] = std::move(items[i]);
      ++kept;
    }
    changed_ |= kept != items.size();
    items.resize(kept);
  }

  void Move(Var& v) const {
    if (moved_.empty()) return;
    if (auto it = moved_.find(v.node); it != moved_.end()) v.index = it->second[v.index];
  }

  void Finish(Graph& graph) {
    const GraphState& state = liveness_.Of(&graph);
    std::vector<bool> keep = state.kept;
    for (Node* node : graph.nodes()) {
      if (node->kind == NodeKind::kParameter)
        keep[node->id] = &graph == module_.main() || InputStays(*node);
      if (!keep[node->id]) continue;
      for (Var& v : node->inputs) Move(v);
    }
    Vars outputs = graph.outputs();
    int c = liveness_.classes().Of(&graph);
    Filter(outputs, [&](size_t i) { return liveness_.ResultLives(c, i); });
    for (Var& v : outputs) Move(v);
    graph.SetOutputs(std::move(outputs));
    if (graph.loop.body &&
        !(liveness_.Of(graph.loop.body).active && liveness_.Of(graph.loop.done).active)) {
      graph.loop = {};
    }
    if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
    changed_ = true;
    graph.Sweep(keep);
  }

  Module& module_;
  const Liveness& liveness_;
  std::unordered_map<const Node*, std::vector<uint32_t>>
      moved_;  // Call: the new place of each output
  bool changed_ = false;
};

// One graph without function values, as most networks become: one walk tells.
bool IsStraight(const Module& module) {
  const auto& nodes = module.main()->nodes();
  return module.graphs().size() == 1 && std::none_of(nodes.begin(), nodes.end(), [](const Node* n) {
           return n->op && n->op->structural;
         });
}

bool SweepStraight(Graph* graph) {
  std::vector<bool> keep(graph->nodes().size(), false);
  bool all = true;
  for (const Var& v : graph->outputs()) keep[v.node->id] = true;
  for (size_t i = keep.size(); i-- > 0;) {
    const Node* node = graph->nodes()[i];
    bool runs =
        node->kind == NodeKind::kParameter || (node->op && node->op->effect != Effect::kNone);
    if (runs) keep[i] = true;
    all = all && keep[i];
    if (!keep[i]) continue;
    for (const Var& v : node->inputs) keep[v.node->id] = true;
  }
  if (!all) graph->Sweep(keep);
  return !all;
}

const OpDef& RequireOp() {
  static const OpDef& op = Ops().Get("Require");
  return op;
}

void Require(Graph* graph, const Flags& required) {
  Rewriter rewriter(graph);
  auto require = [&](Emitter& emitter, Node* node) {
    emitter.span = node->span;
    emitter.Emit(RequireOp(), {{node, 0}}, nullptr);
  };
  Node* last = nullptr;  // its demand comes right after it: a tail call must stay the last node
  rewriter.Walk([&](Node& node) {
    if (last) require(rewriter.emitter(), last);
    last = HasFlag(required, node.id) ? &node : nullptr;
  });
  GraphEmitter emitter(graph);
  if (last) require(emitter, last);
}

}  // namespace

bool RequireRefusals(Module& module) {
  module.SweepGraphs();
  std::unordered_map<Graph*, Flags> refusing;
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (graph->finished() && MayRefuse(*node)) SetFlag(refusing[graph.get()], node->id);
    }
  }
  if (refusing.empty()) return false;
  Liveness liveness(module);
  GraphSet transformed = GraphsToTransform(module);
  bool any = false;
  for (auto& [graph, nodes] : refusing) {
    // A graph that nobody calls for its results may still be called.
    bool untied = liveness.Of(graph).active && !transformed.contains(graph);
    for (size_t i = 0; untied && i < nodes.size(); ++i) {
      if (liveness.Reads(*graph->nodes()[i])) nodes[i] = false;
    }
    if (std::find(nodes.begin(), nodes.end(), true) == nodes.end()) continue;
    Require(graph, nodes);
    any = true;
  }
  return any;
}

bool DropMetRequirements(Module& module) {
  auto is_requirement = [](const Node* n) { return n->op == &RequireOp(); };
  auto has_requirement = [&](const auto& graph) {
    return std::any_of(graph->nodes().begin(), graph->nodes().end(), is_requirement);
  };
  module.SweepGraphs();
  if (std::none_of(module.graphs().begin(), module.graphs().end(), has_requirement)) return false;
  Liveness liveness(module, &RequireOp());
  bool any = false;
  for (const auto& graph : module.graphs()) {
    if (!has_requirement(graph) || !liveness.Of(graph.get()).active) continue;
    auto is_met = [&](const Node& n) {
      if (!is_requirement(&n)) return false;
      const Node& of = *n.inputs[0].node;
      bool plain = of.kind == NodeKind::kConstant || (of.op && !of.op->structural);
      return plain && (!MayRefuse(of) || liveness.Reads(of));
    };
    std::vector<bool> met;
    for (const Node* n : graph->nodes()) met.push_back(is_met(*n));
    Rewriter rewriter(graph.get());
    rewriter.Walk([&](Node& node) {
      if (node.id >= met.size() || !met[node.id]) return;
      rewriter.Replace({&node, 0}, node.inputs[0]);  // a value like that of any view
      rewriter.Drop(node);
    });
    any |= rewriter.changed();
  }
  return any;
}

bool RemoveDeadCode(Module& module) {
  module.SweepGraphs();
  if (IsStraight(module)) return SweepStraight(module.main());
  Liveness liveness(module);
  return Removal(module, liveness).Run();
}

}  // namespace ms
