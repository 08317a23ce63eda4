#include "grad/closure.h"

#include "grad/backward.h"
#include "ir/control.h"
#include "ir/var_map.h"
#include "ops/control.h"

namespace ms {
namespace {

Types ForwardTypes(const Types& types) {
  Types result;
  for (const Type& t : types) result.push_back(ClosureGradients::ForwardType(t));
  return result;
}

Type BackType(const Types& inputs, const Types& outputs) {
  Types results{Type::Box()};
  for (const Type& t : TangentTypes(inputs)) results.push_back(t);
  return Type::Function(TangentTypes(outputs), std::move(results));
}

// Builds ◀g beside ▶g: values of ▶g that a gradient reads become captures, but what is cheap to
// make again from them (constants, fills, views, broadcasts) is made again.
class BackwardGraph : public BackwardHost {
 public:
  BackwardGraph(Graph* graph, const VarMap<Var>& forward, const Vars& backs)
      : graph_(graph), emitter_(graph), forward_(forward), backs_(backs) {}

  void Build(const Graph& g) {
    std::vector<Seed> seeds;
    for (const Var& v : g.outputs()) {
      if (!v.type().has_tangent()) continue;
      Var tangent{graph_->AddParameter(v.type().Tangent(), fmt::format("d{}", seeds.size())), 0};
      seeds.push_back({v, tangent});
    }
    Vars wrt;
    for (const Var& v : g.inputs()) {
      if (v.type().has_tangent()) wrt.push_back(v);
    }
    Vars tangents = Backward(emitter_, g.nodes(), seeds, wrt, *this);
    emitter_.span = 0;
    size_t captures = TangentCount(g.captures());
    for (size_t i = 0; i < wrt.size(); ++i) CheckTangent(g, tangents[i], wrt[i].type());
    Vars outputs{Box(wrt, tangents, captures)};
    for (size_t i = captures; i < wrt.size(); ++i)
      outputs.push_back(OrZero(tangents[i], wrt[i].type()));
    graph_->SetOutputs(std::move(outputs));
  }

  // The values of ▶g for the captures of ◀g.
  const Vars& saved() const { return saved_; }

  // `v` is of g; the result is of ◀g.
  Var Use(const Var& v) override {
    Vars chain{forward_.Get(v)};
    Var made = inside_.Get(chain[0]);
    if (made) return made;
    while (!inside_.Get(chain.back()) && IsDerived(chain.back()))
      chain.push_back(chain.back().node->inputs[0]);
    made = UseForward(chain.back());
    for (size_t i = chain.size() - 1; i-- > 0;) {
      const Node& node = *chain[i].node;
      made = emitter_.Emit(*node.op, {made}, node.attrs)[0];
      inside_[chain[i]] = made;
    }
    return made;
  }

  Vars CallGradient(const Node& node, const Vars& tangents,
                    const std::vector<bool>& needed) override {
    if (node.op != Control().call) return BackwardHost::CallGradient(node, tangents, needed);
    const Var& back = backs_[node.id];
    Vars arguments;
    for (size_t i = 0; i < tangents.size(); ++i) {
      if (node.outputs[i].has_tangent()) arguments.push_back(OrZero(tangents[i], node.outputs[i]));
    }
    Vars made = emitter_.CallFunction(UseForward(back), arguments);
    Vars result(node.inputs.size());
    size_t next = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      if (!node.inputs[i].type().has_tangent()) continue;
      Var tangent = made[next++];
      if (needed[i]) result[i] = tangent;
    }
    return result;
  }

 private:
  static void CheckTangent(const Graph& g, const Var& tangent, const Type& type) {
    if (!tangent || tangent.type() == type.Tangent()) return;
    // An open size that an op of the forward code found to be another one.
    bool open = type.is_tensor() && (tangent.type().shape().symbolic() || type.shape().symbolic());
    throw Error(open ? ErrorKind::kSymbolic : ErrorKind::kInternal,
                fmt::format("the gradient of '{}' gave a tangent of type {} to {}", g.name(),
                            tangent.type(), type))
        .WithSpan(tangent.node->span);
  }

