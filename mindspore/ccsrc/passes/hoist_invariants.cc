// Loop-invariant motion. What the body of a loop, or its condition, computes from values that are
// the same in every round is computed once, where the loop is called, and handed in as a further
// capture: in nested loops it moves outwards step by step.
//
// A loop may have no rounds, and what moves out is computed all the same. So only ops move that
// have no effects and cannot fail: those with a scalar body, views, and those of a table. What
// costs less than to read it back (constants, views, broadcasts) moves only with what is made of
// it.
#include <algorithm>
#include <unordered_set>

#include "ir/control.h"
#include "ir/verify.h"
#include "passes/call_graph.h"
#include "passes/passes.h"

namespace ms {
namespace {

// Ops without a scalar body whose kernels take any values.
const char* const kTotalOps[] = {
    "MatMul",    "BatchMatMul", "Conv2D",       "Transpose",  "BroadcastTo", "Fill",
    "Tile",      "Concat",      "StridedSlice", "ReduceSum",  "ReduceMean",  "ReduceMax",
    "ReduceMin", "ReduceProd",  "Softmax",      "LogSoftmax", "LayerNorm",   "CumSum"};

bool IsTotal(const OpDef* op) {
  static const auto* const known = [] {
    auto* ops = new std::unordered_set<const OpDef*>;
    for (const char* name : kTotalOps) ops->insert(&Ops().Get(name));
    return ops;
  }();
  return op->scalar || op->view || known->contains(op);
}

int64_t Elements(const Type& type) {
  return type.shape().symbolic() ? int64_t{1} << 40 : type.shape().size();
}

// Cheaper to compute in each round than to read.
bool IsFree(const Node& node) {
  if (node.kind == NodeKind::kConstant || node.op->view) return true;
  int64_t largest = 0;
  for (const Var& v : node.inputs) largest = std::max(largest, Elements(v.type()));
  bool spreads = node.op->scalar || node.inputs.size() <= 1;
  return spreads && Elements(node.outputs[0]) > largest;
}

struct Loop {
  Graph* graph;
  Graph* body;
  Node* enter;               // in the loop's graph: Partial of the body
  Node* again;               // in the body: Partial of the loop
  std::vector<Node*> calls;  // elsewhere: Partials of the loop
};

bool Names(const Node& node, const Graph* graph) {
  if (!node.attrs) return false;
  return std::any_of(node.attrs->begin(), node.attrs->end(), [&](const Attr& attr) {
    auto* named = std::get_if<Graph*>(&attr);
    return named && *named == graph;
  });
}

// The nodes that refer to a graph; null for one that is no Partial.
std::vector<Node*> ReferencesTo(const Module& module, const Graph* graph) {
  std::vector<Node*> found;
  for (const auto& other : module.graphs()) {
    std::vector<Graph*> used = ReferencedGraphs(*other);
    if (std::find(used.begin(), used.end(), graph) == used.end()) continue;
    for (Node* node : other->nodes()) {
      if (Names(*node, graph)) found.push_back(PartialGraph(node) ? node : nullptr);
    }
  }
  return found;
}

bool Reaches(const Graph* from, const Graph* to) {
  std::unordered_set<const Graph*> seen;
  std::vector<const Graph*> pending{from};
  while (!pending.empty()) {
    const Graph* graph = pending.back();
    pending.pop_back();
    if (graph == to) return true;
    if (!seen.insert(graph).second) continue;
    for (const Graph* used : ReferencedGraphs(*graph)) pending.push_back(used);
  }
  return false;
}

// False where the loop is entered in ways that are not all known.
bool FindLoop(const Module& module, Graph* graph, Loop* loop) {
  if (!graph->loop.body || !HasLoopShape(*graph)) return false;
  *loop = {graph, graph->loop.body, nullptr, nullptr, {}};
  std::vector<Node*> enters = ReferencesTo(module, loop->body);
  if (enters.size() != 1 || !enters[0] || enters[0]->graph != graph) return false;
  loop->enter = enters[0];
  for (Node* node : ReferencesTo(module, graph)) {
    if (!node) return false;
    if (node->graph == loop->body) {
      if (loop->again) return false;
      loop->again = node;
    } else if (Reaches(graph, node->graph)) {
      return false;  // a call of itself from deeper inside
    } else {
      loop->calls.push_back(node);
    }
  }
  return loop->again && !loop->calls.empty();
}

class Hoister {
 public:
  explicit Hoister(Loop loop) : loop_(std::move(loop)) {}

  bool Run() {
    bool changed = Hoist(loop_.graph, InvariantsOfLoop());
    return Hoist(loop_.body, InvariantsOfBody()) || changed;
  }

 private:
  using Outer = std::unordered_map<Var, size_t, VarHash>;  // to the capture of the loop

  bool Passes(size_t capture) const {
    const Var& next = loop_.again->inputs[capture];
    const auto& captures = loop_.body->captures();
    auto at = std::find(captures.begin(), captures.end(), next.node);
    if (at == captures.end()) return false;
    const Var& given = loop_.enter->inputs[static_cast<size_t>(at - captures.begin())];
    return given.node == loop_.graph->captures()[capture];
  }

  // The captures that every round hands to the next one as they are.
  Outer InvariantsOfLoop() const {
    Outer found;
    const auto& captures = loop_.graph->captures();
    for (size_t i = 0; i < captures.size(); ++i) {
      if (Passes(i)) found[{captures[i], 0}] = i;
    }
    return found;
  }

  Outer InvariantsOfBody() const {
    Outer outer = InvariantsOfLoop(), found;
    const auto& captures = loop_.body->captures();
    for (size_t i = 0; i < captures.size(); ++i) {
      if (auto at = outer.find(loop_.enter->inputs[i]); at != outer.end())
        found[{captures[i], 0}] = at->second;
    }
    return found;
  }

