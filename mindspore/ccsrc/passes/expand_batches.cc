// Vmap(Partial(g, captures)) becomes Partial(⊞g, captures), where ⊞g does for all items what g does
// for one. Where only one item at a time will do - a function that is not known, a recursion whose
// depth differs between items, an effect - it becomes one call for each item.
#include <algorithm>
#include <map>
#include <memory>

#include "grad/batch.h"
#include "ir/control.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

namespace ms {
namespace {

enum class How : uint8_t { kLater, kBatch, kUnroll };

How Decide(const BatchAnalysis& analysis, bool last_resort) {
  if (!analysis.refusal().empty()) return last_resort ? How::kUnroll : How::kLater;
  if (analysis.has_vmap()) return How::kLater;
  // The batch of a gradient has less to compute than the gradient of a batch, where the choice is
  // free: what all items share is not differentiated for each.
  bool wait = analysis.has_transforms() && !analysis.chooses() && !last_resort;
  return wait ? How::kLater : How::kBatch;
}

// A function that calls f for each item.
Var Unroll(Module& module, GraphEmitter& emitter, const Node& vmap, const Var& f) {
  Graph* items = module.NewGraph("items");
  GraphEmitter inner(items);
  inner.span = vmap.span;
  Var function{items->AddParameter(f.type(), "f", true), 0};
  const Ints& in = vmap.attr<Ints>("in_axes");
  const Ints& out = vmap.attr<Ints>("out_axes");
  std::vector<Terms> arguments;
  auto size = static_cast<size_t>(Dim(vmap.attr<int64_t>("size")).value());
  for (size_t i = 0; i < in.size(); ++i) {
    Var x{items->AddParameter(vmap.outputs[0].function().parameters[i], "x"), 0};
    arguments.push_back(in[i] == 0 ? inner.CallMany("Unstack", {inner.Wrap(x)})
                                   : Terms(size, inner.Wrap(x)));
  }
  std::vector<Terms> results(out.size());
  for (size_t k = 0; k < size; ++k) {
    Vars given;
    for (const Terms& a : arguments) given.push_back(a[k].var);
    Vars made = inner.CallFunction(function, given);
    for (size_t i = 0; i < out.size(); ++i) results[i].push_back(inner.Wrap(made[i]));
  }
  Vars outputs;
  for (size_t i = 0; i < out.size(); ++i)
    outputs.push_back((out[i] == 0 ? inner.Call("Stack", results[i]) : results[i][0]).var);
  items->SetOutputs(std::move(outputs));
  return emitter.Partial(items, {f});
}

// Expands the Vmaps of one graph.
class BatchExpansion {
 public:
  BatchExpansion(Module& module, Graph* graph, bool last_resort) : module_(module), graph_(graph) {
    for (const Node* node : graph->nodes()) {
      if (node->op != Control().vmap) continue;
      auto analysis = std::make_unique<BatchAnalysis>(*node);
      How how = Decide(*analysis, last_resort);
      if (how == How::kLater) continue;
      Item item{how, node->inputs[0].node, std::move(analysis), nullptr, {}};
      if (how == How::kBatch)
        item.functions = std::make_unique<BatchedFunctions>(&module, *item.analysis);
      items_.emplace(node, std::move(item));
    }
  }

  bool Run() {
    if (items_.empty()) return false;
    Rewriter rewriter(graph_);
    rewriter.Walk([&](Node& node) {
      for (auto& [vmap, item] : items_) MakeSource(rewriter, item, node);
      auto it = items_.find(&node);
      if (it == items_.end()) return;
      Item& item = it->second;
      rewriter.emitter().span = node.span;
      Var f = item.how == How::kUnroll
                  ? Unroll(module_, rewriter.emitter(), node, node.inputs[0])
                  : item.functions->Finish(rewriter.emitter(), item.made.at(item.source));
      rewriter.Replace({&node, 0}, f);
      rewriter.Drop(node);
    });
    return true;
  }

 private:
  struct Item {
    How how;
    const Node* source;
    std::unique_ptr<BatchAnalysis> analysis;
    std::unique_ptr<BatchedFunctions> functions;
    std::map<const Node*, Var> made;
  };

  void MakeSource(Rewriter& rewriter, Item& item, const Node& node) {
    if (item.how != How::kBatch) return;
    const auto& sources = item.analysis->sources();
    if (std::find(sources.begin(), sources.end(), &node) == sources.end()) return;
    Vars inputs = node.inputs;
    for (Var& v : inputs) {
      if (v.type().is_function()) v = item.made.at(v.node);
    }
    rewriter.emitter().span = node.span;
    item.made[&node] = item.functions->Make(rewriter.emitter(), node, inputs);
  }

  Module& module_;
  Graph* graph_;
  std::map<const Node*, Item> items_;
};

bool Expand(Module& module, bool last_resort) {
  module.SweepGraphs();
  std::vector<Graph*> graphs;  // of now: expansion adds more
  for (const auto& graph : module.graphs()) graphs.push_back(graph.get());
  bool changed = false;
  for (Graph* graph : graphs) {
    changed |= BatchExpansion(module, graph, last_resort).Run();
    if (changed && last_resort) return true;
  }
  return changed;
}

}  // namespace

bool ExpandBatches(Module& module) { return Expand(module, false); }

bool UnrollBatches(Module& module) { return Expand(module, true); }

}  // namespace ms