  static size_t TangentCount(const std::vector<Node*>& nodes) {
    size_t count = 0;
    for (const Node* n : nodes) count += n->outputs[0].has_tangent();
    return count;
  }

  // Made from one value that is no larger, at no cost worth saving memory for.
  static bool IsDerived(const Var& v) {
    static const OpDef* const broadcast = Ops().Find("BroadcastTo");
    const Node& node = *v.node;
    return node.kind == NodeKind::kApply && node.inputs.size() == 1 &&
           (node.op->view || node.op == broadcast);
  }

  Var UseForward(const Var& v) {
    if (Var known = inside_.Get(v)) return known;
    const Node& node = *v.node;
    Var made;
    if (node.kind == NodeKind::kConstant) {
      made = emitter_.Constant(node.value, v.type().weak());
    } else if (node.kind == NodeKind::kApply && node.inputs.empty() &&
               node.op->effect == Effect::kNone && node.op != Control().partial) {
      made = emitter_.Emit(*node.op, {}, node.attrs)[v.index];
    } else {
      made = {graph_->AddParameter(v.type(), fmt::format("s{}", saved_.size()), true), 0};
      saved_.push_back(v);
    }
    inside_[v] = made;
    return made;
  }

  Var OrZero(const Var& tangent, const Type& type) {
    return tangent ? tangent : emitter_.Full(0, type.Tangent()).var;
  }

  Var Box(const Vars& wrt, const Vars& tangents, size_t captures) {
    Terms parts;
    bool any = false;
    for (size_t i = 0; i < captures; ++i) any |= static_cast<bool>(tangents[i]);
    if (!any) return emitter_.Call("BoxZero", {}).var;
    for (size_t i = 0; i < captures; ++i)
      parts.push_back(emitter_.Wrap(OrZero(tangents[i], wrt[i].type())));
    return emitter_.Call("BoxMake", parts).var;
  }

  Graph* graph_;
  GraphEmitter emitter_;
  const VarMap<Var>& forward_;  // g -> ▶g
  const Vars& backs_;           // by the id of a Call in g: its backward closure in ▶g
  VarMap<Var> inside_;          // ▶g -> ◀g
  Vars saved_;
};

}  // namespace

Type ClosureGradients::ForwardType(const Type& type) {
  if (!type.is_function()) return type;
  Types results = ForwardTypes(type.function().results);
  results.push_back(BackType(type.function().parameters, type.function().results));
  return Type::Function(ForwardTypes(type.function().parameters), std::move(results));
}

Graph* ClosureGradients::Forward(Graph* g) {
  Graph* forward = Declare(g);
  while (!pending_.empty()) {
    Graph* next = pending_.front();
    pending_.pop_front();
    Fill(next, forward_.at(next));
  }
  return forward;
}

