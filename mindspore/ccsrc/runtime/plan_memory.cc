#include "runtime/plan_memory.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/memory_plan.h"

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

}  // namespace

PlanMemory LayOutPlan(const StoragePlan& values,
                      const std::vector<std::shared_ptr<const Kernel>>& kernels, bool main,
                      MemoryReport& report) {
  PlanMemory memory;
  memory.offsets.assign(values.storages().size(), 0);
  memory.workspaces.assign(kernels.size(), 0);
  std::vector<Lifetime> lifetimes;
  std::vector<SpanId> spans;
  std::vector<size_t*> places;
  for (size_t i = 0; i < values.storages().size(); ++i) {
    const Storage& s = values.storages()[i];
    if (s.kind != Storage::Kind::kArena || !values.IsRoot(i)) continue;
    lifetimes.push_back({s.type().bytes(), s.first, s.last});
    spans.push_back(s.value.node->span);
    places.push_back(&memory.offsets[i]);
  }
  report.feature_maps += FindLivePeak(lifetimes).bytes;
  for (size_t t = 0; t < kernels.size(); ++t) {
    size_t bytes = kernels[t] ? kernels[t]->workspace_bytes() : 0;
    if (bytes == 0) continue;
    lifetimes.push_back({bytes, static_cast<int>(t), static_cast<int>(t)});
    spans.push_back(values.order()[t]->span);
    places.push_back(&memory.workspaces[t]);
    report.workspace = std::max(report.workspace, bytes);
  }
  ArenaLayout layout = PlanArena(lifetimes);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = layout.offsets[i];
  memory.bytes = layout.bytes;
  report.arena += layout.bytes;
  if (main) report.peak = PeakBySpan(lifetimes, spans);
  return memory;
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
