#include "runtime/spill_plan.h"

#include <algorithm>
#include <cstdint>

namespace ms {
namespace {

constexpr size_t kWorthMoving = 4096;  // bytes

class Chooser {
 public:
  Chooser(const std::vector<Resident>& values, const std::vector<size_t>& workspaces)
      : values_(values), present_(workspaces.begin(), workspaces.end()) {
    for (size_t v = 0; v < values.size(); ++v) {
      const std::vector<int>& steps = values[v].steps;
      if (steps.empty() || values[v].bytes == 0) continue;
      Add(steps.front(), steps.back(), static_cast<int64_t>(values[v].bytes));
      for (size_t i = 0; i + 1 < steps.size(); ++i) {
        if (steps[i + 1] > steps[i] + 1 && values[v].bytes >= kWorthMoving)
          gaps_.push_back({v, steps[i], steps[i + 1]});
      }
    }
  }

  // Gaps are taken once each: a step that stays too full is left behind.
  std::vector<Absence> Choose(size_t limit) {
    std::vector<Absence> chosen;
    for (int step = 0; step < static_cast<int>(present_.size()); ++step) {
      while (At(step) > static_cast<int64_t>(limit)) {
        auto best = gaps_.end();
        for (auto it = gaps_.begin(); it != gaps_.end(); ++it) {
          bool covers = it->after < step && step < it->before;
          if (covers && (best == gaps_.end() || Weight(*it) > Weight(*best))) best = it;
        }
        if (best == gaps_.end()) break;
        Add(best->after + 1, best->before - 1, -static_cast<int64_t>(values_[best->value].bytes));
        chosen.push_back(*best);
        gaps_.erase(best);
      }
    }
    return chosen;
  }

 private:
  int64_t& At(int step) { return present_[static_cast<size_t>(step)]; }
  void Add(int first, int last, int64_t bytes) {
    for (int t = std::max(first, 0); t <= last && t < static_cast<int>(present_.size()); ++t)
      At(t) += bytes;
  }
  // Copies cost by the byte; the longer one is away, the more steps it helps.
  double Weight(const Absence& gap) const { return gap.before - gap.after; }

  const std::vector<Resident>& values_;
  std::vector<int64_t> present_;  // bytes by step
  std::vector<Absence> gaps_;
};

}  // namespace

std::vector<Absence> ChooseAbsences(const std::vector<Resident>& values,
                                    const std::vector<size_t>& workspaces, size_t limit) {
  return Chooser(values, workspaces).Choose(limit);
}

}  // namespace ms
