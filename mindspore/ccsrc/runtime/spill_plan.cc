#include "runtime/spill_plan.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

namespace ms {
namespace {

constexpr size_t kWorthMoving = 4096;  // bytes
constexpr int kCandidates = 16;        // of those that could go, so many are compared

// While a value is not needed.
struct Gap : Absence {
  int64_t bytes = 0;
};

struct NeededLastFirst {
  bool operator()(const Gap& a, const Gap& b) const {
    return std::tie(a.before, a.bytes, a.value) > std::tie(b.before, b.bytes, b.value);
  }
};

// One walk over the steps.
class Chooser {
 public:
  Chooser(const std::vector<Resident>& values, size_t steps) : changes_(steps + 1) {
    for (size_t v = 0; v < values.size(); ++v) {
      const std::vector<int>& needed = values[v].steps;
      auto bytes = static_cast<int64_t>(values[v].bytes);
      if (needed.empty() || bytes == 0) continue;
      Change(needed.front()) += bytes;
      Change(needed.back() + 1) -= bytes;
      if (values[v].bytes < kWorthMoving) continue;
      for (size_t i = 0; i + 1 < needed.size(); ++i) {
        if (needed[i + 1] > needed[i] + 1) gaps_.push_back({{v, needed[i], needed[i + 1]}, bytes});
      }
    }
    std::sort(gaps_.begin(), gaps_.end(),
              [](const Gap& a, const Gap& b) { return a.after < b.after; });
  }

  // Gaps are taken once each: a step that stays too full is left behind.
  std::vector<Absence> Choose(const std::vector<size_t>& workspaces, size_t limit) {
    std::vector<Absence> chosen;
    auto next = gaps_.begin();
    int64_t present = 0;
    for (int step = 0; step < static_cast<int>(workspaces.size()); ++step) {
      present += Change(step);
      for (; next != gaps_.end() && next->after < step; ++next) open_.insert(*next);
      int64_t most =
          static_cast<int64_t>(limit) - static_cast<int64_t>(workspaces[static_cast<size_t>(step)]);
      while (present > most) {
        auto gap = Best(step, present - most);
        if (gap == open_.end()) break;
        present -= gap->bytes;
        Change(gap->before) += gap->bytes;
        chosen.push_back(*gap);
        open_.erase(gap);
      }
    }
    return chosen;
  }

 private:
  using Open = std::set<Gap, NeededLastFirst>;

  int64_t& Change(int step) { return changes_[static_cast<size_t>(step)]; }

  // Copies cost by the byte. They are worth the steps that they help, and of the bytes those that
  // are too many.
  Open::iterator Best(int step, int64_t excess) {
    auto best = open_.end();
    double most = 0;
    int left = kCandidates;
    for (auto it = open_.begin(); it != open_.end() && it->before > step && left > 0;
         ++it, --left) {
      double used =
          static_cast<double>(std::min(it->bytes, excess)) / static_cast<double>(it->bytes);
      double worth = used * (it->before - step);
      if (worth > most) {
        best = it;
        most = worth;
      }
    }
    return best;
  }

  std::vector<int64_t> changes_;  // of the bytes present, by step
  std::vector<Gap> gaps_;         // by their first step
  Open open_;                     // those that have begun
};

}  // namespace

std::vector<Absence> ChooseAbsences(const std::vector<Resident>& values,
                                    const std::vector<size_t>& workspaces, size_t limit) {
  return Chooser(values, workspaces.size()).Choose(workspaces, limit);
}

}  // namespace ms
