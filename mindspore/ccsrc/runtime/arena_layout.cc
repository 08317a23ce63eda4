// Several layouts are tried until one is as good as perfect. In program order, as an allocator with
// hindsight would (quick, may fragment); then, for plans that are not huge, in order of size and of
// size x time, each value in the smallest gap among those that overlap it in time (tight,
// quadratic).
#include "runtime/arena_layout.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

namespace ms {
namespace {

constexpr size_t kQuadraticLimit = 4000;
// Of the bytes that live at the same time, this part may be lost, or as much as alignment loses
// anyway: no layout can win more than that, and each one tried costs as much as the rest of the
// plan.
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

// Values that have a place, by offset. Which of them overlap another one in time is asked for all
// of a block at once, in loops over arrays that the compiler can make vector code of.
class Placed {
 public:
  static constexpr size_t kBlock = 64;

  // Behind all there is a block of values that live at no time, so that every block is whole.
  Placed()
      : begin_(kBlock, SIZE_MAX),
        end_(kBlock, SIZE_MAX),
        first_(kBlock, INT_MAX),
        last_(kBlock, INT_MIN) {}

  void Insert(size_t begin, size_t end, const Lifetime& value) {
    auto used = begin_.begin() + static_cast<std::ptrdiff_t>(count_);
    auto at = std::upper_bound(begin_.begin(), used, begin) - begin_.begin();
    begin_.insert(begin_.begin() + at, begin);
    end_.insert(end_.begin() + at, end);
    first_.insert(first_.begin() + at, value.first);
    last_.insert(last_.begin() + at, value.last);
    ++count_;
  }

  // The smallest gap of at least `bytes` among those that live with the value, the lowest of
  // several; behind all of them where there is none.
  size_t FindGap(const Lifetime& value, size_t bytes) const {
    size_t offset = 0, best = SIZE_MAX, best_gap = SIZE_MAX;
    uint8_t hits[kBlock];
    for (size_t block = 0; block < count_; block += kBlock) {
      const int *first = &first_[block], *last = &last_[block];
      for (size_t i = 0; i < kBlock; ++i)
        hits[i] = (last[i] >= value.first) & (first[i] <= value.last);
      for (size_t i = 0; i < kBlock; i += sizeof(uint64_t)) {
        uint64_t word;
        std::memcpy(&word, hits + i, sizeof word);
        for (; word; word &= word - 1) {
          size_t place = block + i + FirstByte(word);
          size_t begin = begin_[place];
          if (begin >= offset + bytes && begin - offset < best_gap) {
            best = offset;
            best_gap = begin - offset;
            if (best_gap == bytes) return best;  // none is smaller
          }
          offset = std::max(offset, end_[place]);
        }
      }
    }
    return best == SIZE_MAX ? offset : best;
  }

 private:
  // Of bytes that are 0 or 1.
  static size_t FirstByte(uint64_t word) {
    static_assert(std::endian::native == std::endian::little);
    return static_cast<size_t>(std::countr_zero(word)) / 8;
  }

  std::vector<size_t> begin_, end_;
  std::vector<int> first_, last_;
  size_t count_ = 0;
};

template <class Weight>
ArenaLayout HeaviestFirst(std::span<const Lifetime> values, Weight weight) {
  ArenaLayout layout;
  layout.offsets.resize(values.size(), 0);
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(values[a]) > weight(values[b]); });
  Placed placed;
  for (size_t i : order) {
    size_t bytes = Aligned(values[i].bytes);
    if (bytes == 0) continue;
    size_t offset = placed.FindGap(values[i], bytes);
    layout.offsets[i] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    placed.Insert(offset, offset + bytes, values[i]);
  }
  return layout;
}

}  // namespace

ArenaLayout PlanArena(std::span<const Lifetime> values) {
  ArenaLayout best = InProgramOrder(values);
  if (values.size() > kQuadraticLimit) return best;
  size_t peak = FindLivePeak(values).bytes;
  size_t loss = std::max(peak / kLossPart, values.size() * kArenaAlignment / 2);
  auto consider = [&](auto weight) {
    if (best.bytes <= peak + loss) return;
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