namespace {

Vars AddParameters(Graph* graph, const Types& types, std::string_view name, bool capture = false) {
  Vars made;
  for (const Type& t : types)
    made.push_back({graph->AddParameter(t, fmt::format("{}{}", name, made.size()), capture), 0});
  return made;
}

// A ▶ function as the plain function that it also is: without its backward closure.
Var WithoutBack(Module* module, GraphEmitter& emitter, const Var& forward) {
  Graph* graph = module->NewGraph("value");
  GraphEmitter inside(graph);
  Vars captures = AddParameters(graph, {forward.type()}, "f", true);
  Vars outputs = inside.CallFunction(
      captures[0], AddParameters(graph, forward.type().function().parameters, "x"));
  outputs.pop_back();
  graph->SetOutputs(std::move(outputs));
  return emitter.Partial(graph, {forward});
}

Vars Joined(Vars a, const Vars& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

// f is kept with its rule, so that the value of ▶CustomGrad has the same rule at the next order.
Var ClosureGradients::ForwardCustom(GraphEmitter& emitter, const Var& f, const Var& back) {
  Var plain = WithoutBack(module_, emitter, f);
  Var plain_back = WithoutBack(module_, emitter, back);
  const FunctionType type = plain.type().function();

  Graph* backward = module_->NewGraph("◀custom");
  GraphEmitter inside(backward);
  Vars captures = AddParameters(backward, {plain_back.type()}, "back", true);
  Vars saved = AddParameters(backward, type.parameters, "x", true);
  saved = Joined(saved, AddParameters(backward, type.results, "y", true));
  Vars tangents = AddParameters(backward, TangentTypes(type.results), "d");
  Vars results{inside.Call("BoxZero", {}).var};
  results = Joined(results, inside.CallFunction(captures[0], Joined(saved, tangents)));
  backward->SetOutputs(std::move(results));

  Graph* forward = module_->NewGraph("▶custom");
  GraphEmitter outside(forward);
  Vars functions = AddParameters(forward, {plain.type(), plain_back.type()}, "f", true);
  Vars inputs = AddParameters(forward, type.parameters, "x");
  Vars outputs =
      outside.CallFunction(outside.Emit(*Control().custom_grad, functions, nullptr)[0], inputs);
  Var closure = outside.Partial(backward, Joined(Joined({functions[1]}, inputs), outputs));
  outputs.push_back(closure);
  forward->SetOutputs(std::move(outputs));
  return emitter.Partial(forward, {plain, plain_back});
}

Graph* ClosureGradients::Declare(Graph* g) {
  auto [it, fresh] = forward_.try_emplace(g, nullptr);
  if (!fresh) return it->second;
  Graph* forward = it->second = module_->NewGraph("▶" + g->name());
  Types parameters;
  for (const Node* n : g->captures())
    forward->AddParameter(ForwardType(n->outputs[0]), n->name, true);
  for (const Node* n : g->parameters()) {
    forward->AddParameter(ForwardType(n->outputs[0]), n->name);
    parameters.push_back(n->outputs[0]);
  }
  Types outputs = ForwardTypes(g->OutputTypes());
  outputs.push_back(BackType(parameters, g->OutputTypes()));
  forward->DeclareOutputTypes(std::move(outputs));
  pending_.push_back(g);
  return forward;
}

void ClosureGradients::Fill(Graph* g, Graph* forward) {
  GraphEmitter emitter(forward);
  VarMap<Var> made;
  Vars backs(g->nodes().size());
  Vars from = g->inputs(), to = forward->inputs();
  for (size_t i = 0; i < from.size(); ++i) made[from[i]] = to[i];
  for (Node* node : g->nodes()) {
    if (node->kind == NodeKind::kParameter) continue;
    if (node->kind == NodeKind::kConstant) {
      made[{node, 0}] = emitter.Constant(node->value, node->outputs[0].weak());
      continue;
    }
    MS_ASSERT(node->op != Control().vjp);
    Vars inputs;
    inputs.reserve(node->inputs.size());
    for (const Var& v : node->inputs) inputs.push_back(made.Get(v));
    emitter.span = node->span;
    if (!node->op->structural) {  // types stay as they are
      Node* copy =
          forward->AddApply(*node->op, std::move(inputs), node->attrs, node->outputs, node->span);
      for (uint32_t i = 0; i < node->outputs.size(); ++i) made[{node, i}] = {copy, i};
      continue;
    }
    Graph* callee = PartialGraph(node);
    Vars outputs;
    if (callee) {
      outputs = {emitter.Partial(Declare(callee), inputs)};
    } else if (node->op == Control().custom_grad) {
      outputs = {ForwardCustom(emitter, inputs[0], inputs[1])};
    } else {
      outputs = emitter.Emit(*node->op, inputs, node->attrs);
    }
    for (uint32_t i = 0; i < node->outputs.size(); ++i) made[{node, i}] = outputs[i];
    if (node->op == Control().call) backs[node->id] = outputs.back();
  }
  Graph* backward = module_->NewGraph("◀" + g->name());
  BackwardGraph builder(backward, made, backs);
  builder.Build(*g);
  emitter.span = 0;
  Vars outputs;
  for (const Var& v : g->outputs()) outputs.push_back(made.Get(v));
  outputs.push_back(emitter.Partial(backward, builder.saved()));
  forward->SetOutputs(std::move(outputs));
}

}  // namespace ms
