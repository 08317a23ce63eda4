// Several layouts are tried until one is as good as perfect. In program order, as an allocator with
// hindsight would (quick, may fragment); then, for plans that are not huge, in order of size and of
// size x time, each value in the smallest gap among those that overlap it in time (tight,
// quadratic).
#include "runtime/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace ms {
namespace {

constexpr size_t kQuadraticLimit = 4000;
// Of the bytes that live at the same time, this part may be lost: no layout can win more than that,
// and each one tried costs as much as the rest of the plan.
constexpr size_t kLossPart = 256;

size_t Aligned(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Free blocks of an arena that grows at its end.
class FreeBlocks {
 public:
  size_t Take(size_t bytes) {
    auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end()) return Grow(bytes);
    auto [size, offset] = *best;
    Remove(offset, size);
    if (size > bytes) Add(offset + bytes, size - bytes);
    return offset;
  }

  void Give(size_t offset, size_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      size_t size = next->second;
      Remove(offset + bytes, size);
      bytes += size;
    }
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.begin()) {
      auto [begin, size] = *std::prev(after);
      if (begin + size == offset) {
        Remove(begin, size);
        offset = begin;
        bytes += size;
      }
    }
    Add(offset, bytes);
  }

  size_t end() const { return end_; }

 private:
  // A free block at the end is extended rather than left behind.
  size_t Grow(size_t bytes) {
    size_t offset = end_;
    if (!by_offset_.empty()) {
      auto [begin, size] = *by_offset_.rbegin();
      if (begin + size == end_) {
        Remove(begin, size);
        offset = begin;
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void Add(size_t offset, size_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void Remove(size_t offset, size_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<size_t, size_t> by_offset_;
  std::set<std::pair<size_t, size_t>> by_size_;
  size_t end_ = 0;
};

ArenaLayout InProgramOrder(std::span<const Lifetime> values) {
  ArenaLayout layout;
  layout.offsets.resize(values.size(), 0);
  std::vector<size_t> starts(values.size());
  std::iota(starts.begin(), starts.end(), size_t{0});
  std::stable_sort(starts.begin(), starts.end(), [&](size_t a, size_t b) {
    if (values[a].first != values[b].first) return values[a].first < values[b].first;
    return values[a].bytes > values[b].bytes;
  });
  std::vector<size_t> ends(values.size());
  std::iota(ends.begin(), ends.end(), size_t{0});
  std::stable_sort(ends.begin(), ends.end(),
                   [&](size_t a, size_t b) { return values[a].last < values[b].last; });
  FreeBlocks blocks;
  size_t ended = 0;
  for (size_t i : starts) {
    for (; ended < ends.size() && values[ends[ended]].last < values[i].first; ++ended) {
      size_t bytes = Aligned(values[ends[ended]].bytes);
      if (bytes) blocks.Give(layout.offsets[ends[ended]], bytes);
    }
    if (size_t bytes = Aligned(values[i].bytes)) layout.offsets[i] = blocks.Take(bytes);
  }
  layout.bytes = blocks.end();
  return layout;
}

struct Placed {
  size_t begin, end;
  int first, last;
};

template <class Weight>
ArenaLayout HeaviestFirst(std::span<const Lifetime> values, Weight weight) {
  ArenaLayout layout;
  layout.offsets.resize(values.size(), 0);
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(values[a]) > weight(values[b]); });
  std::vector<Placed> placed;  // by offset
  for (size_t i : order) {
    size_t bytes = Aligned(values[i].bytes);
    if (bytes == 0) continue;
    const int first = values[i].first, last = values[i].last;
    size_t offset = 0, best = SIZE_MAX, best_gap = SIZE_MAX;
    for (const Placed& p : placed) {
      if (p.last < first || last < p.first) continue;
      if (p.begin >= offset + bytes && p.begin - offset < best_gap) {
        best = offset;
        best_gap = p.begin - offset;
        if (best_gap == bytes) break;  // none is smaller
      }
      offset = std::max(offset, p.end);
    }
    layout.offsets[i] = best == SIZE_MAX ? offset : best;
    layout.bytes = std::max(layout.bytes, layout.offsets[i] + bytes);
    auto at = std::upper_bound(placed.begin(), placed.end(), layout.offsets[i],
                               [](size_t o, const Placed& p) { return o < p.begin; });
    placed.insert(at, {layout.offsets[i], layout.offsets[i] + bytes, first, last});
  }
  return layout;
}

}  // namespace

ArenaLayout PlanArena(std::span<const Lifetime> values) {
  ArenaLayout best = InProgramOrder(values);
  if (values.size() > kQuadraticLimit) return best;
  size_t peak = FindLivePeak(values).bytes;
  auto consider = [&](auto weight) {
    if (best.bytes <= peak + peak / kLossPart) return;
    ArenaLayout layout = HeaviestFirst(values, weight);
    if (layout.bytes < best.bytes) best = std::move(layout);
  };
  consider([](const Lifetime& v) { return v.bytes; });
  consider([](const Lifetime& v) { return v.bytes * static_cast<size_t>(v.last - v.first + 1); });
  consider([](const Lifetime& v) { return static_cast<size_t>(v.last - v.first); });
  return best;
}

LivePeak FindLivePeak(std::span<const Lifetime> values) {
  std::vector<std::pair<int, int64_t>> changes;  // step and bytes; what ends comes first
  changes.reserve(2 * values.size());
  for (const Lifetime& v : values) {
    auto bytes = static_cast<int64_t>(Aligned(v.bytes));
    changes.emplace_back(v.first, bytes);
    changes.emplace_back(v.last + 1, -bytes);
  }
  std::sort(changes.begin(), changes.end());
  LivePeak peak;
  int64_t live = 0;
  for (auto [step, bytes] : changes) {
    live += bytes;
    if (live > static_cast<int64_t>(peak.bytes)) peak = {static_cast<size_t>(live), step};
  }
  return peak;
}

}  // namespace ms
