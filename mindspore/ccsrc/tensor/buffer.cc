// The host's memory: small blocks are kept by size class per thread without a lock, larger ones in
// the BlockCache, so that a training step that repeats its sizes touches neither malloc nor fresh
// pages.
#include "tensor/buffer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.h"
#include "tensor/block_cache.h"
#include "tensor/memory_limit.h"

namespace ms {
namespace {

constexpr size_t kAlignment = 64;
// The Buffer itself sits in front of its data: one allocation, one free.
constexpr size_t kHeader = 64;
constexpr size_t kSmallLimit = 4096;
constexpr size_t kSmallClasses = 7;  // 64, 128, ... 4096
constexpr size_t kSmallKept = 64;    // blocks kept per class and thread

// The end of a large block's header says how large it is.
static_assert(sizeof(Buffer) + sizeof(size_t) <= kHeader);
size_t& CapacityOf(void* block) {
  return *reinterpret_cast<size_t*>(static_cast<char*>(block) + kHeader - sizeof(size_t));
}

// The most of the host's that was live since the last reset of the reserved peak.
std::atomic<size_t> peak_beside_kept{0};

int SmallClass(size_t bytes) {
  if (bytes <= 64) return 0;
  return 64 - __builtin_clzll((bytes - 1) >> 6);
}

// Without a destructor: other objects of a thread may take and free buffers after its pool is gone.
constinit thread_local bool small_pool_gone = false;
struct SmallPool {
  struct List {  // which takes no memory: freeing must not fail
    std::array<void*, kSmallKept> blocks;
    size_t count = 0;
  } lists[kSmallClasses];
  ~SmallPool() {
    small_pool_gone = true;
    for (List& list : lists) {
      while (list.count > 0) std::free(list.blocks[--list.count]);
    }
  }
};
thread_local SmallPool small_pool;

// Whole pages, header included.
size_t RoundLarge(size_t bytes) { return (kHeader + bytes + 4095) / 4096 * 4096; }

void* TakeBlock(size_t bytes) {
  if (bytes <= kSmallLimit) {
    int size_class = SmallClass(bytes);
    if (!small_pool_gone) {
      SmallPool::List& list = small_pool.lists[size_class];
      if (list.count > 0) return list.blocks[--list.count];
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
    if (!small_pool_gone) {
      SmallPool::List& list = small_pool.lists[SmallClass(bytes)];
      if (list.count < kSmallKept) {
        list.blocks[list.count++] = block;
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

// Buffers of the host take their memory from the pools above; this is for who needs some without.
class Host : public Memory {
 public:
  constexpr Host() : Memory(true) {}
  std::string_view device() const override { return kHostDevice; }
  void* Allocate(size_t bytes) override {
    void* data = std::aligned_alloc(kAlignment, RoundLarge(bytes));
    if (!data) Throw(ErrorKind::kMemory, "{} must fit into memory", Text(bytes));
    return data;
  }
  void Free(void* data, size_t) noexcept override { std::free(data); }
  void Store(void* to, const void* host, size_t bytes) override { Copy(to, host, bytes); }
  void Copy(void* to, const void* from, size_t bytes) override {
    if (bytes) std::memcpy(to, from, bytes);
  }
  void Zero(void* to, size_t bytes) override {
    if (bytes) std::memset(to, 0, bytes);
  }
  Memory& spill() override { return SpillFile(); }

 private:
  void FetchNow(void* host, const void* from, size_t bytes) override { Copy(host, from, bytes); }
};

// Never destroyed: buffers may outlive static objects.
union Immortal {
  Host host;
  constexpr Immortal() : host() {}
  ~Immortal() {}
};
constinit Immortal immortal;

}  // namespace

Memory& HostMemory() { return immortal.host; }

void RequireMemory(size_t bytes) {
  size_t limit = MemoryLimit(), live = HostMemory().stats().live;
  auto fits = [&] { return bytes <= limit && live <= limit - bytes; };
  if (fits()) return;
  if (ReleaseReserves()) live = HostMemory().stats().live;
  if (fits()) return;
  Throw(ErrorKind::kMemory, "{} must fit into memory, but there are {}, of which {} are in use",
        Text(bytes), Text(limit), Text(live));
}

BufferRef Buffer::Allocate(size_t bytes) {
  if (bytes > kSmallLimit) RequireMemory(bytes);
  void* block = TakeBlock(bytes);
  if (!block && ReleaseReserves()) block = TakeBlock(bytes);
  if (!block)
    Throw(ErrorKind::kMemory, "{} must fit into memory, but the system has none left", Text(bytes));
  Memory& host = HostMemory();
  host.Count(bytes);
  Memory::Raise(peak_beside_kept, host.stats().live);
  return BufferRef(new (block) Buffer(static_cast<char*>(block) + kHeader, bytes, host, nullptr));
}

template <class Take>
BufferRef Buffer::On(Memory& memory, size_t bytes, const Take& take) {
  void* block = TakeBlock(0);
  if (!block) Throw(ErrorKind::kMemory, "a tensor must fit into memory, but nothing is left");
  try {
    void* data = take();
    if (!data) {
      Throw(ErrorKind::kMemory, "{} must fit into the memory of {}, but it gave no address",
            Text(bytes), memory.device());
    }
    BufferRef buffer(new (block) Buffer(data, bytes, memory, nullptr));
    memory.Count(bytes);
    return buffer;
  } catch (...) {
    GiveBlock(block, 0);
    throw;
  }
}

BufferRef Buffer::Allocate(size_t bytes, Memory& memory) {
  if (memory.on_host()) return Allocate(bytes);
  return On(memory, bytes, [&] { return memory.Allocate(bytes); });
}

BufferRef Buffer::Filled(const void* host, size_t bytes, Memory& memory) {
  MS_ASSERT(!memory.on_host());
  return On(memory, bytes, [&] { return memory.AllocateFilled(host, bytes); });
}

BufferRef Buffer::Wrap(void* data, size_t bytes, std::function<void()> release) {
  void* block = TakeBlock(0);
  if (!block)
    Throw(ErrorKind::kMemory, "an array must fit into memory, but the system has none left");
  auto* owner = new std::function<void()>(std::move(release));
  BufferRef buffer(new (block) Buffer(data, bytes, HostMemory(), owner));
  buffer->Expose();  // for as long as it lives
  return buffer;
}

void Buffer::Free(Buffer* buffer) {
  auto* release = buffer->release_;
  Memory& memory = *buffer->memory_;
  size_t bytes = buffer->bytes_;
  bool inside = !release && memory.on_host();  // the data lies behind the header
  if (!release) memory.Discount(bytes);
  if (!release && !inside) memory.Free(buffer->data_, bytes);
  buffer->~Buffer();
  GiveBlock(buffer, inside ? bytes : 0);
  if (release) {
    (*release)();
    delete release;
  }
}

size_t ReservedPeak() {
  BlockCache::Sizes blocks = Blocks().sizes();
  // The cache knows nothing of small blocks, and counts whole pages of large ones. What was told
  // once is told again when the small blocks are gone.
  Memory::Raise(peak_beside_kept, HostMemory().stats().live + blocks.kept);
  return std::max(blocks.peak, peak_beside_kept.load(std::memory_order_relaxed));
}

void ResetReservedPeak() {
  peak_beside_kept.store(HostMemory().stats().live);
  Blocks().ResetPeak();
}

}  // namespace ms
