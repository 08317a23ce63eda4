// Reference-counted, 64-byte aligned memory of a device, and the allocator of the host's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "tensor/memory.h"

namespace ms {

class Buffer;

// Intrusive handle of a Buffer.
class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* owned) : buffer_(owned) {}
  BufferRef(const BufferRef& other);
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef();

  Buffer* operator->() const { return buffer_; }
  Buffer* get() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  bool unique() const;  // this handle is the only one

 private:
  Buffer* buffer_ = nullptr;
};

class Buffer {
 public:
  // Uninitialised memory; throws MemoryError. The host's small blocks come from a per-thread pool.
  static BufferRef Allocate(size_t bytes);
  static BufferRef Allocate(size_t bytes, Memory& memory);
  // A copy of the host's bytes in the memory of a device; see Memory::AllocateFilled.
  static BufferRef Filled(const void* host, size_t bytes, Memory& memory);
  // Memory of the host owned by somebody else; `release` runs when the last handle goes.
  static BufferRef Wrap(void* data, size_t bytes, std::function<void()> release);

  // Of the host's memory, or an address that only the device's kernels follow.
  void* data() const { return data_; }
  Memory& memory() const { return *memory_; }
  size_t bytes() const { return bytes_; }
  bool foreign() const { return release_ != nullptr; }
  // Somebody outside may write to it at any time; see exposure.h.
  bool exposed() const { return exposures_.load(std::memory_order_acquire) > 0; }
  void Expose() { exposures_.fetch_add(1, std::memory_order_acq_rel); }
  void Conceal() { exposures_.fetch_sub(1, std::memory_order_acq_rel); }
  int references() const { return references_.load(std::memory_order_acquire); }

 private:
  friend class BufferRef;
  Buffer(void* data, size_t bytes, Memory& memory, std::function<void()>* release)
      : data_(data), bytes_(bytes), memory_(&memory), release_(release) {}
  template <class Take>
  static BufferRef On(Memory& memory, size_t bytes, const Take& take);
  static void Free(Buffer* buffer);

  void* data_;
  size_t bytes_;
  Memory* memory_;
  std::function<void()>* release_;
  std::atomic<int> references_{1};
  std::atomic<int> exposures_{0};
};

// Throws MemoryError unless so many further bytes can be had.
void RequireMemory(size_t bytes);

inline BufferRef::BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
  if (buffer_) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
}
inline BufferRef::~BufferRef() {
  if (buffer_ && buffer_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Buffer::Free(buffer_);
  }
}
inline bool BufferRef::unique() const {
  return buffer_ && buffer_->references_.load(std::memory_order_acquire) == 1;
}

}  // namespace ms
