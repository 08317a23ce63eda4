// The memory of the GPU: blocks come from the driver's pool and go back to it in the order of the
// stream. What the host gives or takes passes through pinned memory, so that it goes on meanwhile.
// New blocks, as those of batches, are filled on a stream of their own, while the steps before run.
#pragma once

#include <deque>
#include <vector>

#include "backends/cuda/holders.h"
#include "backends/cuda/results.h"
#include "backends/cuda/stream.h"
#include "base/mutex.h"
#include "kernel/ledger.h"
#include "tensor/memory.h"

namespace ms::cuda {

// Memory that the driver can copy from while the program goes on.
class Staging {
 public:
  static constexpr size_t kMost = size_t{8} << 20;  // of one block

  // Writes a piece of at most kMost bytes to the device; the host's bytes are free on return.
  void Send(Address to, const void* host, size_t bytes, StreamHandle stream);
  // Gives a piece to `host` once the work before is done.
  void Receive(void* host, Address from, size_t bytes, CudaStream& stream);

 private:
  struct Block {
    char* data = nullptr;
    size_t bytes = 0;
    EventHandle used = nullptr;  // its last use
    bool waiting = false;        // that may not be over
    bool held = false;           // by a thread, which waits for it without the lock
  };
  Block& Take(size_t bytes);

  Mutex mutex_;
  std::deque<Block> blocks_;
  size_t total_ = 0;
};

class CudaMemory : public Memory, public Ledger {
 public:
  CudaMemory();
  CudaStream& stream() const { return *stream_; }
  Results& results() { return results_; }

  std::string_view device() const override;
  void* Allocate(size_t bytes) override;
  void* AllocateFilled(const void* host, size_t bytes) override;
  void Free(void* data, size_t bytes) noexcept override;
  void Store(void* to, const void* host, size_t bytes) override;
  void Copy(void* to, const void* from, size_t bytes) override;
  void Zero(void* to, size_t bytes) override;
  bool lacks() const override { return results_.lacks(); }
  std::string WhyLost(const void* begin, size_t bytes) const override {
    return results_.WhyLost(begin, bytes);
  }
  bool IsSure(const void* begin, size_t bytes) const override {
    return results_.IsSure(begin, bytes);
  }
  // As a kernel does it, within a run.
  void CopyInRun(void* to, const void* from, size_t bytes);

 private:
  void FetchNow(void* host, const void* from, size_t bytes) override;
  uint64_t Begin() override { return results_.Begin(); }
  void End(uint64_t run) noexcept override { results_.End(run); }
  void Made(uint64_t run, const void* block, size_t bytes) override {
    results_.Add(block, bytes, run);
  }
  void Label(const void* block, size_t bytes, SpanId line) override {
    holders_.Label(block, bytes, line);
  }
  // Where copies go: to what this thread captures, if it does.
  StreamHandle current() const;
  [[noreturn]] void Refuse(size_t bytes);
  // In the order of the stream.
  Address Take(size_t bytes, StreamHandle stream);
  void Send(Address to, const void* host, size_t bytes, StreamHandle stream);

  Results results_;
  CudaStream* stream_;  // threads may still run when others end
  Mutex filling_;
  StreamHandle beside_ = nullptr;  // fills new blocks
  EventHandle filled_ = nullptr;   // the latest of them
  Staging staging_;
  Holders holders_;
};

// Opens the device at first use.
CudaMemory& TheMemory();

inline Address AddressOf(const void* data) { return reinterpret_cast<Address>(data); }

}  // namespace ms::cuda
