#include "grad/forward.h"

#include "grad/backward.h"
#include "grad/rule.h"
#include "ir/control.h"
#include "ops/control.h"

#include <unordered_set>

namespace ms {
namespace {

bool HasForwardTangent(const Type& type) { return type.is_tensor() && type.has_tangent(); }

Types WithTangents(const Types& types) {
  Types result = types;
  for (const Type& t : types) {
    if (HasForwardTangent(t)) result.push_back(t.Tangent());
  }
  return result;
}

}  // namespace

// Fills one ▷g.
class ForwardGraph {
 public:
  ForwardGraph(ForwardGradients& owner, Graph* g, const std::vector<bool>& active, Graph* forward)
      : owner_(owner), g_(g), forward_(forward), emitter_(forward) {
    Bind(g->captures(), forward->captures(), active);
    Bind(g->parameters(), forward->parameters(), {});
    FindForwardFunctions();
  }

  void Fill() {
    for (Node* node : g_->nodes()) {
      if (node->kind == NodeKind::kParameter) continue;
      emitter_.span = node->span;
      if (node->kind == NodeKind::kConstant) {
        value_.emplace(Var{node, 0}, emitter_.Constant(node->value, node->outputs[0].weak()));
      } else if (node->op->structural) {
        Structural(*node);
      } else {
        Apply(*node);
      }
    }
    emitter_.span = 0;
    Vars outputs = Values(g_->outputs());
    for (const Var& t : Tangents(g_->outputs())) outputs.push_back(t);
    forward_->SetOutputs(std::move(outputs));
    if (g_->loop.body) forward_->loop = {body_, done_, g_->loop.trip_count};
  }

 private:
  // The inputs of ▷g: values, then tangents; of captures, of the active ones alone.
  void Bind(const std::vector<Node*>& from, const std::vector<Node*>& to,
            const std::vector<bool>& active) {
    size_t next = from.size();
    for (size_t i = 0; i < from.size(); ++i) {
      Var v{from[i], 0};
      value_.emplace(v, Var{to[i], 0});
      bool has = active.empty() ? HasForwardTangent(v.type()) : active[i];
      if (has) tangent_.emplace(v, Var{to[next++], 0});
    }
  }

  Vars Values(const Vars& vars) const {
    Vars result;
    for (const Var& v : vars) result.push_back(value_.at(v));
    return result;
  }

  // Of all that have one, zeros where nothing is known to flow.
  Vars Tangents(const Vars& vars) {
    Vars result;
    for (const Var& v : vars) {
      if (!HasForwardTangent(v.type())) continue;
      Var t = Tangent(v);
      result.push_back(t ? t : emitter_.Full(0, v.type().Tangent()).var);
    }
    return result;
  }

