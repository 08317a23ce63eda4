#include "passes/parallel/stages.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/control.h"
#include "passes/parallel/stage_marks.h"

namespace ms::parallel {
namespace {

bool IsMove(const Node& node) {
  static const OpDef& move = Ops().Get("StageMove");
  return node.op == &move;
}

class Inserter {
 public:
  Inserter(Graph* graph, const Marks& inputs)
      : graph_(graph), emitter_(graph), stages_(StagesOf(*graph, inputs)) {}

  bool Run() {
    std::vector<Node*> nodes = graph_->nodes();
    known_ = nodes.size();
    for (Node* node : nodes) {
      if (node->kind == NodeKind::kApply && !MakesFunctions(*node) && !IsMove(*node)) {
        emitter_.span = node->span;
        for (Var& v : node->inputs) v = At(v, stages_[node->id]);
      }
      order_.push_back(node);
    }
    bool changed = order_.size() > known_;
    if (changed) graph_->Reorder(std::move(order_));
    return changed;
  }

 private:
  Var At(const Var& v, int64_t stage) {
    int64_t from = stages_[v.node->id];
    if (from < 0 || (from == stage && !MakesFunctions(*v.node))) return v;
    auto [it, fresh] = moved_.try_emplace({v.node, v.index, stage});
    if (!fresh) return it->second;
    Var made = v;
    if (MakesFunctions(*v.node)) {
      Vars inputs;
      for (const Var& input : v.node->inputs) inputs.push_back(At(input, stage));
      if (inputs != v.node->inputs) {
        Node* again = graph_->AddApply(*v.node->op, std::move(inputs), v.node->attrs,
                                       v.node->outputs, v.node->span);
        order_.push_back(again);
        made = {again, v.index};
      }
    } else if (v.type().is_tensor()) {
      made =
          emitter_.Call("StageMove", {emitter_.Wrap(v)}, {{"source", from}, {"target", stage}}).var;
      order_.push_back(made.node);
    } else {
      Throw(ErrorKind::kNotImplemented,
            "For 'pipeline_stages', a function that a stage has made must be called in that stage, "
            "{}, but stage {} calls it.",
            from, stage);
    }
    return moved_[{v.node, v.index, stage}] = made;
  }

  Graph* graph_;
  GraphEmitter emitter_;
  Marks stages_;  // by node id
  size_t known_ = 0;
  std::vector<Node*> order_;
  std::map<std::tuple<Node*, uint32_t, int64_t>, Var> moved_;
};

}  // namespace

bool MakesFunctions(const Node& node) {
  if (node.kind != NodeKind::kApply || !node.op->structural || node.op == Control().call)
    return false;
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [](const Type& t) { return t.is_function(); });
}

std::vector<int64_t> StagesOf(const Graph& graph, const std::vector<int64_t>& inputs,
                              bool scalars_follow) {
  Marks stages(graph.nodes().size(), kAllStages);
  size_t i = 0;
  for (const Var& v : graph.inputs()) stages[v.node->id] = inputs[i++];
  for (const Node* node : graph.nodes()) {
    if (node->kind != NodeKind::kApply) continue;
    int64_t& stage = stages[node->id];
    for (const Var& v : node->inputs) {
      bool scalar = v.type().is_tensor() && v.type().shape().rank() == 0;
      if (!scalar || !scalars_follow) stage = std::max(stage, stages[v.node->id]);
    }
    if (stage < 0) {
      for (const Var& v : node->inputs) stage = std::max(stage, stages[v.node->id]);
    }
    if (IsMove(*node)) stage = node->attr<int64_t>("target");
  }
  return stages;
}

namespace {

// The stages of the inputs of what is cut: where several places of main call it, the last ones.
std::map<Graph*, Marks> InputStages(const std::vector<Site>& sites, const Graph& main,
                                    const Marks& marks) {
  Marks of_main = StagesOf(main, marks);
  std::map<Graph*, Marks> inputs;
  for (const Site& site : sites) {
    Marks& of = inputs.try_emplace(site.graph, site.bound.size(), kAllStages).first->second;
    for (size_t i = 0; i < of.size(); ++i) of[i] = std::max(of[i], of_main[site.bound[i].node->id]);
  }
  return inputs;
}

// Fills in the plan what the stages compute and send, and which nodes are theirs.
class Surveyor {
 public:
  Surveyor(const StageWork& work, size_t stages, StagePlan* plan)
      : work_(work), seconds_(stages), plan_(*plan) {}

