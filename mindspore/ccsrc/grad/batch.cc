#include "grad/batch.h"

#include <algorithm>

#include "ir/control.h"
#include "ops/batch.h"
#include "ops/control.h"

namespace ms {
namespace {

// A value of the type that is wanted: the same for all items, or spread over them.
Var Fit(GraphEmitter& emitter, const Var& v, const Type& type) {
  if (v.type() == type) return v;
  MS_ASSERT(type.is_tensor() && v.type().is_tensor());
  Term t = emitter.Wrap(v);
  if (t.shape() == type.shape()) return emitter.Call("Identity", {t}).var;
  return SpreadItems(t, type.shape().dim(0).code()).var;
}

Term SelectItems(const Term& condition, const Term& x, const Term& y) {
  Term aligned = AlignItems(condition, true, 0, x.shape().rank() - 1);
  return x.emitter->Call("Select", {aligned, x, y});
}

}  // namespace

// Fills the graph of a batch.
class BatchedGraph {
 public:
  BatchedGraph(BatchedFunctions& owner, const Graph* g, Graph* made)
      : owner_(owner), analysis_(owner.analysis_), g_(*g), made_(made), emitter_(made) {
    for (size_t i = 0; i < g->captures().size(); ++i)
      value_.emplace(Var{g->captures()[i], 0}, Var{made->captures()[i], 0});
    for (size_t i = 0; i < g->parameters().size(); ++i)
      value_.emplace(Var{g->parameters()[i], 0}, Var{made->parameters()[i], 0});
    if (auto it = owner.loop_of_body_.find(g); it != owner.loop_of_body_.end()) loop_ = it->second;
  }

  void Fill() {
    for (const Node* node : g_.nodes()) {
      if (node->kind == NodeKind::kParameter) continue;
      emitter_.span = node->span;
      if (node->kind == NodeKind::kConstant)
        value_.emplace(First(*node), emitter_.Constant(node->value, node->outputs[0].weak()));
      else if (node->op->structural)
        Structural(*node);
      else
        Apply(*node);
    }
    emitter_.span = 0;
    Types types = analysis_.ResultTypes(&g_);
    Vars outputs;
    for (size_t i = 0; i < types.size(); ++i)
      outputs.push_back(Fit(emitter_, value_.at(g_.outputs()[i]), types[i]));
    made_->SetOutputs(std::move(outputs));
    if (!g_.loop.body) return;
    bool masked = analysis_.MaskedLoop(&g_);
    made_->loop = {owner_.Declare(g_.loop.body), owner_.Declare(g_.loop.done),
                   masked ? -1 : g_.loop.trip_count};
  }

 private:
  static Var First(const Node& node) { return {const_cast<Node*>(&node), 0}; }

  Vars Values(const Vars& vars) const {
    Vars result;
    for (const Var& v : vars) result.push_back(value_.at(v));
    return result;
  }

  void Set(const Node& node, const Vars& values) {
    for (uint32_t i = 0; i < values.size(); ++i)
      value_.emplace(Var{const_cast<Node*>(&node), i}, values[i]);
  }

  void Apply(const Node& node) {
    Terms inputs;
    std::vector<bool> batched;
    bool any = node.op->effect == Effect::kRandom;
    for (const Var& v : node.inputs) {
      inputs.push_back(emitter_.Wrap(value_.at(v)));
      batched.push_back(analysis_.Batched(v));
      any |= batched.back();
    }
    if (!any) {
      Node* copy = made_->AddApply(*node.op, Values(node.inputs), node.attrs, node.outputs,
                                   node.span);  // types stay as they are
      for (uint32_t i = 0; i < node.outputs.size(); ++i)
        value_.emplace(Var{const_cast<Node*>(&node), i}, Var{copy, i});
      return;
    }
    BatchContext context(emitter_, node, std::move(inputs), std::move(batched), analysis_.size());
    Vars made;
    for (const Term& t : BatchNode(context)) made.push_back(t.var);
    Set(node, made);
  }

  void Structural(const Node& node) {
    if (const Graph* callee = PartialGraph(&node)) {
      if (analysis_.MaskedLoop(&g_) && callee == g_.loop.body) return;  // made where it is chosen
      Set(node, {MakePartial(node, {})});
    } else if (node.op == Control().select) {
      Set(node, {MakeSwitch(node)});
    } else if (node.op == Control().call) {
      Set(node, MakeCall(node));
    } else if (node.op == Control().box_make) {
      Vars inputs;
      for (const Var& v : node.inputs) {
        inputs.push_back(v.type().is_box() ? value_.at(v)
                                           : Fit(emitter_, value_.at(v),
                                                 BatchedType(v.type(), analysis_.size())));
      }
      Set(node, emitter_.Emit(*node.op, inputs, nullptr));
    } else if (node.op == Control().box_get) {
      Types types = DecodeTangentTypes(node.attr<Ints>("types"));
      for (Type& t : types) {
        if (t.is_tensor()) t = BatchedType(t, analysis_.size());
      }
      Set(node, emitter_.Emit(*node.op, Values(node.inputs),
                              MakeAttrs(*node.op, {{"types", EncodeTangentTypes(types)}})));
    } else {
      Set(node, emitter_.Emit(*node.op, Values(node.inputs), node.attrs));
    }
  }

