// The program of one stage of a pipeline, out of the whole one: all gradients are made, all calls
// inlined, and main has ops StageMove where values go from stage to stage (stages.h). Each process
// walks the ops of all stages in one order, that of the schedule, and keeps those of its own; what
// comes from another stage is received where it is first needed. As sending does not wait and the
// order is the same for all, nobody can wait for ever.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/parallel/lower.h"
#include "passes/parallel/stages.h"

namespace ms::parallel {

// What one stage does, in the model of costs.
struct StageReport {
  double forward = 0, backward = 0;  // seconds for one part of the batch
  int64_t parameters = 0;            // bytes on each of its devices, with what belongs to them
  int64_t kept = 0;                  // bytes of one part from forward to backward
  int64_t most_kept = 0;             // of all parts together, at most
  std::vector<std::string> holds;    // Parameters
};

struct PipelineReport {
  std::vector<StageReport> stages;
  int64_t parts = 1;
  double transfer = 0;                    // seconds of one part from stage to stage
  std::vector<ChosenSchedule> schedules;  // the one that is used first
  std::string note;                       // why there are no others; empty: there are
  std::vector<std::string> warnings;
  double seconds() const { return schedules[0].simulation.seconds; }
};

struct StageProgram {
  std::vector<int64_t> held;  // for each input of main the stage that has it, or kAllStages
  ProcessGroup everybody;     // in which stages send to each other
  PipelineReport report;
};

// What a process does not hold is a tensor of
// no elements among its inputs and outputs.
StageProgram KeepStage(Module& module, const ParallelOptions& options, const StagePlan& plan,
                       const std::vector<StageMemory>& memory);

}  // namespace ms::parallel