  // Null where it is zero.
  Var Tangent(const Var& v) const {
    if (auto it = blocked_.find(v); it != blocked_.end()) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("For '{}', a tangent is asked for, but it is not differentiable.",
                              it->second->op->name))
          .WithSpan(it->second->span);
    }
    auto it = tangent_.find(v);
    return it == tangent_.end() ? Var{} : it->second;
  }

  void SetOutputs(const Node& node, const Vars& values, const Vars& tangents) {
    size_t next = 0;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      Var v{const_cast<Node*>(&node), i};
      value_.emplace(v, values[i]);
      if (tangents.empty() || !HasForwardTangent(v.type())) continue;
      if (Var t = tangents[next++]) tangent_.emplace(v, t);
    }
  }

  // Function values of which only a CustomGrad is made are not differentiated themselves.
  void FindForwardFunctions() {
    for (const Node* node : g_->nodes()) {
      if (node->op == Control().custom_grad) continue;
      for (const Var& v : node->inputs) {
        if (v.type().is_function()) differentiated_.insert(v);
      }
    }
    differentiated_.insert(g_->outputs().begin(), g_->outputs().end());
  }

  bool IsMadeLater(const Node& node) const {
    bool makes = PartialGraph(&node) || node.op == Control().select;
    return makes && node.outputs[0].is_function() &&
           !differentiated_.contains(Var{const_cast<Node*>(&node), 0});
  }

  // A function value of g as it is, in ▷g.
  Var Plain(const Var& f) {
    const Node& node = *f.node;
    if (const Graph* callee = PartialGraph(&node)) {
      Vars captures;
      for (const Var& v : node.inputs)
        captures.push_back(v.type().is_function() ? Plain(v) : value_.at(v));
      return emitter_.Partial(const_cast<Graph*>(callee), captures);
    }
    if (node.op == Control().select) {
      return emitter_.Switch(value_.at(node.inputs[0]), Plain(node.inputs[1]),
                             Plain(node.inputs[2]));
    }
    if (node.op == Control().custom_grad) {
      Vars functions{Plain(node.inputs[0]), Plain(node.inputs[1])};
      return emitter_.Emit(*Control().custom_grad, functions, nullptr)[0];
    }
    return WithoutTangents(value_.at(f), f.type().function());
  }

  // A ▷ function as the plain function that it also is: with zeros for tangents.
  Var WithoutTangents(const Var& forward, const FunctionType& type) {
    Graph* graph = owner_.module_->NewGraph("value");
    GraphEmitter inside(graph);
    Var f{graph->AddParameter(forward.type(), "f", true), 0};
    Vars arguments;
    for (const Type& t : type.parameters) arguments.push_back({graph->AddParameter(t, "x"), 0});
    for (const Type& t : type.parameters) {
      if (HasForwardTangent(t)) arguments.push_back(inside.Full(0, t.Tangent()).var);
    }
    Vars outputs = inside.CallFunction(f, arguments);
    outputs.resize(type.results.size());
    graph->SetOutputs(std::move(outputs));
    return emitter_.Partial(graph, {forward});
  }

  void Structural(Node& node) {
    if (IsMadeLater(node)) return;
    if (node.op == Control().custom_grad) {
      Vars functions{Plain(node.inputs[0]), Plain(node.inputs[1])};
      return SetOutputs(node, {owner_.OfCustom(emitter_, functions[0], functions[1])}, {});
    }
    Vars inputs = Values(node.inputs);
    if (Graph* callee = PartialGraph(&node)) {
      std::vector<bool> active;
      for (const Var& v : node.inputs) {
        Var t = HasForwardTangent(v.type()) ? Tangent(v) : Var{};
        active.push_back(static_cast<bool>(t));
        if (t) inputs.push_back(t);
      }
      Graph* made = owner_.Declare(callee, active);
      if (callee == g_->loop.body) body_ = made;
      if (callee == g_->loop.done) done_ = made;
      SetOutputs(node, {emitter_.Partial(made, inputs)}, {});
    } else if (node.op == Control().call || node.op == Control().box_make) {
      for (const Var& t : Tangents(node.inputs)) inputs.push_back(t);
      Split(node, emitter_.Emit(*node.op, inputs, node.attrs));
    } else if (node.op == Control().box_get) {
      Types types = WithTangents(DecodeTangentTypes(node.attr<Ints>("types")));
      AttrsRef attrs = MakeAttrs(*node.op, {{"types", EncodeTangentTypes(types)}});
      Split(node, emitter_.Emit(*node.op, inputs, attrs));
    } else {
      MS_ASSERT(!IsTransform(node));
      SetOutputs(node, emitter_.Emit(*node.op, inputs, node.attrs), {});
    }
  }

  // What a ▷ function returned: values, then tangents.
  void Split(const Node& node, const Vars& outputs) {
    auto middle = outputs.begin() + static_cast<std::ptrdiff_t>(node.outputs.size());
    SetOutputs(node, {outputs.begin(), middle}, {middle, outputs.end()});
  }

  void Apply(Node& node) {
    Node* copy = forward_->AddApply(*node.op, Values(node.inputs), node.attrs, node.outputs,
                                    node.span);  // types stay as they are
    Vars values;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) values.push_back({copy, i});
    bool blocked = false;
    Vars tangents;
    for (const Var& v : node.inputs) blocked |= blocked_.contains(v);
    if (!blocked) {
      bool any = false;
      for (const Var& v : node.inputs) {
        tangents.push_back(Tangent(v));
        any |= tangents.back() && !IsLeftAside(node, v);
      }
      blocked = any && !IsDifferentiable(*node.op);
      tangents = any && !blocked ? Push(*copy, tangents) : Vars{};
    }
    SetOutputs(node, values, tangents);
    if (!blocked) return;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      Var v{&node, i};
      if (HasForwardTangent(v.type()) && !IsStep(v)) blocked_.emplace(v, &node);
    }
  }

  // Tangents of the outputs of `node`, of ▷g, from those of its inputs. The gradient rule is run on
  // stand-ins for the tangents of the outputs, and what it emitted is walked in reverse.
  Vars Push(Node& node, const Vars& tangents) {
    Vars stand_ins(node.outputs.size()), wrt;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!HasForwardTangent(node.outputs[i])) continue;
      stand_ins[i] = emitter_.Full(0, node.outputs[i].Tangent()).var;
      wrt.push_back(stand_ins[i]);
    }
    if (wrt.empty()) return {};
    std::vector<bool> needed;
    for (const Var& t : tangents) needed.push_back(static_cast<bool>(t));
    size_t first = forward_->nodes().size();
    GradContext context(emitter_, node, stand_ins, [](const Var& v) { return v; }, needed);
    std::vector<Seed> seeds;
    Terms back = ApplyGradientRule(*node.op, context);
    for (size_t i = 0; i < back.size(); ++i) {
      if (back[i] && tangents[i]) seeds.push_back({back[i].var, tangents[i]});
    }
    std::vector<Node*> linear(forward_->nodes().begin() + static_cast<std::ptrdiff_t>(first),
                              forward_->nodes().end());
    BackwardHost host;
    return Backward(emitter_, linear, seeds, wrt, host);
  }

  ForwardGradients& owner_;
  Graph* g_;
  Graph* forward_;
  GraphEmitter emitter_;
  std::unordered_set<Var, VarHash> differentiated_;        // functions of g of which ▷ is needed
  std::unordered_map<Var, Var, VarHash> value_;            // g -> ▷g
  std::unordered_map<Var, Var, VarHash> tangent_;          // g -> ▷g; absent: zero
  std::unordered_map<Var, const Node*, VarHash> blocked_;  // by an op without a gradient
  Graph* body_ = nullptr;
  Graph* done_ = nullptr;
};

