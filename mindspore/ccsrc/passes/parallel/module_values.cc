#include "passes/parallel/module_values.h"

#include <algorithm>

#include "ir/control.h"

namespace ms::parallel {
namespace {

// The closure of Vjp returns the captures' tangents as a Box, then one for each parameter that has
// one.
const Node* GradientOf(const Graph* graph, uint32_t index) {
  uint32_t at = 1;
  for (const Node* p : graph->parameters()) {
    if (!p->outputs[0].has_tangent()) continue;
    if (at++ == index) return p;
  }
  return nullptr;
}

std::vector<double> Times(double factor, std::vector<double> shares) {
  for (double& share : shares) share *= factor;
  return shares;
}

}  // namespace

ModuleValues::ModuleValues(const Module& module, const PlanOptions& options, Callees& callees,
                           const Hints& hints)
    : module_(module), options_(options), callees_(callees) {
  TakeInputs();
  TakeOutputs();
  PinEscaped();
  for (const auto& graph : module.graphs()) JoinCalls(*graph);
  for (const auto& graph : module.graphs()) JoinOwnGradients(*graph);
  JoinStates();
  JoinResults();
  PinParameters(hints);
  for (const Graph* function : own_) {
    for (const Node* p : function->parameters()) MarkTrained(values_.Of(p));
    for (size_t i = 0; i < function->outputs().size(); ++i) MarkTrained(values_.Of(function, i));
  }
  for (const auto& graph : module.graphs()) FindTrained(*graph);
  for (const auto& graph : module.graphs()) FindData(*graph);
}

int ModuleValues::Of(const Var& v) {
  if (!v.type().is_tensor()) return -1;
  if (v.node->kind == NodeKind::kParameter) return values_.Of(v.node);
  if (v.node->op != Control().call) return -1;
  for (const Callee& c : callees_.Of(v.node->inputs[0])) {
    if (c.role != Callee::kBackward) return values_.Of(c.graph, v.index);
    if (const Node* to = GradientOf(c.graph, v.index)) return values_.Of(to);
  }
  return -1;
}

// ---- what main says ---------------------------------------------------------------------------
void ModuleValues::TakeInputs() {
  Vars inputs = module_.main()->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].type().is_tensor()) continue;
    int number = values_.Of(inputs[i].node);
    Values::Value& value = values_.at(number);
    bool parameter = i < options_.parameters.size() && options_.parameters[i];
    value.data = !parameter;
    if (parameter) {
      value.bytes = static_cast<double>(inputs[i].type().bytes());
      if (options_.stages.of.contains(inputs[i].node))
        value.bytes_in = Times(value.bytes, options_.stages.SharesOf(inputs[i].node));
    }
    bool whole = !parameter || options_.mode == Mode::kDataParallel;
    if (i < options_.inputs.size() && options_.inputs[i])
      Pin(*options_.inputs[i], number, "input", i);
    else if (whole)
      PinWhole(number);
  }
}

void ModuleValues::TakeOutputs() {
  const Vars& outputs = module_.main()->outputs();
  for (size_t i = 0; i < outputs.size() && i < options_.outputs.size(); ++i) {
    if (outputs[i].type().is_tensor() && options_.outputs[i])
      Pin(*options_.outputs[i], values_.Of(module_.main(), i), "output", i);
  }
}

// What is called from where nobody looks.
void ModuleValues::PinEscaped() {
  for (const auto& graph : module_.graphs()) {
    if (!callees_.Escapes(graph.get())) continue;
    for (const Var& v : graph->inputs()) PinWhole(values_.Of(v.node));
    for (size_t i = 0; i < graph->outputs().size(); ++i) PinWhole(values_.Of(graph.get(), i));
  }
}

void ModuleValues::Pin(const Layout& pin, int value, const char* what, size_t number) {
  int rank = values_.at(value).type.shape().rank();
  if (pin.rank() != rank || pin.has_partial()) {
    Throw(ErrorKind::kValue,
          "For 'Layout', that of {} {} must be of {} dimensions without partial sums, but got {}.",
          what, number, rank, pin.ToString(options_.mesh));
  }
  values_.at(value).pin = pin;
}

void ModuleValues::PinWhole(int value) {
  const Type& type = values_.at(value).type;
  if (type.is_tensor()) values_.at(value).pin = Layout::Replicated(type.shape().rank());
}

// Where nothing is searched, a Parameter lies as the first op that was pinned wants it.
void ModuleValues::PinParameters(const Hints& hints) {
  if (options_.mode == Mode::kSearch || options_.mode == Mode::kRecursive) return;
  for (const Node* hint : hints.all()) {
    int value = Of(hint->inputs[0]);
    if (value < 0 || values_.at(value).bytes == 0 || values_.at(value).pin) continue;
    values_.at(value).pin = hints.of(hint);
  }
}

