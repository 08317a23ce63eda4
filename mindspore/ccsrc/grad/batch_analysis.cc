#include "grad/batch_analysis.h"

#include <algorithm>

#include "ir/control.h"
#include "ops/control.h"

namespace ms {

BatchAnalysis::BatchAnalysis(const Node& vmap) : vmap_(vmap), size_(vmap.attr<int64_t>("size")) {
  FindSources();
  if (refusal_.empty()) Run();
}

void BatchAnalysis::Refuse(std::string why) {
  if (refusal_.empty()) refusal_ = std::move(why);
}

void BatchAnalysis::FindSources() {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> pending{vmap_.inputs[0].node};
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    sources_.push_back(node);
    bool known =
        PartialGraph(node) || node->op == Control().select || node->op == Control().custom_grad;
    if (!known) return Refuse("the function is not known when the program is compiled");
    for (const Var& v : node->inputs) {
      if (v.type().is_function()) pending.push_back(v.node);
    }
  }
  std::sort(sources_.begin(), sources_.end(),
            [](const Node* a, const Node* b) { return a->id < b->id; });
}

void BatchAnalysis::Run() {
  changed_ = true;
  while (changed_ && refusal_.empty()) {
    changed_ = false;
    Seed();
    for (const Node* node : sources_) Visit(*node->graph, *node);
    // Arguments flow from callers to callees, results back.
    for (size_t i = 0; i < graphs_.size() && refusal_.empty(); ++i) VisitGraph(*graphs_[i]);
    for (size_t i = graphs_.size(); i-- > 0 && refusal_.empty();) VisitGraph(*graphs_[i]);
  }
  if (!refusal_.empty()) return;
  for (const Graph* g : masked_) CheckLoop(*g);
}

void BatchAnalysis::VisitGraph(const Graph& g) {
  for (const Node* node : g.nodes()) Visit(g, *node);
  std::vector<int> results = slots_[static_cast<size_t>(Find(InterfaceOf(&g)))].results;
  for (size_t k = 0; k < results.size(); ++k) Flow(SlotOf(g.outputs()[k]), results[k]);
}

void BatchAnalysis::RefuseItems(size_t result) const {
  size_t returned =
      vmap_.attr<Ints>("out_axes").size() - static_cast<size_t>(vmap_.attr<int64_t>("written"));
  std::string why =
      result < returned
          ? fmt::format(
                "a result whose 'out_axes' is None must be the same for all items, but got "
                "result {}, which is computed from the item",
                result)
          : "the new value of a Parameter that all items share must be the same for all items, but "
            "got one that is computed from the item";
  throw Error(ErrorKind::kValue, fmt::format("For 'vmap', {}.", why)).WithSpan(vmap_.span);
}

// What the Vmap itself says of parameters and results.
void BatchAnalysis::Seed() {
  Slot f = slots_[static_cast<size_t>(Find(SlotOf(vmap_.inputs[0])))];
  const Ints& in = vmap_.attr<Ints>("in_axes");
  const Ints& out = vmap_.attr<Ints>("out_axes");
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == 0) Mark(f.parameters[i]);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0) {
      Mark(f.results[i]);
    } else if (slots_[static_cast<size_t>(Find(f.results[i]))].batched) {
      RefuseItems(i);
    }
  }
}

void BatchAnalysis::Visit(const Graph& g, const Node& node) {
  if (node.kind != NodeKind::kApply) return;
  if (PartialGraph(&node)) {
    VisitPartial(node);
  } else if (node.op == Control().select) {
    VisitSwitch(g, node);
  } else if (node.op == Control().call) {
    int f = Find(SlotOf(node.inputs[0]));
    std::vector<int> parameters = slots_[static_cast<size_t>(f)].parameters;
    std::vector<int> results = slots_[static_cast<size_t>(f)].results;
    for (size_t i = 0; i < parameters.size(); ++i) Flow(SlotOf(node.inputs[i + 1]), parameters[i]);
    for (uint32_t i = 0; i < results.size(); ++i)
      Flow(results[i], SlotOf({const_cast<Node*>(&node), i}));
  } else if (node.op == Control().custom_grad) {
    VisitCustom(node);
  } else if (IsTransform(node)) {
    VisitTransform(node);
  } else if (node.op == Control().box_get) {  // what is in boxes is batched
    for (uint32_t i = 0; i < node.outputs.size(); ++i) Mark(SlotOf({const_cast<Node*>(&node), i}));
  } else if (!node.op->structural) {
    VisitOp(node);
  }
}

