// The schedule of a pipeline: for each stage the list of what it does with which part of the batch,
// one after the other. A schedule is data: it is simulated, which gives its time, how long devices
// stand idle (the bubble) and what they keep for the backward pass; the best one is taken, and
// stage_program.h puts the ops of each process in the order of its list.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ms::parallel {

inline constexpr int64_t kAllStages = -1;  // in place of the number of one

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
};

// What a device of a stage holds, in bytes.
struct StageMemory {
  double lasting = 0;  // Parameters, with their gradients and the states of the optimizer
  double part = 0;     // of each part of the batch, from its forward task to its backward task
  double once = 0;     // however many parts there are: a block that is computed again
  int64_t Parameters() const;
  int64_t Activations(int parts) const;
  int64_t Whole(int parts) const { return Parameters() + Activations(parts); }
};

// How many parts each stage has between their forward and backward tasks, at most.
std::vector<int> MostParts(const Schedule& schedule);

struct Simulation {
  double seconds = 0;
  double bubble = 0;                // the share of the time of all stages in which they wait
  std::vector<StageTask> order;     // all tasks by their begin: what one needs comes before it
  std::vector<double> begin;        // of these
  std::vector<StageTask> critical;  // tasks of which each waits for the one before it, to the end
};

// InternalError where a stage would wait for ever.
Simulation Simulate(const Schedule& schedule, const StageCosts& costs);

struct ChosenSchedule {
  Scheduler scheduler = Scheduler::kBest;
  Simulation simulation;
  std::vector<int64_t> most_kept;  // activations, in bytes, by stage
  int64_t most_held = 0;           // by a device of the fullest stage, in bytes
};
// All that there are, the best one first: the quickest of those by which no stage holds more than
// `limit` bytes (0: no limit), and of those that are about as quick that which keeps the least.
std::vector<ChosenSchedule> RankSchedules(const StageCosts& costs,
                                          const std::vector<StageMemory>& memory, int parts,
                                          int64_t limit);

}  // namespace ms::parallel