namespace {

// Python computes a value there, and no gradient passes through it.
void RefuseHostCalls(const Var& back) {
  static const OpDef* const host_call = &Ops().Get("HostCall");
  std::unordered_set<const Graph*> seen;
  std::vector<const Graph*> pending;
  if (const Graph* graph = PartialGraph(back.node)) pending.push_back(graph);
  while (!pending.empty()) {
    const Graph* graph = pending.back();
    pending.pop_back();
    if (!graph || !seen.insert(graph).second) continue;
    for (const Node* node : graph->nodes()) {
      bool computes = node->op == host_call && !TangentTypes(node->outputs).empty();
      if (!computes) continue;
      throw Error(ErrorKind::kRuntime,
                  "For 'jvp', a custom gradient must be differentiable in its last argument, the "
                  "tangent of the output, but got one that Python computes.")
          .WithSpan(node->span);
    }
    for (const Graph* used : ReferencedGraphs(*graph)) pending.push_back(used);
  }
}

Vars Append(Vars vars, const Vars& more) {
  vars.insert(vars.end(), more.begin(), more.end());
  return vars;
}

}  // namespace

Var ForwardGradients::OfCustom(GraphEmitter& emitter, const Var& f, const Var& back) {
  RefuseHostCalls(back);
  const FunctionType type = f.type().function();
  Var custom = emitter.Emit(*Control().custom_grad, {f, back}, nullptr)[0];
  Var transposed = emitter.Emit(*Control().vjp, {back}, nullptr)[0];
  Graph* graph = module_->NewGraph("▷custom");
  GraphEmitter inside(graph);
  auto add = [&](const Types& types, const char* name, bool capture) {
    Vars made;
    for (const Type& t : types) made.push_back({graph->AddParameter(t, name, capture), 0});
    return made;
  };
  Vars functions = add({custom.type(), transposed.type()}, "f", true);
  Vars inputs = add(type.parameters, "x", false);
  Vars moving = add(TangentTypes(type.parameters), "dx", false);
  Vars outputs = inside.CallFunction(functions[0], inputs);
  Vars ones;  // where the rule is linear, as it should be, any value will do
  for (const Type& t : TangentTypes(type.results)) ones.push_back(inside.Full(1, t).var);
  Vars arguments = Append(Append(inputs, outputs), ones);
  Vars found = inside.CallFunction(inside.CallFunction(functions[1], arguments).back(), moving);
  outputs.insert(outputs.end(), found.end() - static_cast<std::ptrdiff_t>(ones.size()),
                 found.end());
  graph->SetOutputs(std::move(outputs));
  return emitter.Partial(graph, {custom, transposed});
}

Graph* ForwardGradients::Forward(Graph* g) {
  Graph* forward = Declare(g, std::vector<bool>(g->captures().size(), false));
  while (!pending_.empty()) {
    const auto& [key, graph] = *pending_.front();
    pending_.pop_front();
    ForwardGraph(*this, key.first, key.second, graph).Fill();
  }
  return forward;
}

Graph* ForwardGradients::Declare(Graph* g, const std::vector<bool>& active) {
  auto [it, fresh] = made_.try_emplace({g, active}, nullptr);
  if (!fresh) return it->second;
  Graph* forward = it->second = module_->NewGraph("▷" + g->name());
  auto add = [&](const std::vector<Node*>& nodes, bool capture) {
    for (const Node* n : nodes) forward->AddParameter(JvpType(n->outputs[0]), n->name, capture);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Type& type = nodes[i]->outputs[0];
      if (capture ? active[i] : HasForwardTangent(type))
        forward->AddParameter(type.Tangent(), "d" + nodes[i]->name, capture);
    }
  };
  add(g->captures(), true);
  add(g->parameters(), false);
  Types outputs;
  for (const Type& t : g->OutputTypes()) outputs.push_back(JvpType(t));
  for (const Type& t : g->OutputTypes()) {
    if (HasForwardTangent(t)) outputs.push_back(t.Tangent());
  }
  forward->DeclareOutputTypes(std::move(outputs));
  pending_.push_back(&*it);
  return forward;
}

}  // namespace ms
