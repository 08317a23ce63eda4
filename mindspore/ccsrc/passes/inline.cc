// Inlining, from the leaves of the call graph upwards, so that what is copied is already small. An
// explicit stack of frames stands in for recursion; recursive graphs, loops among them, stay calls.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/call_graph.h"
#include "passes/passes.h"

namespace ms {
namespace {

constexpr size_t kSmallBody = 16;  // nodes: no larger than the call that it replaces

// Spans of inlined nodes: where they were written, called from where the call was written.
class SpanJoiner {
 public:
  SpanId Join(SpanId inner, SpanId call) {
    if (inner == 0 || call == 0 || inner == call) return inner ? inner : call;
    auto [it, fresh] = joined_.try_emplace(static_cast<uint64_t>(inner) << 32 | call, 0);
    if (!fresh) return it->second;
    std::vector<Span> chain;
    for (SpanId id = inner; id != 0; id = chain.back().caller) chain.push_back(GetSpan(id));
    SpanId outer = call;
    for (auto span = chain.rbegin(); span != chain.rend(); ++span) {
      span->caller = outer;
      outer = InternSpan(*span);
    }
    return it->second = outer;
  }

 private:
  std::unordered_map<uint64_t, SpanId> joined_;
};

// A body being copied, or moved where it is called from nowhere else.
struct Frame {
  const Graph* callee;
  SpanId span;
  bool vanishes;
  std::vector<uint32_t> first;  // by node id: where its outputs start in values
  Vars values;
  size_t next = 0;

  Frame(const Graph* graph, const Node& partial, std::span<const Var> arguments, SpanId call,
        bool moves)
      : callee(graph), span(call), vanishes(moves) {
    uint32_t outputs = 0;
    first.reserve(graph->nodes().size());
    for (const Node* n : graph->nodes()) {
      first.push_back(outputs);
      outputs += static_cast<uint32_t>(n->outputs.size());
    }
    values.resize(outputs);
    Vars inputs = partial.inputs;
    inputs.insert(inputs.end(), arguments.begin(), arguments.end());
    Vars formal = graph->inputs();
    for (size_t i = 0; i < formal.size(); ++i) Set(formal[i], inputs[i]);
  }
  void Set(const Var& v, const Var& value) { values[first[v.node->id] + v.index] = value; }
  const Var& Get(const Var& v) const { return values[first[v.node->id] + v.index]; }
};

class Inliner {
 public:
  Inliner(Module& module, size_t limit) : calls_(module), limit_(limit) { CountUses(module); }

  bool Run() {
    bool changed = false;
    for (Graph* graph : calls_.bottom_up()) {
      if (!Vanishes(graph))
        changed |= InlineInto(graph);  // else its own calls are inlined where it goes
    }
    return changed;
  }

 private:
  // How often a graph is called, and whether it is used in any other way.
  struct Uses {
    int calls = 0;
    int others = 0;
  };
  void CountUses(const Module& module) {
    for (const auto& graph : module.graphs()) {
      for (const Node* n : graph->nodes()) {
        for (size_t i = 0; i < n->inputs.size(); ++i) {
          const Graph* used = PartialGraph(n->inputs[i].node);
          if (!used) continue;
          bool called = i == 0 && n->op == Control().call;
          ++(called ? uses_[used].calls : uses_[used].others);
        }
      }
      for (const Var& v : graph->outputs()) {
        if (const Graph* used = PartialGraph(v.node)) ++uses_[used].others;
      }
      for (const Graph* named : {graph->loop.body, graph->loop.done}) {
        if (named) ++uses_[named].others;
      }
    }
    main_ = module.main();
  }

  // Called from one place and nowhere else: its body moves there.
  bool Vanishes(const Graph* graph) {
    const Uses& uses = uses_[graph];
    return graph != main_ && uses.calls == 1 && uses.others == 0 && !calls_.IsRecursive(graph);
  }

