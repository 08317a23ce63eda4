// A plan in words: for each node its line, layouts, collectives with bytes and seconds, and what
// was rejected; of the whole, seconds and memory. As data, as a text and as JSON.
#pragma once

#include <optional>

#include "passes/parallel/plan.h"
#include "passes/parallel/stage_program.h"

namespace ms::parallel {

struct ExplainedMove {
  int input = 0;
  std::string what;  // "all-gather"
  std::string axes;  // "dp, tp"
  int64_t bytes = 0;
  double seconds = 0;
};

struct ExplainedAlternative {
  std::string cut;  // "k by tp"; "" for alike on all devices
  double more_seconds = 0;
};

struct ExplainedNode {
  // The user's line, and that of the layer of the package that it called, if it did.
  std::string graph, line, layer, op, cut;
  std::string whole;                         // what keeps it from being cut
  std::vector<std::string> inputs, outputs;  // layouts
  std::vector<ExplainedMove> moves;          // of its inputs, forward
  double compute_seconds = 0;
  double communication_seconds = 0;  // there and back
  std::vector<ExplainedAlternative> alternatives;
};

// Of the critical path.
struct ExplainedStage {
  std::string line, op;
  bool moves = false, back = false;
  double seconds = 0;
};

struct Explanation {
  std::vector<ExplainedNode> nodes;  // that compute, in the order of the program
  std::vector<std::pair<std::string, std::string>> parameters;  // of main: name and layout
  int64_t devices = 1;
  double seconds = 0, compute_seconds = 0, communication_seconds = 0, bound = 0;
  bool exact = false;  // nothing takes less than the plan
  bool limited = false;
  MemoryUse memory;
  std::vector<Part> parts;
  CriticalPath critical;
  std::vector<ExplainedStage> longest;
  std::vector<std::string> warnings;
  std::optional<PipelineReport> pipeline;  // `nodes` are then those of all stages
};

Explanation Explain(const Module& module, const Plan& plan);
std::string ToText(const Explanation& explanation);
// Has the figures of the whole be those of the slowest stage.
void AddPipeline(const PipelineReport& report, Explanation* explanation);
std::string ToText(const PipelineReport& report);
std::string ToJson(const PipelineReport& report);
std::string ToJson(const Explanation& explanation);

}  // namespace ms::parallel