void BatchAnalysis::VisitPartial(const Node& node) {
  const Graph* callee = PartialGraph(&node);
  int interface = InterfaceOf(callee);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    Flow(SlotOf(node.inputs[i]), SlotOf({callee->captures()[i], 0}));
  Join(SlotOf({const_cast<Node*>(&node), 0}), interface);
}

// The backward function must fit the function: all that they take and return is batched.
void BatchAnalysis::VisitCustom(const Node& node) {
  int f = SlotOf(node.inputs[0]);
  Join(SlotOf({const_cast<Node*>(&node), 0}), f);
  for (int function : {Find(f), Find(SlotOf(node.inputs[1]))}) {
    std::vector<int> all = slots_[static_cast<size_t>(function)].parameters;
    const std::vector<int>& results = slots_[static_cast<size_t>(function)].results;
    all.insert(all.end(), results.begin(), results.end());
    for (int slot : all) {
      if (slots_[static_cast<size_t>(Find(slot))].type.is_tensor()) Mark(slot);
    }
  }
}

void BatchAnalysis::VisitSwitch(const Graph& g, const Node& node) {
  int out = SlotOf({const_cast<Node*>(&node), 0});
  bool decided_by_item = Batched(node.inputs[0]);
  if (node.outputs[0].is_box()) {
    if (decided_by_item) Refuse("a gradient is chosen by a condition of the item");
    return;
  }
  Join(out, SlotOf(node.inputs[1]));
  Join(out, SlotOf(node.inputs[2]));
  if (!decided_by_item) return;
  chooses_ = true;
  MarkResults(out);
  if (IsLoopHead(g, node)) {
    if (masked_.insert(&g).second) changed_ = true;
    for (const Node* p : g.parameters()) {
      if (!p->outputs[0].is_tensor()) return Refuse("a loop carries functions");
      Mark(SlotOf({const_cast<Node*>(p), 0}));
    }
    return;
  }
  if (Reaches(*node.inputs[1].node, g) || Reaches(*node.inputs[2].node, g))
    Refuse("a recursion ends at another depth for each item");
}

// The inner function and what it becomes differ alike between items: tangents follow values. What
// has a tangent is batched as soon as anything is, so that no tangent is summed over items.
void BatchAnalysis::VisitTransform(const Node& node) {
  has_transforms_ = true;
  if (node.op == Control().vmap) {
    has_vmap_ = true;
    return;
  }
  for (const Types& types :
       {node.inputs[0].type().function().parameters, node.inputs[0].type().function().results}) {
    for (const Type& t : types) {
      if (!t.is_tensor()) return Refuse("a function of functions is differentiated");
    }
  }
  Slot f = slots_[static_cast<size_t>(Find(SlotOf(node.inputs[0])))];
  Slot made = slots_[static_cast<size_t>(Find(SlotOf({const_cast<Node*>(&node), 0})))];
  std::vector<int> with_tangent;
  auto pair = [&](const std::vector<int>& from, const std::vector<int>& to, size_t tangents_at,
                  const std::vector<int>& tangents) {
    size_t next = tangents_at;
    for (size_t i = 0; i < from.size(); ++i) {
      Join(from[i], to[i]);
      if (!slots_[static_cast<size_t>(from[i])].type.has_tangent()) continue;
      with_tangent.push_back(from[i]);
      Join(from[i], tangents[next++]);
    }
  };
  if (node.op == Control().jvp) {
    pair(f.parameters, made.parameters, f.parameters.size(), made.parameters);
    pair(f.results, made.results, f.results.size(), made.results);
  } else {
    Slot back = slots_[static_cast<size_t>(Find(made.results.back()))];
    pair(f.parameters, made.parameters, 1, back.results);
    pair(f.results, made.results, 0, back.parameters);
  }
  bool any = std::any_of(with_tangent.begin(), with_tangent.end(),
                         [this](int s) { return slots_[static_cast<size_t>(Find(s))].batched; });
  if (!any) return;
  for (int s : with_tangent) Mark(s);
}

