#include "passes/fuse/fuse.h"

#include "ir/rewrite.h"
#include "ir/var_map.h"
#include "ops/fused.h"
#include "passes/fuse/body.h"
#include "passes/fuse/expand.h"
#include "passes/fuse/groups.h"
#include "passes/fuse/split_updates.h"
#include "passes/passes.h"

namespace ms {
namespace {

class Fusion {
 public:
  Fusion(Graph* graph, const EffectAnalysis& effects, KnownGroups& known)
      : graph_(graph),
        nodes_(*graph),
        table_(*graph, nodes_, known),
        groups_(*graph, nodes_, table_, effects),
        emitter_(graph) {}

  bool Run() {
    groups_.Merge();
    auto units = groups_.Order();
    if (std::none_of(units.begin(), units.end(), [&](const auto* u) { return Worth(*u); }))
      return false;
    scheduled_.assign(graph_->nodes().size(), false);
    for (Node* node : graph_->nodes()) {
      bool number = nodes_.kind(node) == FuseKind::kNumber;
      if (node->kind != NodeKind::kApply && !number) Place(node);
    }
    for (const Groups::Unit* unit : units) {
      if (!Worth(*unit) || !Fuse(unit->nodes)) {
        for (Node* node : unit->nodes) PlaceWithGlue(node);
      }
    }
    Finish();
    return true;
  }

 private:
  // One node alone pays where the group reads through glue that would else be a copy.
  bool Worth(const Groups::Unit& unit) const {
    if (unit.nodes.size() > 1) return true;
    const Node& node = *unit.nodes[0];
    if (nodes_.kind(&node) != FuseKind::kCompute || nodes_.IsReduction(&node)) return false;
    for (const Var& v : node.inputs) {
      for (const Node* n = v.node; nodes_.kind(n) == FuseKind::kGlue; n = n->inputs[0].node) {
        if (!n->op->view && n->outputs[0].shape().size() <= n->inputs[0].type().shape().size() &&
            n->outputs[0].shape().size() > 1)
          return true;
      }
    }
    return false;
  }

  bool Fuse(const std::vector<Node*>& members) {
    static const OpDef& fused = Ops().Get("Fused");
    KnownGroup& group = table_.Find(members);
    if (group.body == KnownGroup::Body::kUnknown) MakeBodyOf(group, members);
    if (group.body == KnownGroup::Body::kNone) return false;
    Vars inputs;
    for (auto place : group.inputs) {
      Var v = table_.At(place);
      Need(v.node);
      inputs.push_back(Current(v));
    }
    emitter_.span = members.back()->span;
    Vars results = emitter_.Emit(fused, inputs, group.attrs);
    order_.push_back(results[0].node);
    for (size_t i = 0; i < results.size(); ++i) replaced_[table_.At(group.outputs[i])] = results[i];
    return true;
  }

  // Of the first group of its structure; nodes of the body keep the lines of that one. There is no
  // kernel of constants alone, nor of results that nobody reads.
  void MakeBodyOf(KnownGroup& group, const std::vector<Node*>& members) {
    static const OpDef& fused = Ops().Get("Fused");
    group.body = KnownGroup::Body::kNone;
    if (!group.fits) return;
    Sketch sketch(nodes_, members);
    sketch.Solve();
    MadeBody made = MakeBody(sketch, graph_->module());
    if (!made.body || made.inputs.empty() || sketch.outputs().empty()) return;
    group.body = KnownGroup::Body::kMade;
    group.attrs = MakeAttrs(fused, {{"body", made.body}});
    for (const Var& v : made.inputs) group.inputs.push_back(table_.PlaceOf(v));
    for (const Var& v : sketch.outputs()) group.outputs.push_back(table_.PlaceOf(v));
  }

  Var Current(const Var& v) const {
    Var to = replaced_.Get(v);
    return to ? to : v;
  }

  void Place(Node* node) {
    scheduled_[node->id] = true;
    order_.push_back(node);
  }

  // Glue and fills stand before the first node that needs them.
  void Need(Node* node) {
    FuseKind kind = nodes_.kind(node);
    if (scheduled_[node->id] || (kind != FuseKind::kGlue && kind != FuseKind::kNumber)) return;
    PlaceWithGlue(node);
  }

  void PlaceWithGlue(Node* node) {
    std::vector<Node*> chain{node};
    for (size_t i = 0; i < chain.size(); ++i) {
      for (const Var& v : chain[i]->inputs) {
        FuseKind kind = nodes_.kind(v.node);
        bool glue = kind == FuseKind::kGlue || kind == FuseKind::kNumber;
        if (glue && !scheduled_[v.node->id]) chain.push_back(v.node);
      }
    }
    for (size_t i = chain.size(); i-- > 0;) {
      if (!scheduled_[chain[i]->id]) Place(chain[i]);
    }
  }

  // Until here all nodes read what they did, so that groups can be looked through. What nothing
  // needs any more goes.
  void Finish() {
    for (const Var& v : graph_->outputs()) Need(v.node);
    for (Node* node : order_) {
      for (Var& v : node->inputs) v = Current(v);
    }
    Vars outputs = graph_->outputs();
    for (Var& v : outputs) v = Current(v);
    graph_->SetOutputs(std::move(outputs));
    size_t kept = order_.size();
    for (size_t i = 0; i < scheduled_.size(); ++i) {
      if (!scheduled_[i]) order_.push_back(graph_->nodes()[i]);
    }
    graph_->Reorder(std::move(order_));
    std::vector<bool> keep(graph_->nodes().size(), true);
    std::fill(keep.begin() + static_cast<std::ptrdiff_t>(kept), keep.end(), false);
    graph_->Sweep(keep);
  }

  Graph* graph_;
  FuseNodes nodes_;
  GroupTable table_;
  Groups groups_;
  GraphEmitter emitter_;
  std::vector<bool> scheduled_;  // by id of the nodes there were
  std::vector<Node*> order_;
  VarMap<Var> replaced_;
};

// All but the bodies of groups.
std::vector<Graph*> GraphsToFuse(const Module& module) {
  std::vector<Graph*> graphs;
  GraphSet bodies;
  for (const auto& graph : module.graphs()) {
    graphs.push_back(graph.get());
    for (const Node* node : graph->nodes()) {
      if (IsFused(*node)) bodies.insert(FusedGraph(*node));
    }
  }
  std::erase_if(graphs, [&](Graph* graph) { return bodies.contains(graph); });
  return graphs;
}

}  // namespace

bool Fuse(Module& module) {
  bool changed = false;
  for (Graph* graph : GraphsToFuse(module)) changed |= ExpandForFusion(graph);
  if (changed) {
    MergeEqualNodes(module);  // a gradient repeats parts of its forward op
    RemoveDeadCode(module);   // of an op's results, some may be read by nobody
  }
  for (Graph* graph : GraphsToFuse(module)) changed |= SplitUpdates(graph);
  EffectAnalysis effects(module);
  KnownGroups known;
  for (Graph* graph : GraphsToFuse(module)) changed |= Fusion(graph, effects, known).Run();
  module.SweepGraphs();
  return changed;
}

}  // namespace ms
