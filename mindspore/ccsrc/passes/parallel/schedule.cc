#include "passes/parallel/schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace ms::parallel {
namespace {

constexpr double kAlike = 0.01;  // relative difference of times that no model can tell

// Runs the lists of all stages as far as they go.
class Simulator {
 public:
  Simulator(const Schedule& schedule, const StageCosts& costs)
      : schedule_(schedule), costs_(costs), next_(schedule.size()), free_(schedule.size()) {
    size_t parts = 0;
    for (const auto& list : schedule) {
      for (const StageTask& task : list)
        parts = std::max(parts, static_cast<size_t>(task.part) + 1);
    }
    for (auto& ends : ends_) ends.assign(schedule.size(), std::vector<double>(parts, -1));
  }

  Simulation Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t s = 0; s < schedule_.size(); ++s) {
        while (next_[s] < schedule_[s].size() && Try(schedule_[s][next_[s]])) {
          ++next_[s];
          moved = true;
        }
      }
    }
    for (size_t s = 0; s < schedule_.size(); ++s) {
      if (next_[s] < schedule_[s].size())
        Throw(ErrorKind::kInternal, "a schedule must end, but stage {} waits for ever", s);
    }
    return Result();
  }

 private:
  struct Done {
    StageTask task;
    double begin, end;
    int before;  // the task that it waited for last; -1: none
  };

  double& End(int stage, int part, bool backward) {
    return ends_[backward][static_cast<size_t>(stage)][static_cast<size_t>(part)];
  }
  int stages() const { return static_cast<int>(schedule_.size()); }

  // False where what the task needs is not there yet.
  bool Try(const StageTask& task) {
    auto s = static_cast<size_t>(task.stage);
    double begin = free_[s];
    int before = last_.empty() ? -1 : last_[s];
    auto wait = [&](int stage, bool backward) {
      double end = End(stage, task.part, backward);
      if (end < 0) return false;
      if (stage != task.stage) end += costs_.transfer;
      if (end > begin) {
        begin = end;
        before = Find(stage, task.part, backward);
      }
      return true;
    };
    if (!task.backward && task.stage > 0 && !wait(task.stage - 1, false)) return false;
    if (task.backward && !wait(task.stage, false)) return false;
    if (task.backward && task.stage + 1 < stages() && !wait(task.stage + 1, true)) return false;
    double end = begin + (task.backward ? costs_.backward : costs_.forward)[s];
    End(task.stage, task.part, task.backward) = free_[s] = end;
    if (last_.empty()) last_.assign(schedule_.size(), -1);
    last_[s] = static_cast<int>(done_.size());
    done_.push_back({task, begin, end, before});
    return true;
  }

  int Find(int stage, int part, bool backward) const {
    for (size_t i = done_.size(); i-- > 0;) {
      if (done_[i].task == StageTask{stage, part, backward}) return static_cast<int>(i);
    }
    return -1;
  }

  Simulation Result() const {
    Simulation result;
    std::vector<size_t> order(done_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return done_[a].begin < done_[b].begin; });
    int last = -1;
    double busy = 0;
    for (size_t i : order) {
      const Done& done = done_[i];
      result.order.push_back(done.task);
      result.begin.push_back(done.begin);
      busy += done.end - done.begin;
      if (last < 0 || done.end > done_[static_cast<size_t>(last)].end) last = static_cast<int>(i);
    }
    result.seconds = last < 0 ? 0 : done_[static_cast<size_t>(last)].end;
    double all = result.seconds * static_cast<double>(schedule_.size());
    result.bubble = all > 0 ? 1 - busy / all : 0;
    for (; last >= 0; last = done_[static_cast<size_t>(last)].before)
      result.critical.insert(result.critical.begin(), done_[static_cast<size_t>(last)].task);
    return result;
  }

  const Schedule& schedule_;
  const StageCosts& costs_;
  std::vector<size_t> next_;
  std::vector<double> free_;
  std::vector<int> last_;                     // by stage
  std::vector<std::vector<double>> ends_[2];  // by stage and part; -1: not yet
  std::vector<Done> done_;
};

}  // namespace

std::string_view Name(Scheduler scheduler) {
  return scheduler == Scheduler::kGpipe ? "gpipe" : scheduler == Scheduler::k1F1B ? "1f1b" : "best";
}

Schedule Gpipe(int stages, int parts) {
  Schedule schedule(static_cast<size_t>(stages));
  for (int s = 0; s < stages; ++s) {
    for (bool backward : {false, true}) {
      for (int p = 0; p < parts; ++p) schedule[static_cast<size_t>(s)].push_back({s, p, backward});
    }
  }
  return schedule;
}

Schedule OneForwardOneBackward(int stages, int parts) {
  Schedule schedule(static_cast<size_t>(stages));
  for (int s = 0; s < stages; ++s) {
    auto& list = schedule[static_cast<size_t>(s)];
    int ahead = std::min(parts, stages - s);
    for (int p = 0; p < ahead; ++p) list.push_back({s, p, false});
    for (int p = 0; p < parts; ++p) {
      list.push_back({s, p, true});
      if (p + ahead < parts) list.push_back({s, p + ahead, false});
    }
  }
  return schedule;
}

Schedule Make(Scheduler scheduler, int stages, int parts) {
  return scheduler == Scheduler::kGpipe ? Gpipe(stages, parts)
                                        : OneForwardOneBackward(stages, parts);
}

Simulation Simulate(const Schedule& schedule, const StageCosts& costs) {
  return Simulator(schedule, costs).Run();
}

int64_t StageMemory::Parameters() const { return static_cast<int64_t>(std::ceil(lasting)); }

int64_t StageMemory::Activations(int parts) const {
  return static_cast<int64_t>(std::ceil(parts * part + once));
}

std::vector<int> MostParts(const Schedule& schedule) {
  std::vector<int> all;
  for (const auto& list : schedule) {
    int now = 0, most = 0;
    for (const StageTask& task : list) {
      now += task.backward ? -1 : 1;
      most = std::max(most, now);
    }
    all.push_back(most);
  }
  return all;
}

std::vector<ChosenSchedule> RankSchedules(const StageCosts& costs,
                                          const std::vector<StageMemory>& memory, int parts,
                                          int64_t limit) {
  std::vector<ChosenSchedule> all;
  for (Scheduler scheduler : {Scheduler::k1F1B, Scheduler::kGpipe}) {
    Schedule schedule = Make(scheduler, static_cast<int>(costs.forward.size()), parts);
    ChosenSchedule made{scheduler, Simulate(schedule, costs), {}};
    std::vector<int> most = MostParts(schedule);
    for (size_t s = 0; s < memory.size(); ++s) {
      made.most_kept.push_back(memory[s].Activations(most[s]));
      made.most_held = std::max(made.most_held, memory[s].Whole(most[s]));
    }
    all.push_back(std::move(made));
  }
  auto fits = [&](const ChosenSchedule& c) { return limit == 0 || c.most_held <= limit; };
  std::stable_sort(all.begin(), all.end(), [&](const ChosenSchedule& a, const ChosenSchedule& b) {
    if (fits(a) != fits(b)) return fits(a);
    double x = a.simulation.seconds, y = b.simulation.seconds;
    if (std::abs(x - y) > kAlike * std::max(x, y)) return x < y;
    return a.most_held < b.most_held;
  });
  return all;
}

}  // namespace ms::parallel
