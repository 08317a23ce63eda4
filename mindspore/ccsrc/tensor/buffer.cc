// Small blocks are kept by size class per thread without a lock, larger ones in the BlockCache, so
// that a training step that repeats its sizes touches neither malloc nor fresh pages.
#include "tensor/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "base/error.h"
#include "tensor/block_cache.h"
#include "tensor/memory_limit.h"

namespace ms {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHeader =
    64;  // the Buffer itself sits in front of its data: one allocation, one free
constexpr size_t kSmallLimit = 4096;
constexpr size_t kSmallClasses = 7;  // 64, 128, ... 4096
constexpr size_t kSmallKept = 64;    // blocks kept per class and thread

// The end of a large block's header says how large it is.
static_assert(sizeof(Buffer) + sizeof(size_t) <= kHeader);
size_t& CapacityOf(void* block) {
  return *reinterpret_cast<size_t*>(static_cast<char*>(block) + kHeader - sizeof(size_t));
}

std::atomic<size_t> live_bytes{0};
// The most that was live since each of the two resets.
std::atomic<size_t> peak_bytes{0};
std::atomic<size_t> peak_beside_kept{0};

void Raise(std::atomic<size_t>& to, size_t live) {
  size_t peak = to.load(std::memory_order_relaxed);
  while (live > peak && !to.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

void CountUp(size_t bytes) {
  size_t live = live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  Raise(peak_bytes, live);
  Raise(peak_beside_kept, live);
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
  size_t granted = 0;
  void* block = Blocks().Take(RoundLarge(bytes), &granted);
  if (block) CapacityOf(block) = granted;
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
  Blocks().Put(block, CapacityOf(block));
}

std::string Text(size_t bytes) {
  constexpr double kGiga = 1 << 30;
  if (bytes < (size_t{1} << 28)) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / kGiga);
}

}  // namespace

void RequireMemory(size_t bytes) {
  size_t limit = MemoryLimit();
  if (bytes <= limit && live_bytes.load(std::memory_order_relaxed) <= limit - bytes) return;
  Throw(ErrorKind::kMemory, "{} must fit into memory, but there are {}, of which {} are in use",
        Text(bytes), Text(limit), Text(live_bytes.load(std::memory_order_relaxed)));
}

BufferRef Buffer::Allocate(size_t bytes) {
  if (bytes > kSmallLimit) RequireMemory(bytes);
  void* block = TakeBlock(bytes);
  if (!block)
    Throw(ErrorKind::kMemory, "{} must fit into memory, but the system has none left", Text(bytes));
  CountUp(bytes);
  return BufferRef(new (block) Buffer(static_cast<char*>(block) + kHeader, bytes, nullptr));
}

BufferRef Buffer::Wrap(void* data, size_t bytes, std::function<void()> release) {
  void* block = TakeBlock(0);
  if (!block)
    Throw(ErrorKind::kMemory, "an array must fit into memory, but the system has none left");
  auto* owner = new std::function<void()>(std::move(release));
  BufferRef buffer(new (block) Buffer(data, bytes, owner));
  buffer->Expose();  // for as long as it lives
  return buffer;
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

size_t ReservedPeak() {
  BlockCache::Sizes blocks = Blocks().sizes();
  // The cache knows nothing of small blocks, and counts whole pages of large ones.
  return std::max({blocks.peak, peak_beside_kept.load(std::memory_order_relaxed),
                   live_bytes.load(std::memory_order_relaxed) + blocks.kept});
}

void ResetReservedPeak() {
  peak_beside_kept.store(live_bytes.load(std::memory_order_relaxed));
  Blocks().ResetPeak();
}

}  // namespace ms
