#include "ir/graph.h"

#include <algorithm>
#include <unordered_set>

#include "ir/op.h"

namespace ms {

Vars Graph::inputs() const {
  Vars vars;
  vars.reserve(captures_.size() + parameters_.size());
  for (Node* n : captures_) vars.push_back({n, 0});
  for (Node* n : parameters_) vars.push_back({n, 0});
  return vars;
}

Types Graph::InputTypes() const {
  Types types;
  types.reserve(captures_.size() + parameters_.size());
  for (const Var& v : inputs()) types.push_back(v.type());
  return types;
}

Types Graph::OutputTypes() const {
  if (!finished_) return declared_;
  Types types;
  types.reserve(outputs_.size());
  for (const Var& v : outputs_) types.push_back(v.type());
  return types;
}

Node* Graph::NewNode(NodeKind kind) {
  Node& node = storage_.emplace_back();
  node.kind = kind;
  node.graph = this;
  node.id = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(&node);
  return &node;
}

Node* Graph::AddParameter(const Type& type, std::string name, bool capture) {
  Node* node = NewNode(NodeKind::kParameter);
  node->outputs = {type};
  node->name = std::move(name);
  (capture ? captures_ : parameters_).push_back(node);
  return node;
}

Node* Graph::Capture(const Var& outer) {
  auto [known, fresh] = capture_of_.try_emplace(outer, nullptr);
  if (fresh) {
    captured.push_back(outer);
    known->second = AddParameter(outer.type(), fmt::format("c{}", captures_.size()), true);
  }
  return known->second;
}

Node* Graph::AddConstant(Tensor value, bool weak) {
  value = value.OnHost();  // passes read it
  Node* node = NewNode(NodeKind::kConstant);
  node->outputs = {Type(value.dtype(), value.shape(), weak)};
  node->value = std::move(value);
  return node;
}

Node* Graph::AddApply(const OpDef& op, Vars inputs, AttrsRef attrs, Types outputs, SpanId span) {
  Node* node = NewNode(NodeKind::kApply);
  node->op = &op;
  node->inputs = std::move(inputs);
  node->attrs = std::move(attrs);
  node->outputs = std::move(outputs);
  node->span = span;
  return node;
}

void Graph::Sweep(const std::vector<bool>& keep) {
  auto gone = [&](const Node* node) { return !keep[node->id]; };
  std::erase_if(captures_, gone);
  std::erase_if(parameters_, gone);
  std::vector<Node*> kept;
  kept.reserve(nodes_.size());
  for (Node* node : nodes_) {
    if (keep[node->id]) {
      kept.push_back(node);
    } else {
      node->value = Tensor();  // storage stays until the graph dies; its memory need not
    }
  }
  nodes_ = std::move(kept);
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id = static_cast<uint32_t>(i);
}

void Graph::Reorder(std::vector<Node*> order) {
  MS_ASSERT(order.size() == nodes_.size());
  nodes_ = std::move(order);
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id = static_cast<uint32_t>(i);
}

Graph* Module::NewGraph(std::string name) {
  std::string unique = name;
  while (names_.contains(unique)) unique = fmt::format("{}_{}", name, names_[name]++);
  names_[unique] = 1;
  graphs_.push_back(std::make_unique<Graph>(this, std::move(unique)));
  return graphs_.back().get();
}

// Whether an attribute of the op may name a graph: nodes of others need not be looked into.
static bool MayNameGraphs(const OpDef* op) {
  static const size_t kGraph = Attr(static_cast<Graph*>(nullptr)).index();
  return op && std::any_of(op->attributes.begin(), op->attributes.end(),
                           [](const AttrDef& a) { return a.kind == kGraph || a.kind == 0; });
}

std::vector<Graph*> ReferencedGraphs(const Graph& graph) {
  std::vector<Graph*> found;
  for (const Node* node : graph.nodes()) {
    if (!MayNameGraphs(node->op) || !node->attrs) continue;
    for (const Attr& attr : *node->attrs) {
      if (auto* g = std::get_if<Graph*>(&attr)) found.push_back(*g);
    }
  }
  if (graph.loop.body) found.insert(found.end(), {graph.loop.body, graph.loop.done});
  return found;
}

void Module::SweepGraphs() {
  std::unordered_set<const Graph*> reached;
  std::vector<Graph*> pending{main_};
  while (!pending.empty()) {
    Graph* graph = pending.back();
    pending.pop_back();
    if (!graph || !reached.insert(graph).second) continue;
    for (Graph* next : ReferencedGraphs(*graph)) pending.push_back(next);
  }
  std::erase_if(graphs_, [&](const auto& graph) { return !reached.contains(graph.get()); });
}

}  // namespace ms
