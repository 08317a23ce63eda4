// Blocks are cached by size class: small ones per thread without a lock, large ones in one list
// under a mutex, so that a training step that repeats its sizes touches neither malloc nor fresh
// pages.
#include "tensor/buffer.h"

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

static_assert(sizeof(Buffer) <= kHeader);

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
  void* Take(size_t bytes, size_t* capacity) {
    std::lock_guard lock(mutex_);
    auto it = free_.lower_bound(bytes);
    if (it == free_.end() || it->first > bytes + bytes / 8) return nullptr;
    void* block = it->second;
    *capacity = it->first;
    cached_ -= it->first;
    free_.erase(it);
    return block;
  }

  void Put(void* block, size_t capacity) {
    std::lock_guard lock(mutex_);
    free_.emplace(capacity, block);
    cached_ += capacity;
    size_t limit =
        std::max<size_t>(size_t{64} << 20, live_bytes.load(std::memory_order_relaxed) / 8);
    while (cached_ > limit) {
      auto it = free_.begin();
      cached_ -= it->first;
      std::free(it->second);
      free_.erase(it);
    }
  }

  void Clear() {
    std::lock_guard lock(mutex_);
    for (auto& [capacity, block] : free_) std::free(block);
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

size_t RoundLarge(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

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
  if (void* block = Large().Take(capacity, &capacity)) return block;
  void* block = std::aligned_alloc(kAlignment, kHeader + capacity);
  if (!block) {
    Large().Clear();
    block = std::aligned_alloc(kAlignment, kHeader + capacity);
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
  Large().Put(block, RoundLarge(bytes));
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