  const Graph* Callee(const Var& function, const Graph* into) {
    const Graph* callee = PartialGraph(function.node);
    if (!callee || callee == into || calls_.IsRecursive(callee) || !callee->finished())
      return nullptr;
    size_t size = callee->nodes().size();
    const Uses& uses = uses_[callee];
    bool free = size <= kSmallBody || uses.calls + uses.others <= 1;
    if (!free && added_ + size > limit_) return nullptr;
    if (!free) added_ += size;
    return callee;
  }

  bool InlineInto(Graph* graph) {
    bool any = std::any_of(graph->nodes().begin(), graph->nodes().end(), [](const Node* n) {
      return n->op == Control().call && PartialGraph(n->inputs[0].node);
    });
    if (!any) return false;
    Rewriter rewriter(graph);
    rewriter.Walk([&](Node& node) {
      if (node.op != Control().call) return;
      const Graph* callee = Callee(node.inputs[0], graph);
      if (!callee) return;
      Vars results = Copy(graph, callee, node);
      for (uint32_t i = 0; i < results.size(); ++i) rewriter.Replace({&node, i}, results[i]);
      rewriter.Drop(node);
    });
    return rewriter.changed();
  }

  Frame Enter(const Graph* callee, const Var& function, const Vars& call_inputs, SpanId span) {
    return Frame(callee, *function.node, std::span(call_inputs).subspan(1), span, Vanishes(callee));
  }

  Vars Copy(Graph* graph, const Graph* callee, const Node& call) {
    std::vector<Frame> stack{Enter(callee, call.inputs[0], call.inputs, call.span)};
    while (true) {
      Frame& frame = stack.back();
      if (frame.next == frame.callee->nodes().size()) {
        Vars results;
        for (const Var& v : frame.callee->outputs()) results.push_back(frame.Get(v));
        stack.pop_back();
        if (stack.empty()) return results;
        Frame& outer = stack.back();
        Node* site = outer.callee->nodes()[outer.next++];
        for (uint32_t i = 0; i < results.size(); ++i) outer.Set({site, i}, results[i]);
        continue;
      }
      Node* node = frame.callee->nodes()[frame.next];
      Vars inputs = frame.vanishes ? std::move(node->inputs) : node->inputs;
      for (Var& v : inputs) v = frame.Get(v);
      SpanId span = spans_.Join(node->span, frame.span);
      const Graph* inner = node->op == Control().call ? Callee(inputs[0], graph) : nullptr;
      if (inner) {
        stack.push_back(Enter(inner, inputs[0], inputs, span));
        continue;
      }
      ++frame.next;
      if (node->kind == NodeKind::kParameter) continue;
      Node* copy = nullptr;
      if (node->kind == NodeKind::kConstant) {
        copy = graph->AddConstant(node->value, node->outputs[0].weak());
      } else {
        Types types = frame.vanishes ? std::move(node->outputs) : node->outputs;
        copy = graph->AddApply(*node->op, std::move(inputs), node->attrs, std::move(types), span);
      }
      for (uint32_t i = 0; i < copy->outputs.size(); ++i) frame.Set({node, i}, {copy, i});
    }
  }

  CallGraph calls_;
  std::unordered_map<const Graph*, Uses> uses_;
  const Graph* main_ = nullptr;
  SpanJoiner spans_;
  size_t limit_;
  size_t added_ = 0;
};

void DropUnusedPartials(Graph* graph) {
  std::vector<bool> keep(graph->nodes().size(), false);
  bool any = false;
  for (const Var& v : graph->outputs()) keep[v.node->id] = true;
  for (size_t i = keep.size(); i-- > 0;) {
    const Node* node = graph->nodes()[i];
    if (!keep[i] && PartialGraph(node)) {
      any = true;
      continue;
    }
    keep[i] = true;
    for (const Var& v : node->inputs) keep[v.node->id] = true;
  }
  if (any) graph->Sweep(keep);
}

}  // namespace

// What was inlined everywhere is to go now, or the passes that follow would work on it too.
bool Inline(Module& module, size_t limit) {
  if (!Inliner(module, limit).Run()) return false;
  for (const auto& graph : module.graphs()) DropUnusedPartials(graph.get());
  module.SweepGraphs();
  return true;
}

}  // namespace ms