void BatchAnalysis::VisitOp(const Node& node) {
  bool batched = node.op->effect == Effect::kRandom;  // each item draws its own numbers
  if (node.op->effect != Effect::kNone && !batched && !node.op->batch)
    return Refuse(fmt::format("'{}' has an effect for each item", node.op->name));
  for (const Var& v : node.inputs) batched |= Batched(v);
  if (!batched) return;
  for (uint32_t i = 0; i < node.outputs.size(); ++i) Mark(SlotOf({const_cast<Node*>(&node), i}));
}

// ---- loops and recursion
bool BatchAnalysis::IsLoopHead(const Graph& g, const Node& node) const {
  return g.loop.body && PartialGraph(node.inputs[1].node) == g.loop.body &&
         PartialGraph(node.inputs[2].node) == g.loop.done;
}

// Items that are through keep what the loop carried, and with it their condition: the condition
// must follow from it, and the next round must see the same captures.
void BatchAnalysis::CheckLoop(const Graph& g) {
  for (const Node* node : g.nodes()) {
    if (node->op && node->op->effect != Effect::kNone)
      return Refuse("the condition of a loop has an effect");
  }
  const Graph& body = *g.loop.body;
  if (!body.parameters().empty()) return Refuse("the body of a loop takes arguments");
  const Node* call = body.outputs().empty() ? nullptr : body.outputs()[0].node;
  if (!call || call->op != Control().call) return Refuse("a loop returns nothing");
  const Node* enter = nullptr;
  for (const Node* node : g.nodes()) {
    if (PartialGraph(node) == &body) enter = node;
  }
  const Node* again = call->inputs[0].node;
  for (size_t i = 0; i < again->inputs.size(); ++i) {
    auto at = std::find(body.captures().begin(), body.captures().end(), again->inputs[i].node);
    bool same =
        at != body.captures().end() &&
        enter->inputs[static_cast<size_t>(at - body.captures().begin())].node == g.captures()[i];
    if (!same) return Refuse("what a loop captures changes between its rounds");
  }
}

// Whether calling `function` may come back to g.
bool BatchAnalysis::Reaches(const Node& function, const Graph& g) const {
  std::vector<const Graph*> pending;
  std::unordered_set<const Graph*> seen;
  std::vector<const Node*> functions{&function};
  while (!functions.empty()) {
    const Node* f = functions.back();
    functions.pop_back();
    if (const Graph* graph = PartialGraph(f)) {
      pending.push_back(graph);
    } else if (f->op != Control().select && f->op != Control().custom_grad) {
      return true;  // a parameter or a result: it might
    }
    for (const Var& v : f->inputs) {
      if (v.type().is_function()) functions.push_back(v.node);
    }
  }
  while (!pending.empty()) {
    const Graph* graph = pending.back();
    pending.pop_back();
    if (graph == &g) return true;
    if (!seen.insert(graph).second) continue;
    for (const Graph* used : ReferencedGraphs(*graph)) pending.push_back(used);
  }
  return false;
}

