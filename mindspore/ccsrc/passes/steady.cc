// The part of main that depends on steady inputs alone becomes a module of its own, which runs only
// when those inputs have changed.
#include "passes/steady.h"

#include <algorithm>
#include <utility>

#include "ir/rewrite.h"
#include "passes/passes.h"

namespace ms {
namespace {

// The values that main will be given: steady results of ops that others read. What costs nothing
// stays where it is, and a value that is made of constants alone is none of this pass.
class Split {
 public:
  Split(Graph* main, const std::vector<uint32_t>& inputs)
      : main_(main), steady_(SteadyValuesOf(*main, inputs)) {}

  std::shared_ptr<Module> Run() {
    std::vector<bool> wanted(main_->nodes().size());
    for (const Node* node : main_->nodes()) {
      if (InPart(*node)) continue;
      for (const Var& v : node->inputs) Want(v);
    }
    for (const Var& v : main_->outputs()) Want(v);
    if (results_.empty()) return nullptr;
    auto module = std::make_shared<Module>();
    Graph* part = module->NewGraph("steady");
    module->set_main(part);
    for (const Var& v : main_->inputs()) {
      copies_[v] = {part->AddParameter(v.type(), v.node->name), 0};
    }
    Vars outputs;
    for (const Var& v : results_) outputs.push_back(Copy(part, v));
    part->SetOutputs(outputs);
    TakeOut();
    return module;
  }

 private:
  // Whether the node would move.
  bool InPart(const Node& node) const {
    return node.kind == NodeKind::kApply && !node.inputs.empty() &&
           steady_.contains({const_cast<Node*>(&node), 0});
  }

  void Want(Var v) {
    while (v.node->kind == NodeKind::kApply && v.node->op->view) v = v.node->inputs[0];
    if (!InPart(*v.node) || std::find(results_.begin(), results_.end(), v) != results_.end())
      return;
    results_.push_back(v);
  }

  Var Copy(Graph* part, const Var& v) {
    if (Var copy = copies_.Get(v)) return copy;
    Node* made = nullptr;
    if (v.node->kind == NodeKind::kConstant) {
      made = part->AddConstant(v.node->value, v.type().weak());
    } else {
      Vars inputs;
      for (const Var& in : v.node->inputs) inputs.push_back(Copy(part, in));
      made = part->AddApply(*v.node->op, inputs, v.node->attrs, v.node->outputs, v.node->span);
    }
    for (uint32_t i = 0; i < made->outputs.size(); ++i) copies_[{v.node, i}] = {made, i};
    return {made, v.index};
  }

  void TakeOut() {
    VarMap<Var> given;
    Rewriter rewriter(main_);
    bool first = true;
    rewriter.Walk([&](Node& node) {
      if (std::exchange(first, false)) {
        for (const Var& v : results_) given[v] = {main_->AddParameter(v.type(), "steady"), 0};
      }
      for (uint32_t i = 0; i < node.outputs.size(); ++i) {
        if (Var to = given.Get({&node, i})) rewriter.Replace({&node, i}, to);
      }
    });
  }

  Graph* main_;
  VarSet steady_;
  Vars results_;
  VarMap<Var> copies_;
};

// Whether a result is to be kept from one call to the next, and with it all that is steady: packed
// weights, and weights that are cast to another type.
bool WorthKeeping(const Node& node) {
  constexpr int64_t kLarge = 4096;
  if (node.op->name == "PackWeight" || node.op->name == "PackMatrix") return true;
  return node.op->name == "Cast" && node.outputs[0].shape().size() >= kLarge;
}

}  // namespace

Var BeforeCast(const Var& weight) {
  const Node& node = *weight.node;
  bool cast = node.kind == NodeKind::kApply && node.op->name == "Cast" &&
              node.inputs[0].type().dtype() == DType::kFloat32;
  return cast ? node.inputs[0] : weight;
}

std::shared_ptr<Module> SplitSteadyPart(Module& module,
                                        const std::vector<uint32_t>& steady_inputs) {
  if (steady_inputs.empty()) return nullptr;
  Graph* main = module.main();
  VarSet steady;
  bool pays = std::any_of(main->nodes().begin(), main->nodes().end(), [&](Node* node) {
    if (node->kind != NodeKind::kApply || !WorthKeeping(*node)) return false;
    if (steady.empty()) steady = SteadyValuesOf(*main, steady_inputs);
    return steady.contains({node, 0});
  });
  for (const auto& graph : module.graphs()) {
    std::vector<Graph*> used = ReferencedGraphs(*graph);
    pays &= std::find(used.begin(), used.end(), main) == used.end();  // else its inputs are fixed
  }
  return pays ? Split(main, steady_inputs).Run() : nullptr;
}

VarSet SteadyValuesOf(const Graph& graph, const std::vector<uint32_t>& inputs) {
  VarSet steady;
  Vars all = graph.inputs();
  for (uint32_t i : inputs) {
    if (i < all.size()) steady.insert(all[i]);
  }
  for (auto [output, input] : graph.updates) steady.erase(all[static_cast<size_t>(input)]);
  for (Node* node : graph.nodes()) {
    bool constant = node->kind == NodeKind::kConstant;
    bool computed = node->kind == NodeKind::kApply && !node->op->structural &&
                    node->op->effect == Effect::kNone && node->op->updates.empty() &&
                    std::all_of(node->inputs.begin(), node->inputs.end(),
                                [&](const Var& v) { return steady.contains(v); });
    if (!constant && !computed) continue;
    for (uint32_t i = 0; i < node->outputs.size(); ++i) steady.insert({node, i});
  }
  return steady;
}

}  // namespace ms
