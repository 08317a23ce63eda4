#include "runtime/plan_memory.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ops/joint_sums.h"
#include "runtime/arena_layout.h"
#include "runtime/spill_plan.h"

namespace ms {
namespace {

// The spans of what lives when most does, largest first.
std::vector<std::pair<SpanId, size_t>> PeakBySpan(const std::vector<Lifetime>& lifetimes,
                                                  const std::vector<SpanId>& spans) {
  LivePeak peak = FindLivePeak(lifetimes);
  std::unordered_map<SpanId, size_t> by_span;
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    bool live = lifetimes[i].first <= peak.step && peak.step <= lifetimes[i].last;
    if (live && lifetimes[i].bytes) by_span[spans[i]] += lifetimes[i].bytes;
  }
  std::vector<std::pair<SpanId, size_t>> sorted(by_span.begin(), by_span.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return sorted;
}

// The steps at which each storage of the arena is needed; where it is made is the first.
std::vector<Resident> Residents(const StoragePlan& values) {
  std::vector<Resident> residents(values.storages().size());
  auto touch = [&](const Var& v, int step) {
    int id = values.Of(v);
    if (id < 0 || values.storages()[static_cast<size_t>(id)].kind != Storage::Kind::kArena) return;
    std::vector<int>& steps = residents[static_cast<size_t>(id)].steps;
    if (steps.empty() || steps.back() != step) steps.push_back(step);
  };
  for (int t = 0; t < values.steps(); ++t) {
    const Node& node = *values.order()[static_cast<size_t>(t)];
    if (node.op->view) continue;
    VisitUses(node, [&](const Var& v, Use) {
      if (IsAwaitSums(node)) {  // somebody else writes it all the time: it must not be moved away
        const std::vector<int>& steps = residents[static_cast<size_t>(values.Of(v))].steps;
        for (int s = steps.empty() ? t : steps.back() + 1; s < t; ++s) touch(v, s);
      }
      touch(v, t);
    });
    for (uint32_t i = 0; i < node.outputs.size(); ++i) touch({const_cast<Node*>(&node), i}, t);
  }
  for (size_t i = 0; i < residents.size(); ++i)
    residents[i].bytes = values.storages()[i].type().bytes();
  return residents;
}

class Layout {
 public:
  Layout(const StoragePlan& values, const std::vector<std::shared_ptr<const Kernel>>& kernels)
      : values_(values) {
    memory_.workspaces.assign(kernels.size(), 0);
    for (const auto& kernel : kernels) needed_.push_back(kernel ? kernel->workspace_bytes() : 0);
  }

  // With what is away as chosen.
  void Arrange(std::vector<Absence> absences) {
    std::sort(absences.begin(), absences.end(), [](const Absence& a, const Absence& b) {
      return a.value != b.value ? a.value < b.value : a.after < b.after;
    });
    ListStays(absences);
    lifetimes_.clear();
    for (const Stay& stay : memory_.stays)
      lifetimes_.push_back({BytesOf(stay.storage), stay.first, stay.last});
    feature_maps_ = FindLivePeak(lifetimes_).bytes;
    for (size_t t = 0; t < needed_.size(); ++t)
      lifetimes_.push_back({needed_[t], static_cast<int>(t), static_cast<int>(t)});
    ArenaLayout arena = PlanArena(lifetimes_);
    for (size_t i = 0; i < memory_.stays.size(); ++i) memory_.stays[i].offset = arena.offsets[i];
    for (size_t t = 0; t < needed_.size(); ++t)
      memory_.workspaces[t] = arena.offsets[memory_.stays.size() + t];
    memory_.bytes = arena.bytes;
    PlaceSpills(absences);
  }

