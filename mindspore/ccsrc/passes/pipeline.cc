#include "passes/pipeline.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "base/mutex.h"
#include "ir/control.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "passes/fuse/fuse.h"
#include "passes/parallel/begin_sums.h"

namespace ms {
namespace {

constexpr int kMaxRounds =
    8;  // of one fixpoint; what is left after them is correct, only not as small

Mutex dump_mutex;
std::string dump_directory;  // guarded by the mutex

// Where dumps go: a folder, or "-" for the standard error stream; "" when none are wanted.
std::string DumpTarget() {
  std::lock_guard lock(dump_mutex);
  if (!dump_directory.empty()) return dump_directory;
  const char* value = std::getenv("MS_DUMP");
  if (!value || std::string_view(value).find("passes") == std::string_view::npos) return "";
  const char* directory = std::getenv("MS_DUMP_PATH");
  return directory ? directory : "-";
}

void DumpText(const std::string& target, const std::string& pass, const Module& module) {
  static std::atomic<int> number{0};
  TensorTable large;
  std::string text = Print(module, {.spans = true, .types = true, .large = &large});
  if (target == "-") {
    fmt::print(stderr, "---- after {}\n{}", pass, text);
  } else {
    std::ofstream(fmt::format("{}/{:03}_{}.ir", target, number++, pass)) << text;
  }
}

bool HasTransform(const Module& module) {
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (IsTransform(*node)) return true;
    }
  }
  return false;
}

bool HasVmap(const Module& module) {
  for (const auto& graph : module.graphs()) {
    for (const Node* node : graph->nodes()) {
      if (node->op == Control().vmap) return true;
    }
  }
  return false;
}

class Pipeline {
 public:
  Pipeline(Module& module, const PassOptions& options)
      : module_(module), options_(options), dump_(DumpTarget()) {}

  void Run() {
    Show("Parse");
    // What the front end began and gave up may be unfinished: it goes before anything is checked.
    if (RequireRefusals(module_)) Show("RequireRefusals");
    if (RemoveDeadCode(module_)) Show("RemoveDeadCode");
    Check("before all passes", Level::kTyped);
    GraphSet kept = GraphsToTransform(module_);
    Apply("MergeEqualNodes", [&](Module& m) { return MergeEqualNodes(m, kept); });
    Apply("MergeCalls", MergeCalls);
    Reduce();
    if (options_.parallel) Parallelise();
    bool staged = options_.parallel && options_.parallel->pipeline.stages > 1;
    if (staged) CutStages();
    // Of the fast stage, but here: its op has a gradient that needs no matrix of scores.
    bool attends = options_.fast && options_.has_kernel("Attention");
    if (attends && Apply("MatchAttention", MatchAttention)) Reduce();
    while (HasTransform(module_)) {
      if (!Apply("ExpandBatches", ExpandBatches)) Apply("ExpandGradients", ExpandGradients);
      Reduce();
    }
    if (Apply("DropCustomGradients", DropCustomGradients)) Reduce();
    // While ops of sharded.cc still say what they depend on.
    if (staged) KeepStage();
    if (lowered_ && options_.fast && options_.has_kernel("StartSum"))
      Apply("BeginSums", [&](Module& m) { return parallel::BeginSums(m, lowered_.get()); });
    if (Apply("ExpandShards", parallel::ExpandShards)) Reduce();
    if (options_.lowered && lowered_) options_.lowered(std::move(lowered_));
    if (Apply("DropMetRequirements", DropMetRequirements)) Apply("RemoveDeadCode", RemoveDeadCode);
    Check("after all passes", Level::kNoGradLeft);
  }

  // In this order: rules that make one op of several (attention, cross entropy, epilogues),
  // layouts, the groups of what is left, and last the updates.
  std::shared_ptr<Module> RunFast() {
    // What a pass leaves unread would count as a reader for the next one.
    auto apply = [&](const char* name, auto pass) {
      if (Apply(name, pass)) Apply("RemoveDeadCode", RemoveDeadCode);
    };
    apply("HoistInvariants", HoistInvariants);
    apply("SelectUpdates", SelectUpdates);
    if (options_.has_kernel("SGDRows")) apply("UpdateRows", UpdateRows);
    apply("PlaceChannelsLast", [&](Module& m) { return PlaceChannelsLast(m, options_.layouts); });
    apply("PrepareConvolutions", [&](Module& m) {
      return PrepareConvolutions(m, options_.layouts, options_.steady_inputs);
    });
    apply("JoinMatMulBias",
          [&](Module& m) { return JoinMatMulBias(m, options_.layouts, options_.steady_inputs); });
    if (options_.has_kernel("BatchNormRelu")) apply("JoinNormRelu", JoinNormRelu);
    std::shared_ptr<Module> steady;
    Apply("SplitSteadyPart", [&](Module& m) {
      steady = SplitSteadyPart(m, options_.steady_inputs);
      return steady && (RemoveDeadCode(m), true);
    });
    if (options_.has_kernel("Fused")) Apply("Fuse", Fuse);
    // What sums depend on may differ between processes that have pieces of other sizes, and they
    // must join the same ones: in programs that are cut BeginSums has chosen them.
    if (!options_.parallel) Apply("ScatterEarly", ScatterEarly);
    if (options_.has_kernel("StartSum") && !options_.parallel) Apply("StartSums", StartSums);
    if (options_.has_kernel("UpdateGroup")) Apply("GroupUpdates", GroupUpdates);
    Check("after the fast stage", Level::kNoGradLeft);
    return steady;
  }