// ---- slots
int BatchAnalysis::New(const Type& type) {
  int id = static_cast<int>(slots_.size());
  slots_.push_back({id, type, false, type.is_function(), {}, {}});
  if (!type.is_function()) return id;
  std::vector<int> parameters, results;
  for (const Type& t : type.function().parameters) parameters.push_back(New(t));
  for (const Type& t : type.function().results) results.push_back(New(t));
  slots_[static_cast<size_t>(id)].parameters = std::move(parameters);
  slots_[static_cast<size_t>(id)].results = std::move(results);
  return id;
}

int BatchAnalysis::SlotOf(const Var& v) {
  if (auto it = of_var_.find(v); it != of_var_.end()) return it->second;
  return of_var_[v] = New(v.type());
}

// The function that g is; its parameters are the slots of g's.
int BatchAnalysis::InterfaceOf(const Graph* g) {
  if (auto it = of_graph_.find(g); it != of_graph_.end()) return it->second;
  Types parameters;
  for (const Node* p : g->parameters()) parameters.push_back(p->outputs[0]);
  int slot = New(Type::Function(parameters, g->OutputTypes()));
  for (size_t i = 0; i < parameters.size(); ++i)
    of_var_[{g->parameters()[i], 0}] = slots_[static_cast<size_t>(slot)].parameters[i];
  of_graph_[g] = slot;
  graphs_.push_back(g);
  changed_ = true;
  return slot;
}

int BatchAnalysis::Find(int slot) const {
  auto at = [this](int s) -> int& { return slots_[static_cast<size_t>(s)].parent; };
  while (at(slot) != slot) slot = at(slot) = at(at(slot));
  return slot;
}

void BatchAnalysis::Join(int a, int b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return;
  changed_ = true;
  Slot& to = slots_[static_cast<size_t>(a)];
  Slot from = slots_[static_cast<size_t>(b)];
  slots_[static_cast<size_t>(b)].parent = a;
  to.batched |= from.batched;
  std::vector<int> parameters = to.parameters, results = to.results;
  for (size_t i = 0; i < parameters.size(); ++i) Join(parameters[i], from.parameters[i]);
  for (size_t i = 0; i < results.size(); ++i) Join(results[i], from.results[i]);
}

void BatchAnalysis::Flow(int from, int to) {
  const Slot& source = slots_[static_cast<size_t>(Find(from))];
  if (source.function)
    Join(from, to);
  else if (source.batched)
    Mark(to);
}

void BatchAnalysis::Mark(int slot) {
  Slot& s = slots_[static_cast<size_t>(Find(slot))];
  if (s.batched || !s.type.is_tensor()) return;
  s.batched = changed_ = true;
}

// Results of both arms of a choice that differs between items.
void BatchAnalysis::MarkResults(int slot) {
  std::vector<int> results = slots_[static_cast<size_t>(Find(slot))].results;
  for (int r : results) {
    const Slot& s = slots_[static_cast<size_t>(Find(r))];
    if (s.type.is_box()) return Refuse("a gradient is chosen by a condition of the item");
    if (s.function)
      MarkResults(r);
    else
      Mark(r);
  }
}

bool BatchAnalysis::Batched(const Var& v) const {
  auto it = of_var_.find(v);
  return it != of_var_.end() && slots_[static_cast<size_t>(Find(it->second))].batched;
}

Type BatchAnalysis::TypeOfSlot(int slot) const {
  const Slot& s = slots_[static_cast<size_t>(Find(slot))];
  if (!s.function) return s.batched ? BatchedType(s.type, size_) : s.type;
  Types parameters, results;
  for (int p : s.parameters) parameters.push_back(TypeOfSlot(p));
  for (int r : s.results) results.push_back(TypeOfSlot(r));
  return Type::Function(std::move(parameters), std::move(results));
}

Type BatchAnalysis::TypeOf(const Var& v) const {
  auto it = of_var_.find(v);
  return it == of_var_.end() ? v.type() : TypeOfSlot(it->second);
}

Types BatchAnalysis::ResultTypes(const Graph* g) const {
  return TypeOfSlot(of_graph_.at(g)).function().results;
}

}  // namespace ms