  // With `taken`, one element per item, captures that differ between items are guarded by it.
  Var MakePartial(const Node& node, const Var& taken) {
    const Graph* callee = PartialGraph(&node);
    Vars inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Var v =
          Fit(emitter_, value_.at(node.inputs[i]), analysis_.TypeOf({callee->captures()[i], 0}));
      bool guard = taken && analysis_.Batched(node.inputs[i]);
      inputs.push_back(guard ? Guard(taken, v) : v);
    }
    if (loop_ == callee) {  // the next round: its captures are those of the first
      Vars outer = LoopInputs();
      std::copy_n(outer.begin(), inputs.size(), inputs.begin());
    }
    if (auto it = owner_.loop_of_body_.find(callee); it != owner_.loop_of_body_.end()) {
      inputs.push_back(taken);
      for (const Var& v : made_->inputs()) inputs.push_back(v);
    }
    return emitter_.Partial(owner_.Declare(callee), inputs);
  }

  // Code that an item does not reach must not see its values: an index out of range, or a slope
  // that is not finite, would spoil those that do. It sees the values of an item that reaches it.
  Var Guard(const Var& taken, const Var& v) {
    Term x = emitter_.Wrap(v);
    Var& first = first_taken_[taken];
    if (!first) first = emitter_.Call("Argmax", {emitter_.Wrap(taken)}, {{"axis", int64_t{0}}}).var;
    Term other = emitter_.Call("Gather", {x, emitter_.Wrap(first)}, {{"axis", int64_t{0}}});
    return SelectItems(emitter_.Wrap(taken), x, emitter_.Call("StopGradient", {other})).var;
  }

  Var MakeSwitch(const Node& node) {
    Var condition = value_.at(node.inputs[0]);
    if (!analysis_.Batched(node.inputs[0]))
      return emitter_.Switch(condition, value_.at(node.inputs[1]), value_.at(node.inputs[2]));
    Term taken = emitter_.Wrap(condition);
    if (analysis_.MaskedLoop(&g_) && PartialGraph(node.inputs[1].node) == g_.loop.body) {
      Var any = emitter_.Call("ReduceAny", {taken}).var;
      return emitter_.Switch(any, MakePartial(*node.inputs[1].node, condition),
                             value_.at(node.inputs[2]));
    }
    Var rest = emitter_.Call("LogicalNot", {taken}).var;
    return owner_.Choose(emitter_, condition, Arm(node.inputs[1], condition),
                         Arm(node.inputs[2], rest));
  }

  Var Arm(const Var& function, const Var& taken) {
    return PartialGraph(function.node) ? MakePartial(*function.node, taken) : value_.at(function);
  }

  Vars MakeCall(const Node& node) {
    Var function = value_.at(node.inputs[0]);
    const Types& types = function.type().function().parameters;
    bool next_round = loop_ && PartialGraph(node.inputs[0].node) == loop_;
    Vars arguments;
    for (size_t i = 0; i < types.size(); ++i) {
      Var v = Fit(emitter_, value_.at(node.inputs[i + 1]), types[i]);
      if (next_round) {
        Var old = LoopInputs()[loop_->captures().size() + i];
        v = SelectItems(emitter_.Wrap(Taken()), emitter_.Wrap(v), emitter_.Wrap(old)).var;
      }
      arguments.push_back(v);
    }
    return emitter_.CallFunction(function, arguments);
  }

  // In the body of a masked loop: which items are in this round, and the inputs of the loop.
  Var Taken() const { return {made_->captures()[g_.captures().size()], 0}; }
  Vars LoopInputs() const {
    Vars result;
    for (size_t i = g_.captures().size() + 1; i < made_->captures().size(); ++i)
      result.push_back({made_->captures()[i], 0});
    return result;
  }

  BatchedFunctions& owner_;
  const BatchAnalysis& analysis_;
  const Graph& g_;
  Graph* made_;
  GraphEmitter emitter_;
  const Graph* loop_ = nullptr;  // the masked loop whose body this is
  std::unordered_map<Var, Var, VarHash> value_;
  std::unordered_map<Var, Var, VarHash> first_taken_;
};

BatchedFunctions::BatchedFunctions(Module* module, const BatchAnalysis& analysis)
    : module_(module), analysis_(analysis) {
  for (const Graph* g : analysis.masked_loops()) loop_of_body_[g->loop.body] = g;
}

