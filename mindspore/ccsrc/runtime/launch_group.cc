#include "runtime/launch_group.h"

#include <algorithm>

#include "runtime/group_plan.h"

namespace ms {
namespace {

constexpr double kTicksPerNs = 16;
constexpr int64_t kGrain = 64;  // elements: where a chain may be cut between threads
// Elements that pass through a whole chain before the next ones: few enough that all arrays of a
// chain, and those of the next chunk, stay in the cache.
constexpr int64_t kChunk = 512;
constexpr size_t kScratchBytes = 64 << 10;

}  // namespace

void LaunchGroup::Add(std::shared_ptr<const Kernel> kernel, const OpDef* op, uint32_t in,
                      uint32_t out, uint32_t end) {
  const auto* range = static_cast<const RangeKernel*>(kernel.get());
  Chain& chain = chains_.back();
  chain.size = range->size();
  chain.ticks += std::max<int64_t>(1, static_cast<int64_t>(range->ns_per_element() * kTicksPerNs));
  cost_ns_ += range->cost_ns();
  members_.push_back({std::move(kernel), range, op, in, out, end});
  chain.end = members_.size();
}

void LaunchGroup::Finish() {
  for (Chain& chain : chains_) {
    chain.start = ticks_;
    ticks_ += chain.size * chain.ticks;
    LayOutScratch(&chain);
  }
}

void LaunchGroup::LayOutScratch(Chain* chain) const {
  size_t per_element = 0;
  std::vector<size_t> items;
  for (const Scratch& s : chain->scratch) {
    if (s.slot >= items.size()) items.resize(s.slot + 1, 0);
    items[s.slot] = s.item;
  }
  for (size_t item : items) per_element += item;
  chain->chunk = kChunk;
  if (per_element > 0) {
    int64_t most = static_cast<int64_t>(kScratchBytes / per_element) / kGrain * kGrain;
    chain->chunk = std::min(kChunk, most);
  }
  MS_ASSERT(chain->chunk > 0);
  size_t offset = 0;
  for (size_t item : items) {
    chain->offsets.push_back(offset);
    offset += item * static_cast<size_t>(chain->chunk);
  }
}

void LaunchGroup::Run(const KernelArgs& args) const {
  // Where the thread whose work begins at a tick begins in a chain; where the one before it ends.
  auto element = [](const Chain& chain, int64_t tick) -> int64_t {
    if (tick <= chain.start) return 0;
    int64_t i = (tick - chain.start) / chain.ticks;
    return i >= chain.size ? chain.size : i / kGrain * kGrain;
  };
  ParallelFor(ticks_, 1 / kTicksPerNs, [&](int64_t begin, int64_t end) {
    auto chain = std::upper_bound(chains_.begin(), chains_.end(), begin,
                                  [](int64_t tick, const Chain& c) { return tick < c.start; });
    for (--chain; chain != chains_.end() && chain->start < end; ++chain) {
      int64_t from = element(*chain, begin), to = element(*chain, end);
      if (from < to) RunChain(*chain, args.out, from, to);
    }
  });
}

// Asks for what the next chunk reads. One step after the other would wait for its own array, while
// memory answers many requests at the same time.
void LaunchGroup::Prefetch(const Chain& chain, void* const* places, int64_t begin, int64_t end) {
  constexpr int64_t kLine = 64;
  for (auto s = chain.streams.begin(); s != chain.streams.end(); ++s) {
    const char* array = static_cast<const char*>(places[s->place]);
    auto same = [&](const Stream& other) { return places[other.place] == array; };
    if (std::any_of(chain.streams.begin(), s, same)) continue;
    auto item = static_cast<int64_t>(s->item);
    for (int64_t at = begin * item; at < end * item; at += kLine)
      __builtin_prefetch(array + at, 0, 2);
  }
}

void LaunchGroup::RunChain(const Chain& chain, void* const* places, int64_t begin,
                           int64_t end) const {
  if (chain.end - chain.begin == 1 && chain.scratch.empty()) {
    const Member& m = members_[chain.begin];
    return m.range->RunRange({places + m.in, places + m.out}, begin, end);
  }
  alignas(64) char scratch[kScratchBytes];
  void* table[kMaxChainPlaces];
  uint32_t first = members_[chain.begin].in;
  std::copy(places + first, places + members_[chain.end - 1].end, table);
  for (int64_t at = begin; at < end; at += chain.chunk) {
    for (const Scratch& s : chain.scratch) {  // so that element `at` lies where the slot begins
      auto address = reinterpret_cast<uintptr_t>(scratch + chain.offsets[s.slot]);
      table[s.place - first] =
          reinterpret_cast<void*>(address - static_cast<uintptr_t>(at) * s.item);
    }
    int64_t stop = std::min(end, at + chain.chunk);
    Prefetch(chain, places, stop, std::min(end, stop + chain.chunk));
    for (size_t i = chain.begin; i < chain.end; ++i) {
      const Member& m = members_[i];
      m.range->RunRange({table + (m.in - first), table + (m.out - first)}, at, stop);
    }
  }
}

}  // namespace ms
