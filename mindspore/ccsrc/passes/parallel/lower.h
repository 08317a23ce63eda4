// The program of one process of a planned one: a module whose types are those of the pieces that
// the process has, with what the processes do between its ops (ops/sharded.cc). Gradients are made
// of it afterwards, as of any program: those of the whole come out, in pieces.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "passes/parallel/plan.h"
#include "passes/parallel/stages.h"

namespace ms::parallel {

// Processes that communicate, by their ranks in the world.
struct ProcessGroup {
  std::string name;
  std::vector<int> ranks;
  bool beside = false;  // for what goes on while they compute, and call another one (begin_sums.h)
};
// Of the group beside the one of this name.
std::string BesideName(const std::string& name);

// Of all devices of a mesh.
ProcessGroup GroupOfAll(const Mesh& mesh);

struct PipelineReport;

// What is to be known of a lowered program from outside.
struct Lowered {
  Mesh mesh;
  int64_t rank = 0;
  // The stage of a pipeline that has each input of main, or kAllStages; empty: there are no stages.
  // Others have a tensor without elements. The mesh is then that of all stages, one axis more.
  std::vector<int64_t> held;
  bool Holds(size_t input) const {
    return held.empty() || held[input] < 0 || held[input] == mesh.Coordinate(rank, 0);
  }
  std::vector<Layout> inputs, outputs;  // of main
  Types whole_inputs, whole_outputs;    // their types on one device
  std::vector<ProcessGroup> groups;     // in the order in which all processes make them
  Plan plan;                            // its nodes are gone: the figures alone
  uint32_t outline = 0;                 // of the program before it was cut: equal in all processes
};

// How a program is to be cut, and for which process it is compiled. With a pipeline of several
// stages the mesh of `plan` is that of each stage, and `rank` the place in it.
struct ParallelOptions {
  PlanOptions plan;
  int64_t rank = 0;
  PipelineOptions pipeline;
  std::string group_prefix;  // of the names of groups: processes of a test share a memory
  // Makes the plan; null: MakePlan.
  std::function<Plan(const Module&, const PlanOptions&)> planner;
  // Told what became of the stages.
  std::function<void(const PipelineReport&)> reported;
  std::string Key() const;  // equal for equal options, the functions aside
  // The mesh of all processes: stages are its outermost axis.
  Mesh AllDevices() const;
  int64_t RankOfAll() const { return pipeline.stage * plan.mesh.devices() + rank; }
};

inline constexpr const char* kStageAxis = "pipeline_stage";

// Replaces the module by that of one rank, which is number `first` + rank of all processes.
std::shared_ptr<Lowered> LowerPlan(Module& module, const Plan& plan, int64_t rank,
                                   const std::string& group_prefix = "", int64_t first = 0);
// Of a lowered module whose gradients are made and which CutIntoStages has cut: keeps one stage.
void LowerPipeline(Module& module, const ParallelOptions& options, const StagePlan& plan,
                   Lowered* lowered);
// What ops/sharded.cc declares becomes communication, once all gradients are made.
bool ExpandShards(Module& module);

}  // namespace ms::parallel
