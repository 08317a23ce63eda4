// Blocks from kMappedLimit on are mapped one by one, so that between their neighbours no holes are
// left, and lie on large pages where the system has them: a fresh megabyte then costs 25 us
// instead of 400. While such a block is kept, the system may take its pages back when it is short
// of memory (MADV_FREE): on large pages that costs next to nothing, on small ones as much as
// writing them, so there it is not asked for.
#include "tensor/block_cache.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"

namespace ms {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMappedLimit = size_t{1} << 20;
constexpr size_t kLargePage = size_t{2} << 20;

// Memory of `bytes` bytes, a multiple of the page size; null where there is none.
void* Map(size_t bytes) {
  size_t slack = bytes >= kLargePage ? kLargePage : 0;
  void* mapped =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (slack == 0) return mapped;
  // Only whole aligned pages can be large. What lies around them was never touched: where it cannot
  // be given back it costs addresses alone.
  char* begin = static_cast<char*>(mapped);
  size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, slack - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a wish: without it pages are small
#endif
  return begin + before;
}

void* NewBlock(size_t capacity) {
  return capacity < kMappedLimit ? std::aligned_alloc(kAlignment, capacity) : Map(capacity);
}

void FreeBlock(void* block, size_t capacity) {
  if (capacity < kMappedLimit) return std::free(block);
  if (munmap(block, capacity) == 0) return;
  // The system has no room to note one hole more among the process's maps. The addresses stay
  // taken, but their pages must not.
  madvise(block, capacity, MADV_DONTNEED);
}

void OfferToSystem([[maybe_unused]] void* block, [[maybe_unused]] size_t capacity) {
#ifdef MADV_FREE
  if (capacity >= kLargePage) madvise(block, capacity / kLargePage * kLargePage, MADV_FREE);
#endif
}

}  // namespace

size_t RecentPeak::Note(size_t bytes, int64_t now_ns) {
  int64_t windows = (now_ns - begin_ns_) / window_ns_;
  if (windows > 0) {
    // What was in use at the end of the last window is at most what is remembered of it.
    before_ = windows == 1 ? current_ : 0;
    current_ = bytes;
    begin_ns_ = now_ns;
  }
  current_ = std::max(current_, bytes);
  return std::max(before_, current_);
}

void* BlockCache::TakeKept(size_t capacity, size_t* granted) {
  auto it = by_size_.lower_bound(capacity);
  if (it == by_size_.end() || it->first > capacity + capacity / 8) return nullptr;
  void* block = it->second->block;
  *granted = it->first;
  kept_ -= it->first;
  idle_.erase(it->second);
  by_size_.erase(it);
  return block;
}

void* BlockCache::Take(size_t capacity, size_t* granted) {
  std::vector<Victim> victims;
  void* block = nullptr;
  {
    std::lock_guard lock(mutex_);
    block = TakeKept(capacity, granted);
    if (!block) {
      *granted = capacity;
      MakeRoom(capacity, &victims);
    }
    used_ += *granted;
  }
  Release(victims);
  if (block) return block;
  block = NewBlock(capacity);
  if (!block) {
    Clear();
    block = NewBlock(capacity);
  }
  std::lock_guard lock(mutex_);
  if (block)
    peak_ = std::max(peak_, used_ + kept_);
  else
    used_ -= capacity;
  return block;
}

bool BlockCache::Keep(void* block, size_t capacity) {
  try {
    idle_.push_back({block, {}});
  } catch (const std::bad_alloc&) {
    return false;
  }
  auto last = std::prev(idle_.end());
  try {
    last->by_size = by_size_.emplace(capacity, last);
  } catch (const std::bad_alloc&) {
    idle_.pop_back();
    return false;
  }
  kept_ += capacity;
  return true;
}

void BlockCache::Put(void* block, size_t capacity) noexcept {
  OfferToSystem(block, capacity);
  std::vector<Victim> victims;
  bool keeps = false;
  {
    std::lock_guard lock(mutex_);
    recent_.Note(used_, CoarseNow());
    used_ -= capacity;
    keeps = Keep(block, capacity);
    MakeRoom(0, &victims);
  }
  if (!keeps) FreeBlock(block, capacity);
  Release(victims);
}

void BlockCache::MakeRoom(size_t bytes, std::vector<Victim>* victims) {
  size_t limit = std::max(kFloor, recent_.Note(used_ + bytes, CoarseNow()));
  while (!idle_.empty() && used_ + bytes + kept_ > limit) {
    Kept& oldest = idle_.front();
    try {
      victims->push_back({oldest.block, oldest.by_size->first});
    } catch (const std::bad_alloc&) {
      return;  // they stay
    }
    kept_ -= oldest.by_size->first;
    by_size_.erase(oldest.by_size);
    idle_.pop_front();
  }
}

void BlockCache::Release(const std::vector<Victim>& victims) {
  for (const Victim& victim : victims) FreeBlock(victim.block, victim.capacity);
}

void BlockCache::Clear() {
  std::vector<Victim> victims;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [capacity, kept] : by_size_) victims.push_back({kept->block, capacity});
    by_size_.clear();
    idle_.clear();
    kept_ = 0;
  }
  Release(victims);
#ifdef __GLIBC__
  malloc_trim(0);  // it keeps whole pages of small blocks that lie below one in use
#endif
}

BlockCache::Sizes BlockCache::sizes() {
  std::lock_guard lock(mutex_);
  return {used_, kept_, peak_};
}

void BlockCache::ResetPeak() {
  std::lock_guard lock(mutex_);
  peak_ = used_ + kept_;
}

BlockCache& Blocks() {
  static auto* cache = new BlockCache;
  return *cache;
}

}  // namespace ms