  // Nodes of the graph that depend on nothing but invariants, in order.
  static std::vector<Node*> Movable(const Graph& graph, const Outer& invariants) {
    std::vector<Node*> found;
    std::unordered_set<const Node*> known;
    for (Node* node : graph.nodes()) {
      bool constant = node->kind == NodeKind::kConstant;
      bool total = node->kind == NodeKind::kApply && node->op->effect == Effect::kNone &&
                   !node->op->structural && node->outputs.size() == 1 && IsTotal(node->op);
      bool fixed = std::all_of(node->inputs.begin(), node->inputs.end(), [&](const Var& v) {
        return known.contains(v.node) || invariants.contains(v);
      });
      if (!constant && !(total && fixed)) continue;
      known.insert(node);
      found.push_back(node);
    }
    return found;
  }

  // Of the movable nodes those whose values are handed in: read by what stays, and worth it.
  static std::vector<Node*> Results(const Graph& graph, const std::vector<Node*>& movable) {
    std::unordered_set<const Node*> moves(movable.begin(), movable.end()), read;
    for (const Var& v : graph.outputs()) read.insert(v.node);
    std::vector<Node*> results;
    const auto& nodes = graph.nodes();
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
      Node* node = *at;
      if (moves.contains(node) && !read.contains(node)) continue;
      if (moves.contains(node) && !IsFree(*node)) {
        results.push_back(node);
        continue;
      }
      for (const Var& v : node->inputs) read.insert(v.node);
    }
    std::reverse(results.begin(), results.end());
    return results;
  }

  bool Hoist(Graph* graph, const Outer& invariants) {
    std::vector<Node*> movable = Movable(*graph, invariants);
    std::vector<Node*> results = Results(*graph, movable);
    if (results.empty()) return false;
    for (Node* call : loop_.calls) Compute(call, movable, results, invariants);
    Vars inside;
    for (Node* result : results) inside.push_back(HandIn(graph, *result));
    Replace(graph, results, inside);
    return true;
  }

  // In front of a call of the loop.
  static void Compute(Node* call, const std::vector<Node*>& movable,
                      const std::vector<Node*>& results, const Outer& invariants) {
    Graph* graph = call->graph;
    std::unordered_set<const Node*> needed(results.begin(), results.end());
    for (auto node = movable.rbegin(); node != movable.rend(); ++node) {
      if (!needed.contains(*node)) continue;
      for (const Var& v : (*node)->inputs) needed.insert(v.node);
    }
    std::unordered_map<const Node*, Node*> made;
    std::vector<Node*> order, fresh;
    for (Node* node : movable) {
      if (!needed.contains(node)) continue;
      Vars inputs;
      for (const Var& v : node->inputs) {
        auto outer = invariants.find(v);
        inputs.push_back(outer != invariants.end() ? call->inputs[outer->second]
                                                   : Var{made.at(v.node), v.index});
      }
      bool constant = node->kind == NodeKind::kConstant;
      made[node] = constant ? graph->AddConstant(node->value, node->outputs[0].weak())
                            : graph->AddApply(*node->op, std::move(inputs), node->attrs,
                                              node->outputs, node->span);
      fresh.push_back(made[node]);
    }
    size_t before = graph->nodes().size() - fresh.size();
    for (size_t i = 0; i < before; ++i) {
      Node* node = graph->nodes()[i];
      if (node == call) order.insert(order.end(), fresh.begin(), fresh.end());
      order.push_back(node);
    }
    graph->Reorder(std::move(order));
    for (Node* node : results) call->inputs.push_back({made.at(node), 0});
  }

  // A further capture of loop and body that all rounds hand on; its value in `graph`.
  Var HandIn(Graph* graph, const Node& value) {
    const Type& type = value.outputs[0];
    Node* in_loop = AddCapture(loop_.graph, type);
    Node* in_body = AddCapture(loop_.body, type);
    loop_.enter->inputs.push_back({in_loop, 0});
    loop_.again->inputs.push_back({in_body, 0});
    return {graph == loop_.graph ? in_loop : in_body, 0};
  }

  static Node* AddCapture(Graph* graph, const Type& type) {
    Node* node = graph->AddParameter(type, fmt::format("c{}", graph->captures().size()), true);
    std::vector<Node*> order = graph->nodes();
    std::rotate(order.begin(), order.end() - 1, order.end());
    graph->Reorder(std::move(order));
    return node;
  }

  static void Replace(Graph* graph, const std::vector<Node*>& from, const Vars& to) {
    std::unordered_map<const Node*, Var> by;
    for (size_t i = 0; i < from.size(); ++i) by[from[i]] = to[i];
    Vars outputs = graph->outputs();
    auto replace = [&](Vars& vars) {
      for (Var& v : vars) {
        if (auto at = by.find(v.node); at != by.end()) v = at->second;
      }
    };
    for (Node* node : graph->nodes()) replace(node->inputs);
    replace(outputs);
    graph->SetOutputs(std::move(outputs));
  }

  Loop loop_;
};

}  // namespace

bool HoistInvariants(Module& module) {
  bool any = std::any_of(module.graphs().begin(), module.graphs().end(),
                         [](const auto& g) { return g->loop.body != nullptr; });
  if (!any) return false;
  bool changed = false;
  std::vector<Graph*> order = CallGraph(module).bottom_up();
  for (Graph* graph : order) {  // inner loops first: what leaves them may leave the outer ones too
    Loop loop;
    if (FindLoop(module, graph, &loop)) changed |= Hoister(std::move(loop)).Run();
  }
  return changed;
}

}  // namespace ms