 private:
  // The fixpoint that follows each step that makes new code. What is still to be differentiated
  // keeps its nodes: a value read twice adds up two tangents, as it does in eager code, and two
  // equal values, read once each, do not.
  void Reduce() {
    bool changed = true;
    for (int round = 0; changed && round < kMaxRounds; ++round) {
      Apply("Inline", [&](Module& m) { return Inline(m, inline_limit_); });
      GraphSet kept = GraphsToTransform(module_);
      changed = Apply("Simplify", [&](Module& m) { return Simplify(m, kept, options_.fast); });
      if (options_.evaluate) {
        changed |=
            Apply("FoldConstants", [&](Module& m) { return FoldConstants(m, options_.evaluate); });
      }
      changed |= Apply("MergeEqualNodes", [&](Module& m) { return MergeEqualNodes(m, kept); });
      bool removed = Apply("RemoveDeadCode", RemoveDeadCode);
      changed |= removed && module_.graphs().size() > 1;  // of fewer calls more can be inlined
    }
  }

  // Functions of many items are made before, as their sizes are not those of the items; where one
  // takes a gradient, that too.
  void Parallelise() {
    while (HasVmap(module_)) {
      if (!Apply("ExpandBatches", ExpandBatches)) Apply("ExpandGradients", ExpandGradients);
      Reduce();
    }
    const parallel::ParallelOptions& options = *options_.parallel;
    parallel::PlanOptions wanted = options.plan;
    if (options.pipeline.stages > 1) {
      PlanStages();
      wanted.stages = stages_.lies;
    }
    auto plan =
        options.planner ? options.planner(module_, wanted) : parallel::MakePlan(module_, wanted);
    Apply("LowerPlan", [&](Module& m) {
      int64_t first = options.pipeline.stage * options.plan.mesh.devices();
      lowered_ = parallel::LowerPlan(m, plan, options.rank, options.group_prefix, first);
      return true;
    });
    Reduce();
  }

  void PlanStages() {
    inline_limit_ = std::numeric_limits<size_t>::max() / 2;  // stages may part any call
    Reduce();
    const parallel::ParallelOptions& options = *options_.parallel;
    stages_ = parallel::PlanStages(module_, options.pipeline, options.plan.parameters,
                                   options.plan.device, options.plan.mesh.devices());
  }
  void CutStages() {
    Apply("CutIntoStages", [&](Module& m) {
      parallel::CutIntoStages(m, stages_);
      return true;
    });
  }
  void KeepStage() {
    Apply("KeepStage", [&](Module& m) {
      parallel::LowerPipeline(m, *options_.parallel, stages_, lowered_.get());
      return true;
    });
    Reduce();
  }

  template <class Pass>
  bool Apply(const std::string& name, Pass pass) {
    if (!pass(module_)) return false;
    Check("after " + name, Level::kTyped);
    Show(name);
    return true;
  }

  void Show(const std::string& name) {
    if (options_.dump) options_.dump(name, module_);
    if (!dump_.empty()) DumpText(dump_, name, module_);
  }

  void Check(const std::string& stage, Level level) {
    if (Verifying()) Verify(module_, {level, stage, {}});
  }

  Module& module_;
  const PassOptions& options_;
  std::string dump_;
  size_t inline_limit_ = options_.inline_limit;
  std::shared_ptr<parallel::Lowered> lowered_;
  parallel::StagePlan stages_;
};

}  // namespace

void DumpGraphsTo(std::string directory) {
  std::lock_guard lock(dump_mutex);
  dump_directory = std::move(directory);
}

void Optimize(Module& module, const PassOptions& options) { Pipeline(module, options).Run(); }

std::shared_ptr<Module> Accelerate(Module& module, const PassOptions& options) {
  return options.fast ? Pipeline(module, options).RunFast() : nullptr;
}

}  // namespace ms