// ---- which values are one ---------------------------------------------------------------------
void ModuleValues::ForBindings(const Graph& graph, const Binding& use) {
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

void ModuleValues::ForArguments(const Node& call, const Callee& callee, const Binding& use) {
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

void ModuleValues::JoinCalls(const Graph& graph) {
  // Several functions at one call lie alike.
  for (const Node* node : graph.nodes()) {
    if (node->op != Control().call) continue;
    const CalleeList& list = callees_.Of(node->inputs[0]);
    for (size_t k = 1; k < list.size(); ++k) JoinGraphs(list[0].graph, list[k].graph);
  }
  ForBindings(graph, [&](const Var& v, int value, const Node* node, size_t) {
    int given = Of(v);
    if (given < 0) return;
    // What comes from outside lies as it does; what a block of several takes need not.
    bool own = node && node->op == Control().call && OwnGradientOf(*node->inputs[0].node).function;
    bool outside = values_.at(given).data && values_.at(given).pin;
    if (!own || !outside) values_.Join(given, value);
  });
}

void ModuleValues::JoinGraphs(const Graph* a, const Graph* b) {
  for (size_t i = 0; i < a->parameters().size(); ++i)
    values_.Join(values_.Of(a->parameters()[i]), values_.Of(b->parameters()[i]));
  for (size_t i = 0; i < a->outputs().size(); ++i) values_.Join(values_.Of(a, i), values_.Of(b, i));
}

void ModuleValues::JoinOwnGradients(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    OwnGradient own = OwnGradientOf(*node);
    if (!own.function) continue;
    JoinOwnGradient(own);
    if (!own_.insert(own.function).second) continue;  // of several nodes with it
    for (const Node* p : own.function->parameters()) {
      Values::Value& value = values_.at(values_.Of(p));
      double times = callees_.Times(own.function);
      value.kept += times;
      Values::Add(Times(times, options_.stages.SharesOf(own.function)), &value.kept_in);
    }
  }
}

// What the gradient of a function is given lies as it does there, and so do tangents.
void ModuleValues::JoinOwnGradient(const OwnGradient& own) {
  std::vector<int> given, made;
  for (const Node* p : own.function->parameters()) given.push_back(values_.Of(p));
  for (size_t i = 0; i < own.function->outputs().size(); ++i)
    made.push_back(values_.Of(own.function, i));
  size_t at = 0, tangent = 0;
  auto next = [&](int value) { values_.Join(value, values_.Of(own.backward->parameters()[at++])); };
  for (int value : given) next(value);
  for (int value : made) next(value);
  for (size_t i = 0; i < made.size(); ++i) {
    if (own.function->outputs()[i].type().has_tangent()) next(made[i]);
  }
  for (int value : given) {
    if (values_.at(value).type.has_tangent())
      values_.Join(value, values_.Of(own.backward, tangent++));
  }
}

// States of an optimizer lie as their Parameter, and so do new values.
void ModuleValues::JoinStates() {
  const Graph* main = module_.main();
  Vars inputs = main->inputs();
  for (const auto& [output, input] : main->updates)
    values_.Join(values_.Of(inputs[static_cast<size_t>(input)].node),
                 values_.Of(main, static_cast<size_t>(output)));
  for (const Node* node : main->nodes()) {
    if (!node->op || node->op->updates.empty()) continue;
    int first = Of(node->inputs[static_cast<size_t>(node->op->updates[0].second)]);
    if (first >= 0) ++values_.at(first).updated;
    for (const auto& [output, input] : node->op->updates) {
      int other = Of(node->inputs[static_cast<size_t>(input)]);
      if (first >= 0 && other >= 0) values_.Join(first, other);
    }
  }
}

// Results of main are what was updated, or whole where nothing else is said.
void ModuleValues::JoinResults() {
  const Graph* main = module_.main();
  for (size_t i = 0; i < main->outputs().size(); ++i) {
    const Var& v = main->outputs()[i];
    if (!v.type().is_tensor()) continue;
    int value = values_.Of(main, i);
    if (v.node->op && !v.node->op->structural) {
      for (const auto& [output, input] : v.node->op->updates) {
        int old = Of(v.node->inputs[static_cast<size_t>(input)]);
        if (static_cast<uint32_t>(output) == v.index && old >= 0) values_.Join(old, value);
      }
    }
    bool updated = values_.at(value).bytes > 0;
    if (!updated && !values_.at(value).pin) PinWhole(value);
  }
}

// ---- what they depend on ----------------------------------------------------------------------
void ModuleValues::MarkTrained(int number) {
  Values::Value& value = values_.at(number);
  bool floats = value.type.is_tensor() && IsFloating(value.type.dtype());
  value.trained |= floats && !value.data;
}

// Whether gradients go to a value: not to what comes from outside.
void ModuleValues::FindTrained(const Graph& graph) {
  if (!callees_.Differentiated(&graph)) return;
  for (const Var& v : graph.inputs()) MarkTrained(values_.Of(v.node));
  for (const Node* node : graph.nodes()) {
    if (node->kind != NodeKind::kApply) continue;
    bool any = std::any_of(node->inputs.begin(), node->inputs.end(),
                           [&](const Var& v) { return Trained(v); });
    if (any) trained_.insert(node);
  }
}

// Values that nodes hand to calls are taken for such from outside.
void ModuleValues::FindData(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (node->kind != NodeKind::kApply || node->op->structural) continue;
    bool any = std::any_of(node->inputs.begin(), node->inputs.end(), [&](const Var& v) {
      int value = Of(v);
      if (value < 0) return from_data_.contains(v.node);
      const Values::Value& given = values_.at(value);
      return given.data || (given.bytes == 0 && v.node->kind == NodeKind::kParameter);
    });
    if (any) from_data_.insert(node);
  }
}

bool ModuleValues::Trained(const Var& v) {
  if (!v.type().is_tensor() || !IsFloating(v.type().dtype())) return false;
  if (!callees_.Differentiated(v.node->graph)) return false;
  int value = Of(v);
  return value >= 0 ? values_.at(value).trained : trained_.contains(v.node);
}

}  // namespace ms::parallel