Var BatchedFunctions::Make(GraphEmitter& emitter, const Node& source, const Vars& inputs) {
  const Graph* callee = PartialGraph(&source);
  if (!callee) return emitter.Emit(*source.op, inputs, source.attrs)[0];  // Switch or CustomGrad
  Vars captures;
  for (size_t i = 0; i < inputs.size(); ++i)
    captures.push_back(Fit(emitter, inputs[i], analysis_.TypeOf({callee->captures()[i], 0})));
  return emitter.Partial(Declare(callee), captures);
}

Var BatchedFunctions::Finish(GraphEmitter& emitter, const Var& function) {
  while (!pending_.empty()) {
    const Graph* g = pending_.front();
    pending_.pop_front();
    BatchedGraph(*this, g, made_.at(g)).Fill();
  }
  const Type& wanted = analysis_.node().outputs[0];
  if (function.type() == wanted) return function;
  Graph* wrapper = module_->NewGraph("batch");
  GraphEmitter inner(wrapper);
  Var f{wrapper->AddParameter(function.type(), "f", true), 0};
  Vars arguments, outputs;
  const FunctionType& actual = function.type().function();
  for (size_t i = 0; i < actual.parameters.size(); ++i) {
    Var x{wrapper->AddParameter(wanted.function().parameters[i], "x"), 0};
    arguments.push_back(Fit(inner, x, actual.parameters[i]));
  }
  Vars results = inner.CallFunction(f, arguments);
  for (size_t i = 0; i < results.size(); ++i)
    outputs.push_back(Fit(inner, results[i], wanted.function().results[i]));
  wrapper->SetOutputs(std::move(outputs));
  return emitter.Partial(wrapper, {function});
}

Graph* BatchedFunctions::Declare(const Graph* g) {
  auto [it, fresh] = made_.try_emplace(g, nullptr);
  if (!fresh) return it->second;
  Graph* made = it->second = module_->NewGraph("⊞" + g->name());
  for (Node* n : g->captures()) made->AddParameter(analysis_.TypeOf({n, 0}), n->name, true);
  if (auto loop = loop_of_body_.find(g); loop != loop_of_body_.end()) {
    made->AddParameter(Type(DType::kBool, {analysis_.size()}), "taken", true);
    for (const Var& v : loop->second->inputs())
      made->AddParameter(analysis_.TypeOf(v), v.node->name, true);
  }
  for (Node* n : g->parameters()) made->AddParameter(analysis_.TypeOf({n, 0}), n->name);
  made->DeclareOutputTypes(analysis_.ResultTypes(g));
  pending_.push_back(g);
  return made;
}

Var BatchedFunctions::Choose(GraphEmitter& emitter, const Var& condition, const Var& if_true,
                             const Var& if_false) {
  Graph* both = module_->NewGraph("choose");
  GraphEmitter inner(both);
  const FunctionType& type = if_true.type().function();
  Term taken = inner.Wrap({both->AddParameter(condition.type(), "c", true), 0});
  Var f{both->AddParameter(if_true.type(), "f", true), 0};
  Var g{both->AddParameter(if_false.type(), "g", true), 0};
  bool values = std::all_of(type.results.begin(), type.results.end(),
                            [](const Type& t) { return t.is_tensor(); });
  if (values) {  // what no item reaches must not run: it might fail, or never end
    Var nothing = inner.Partial(Zeros(type), {});
    f = inner.Switch(inner.Call("ReduceAny", {taken}).var, f, nothing);
    g = inner.Switch(inner.Call("ReduceAny", {inner.Call("LogicalNot", {taken})}).var, g, nothing);
  }
  Vars arguments;
  for (const Type& t : type.parameters) arguments.push_back({both->AddParameter(t, "x"), 0});
  Vars a = inner.CallFunction(f, arguments), b = inner.CallFunction(g, arguments);
  Vars outputs;
  for (size_t i = 0; i < a.size(); ++i) {
    outputs.push_back(type.results[i].is_tensor()
                          ? SelectItems(taken, inner.Wrap(a[i]), inner.Wrap(b[i])).var
                          : Choose(inner, taken.var, a[i], b[i]));
  }
  both->SetOutputs(std::move(outputs));
  return emitter.Partial(both, {condition, if_true, if_false});
}

Graph* BatchedFunctions::Zeros(const FunctionType& type) {
  Graph* zeros = module_->NewGraph("nothing");
  GraphEmitter emitter(zeros);
  for (const Type& t : type.parameters) zeros->AddParameter(t, "x");
  Vars outputs;
  for (const Type& t : type.results) outputs.push_back(emitter.Full(0, t).var);
  zeros->SetOutputs(std::move(outputs));
  return zeros;
}

}  // namespace ms
