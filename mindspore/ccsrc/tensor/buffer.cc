// Blocks are cached by size class: small ones per thread without a lock, large ones in one list
// under a mutex, so that a training step that repeats its sizes touches neither malloc nor fresh
// pages. The largest are mapped one by one, with large pages where the system has them: what is
// freed goes back to the system at once, and between its neighbours no holes are left.
#include "tensor/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "base/error.h"

namespace ms {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHeader =
    64;  // the Buffer itself sits in front of its data: one allocation, one free
constexpr size_t kSmallLimit = 4096;
constexpr size_t kSmallClasses = 7;  // 64, 128, ... 4096
constexpr size_t kSmallKept = 64;    // blocks kept per class and thread

constexpr size_t kMappedLimit = 1 << 20;  // from here blocks are mapped
constexpr size_t kLargePage = 2 << 20;

// The end of a large block's header says how large it is.
static_assert(sizeof(Buffer) + sizeof(size_t) <= kHeader);
size_t& CapacityOf(void* block) {
  return *reinterpret_cast<size_t*>(static_cast<char*>(block) + kHeader - sizeof(size_t));
}

// Memory of `bytes` bytes, a multiple of the page size; null where there is none.
void* Map(size_t bytes) {
  size_t slack = bytes >= kLargePage ? kLargePage : 0;
  void* mapped =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (slack == 0) return mapped;
  // Only whole aligned pages can be large.
  char* begin = static_cast<char*>(mapped);
  size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, slack - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a wish: without it pages are small
#endif
  return begin + before;
}

void* NewLarge(size_t capacity) {
  void* block = capacity < kMappedLimit ? std::aligned_alloc(kAlignment, capacity) : Map(capacity);
  if (block) CapacityOf(block) = capacity;
  return block;
}

void FreeLarge(void* block) {
  size_t capacity = CapacityOf(block);
  if (capacity < kMappedLimit) return std::free(block);
  munmap(block, capacity);
}

std::atomic<size_t> live_bytes{0};
std::atomic<size_t> peak_bytes{0};

void CountUp(size_t bytes) {
  size_t live = live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

int SmallClass(size_t bytes) {
  if (bytes <= 64) return 0;
  return 64 - __builtin_clzll((bytes - 1) >> 6);
}

struct SmallPool {
  std::vector<void*> blocks[kSmallClasses];
  bool alive = true;
  ~SmallPool() {
    alive = false;
    for (auto& list : blocks) {
      for (void* block : list) std::free(block);
    }
  }
};
thread_local SmallPool small_pool;

// Large blocks: best fit within 1/8 of waste; what does not fit is released when the cache outgrows
// half of what is in use, so the process never holds much more than its own peak.
class LargeCache {
 public:
  void* Take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto it = free_.lower_bound(bytes);
    if (it == free_.end() || it->first > bytes + bytes / 8) return nullptr;
    void* block = it->second;
    cached_ -= it->first;
    free_.erase(it);
    return block;
  }

  void Put(void* block) {
    std::lock_guard lock(mutex_);
    free_.emplace(CapacityOf(block), block);
    cached_ += CapacityOf(block);
    size_t limit =
        std::max<size_t>(size_t{64} << 20, live_bytes.load(std::memory_order_relaxed) / 8);
    while (cached_ > limit) {
      auto it = free_.begin();
      cached_ -= it->first;
      FreeLarge(it->second);
      free_.erase(it);
    }
  }

  void Clear() {
    std::lock_guard lock(mutex_);
    for (auto& [capacity, block] : free_) FreeLarge(block);
    free_.clear();
    cached_ = 0;
  }

 private:
  std::mutex mutex_;
  std::multimap<size_t, void*> free_;
  size_t cached_ = 0;
};

LargeCache& Large() {
  static auto* cache = new LargeCache;  // never destroyed: buffers may outlive static destructors
  return *cache;
}

// Whole pages, header included.
size_t RoundLarge(size_t bytes) { return (kHeader + bytes + 4095) / 4096 * 4096; }

void* TakeBlock(size_t bytes) {
  if (bytes <= kSmallLimit) {
    int size_class = SmallClass(bytes);
    auto& list = small_pool.blocks[size_class];
    if (!list.empty()) {
      void* block = list.back();
      list.pop_back();
      return block;
    }
    return std::aligned_alloc(kAlignment, kHeader + (size_t{64} << size_class));
  }
  size_t capacity = RoundLarge(bytes);
  if (void* block = Large().Take(capacity)) return block;
  void* block = NewLarge(capacity);
  if (!block) {
    Large().Clear();
    block = NewLarge(capacity);
  }
  return block;
}

void GiveBlock(void* block, size_t bytes) {
  if (bytes <= kSmallLimit) {
    if (small_pool.alive) {
      auto& list = small_pool.blocks[SmallClass(bytes)];
      if (list.size() < kSmallKept) {
        list.push_back(block);
        return;
      }
    }
    std::free(block);
    return;
  }
  Large().Put(block);
}

}  // namespace

BufferRef Buffer::Allocate(size_t bytes) {
  if (bytes > (size_t{1} << 46)) {
    Throw(ErrorKind::kMemory, "cannot allocate {} bytes", bytes);
  }
  void* block = TakeBlock(bytes);
  if (!block) Throw(ErrorKind::kMemory, "cannot allocate {} bytes: out of memory", bytes);
  CountUp(bytes);
  return BufferRef(new (block) Buffer(static_cast<char*>(block) + kHeader, bytes, nullptr));
}

BufferRef Buffer::Wrap(void* data, size_t bytes, std::function<void()> release) {
  void* block = TakeBlock(0);
  if (!block) Throw(ErrorKind::kMemory, "out of memory");
  auto* owner = new std::function<void()>(std::move(release));
  return BufferRef(new (block) Buffer(data, bytes, owner));
}

void Buffer::Free(Buffer* buffer) {
  auto* release = buffer->release_;
  size_t bytes = release ? 0 : buffer->bytes_;
  buffer->~Buffer();
  if (!release) live_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  GiveBlock(buffer, bytes);
  if (release) {
    (*release)();
    delete release;
  }
}

MemoryStats GetMemoryStats() {
  return {live_bytes.load(std::memory_order_relaxed), peak_bytes.load(std::memory_order_relaxed)};
}

void ResetPeakMemory() { peak_bytes.store(live_bytes.load(std::memory_order_relaxed)); }

}  // namespace ms