  void Visit(const Graph& graph, const Marks& of) {
    static const OpDef& mark = Ops().Get("StageMark");
    for (const Node* node : graph.nodes()) {
      int64_t stage = of[node->id];
      if (node->op == &mark)
        plan_.lies.parts =
            std::max(plan_.lies.parts, 1 + static_cast<int>(node->attr<int64_t>("part")));
      if (stage < 0) continue;
      plan_.lies.of[node] = stage;
      if (node->kind != NodeKind::kApply) continue;
      if (!MakesFunctions(*node)) VisitCalled(*node, static_cast<size_t>(stage));
      StageWork::Seconds& all = seconds_[static_cast<size_t>(stage)];
      StageWork::Seconds one = work_.Of(*node);
      all.forward += one.forward, all.backward += one.backward;
      for (const Var& v : node->inputs) {
        bool comes = v.node->kind == NodeKind::kApply && of[v.node->id] >= 0;
        if (comes && of[v.node->id] < stage)
          sent_ = std::max(sent_, static_cast<double>(v.type().bytes()));
      }
    }
  }
  // A Parameter that nothing is said of is where it is read, if that is one stage.
  void VisitInputs(const Graph& graph, const Marks& of, const Vars& bound) {
    std::unordered_map<const Node*, std::set<int64_t>> readers;
    for (const Node* node : graph.nodes()) {
      for (const Var& v : node->inputs) readers[v.node].insert(of[node->id]);
    }
    Vars inputs = graph.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::set<int64_t>& all = readers[inputs[i].node];
      int64_t stage = of[inputs[i].node->id];
      if (stage < 0 && all.size() == 1) stage = *all.begin();
      if (stage >= 0) plan_.lies.of[bound[i].node] = plan_.lies.of[inputs[i].node] = stage;
    }
  }
  // `gpipe`: there is no other schedule.
  void Finish(const PipelineOptions& options, int64_t devices, bool gpipe) {
    auto each = static_cast<double>(plan_.lies.parts * devices);
    for (const StageWork::Seconds& stage : seconds_) {
      plan_.costs.forward.push_back(stage.forward / each);
      plan_.costs.backward.push_back(stage.backward / each);
    }
    plan_.costs.transfer = options.alpha + sent_ / static_cast<double>(devices) * options.beta;
    // What is not said is chosen behind the layouts: there is one that keeps no more.
    plan_.lies.most_parts = MostParts(Make(gpipe ? Scheduler::kGpipe : Scheduler::k1F1B,
                                           static_cast<int>(seconds_.size()), plan_.lies.parts));
  }

 private:
  // All of the functions that a call is given, and what these call.
  void VisitCalled(const Node& call, size_t stage) {
    std::unordered_set<const Graph*> seen;
    for (const Var& v : call.inputs) FindCalled(v.node, &seen);
    for (const Graph* graph : seen) {
      std::vector<double>& calls = plan_.lies.calls[graph];
      calls.resize(seconds_.size(), 0);
      ++calls[stage];
    }
  }
  static void FindCalled(const Node* made, std::unordered_set<const Graph*>* seen) {
    if (const Graph* graph = PartialGraph(made)) return FindCalled(graph, seen);
    if (!MakesFunctions(*made)) return;
    for (const Var& v : made->inputs) FindCalled(v.node, seen);
  }
  static void FindCalled(const Graph* graph, std::unordered_set<const Graph*>* seen) {
    if (!seen->insert(graph).second) return;
    for (const Graph* other : ReferencedGraphs(*graph)) FindCalled(other, seen);
  }

  const StageWork& work_;
  std::vector<StageWork::Seconds> seconds_;
  double sent_ = 0;  // bytes of the largest value that goes from stage to stage
  StagePlan& plan_;
};

// Whether a gradient of the output of what is differentiated is made of outputs: then all parts of
// the batch go forward first (stage_order.cc finds that out for sure, of the parts themselves).
bool SeedsNeedOutputs(const Graph& main) {
  static const OpDef& mark = Ops().Get("StageMark");
  std::vector<bool> late(main.nodes().size(), false);  // made of outputs
  for (const Node* node : main.nodes()) {
    if (node->kind != NodeKind::kApply || MakesFunctions(*node)) continue;
    auto made_late = [&](const Var& v) { return v.type().is_tensor() && late[v.node->id]; };
    bool needs = std::any_of(node->inputs.begin(), node->inputs.end(), made_late);
    bool call = node->op == Control().call;
    bool backward = call && node->inputs[0].node->op == Control().call;
    if (backward && needs) return true;
    late[node->id] = needs || node->op == &mark || (call && !backward);
  }
  return false;
}

}  // namespace

StagePlan PlanStages(Module& module, const PipelineOptions& options,
                     const std::vector<bool>& parameters, const Device& device, int64_t devices) {
  const Graph& main = *module.main();
  std::vector<Site> sites = FindSites(module);
  bool trains = sites[0].graph != &main;
  StageWork work(module, device, trains);
  StagePlan plan;
  plan.marks = ChooseMarks(sites, main, options, parameters, work, &plan.warnings);
  Surveyor surveyor(work, static_cast<size_t>(options.stages), &plan);
  std::map<Graph*, Marks> inputs = InputStages(sites, main, plan.marks);
  for (const auto& [graph, stages] : inputs) surveyor.Visit(*graph, StagesOf(*graph, stages));
  for (const Site& site : sites) {
    Marks of = StagesOf(*site.graph, inputs.at(site.graph));
    surveyor.VisitInputs(*site.graph, of, site.bound);
  }
  bool gpipe = options.scheduler == Scheduler::kGpipe || SeedsNeedOutputs(main);
  surveyor.Finish(options, devices, gpipe);
  return plan;
}

void CutIntoStages(Module& module, const StagePlan& plan) {
  std::vector<Site> sites = FindSites(module);
  for (const auto& [graph, inputs] : InputStages(sites, *module.main(), plan.marks))
    Inserter(graph, inputs).Run();
}

}  // namespace ms::parallel
