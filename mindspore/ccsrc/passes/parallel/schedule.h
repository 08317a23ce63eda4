// The schedule of a pipeline: for each stage the list of what it does with which part of the batch,
// one after the other. A schedule is data: it is simulated, which gives its time, how long devices
// stand idle (the bubble) and what they keep for the backward pass; the best one is taken, and
// stage_program.h puts the ops of each process in the order of its list.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ms::parallel {

struct StageTask {
  int stage = 0;
  int part = 0;  // of the batch
  bool backward = false;
  bool operator==(const StageTask&) const = default;
};
using Schedule = std::vector<std::vector<StageTask>>;  // by stage

enum class Scheduler : uint8_t { kBest, kGpipe, k1F1B };
std::string_view Name(Scheduler scheduler);  // "gpipe", "1f1b"

// All parts forward, then all of them backward.
Schedule Gpipe(int stages, int parts);
// As few parts forward as keep the last stage busy, then backward and forward in turn: a stage
// keeps at most as many parts as there are stages from it to the end.
Schedule OneForwardOneBackward(int stages, int parts);
Schedule Make(Scheduler scheduler, int stages, int parts);

// What one part of the batch takes in each stage.
struct StageCosts {
  std::vector<double> forward, backward;  // seconds
  double transfer = 0;                    // seconds from one stage to the next
  std::vector<int64_t> kept;              // bytes from the forward task to the backward task
};

struct Simulation {
  double seconds = 0;
  double bubble = 0;                // the share of the time of all stages in which they wait
  std::vector<int64_t> most_kept;   // bytes, by stage
  std::vector<StageTask> order;     // all tasks by their begin: what one needs comes before it
  std::vector<double> begin;        // of these
  std::vector<StageTask> critical;  // tasks of which each waits for the one before it, to the end
};

// InternalError where a stage would wait for ever.
Simulation Simulate(const Schedule& schedule, const StageCosts& costs);

struct ChosenSchedule {
  Scheduler scheduler = Scheduler::kBest;
  Simulation simulation;
};
// All that there are, the best one first: the quickest of those that keep no more than `limit`
// bytes in any stage (0: no limit), and of equally quick ones that which keeps the least.
std::vector<ChosenSchedule> RankSchedules(const StageCosts& costs, int parts, int64_t limit);

}  // namespace ms::parallel
