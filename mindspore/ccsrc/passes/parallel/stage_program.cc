#include "passes/parallel/stage_program.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>

#include "ir/control.h"
#include "passes/effects.h"
#include "passes/parallel/stage_order.h"

namespace ms::parallel {
namespace {

using Stages = std::vector<int64_t>;
using Mask = uint64_t;  // a bit for each stage

// Which stage has which input of main. Parameters that nothing is said of, as the states of
// optimizers, lie where they are needed: with one stage, or with all of them.
class Holders {
 public:
  Holders(const Module& module, const ParallelOptions& options, const Stages& marks)
      : main_(*module.main()), options_(options), marks_(marks), held_(marks), effects_(module) {
    stages_ = StagesOf(main_, marks, true);
    all_ = options.pipeline.stages == kMostStages ? ~Mask{0}
                                                  : (Mask{1} << options.pipeline.stages) - 1;
    while (Settle()) {
    }
  }
  const Stages& held() const { return held_; }

 private:
  // False where nothing changes any more: Parameters only get more holders.
  bool Settle() {
    std::vector<Mask> needed = Needed();
    std::vector<int64_t> written(held_.size(), kAllStages);
    std::vector<bool> writes(held_.size(), false);
    for (auto [output, input] : main_.updates) {
      const Var& value = main_.outputs()[static_cast<size_t>(output)];
      written[static_cast<size_t>(input)] = stages_[value.node->id];
      writes[static_cast<size_t>(input)] = true;
    }
    bool changed = false;
    Vars inputs = main_.inputs();
    for (size_t i = 0; i < held_.size(); ++i) {
      if (!options_.plan.parameters[i] || marks_[i] >= 0) continue;
      Mask mask = needed[inputs[i].node->id];
      if (mask == 0 && written[i] >= 0) mask = Mask{1} << written[i];
      int64_t holder = std::popcount(mask) == 1 ? std::countr_zero(mask) : kAllStages;
      if (!first_ && held_[i] == kAllStages) continue;
      changed |= held_[i] != holder;
      held_[i] = holder;
    }
    bool again = changed || first_;
    first_ = false;
    return again;
  }

  // By node id: the stages that need a value which no stage has alone.
  std::vector<Mask> Needed() const {
    std::vector<Mask> needed(main_.nodes().size(), 0);
    std::vector<int64_t> holder(main_.outputs().size(), kAllStages);
    std::vector<bool> updates(main_.outputs().size(), false);
    for (auto [output, input] : main_.updates) {
      updates[static_cast<size_t>(output)] = true;
      holder[static_cast<size_t>(output)] = held_[static_cast<size_t>(input)];
    }
    for (size_t i = 0; i < holder.size(); ++i) {
      Mask who = holder[i] < 0 ? all_ : Mask{1} << holder[i];
      // At first, a value that every process can compute asks for nothing.
      if (first_ && updates[i]) who = 0;
      needed[main_.outputs()[i].node->id] |= who;
    }
    for (auto it = main_.nodes().rbegin(); it != main_.nodes().rend(); ++it) {
      const Node* node = *it;
      if (node->kind != NodeKind::kApply) continue;
      int64_t stage = stages_[node->id];
      if (stage < 0 && effects_.HasEffect(*node)) needed[node->id] = all_;
      Mask who = stage >= 0 && !MakesFunctions(*node) ? Mask{1} << stage : needed[node->id];
      for (const Var& v : node->inputs) needed[v.node->id] |= who;
    }
    return needed;
  }

  const Graph& main_;
  const ParallelOptions& options_;
  const Stages& marks_;
  Stages held_, stages_;
  EffectAnalysis effects_;
  Mask all_ = 0;
  bool first_ = true;
};

// Walks the program of all stages and writes down that of one.
class Writer {
 public:
  Writer(Module& module, const ParallelOptions& options, const Stages& held, StageOrder& order,
         const ProcessGroup& everybody)
      : main_(*module.main()),
        options_(options),
        held_(held),
        order_(order),
        everybody_(everybody),
        me_(options.pipeline.stage),
        effects_(module),
        made_(module.NewGraph(main_.name())),
        emitter_(made_) {}

  Graph* Write() {
    AddInputs();
    NumberRandomOps();
    for (Node* node : order_.order()) {
      if (node->kind == NodeKind::kApply) Visit(*node);
    }
    emitter_.span = 0;
    if (drawn_ > 0) SetOffset(drawn_);
    std::vector<int> input_of(main_.outputs().size(), -1);
    for (auto [output, input] : main_.updates) input_of[static_cast<size_t>(output)] = input;
    Vars outputs;
    for (size_t i = 0; i < input_of.size(); ++i) outputs.push_back(Output(i, input_of[i]));
    made_->SetOutputs(std::move(outputs));
    made_->updates = main_.updates;
    return made_;
  }