  // Lets values go until the arena is no larger than the limit. Gaps between values cost some of
  // it: what is aimed at is less each time.
  void Fit(size_t whole, size_t beside) {
    size_t limit = std::max(whole, beside) - beside;
    if (whole == 0 || memory_.bytes <= limit) return;
    std::vector<Resident> residents = Residents(values_);
    size_t aim = limit;
    for (int attempt = 0; attempt < kAttempts && memory_.bytes > limit; ++attempt) {
      Arrange(ChooseAbsences(residents, needed_, aim));
      size_t excess = memory_.bytes > limit ? memory_.bytes - limit : 0;
      aim -= std::min(aim, std::max(excess, limit / 64));
    }
    if (memory_.bytes > limit) Arrange(ChooseAbsences(residents, needed_, 0));
    if (memory_.bytes <= limit) return;
    constexpr size_t kKilo = 1024;
    Throw(ErrorKind::kMemory,
          "'max_device_memory' must be at least {}KB, which a run needs with all else spilled, of "
          "which inputs, results and constants are {}KB, but it is {}KB",
          (beside + memory_.bytes + kKilo - 1) / kKilo, (beside + kKilo - 1) / kKilo,
          whole / kKilo);
  }

  void Report(bool main, MemoryReport& report) const {
    report.feature_maps += feature_maps_;
    for (size_t bytes : needed_) report.workspace = std::max(report.workspace, bytes);
    report.arena += memory_.bytes;
    for (const Spill& spill : memory_.spills) report.spilled += BytesOf(spill.storage);
    if (!main) return;
    std::vector<SpanId> spans;
    for (const Stay& stay : memory_.stays)
      spans.push_back(values_.storages()[stay.storage].value.node->span);
    for (const Node* node : values_.order()) spans.push_back(node->span);
    report.peak = PeakBySpan(lifetimes_, spans);
  }

  PlanMemory Take() { return std::move(memory_); }

 private:
  static constexpr int kAttempts = 12;

  size_t BytesOf(size_t storage) const { return values_.storages()[storage].type().bytes(); }

  void ListStays(const std::vector<Absence>& absences) {
    memory_.stays.clear();
    memory_.first_stay.assign(values_.storages().size() + 1, 0);
    auto absence = absences.begin();
    for (size_t i = 0; i < values_.storages().size(); ++i) {
      const Storage& s = values_.storages()[i];
      memory_.first_stay[i] = memory_.stays.size();
      if (s.kind != Storage::Kind::kArena || !values_.IsRoot(i)) continue;
      int first = s.first;
      for (; absence != absences.end() && absence->value == i; ++absence) {
        memory_.stays.push_back({i, first, absence->after, 0});
        first = absence->before;
      }
      memory_.stays.push_back({i, first, s.last, 0});
    }
    memory_.first_stay.back() = memory_.stays.size();
  }

  void PlaceSpills(const std::vector<Absence>& absences) {
    std::vector<Lifetime> away;
    for (const Absence& a : absences) away.push_back({BytesOf(a.value), a.after, a.before});
    ArenaLayout layout = PlanArena(away);
    memory_.spills.clear();
    for (size_t i = 0; i < absences.size(); ++i) {
      const Absence& a = absences[i];
      memory_.spills.push_back({a.value, a.after, a.before, layout.offsets[i]});
    }
    memory_.spill_bytes = layout.bytes;
  }

  const StoragePlan& values_;
  std::vector<size_t> needed_;  // workspace by step
  std::vector<Lifetime> lifetimes_;
  size_t feature_maps_ = 0;
  PlanMemory memory_;
};

}  // namespace

size_t PlanMemory::OffsetAt(size_t storage, int step) const {
  size_t i = first_stay[storage];
  while (stays[i].last < step) ++i;
  MS_ASSERT(i < first_stay[storage + 1] && stays[i].first <= step);
  return stays[i].offset;
}

PlanMemory LayOutPlan(const StoragePlan& values,
                      const std::vector<std::shared_ptr<const Kernel>>& kernels, bool main,
                      size_t limit, MemoryReport& report) {
  Layout layout(values, kernels);
  layout.Arrange({});
  layout.Fit(limit, report.parameters + report.outputs);
  layout.Report(main, report);
  return layout.Take();
}

size_t BytesOfNewOutputs(const StoragePlan& values, const Vars& outputs) {
  size_t bytes = 0;
  std::unordered_set<int> seen;
  for (const Var& v : outputs) {
    const Storage& s = values.Get(v);
    bool fresh = s.kind == Storage::Kind::kCell && s.type().is_tensor() && s.update < 0;
    if (fresh && seen.insert(values.Of(v)).second) bytes += s.type().bytes();
  }
  return bytes;
}

}  // namespace ms
