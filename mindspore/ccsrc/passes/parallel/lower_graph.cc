#include "passes/parallel/lower_graph.h"

#include "ir/control.h"
#include "passes/parallel/hints.h"

namespace ms::parallel {

GraphLowering::GraphLowering(ProgramLowering& program, Graph* from, Graph* to)
    : program_(program),
      from_(from),
      to_(to),
      emitter_(to),
      mover_(program.processes(), emitter_),
      differentiated_(program.Differentiated(from)) {}

void GraphLowering::Run() {
  Places places = program_.ParameterPlaces(from_);
  Vars from = from_->inputs(), to = to_->inputs();
  for (size_t i = 0; i < from.size(); ++i) values_[from[i]] = {to[i], places[i]};
  for (Node* node : from_->nodes()) {
    if (node->kind == NodeKind::kParameter) continue;
    emitter_.span = node->span;
    if (node->kind == NodeKind::kConstant) {
      Set(*node, {emitter_.Constant(node->value, node->outputs[0].weak())},
          {Everywhere(node->outputs[0])});
      continue;
    }
    try {
      Add(*node);
    } catch (Error& error) {
      throw std::move(error).WithSpan(node->span);
    }
  }
  emitter_.span = 0;
  to_->SetOutputs(AllAt(from_->outputs(), 0, program_.ResultPlaces(from_)));
}

void GraphLowering::Set(const Node& node, const Vars& vars, const Places& places) {
  MS_ASSERT(vars.size() == node.outputs.size() && places.size() == vars.size());
  for (uint32_t i = 0; i < vars.size(); ++i)
    values_[{const_cast<Node*>(&node), i}] = {vars[i], places[i]};
}

Var GraphLowering::At(const Var& v, const Place& place, AxisMask entered) {
  Value value = Get(v);
  MS_ASSERT(value.var);
  if (!v.type().is_tensor()) return mover_.Bring(value.var, v.type(), value.place, place);
  if (!differentiated_ || !v.type().has_tangent() || v.node->kind == NodeKind::kConstant)
    entered = 0;
  if (value.place.layout == place.layout && entered == 0) return value.var;
  std::vector<Moved>& known = moved_[v];
  for (const Moved& m : known) {
    if (m.layout == place.layout && m.entered == entered) return m.var;
  }
  Var moved = mover_.Bring(value.var, v.type(), value.place, place, entered);
  moved_[v].push_back({place.layout, entered, moved});
  return moved;
}

Vars GraphLowering::AllAt(const Vars& vars, size_t first, const Places& places) {
  Vars result;
  for (size_t i = first; i < vars.size(); ++i) result.push_back(At(vars[i], places[i - first]));
  return result;
}

void GraphLowering::Add(const Node& node) {
  static const OpDef& hint = Ops().Get("ShardHint");
  static const OpDef& require = Ops().Get("Require");
  if (node.op->structural) return AddStructural(node);
  if (node.op == &hint) {
    auto planned = program_.plan().nodes.find(&node);
    bool lies = planned != program_.plan().nodes.end() && !planned->second.outputs.empty() &&
                !planned->second.outputs[0].has_partial();
    if (!lies) {
      Value value = Get(node.inputs[0]);
      return Set(node, {value.var}, {value.place});
    }
    Place place{planned->second.outputs[0], nullptr};
    return Set(node, {At(node.inputs[0], place)}, {place});
  }
  if (node.op == &require) {  // wherever it is
    Value value = Get(node.inputs[0]);
    Var made = made_.Get(node.inputs[0]);
    emitter_.Emit(*node.op, {made ? made : value.var}, node.attrs);
    return Set(node, {value.var}, {value.place});
  }
  if (Hints::Waits(node)) return AddWaiting(node);
  auto it = program_.plan().nodes.find(&node);
  bool cut = false;
  if (it != program_.plan().nodes.end()) {
    for (int factor : it->second.factor_of_axis) cut |= factor >= 0;
    for (const Layout& layout : it->second.inputs) cut |= layout.has_partial();
  }
  if (cut) {
    Types types;
    for (const Var& v : node.inputs) types.push_back(v.type());
    static const Attrs kNone;
    auto rule = ShardRuleOf(*node.op, types, node.attrs ? *node.attrs : kNone);
    if (rule && NodeLowering(*this, node, it->second, std::move(*rule)).Run()) return;
  }
  AddWhole(node);
}

// The value lies where it shall, what it waits for may be anywhere.
void GraphLowering::AddWaiting(const Node& node) {
  auto planned = program_.plan().nodes.find(&node);
  bool lies = planned != program_.plan().nodes.end() && !planned->second.outputs[0].has_partial();
  Place place = lies ? Place{planned->second.outputs[0], nullptr} : Everywhere(node.outputs[0]);
  Vars inputs{At(node.inputs[0], place)};
  for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(Get(node.inputs[i]).var);
  Set(node, emitter_.Emit(*node.op, inputs, node.attrs), {place});
}

void GraphLowering::AddWhole(const Node& node) {
  Vars inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    bool waits = node.op->view && i > 0;  // it may be anywhere
    inputs.push_back(waits ? Get(node.inputs[i]).var
                           : At(node.inputs[i], Everywhere(node.inputs[i].type())));
  }
  Set(node, emitter_.Emit(*node.op, inputs, node.attrs), Everywhere(node.outputs));
}

void GraphLowering::AddStructural(const Node& node) {
  const ControlOps& ops = Control();
  if (node.op == ops.call) return AddCall(node);
  if (node.op == ops.partial || node.op == ops.select || node.op == ops.vjp || node.op == ops.jvp ||
      node.op == ops.custom_grad)
    return AddFunction(node);
  // What a box holds is whole.
  Vars inputs;
  for (const Var& v : node.inputs) inputs.push_back(At(v, Everywhere(v.type())));
  Set(node, emitter_.Emit(*node.op, inputs, node.attrs), Everywhere(node.outputs));
}

void GraphLowering::AddCall(const Node& node) {
  Value function = Get(node.inputs[0]);
  Vars arguments = AllAt(node.inputs, 1, function.place.function->parameters);
  Set(node, emitter_.CallFunction(function.var, arguments), function.place.function->results);
}

void GraphLowering::AddFunction(const Node& node) {
  const ControlOps& ops = Control();
  if (Graph* graph = PartialGraph(&node)) {
    Places captures = program_.ParameterPlaces(graph);
    captures.resize(graph->captures().size());
    Graph* lowered = program_.Lowered(graph);
    return Set(node, {emitter_.Partial(lowered, AllAt(node.inputs, 0, captures))},
               {program_.FunctionPlace(graph)});
  }
  if (node.op == ops.select) {
    Var condition = At(node.inputs[0], Everywhere(node.inputs[0].type()));
    Place place = Get(node.inputs[1]).place;
    Var if_true = Get(node.inputs[1]).var, if_false = At(node.inputs[2], place);
    return Set(node, {emitter_.Switch(condition, if_true, if_false)}, {place});
  }
  Value f = Get(node.inputs[0]);
  const Type& whole = node.inputs[0].type();
  Vars inputs{f.var};
  Place place = f.place;
  if (node.op == ops.custom_grad) {
    inputs.push_back(At(node.inputs[1], CustomBackwardPlace(whole.function(), *f.place.function)));
  } else {
    place = node.op == ops.vjp ? VjpPlace(whole.function(), *f.place.function)
                               : JvpPlace(whole, f.place);
  }
  Set(node, emitter_.Emit(*node.op, inputs, node.attrs), {place});
}

}  // namespace ms::parallel