 private:
  using Key = std::tuple<const Node*, uint32_t>;
  static Key KeyOf(const Var& v) { return {v.node, v.index}; }
  int64_t StageOf(const Var& v) const { return order_.stage(v.node); }
  bool IsMine(int64_t stage) const { return stage == me_ || stage == kAllStages; }

  void AddInputs() {
    size_t i = 0;
    for (const Var& v : main_.inputs()) {
      bool mine = IsMine(held_[i++]);
      const Type& type = v.type();
      Node* input =
          made_->AddParameter(mine ? type : Type(type.dtype(), Shape{int64_t{0}}), v.node->name);
      if (mine) values_[KeyOf(v)] = {input, 0};
    }
  }

  void Visit(const Node& node) {
    int64_t stage = order_.stage(&node);
    emitter_.span = node.span;
    if (node.op->name == "StageMove") {
      Bring(node.inputs[0], stage);
      if (stage == me_) values_[KeyOf({const_cast<Node*>(&node), 0})] = Here(node.inputs[0]);
      return;
    }
    if (node.op->name == "StageMark" && stage >= 0) {
      if (stage == me_) values_[KeyOf({const_cast<Node*>(&node), 0})] = Here(node.inputs[0]);
      return;
    }
    if (MakesFunctions(node)) return;            // where it is called
    if (stage == kAllStages) return Emit(node);  // what is not needed goes as dead code
    for (const Var& v : node.inputs) Bring(v, stage);
    if (stage == me_) Emit(node);
  }

  // Sees to it that a stage has the value.
  void Bring(const Var& v, int64_t stage) {
    if (MakesFunctions(*v.node)) {
      for (const Var& input : v.node->inputs) Bring(input, stage);
      return;
    }
    int64_t from = StageOf(v);
    if (from == kAllStages || from == stage || !moved_.insert({KeyOf(v), stage}).second) return;
    if (!v.type().is_tensor()) {
      Throw(ErrorKind::kNotImplemented,
            "For 'pipeline_stages', what goes from stage to stage must be tensors, but stage {} "
            "needs {} of stage {}.",
            stage, v.type(), from);
    }
    int64_t tag = tags_[{from, stage}]++;
    if (from == me_) {
      emitter_.Call("Send", {emitter_.Wrap(Here(v))},
                    {{"group", everybody_.name}, {"target", RankOf(stage)}, {"tag", tag}});
    }
    if (stage == me_) coming_[KeyOf(v)] = {from, tag};
  }

  int64_t RankOf(int64_t stage) const {
    return stage * options_.plan.mesh.devices() + options_.rank;
  }

  // The value in the program of this stage; made, or received, at the first use.
  Var Here(const Var& v) {
    auto known = values_.find(KeyOf(v));
    if (known != values_.end()) return known->second;
    SpanId span = emitter_.span;
    emitter_.span = v.node->span;
    auto coming = coming_.find(KeyOf(v));
    if (coming != coming_.end()) {
      auto [from, tag] = coming->second;
      Term got = emitter_.Call("Receive", {},
                               {{"group", everybody_.name},
                                {"source", RankOf(from)},
                                {"tag", tag},
                                {"shape", v.type().shape().ToCodes()},
                                {"dtype", v.type().dtype()}});
      values_[KeyOf(v)] = got.var;
    } else if (v.node->kind == NodeKind::kConstant) {  // else it makes a function
      values_[KeyOf(v)] = emitter_.Constant(v.node->value, v.type().weak());
    } else {
      Emit(*v.node);
    }
    emitter_.span = span;
    return values_.at(KeyOf(v));
  }

  void Emit(const Node& node) {
    Node* old = const_cast<Node*>(&node);
    if (node.op->name == "StageMark") {
      values_[KeyOf({old, 0})] = Here(node.inputs[0]);
      return;
    }
    if (auto drawn = offsets_.find(&node); drawn != offsets_.end()) {
      if (AsksForOffset(node)) {
        values_[KeyOf({old, 0})] = OffsetAfter(drawn->second).var;
        return;
      }
      SetOffset(drawn->second);
    }
    Vars inputs;
    for (const Var& v : node.inputs) inputs.push_back(Here(v));
    Node* made = made_->AddApply(*node.op, std::move(inputs), node.attrs, node.outputs, node.span);
    for (uint32_t i = 0; i < node.outputs.size(); ++i) values_[KeyOf({old, i})] = {made, i};
  }

