#include "grad/backward.h"

#include <unordered_map>
#include <unordered_set>

#include "grad/rule.h"
#include "ops/pairs.h"

namespace ms {
namespace {

class Walk {
 public:
  Walk(Emitter& emitter, BackwardHost& host, const Vars& wrt) : emitter_(emitter), host_(host) {
    for (const Var& v : wrt) targets_.insert(v);
  }

  // Which values depend on a target.
  void MarkActive(const std::vector<Node*>& nodes) {
    active_.reserve(nodes.size());
    tangents_.reserve(nodes.size());
    references_.reserve(nodes.size());
    for (Node* node : nodes) {
      bool reads = node->kind == NodeKind::kApply && DependsOnOthers(*node->op);
      for (const Var& v : node->inputs) reads |= Moves(v) && !IsLeftAside(*node, v);
      if (reads) active_.insert(node);
    }
  }

  void Accumulate(const Var& forward, const Var& tangent) {
    if (!Moves(forward)) return;
    auto [it, fresh] = tangents_.try_emplace(forward, tangent);
    Retain(tangent);
    if (fresh) return;
    Var old = it->second;
    it->second = AddTangents(emitter_, old, tangent);
    Retain(it->second);
    Release(old);
    Release(tangent);
  }

  void Visit(Node& node) {
    if (node.kind != NodeKind::kApply || !active_.contains(&node)) return;
    Vars incoming(node.outputs.size());
    bool any = false;
    for (uint32_t i = 0; i < incoming.size(); ++i) {
      incoming[i] = Complete({&node, i});
      any |= static_cast<bool>(incoming[i]);
    }
    if (any) Differentiate(node, incoming);
    for (uint32_t i = 0; i < incoming.size(); ++i) {
      Var output{&node, i};
      if (!incoming[i] || targets_.contains(output)) continue;
      tangents_.erase(output);
      Release(incoming[i]);
    }
    host_.Finished(node);
  }

  // The tangent of a target that no visited node made is complete now.
  void Finish(const Var& target, const std::vector<Node*>& nodes) {
    bool visited = target.node->kind == NodeKind::kApply && !nodes.empty() &&
                   target.node->id >= nodes.front()->id;
    if (!visited) Complete(target);
  }

  Var Tangent(const Var& forward) const {
    auto it = tangents_.find(forward);
    return it == tangents_.end() ? Var{} : it->second;
  }

 private:
  Var Complete(const Var& forward) {
    auto it = tangents_.find(forward);
    if (it == tangents_.end()) return {};
    Var before = it->second;
    Var after = host_.Arrived(forward, before);
    if (after == before) return before;
    Retain(after);
    tangents_[forward] = after;
    Release(before);
    return after;
  }

  // Whether a target moves a value.
  bool Moves(const Var& v) const {
    if (!v.type().has_tangent()) return false;
    return targets_.contains(v) || (active_.contains(v.node) && !IsStep(v));
  }

  void Differentiate(Node& node, const Vars& incoming) {
    std::vector<bool> needed;
    for (const Var& v : node.inputs) needed.push_back(Moves(v));
    SpanId outer = std::exchange(emitter_.span, node.span);
    host_.BeginRule();
    Vars result;
    if (IsDifferentiable(*node.op)) {
      GradContext context(
          emitter_, node, incoming, [this](const Var& v) { return host_.Use(v); }, needed);
      for (const Term& t : ApplyGradientRule(*node.op, context)) result.push_back(t.var);
    } else {
      result = host_.CallGradient(node, incoming, needed);
    }
    MS_ASSERT(result.size() <= node.inputs.size());
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i]) Accumulate(node.inputs[i], result[i]);
    }
    std::vector<Var> kept;
    for (const Var& v : node.inputs) {
      if (Var t = Tangent(v)) kept.push_back(t);
    }
    host_.EndRule(kept);
    emitter_.span = outer;
  }

  void Retain(const Var& tangent) { ++references_[tangent]; }
  void Release(const Var& tangent) {
    auto it = references_.find(tangent);
    if (--it->second > 0) return;
    references_.erase(it);
    host_.Dropped(tangent);
  }

  Emitter& emitter_;
  BackwardHost& host_;
  std::unordered_set<Var, VarHash> targets_;
  std::unordered_set<const Node*> active_;
  std::unordered_map<Var, Var, VarHash> tangents_;
  std::unordered_map<Var, int, VarHash> references_;
};

}  // namespace

Vars BackwardHost::CallGradient(const Node& node, const Vars&, const std::vector<bool>&) {
  throw Error(ErrorKind::kRuntime,
              fmt::format("For '{}', a gradient is asked for, but it is not differentiable.",
                          node.op->name))
      .WithSpan(node.span);
}

Var AddTangents(Emitter& emitter, const Var& a, const Var& b) {
  Term x = emitter.Wrap(a);
  Term y = emitter.Wrap(b);
  return (a.type().is_box() ? emitter.Call("BoxAdd", {x, y}) : x + y).var;
}

Vars Backward(Emitter& emitter, const std::vector<Node*>& nodes, const std::vector<Seed>& seeds,
              const Vars& wrt, BackwardHost& host) {
  Walk walk(emitter, host, wrt);
  walk.MarkActive(nodes);
  for (const Seed& seed : seeds) walk.Accumulate(seed.output, seed.tangent);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) walk.Visit(**it);
  std::unordered_set<Var, VarHash> finished;
  for (const Var& v : wrt) {
    if (finished.insert(v).second) walk.Finish(v, nodes);
  }
  Vars result;
  for (const Var& v : wrt) result.push_back(walk.Tangent(v));
  return result;
}

}  // namespace ms
