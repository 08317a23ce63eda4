// Stages of a pipeline. A value belongs to the last stage that anything it is made of belongs to;
// where nothing says a stage, to all of them. What says one is a Parameter, which one stage holds.
// So marks on Parameters are all that cuts a network into stages: those of the user, or those that
// PlanStages finds. Where a stage reads what another one has made stands an op StageMove, whose
// gradient is the move back: after the gradients have been made, the backward pass lies where the
// forward pass lies, and what several stages do with one Parameter is summed where it is held.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/parallel/plan.h"

namespace ms::parallel {

inline constexpr int64_t kMostStages = 64;

// `stages`: into how many; 1: none of it. `stage`: that of this process.
struct PipelineOptions {
  int64_t stages = 1;
  int64_t stage = 0;
  std::vector<int64_t> marks;  // of main's inputs; kAllStages: not said
  Scheduler scheduler = Scheduler::kBest;
  // Of the link between stages.
  double alpha = 2e-5, beta = 1e-10;  // seconds for each message, for each byte
};

// The stages of nodes, by node id, for those of the graph's inputs. `scalars_follow`: they go where
// the tensors are that they are used with, as in the step of an optimizer, behind all moves.
std::vector<int64_t> StagesOf(const Graph& graph, const std::vector<int64_t>& inputs,
                              bool scalars_follow = false);
// A node that only makes functions of others: it is where it is called.
bool MakesFunctions(const Node& node);
// What all processes know of the stages.
struct StagePlan {
  std::vector<int64_t> marks;  // of main's inputs
  StageCosts costs;            // of one part on one device
  InStages lies;               // before the moves are inserted
  std::vector<std::string> warnings;
};
// Of the whole program, not yet that of one process: processes with smaller pieces must come to the
// same. Takes the user's marks, or finds some where there are none. ValueError for marks that do
// not fit: the text names the cell.
StagePlan PlanStages(Module& module, const PipelineOptions& options,
                     const std::vector<bool>& parameters, const Device& device, int64_t devices);
// Inserts the moves between stages into what is to be differentiated, or into main where nothing
// is; of the whole program, or that of one process.
void CutIntoStages(Module& module, const StagePlan& plan);

}  // namespace ms::parallel
