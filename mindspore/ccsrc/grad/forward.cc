#include "grad/forward.h"

#include "grad/backward.h"
#include "ir/control.h"
#include "ops/control.h"

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

  void Structural(Node& node) {
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
    } else if (node.op == Control().custom_grad) {
      SetOutputs(node, {inputs[0]}, {});  // forward tangents are those of the function itself
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
        any |= static_cast<bool>(tangents.back());
      }
      blocked = any && !node.op->grad;
      tangents = any && !blocked ? Push(*copy, tangents) : Vars{};
    }
    SetOutputs(node, values, tangents);
    if (!blocked) return;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      if (HasForwardTangent(node.outputs[i])) blocked_.emplace(Var{&node, i}, &node);
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
    Terms back = node.op->grad(context);
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
  std::unordered_map<Var, Var, VarHash> value_;            // g -> ▷g
  std::unordered_map<Var, Var, VarHash> tangent_;          // g -> ▷g; absent: zero
  std::unordered_map<Var, const Node*, VarHash> blocked_;  // by an op without a gradient
  Graph* body_ = nullptr;
  Graph* done_ = nullptr;
};

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