  // Random ops draw what they draw in one process: each at the offset that it has in the program of
  // all stages, whatever this process runs, and in which order.
  void NumberRandomOps() {
    int64_t next = 0;
    for (const auto& graph : main_.module()->graphs()) {
      for (const Node* node : graph->nodes()) {
        if (node->kind != NodeKind::kApply || node->op->effect != Effect::kRandom) continue;
        if (graph.get() == &main_ && Number(*node, &next)) continue;
        Throw(
            ErrorKind::kNotImplemented,
            "For 'pipeline_stages', random numbers must not be drawn inside of loops and branches "
            "that tensors decide, but '{}' draws some{}.",
            node->op->name, node->span ? " at " + ShortSpan(node->span) : "");
      }
    }
    if (offsets_.empty()) return;
    drawn_ = next;
    start_ = emitter_.Call("RandomOffset", {});
  }
  static bool AsksForOffset(const Node& node) {
    return node.op->name == "RandomOffset" || node.op->name == "SetRandomOffset";
  }
  bool Number(const Node& node, int64_t* next) {
    offsets_[&node] = *next;
    if (node.op->name == "SetRandomOffset") {  // to where it was before: what is computed again
      auto wanted = offsets_.find(node.inputs[0].node);
      if (wanted == offsets_.end() || !AsksForOffset(*wanted->first)) return false;
      *next = wanted->second;
    } else if (node.op->name != "RandomOffset") {
      ++*next;
    }
    return true;
  }
  Term OffsetAfter(int64_t drawn) {
    return drawn == 0 ? start_
                      : start_ + emitter_.Scalar(static_cast<double>(drawn), DType::kInt64);
  }
  void SetOffset(int64_t drawn) { emitter_.Call("SetRandomOffset", {OffsetAfter(drawn)}); }

  // `input`: the Parameter that it is the new value of, or -1.
  Var Output(size_t number, int input) {
    const Var& v = main_.outputs()[number];
    if (!v.type().is_tensor()) {
      Throw(ErrorKind::kNotImplemented,
            "For 'pipeline_stages', a function must return tensors alone, but got {}.", v.type());
    }
    int64_t holder = input < 0 ? kAllStages : held_[static_cast<size_t>(input)];
    for (int64_t s = 0; s < options_.pipeline.stages; ++s) {
      if (holder == kAllStages || holder == s) Bring(v, s);
    }
    return IsMine(holder) ? Here(v) : made_->inputs()[static_cast<size_t>(input)];
  }

  const Graph& main_;
  const ParallelOptions& options_;
  const Stages& held_;
  StageOrder& order_;
  const ProcessGroup& everybody_;
  int64_t me_;
  EffectAnalysis effects_;
  Graph* made_;
  GraphEmitter emitter_;
  std::unordered_map<const Node*, int64_t> offsets_;  // of random ops, from that of the beginning
  int64_t drawn_ = 0;
  Term start_;
  std::map<Key, Var> values_;
  std::set<std::pair<Key, int64_t>> moved_;
  std::map<std::pair<int64_t, int64_t>, int64_t> tags_;  // next one, from stage to stage
  std::map<Key, std::pair<int64_t, int64_t>> coming_;    // from which stage, by which tag
};

}  // namespace

StageProgram KeepStage(Module& module, const ParallelOptions& options, const StagePlan& plan,
                       const std::vector<StageMemory>& memory) {
  StageProgram result;
  result.everybody = GroupOfAll(options.AllDevices());
  result.everybody.name = options.group_prefix + result.everybody.name;
  result.held = Holders(module, options, plan.marks).held();
  StageOrder order(*module.main(), result.held, options, plan, memory);
  result.report = std::move(order.report());
  result.report.warnings = plan.warnings;
  if (!result.report.note.empty() && options.pipeline.scheduler == Scheduler::k1F1B) {
    result.report.warnings.push_back(
        fmt::format("For 'pipeline_scheduler', '1f1b' cannot be had: {}.", result.report.note));
  }
  Vars inputs = module.main()->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!options.plan.parameters[i]) continue;
    for (int64_t s = 0; s < options.pipeline.stages; ++s) {
      if (result.held[i] != s && result.held[i] != kAllStages) continue;
      result.report.stages[static_cast<size_t>(s)].holds.push_back(inputs[i].node->name);
    }
  }
  module.set_main(Writer(module, options, result.held, order, result.everybody).Write());
  module.SweepGraphs();
  return result;
}

}  // namespace ms::parallel
