// Which run made what a block holds, so that what was left out after an error is known as such.
// Runs have numbers in the order in which they begin; several may be under way, each of a thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace ms::cuda {

class Results {
 public:
  uint64_t Begin();
  void End(uint64_t run) noexcept;
  // The first of the runs under way, or else the next one. What a kernel that is launched now finds
  // wrong, no earlier run has done.
  uint64_t Earliest() const { return Now().earliest(); }

  // Not yet known to be there.
  void Add(const void* block, size_t bytes, uint64_t run);
  // Holds what lies at `of`; nothing changes where a run is to make the block.
  void AddCopy(const void* block, const void* of, size_t bytes);
  // All that begins in the block.
  void Remove(const void* block, size_t bytes) noexcept;

  // Around a wait: what runs that had ended at that moment made is there by now, but for what was
  // lost (below).
  struct Moment {
    uint64_t next = 0;
    std::vector<uint64_t> under_way;
    uint64_t earliest() const;
  };
  Moment Now() const;
  void Settle(const Moment& moment);
  // Runs from `first` on were left out: what they have made so far, and what those that are under
  // way are still to make.
  void Lose(uint64_t first, const std::string& why);

  // Whether any value was left out, or may have been.
  bool lacks() const { return lost_count_.load(std::memory_order_relaxed) > 0; }
  // Why one of the bytes was; empty: none.
  std::string WhyLost(const void* begin, size_t bytes) const;
  // Whether all of them are known to be there.
  bool IsSure(const void* begin, size_t bytes) const;

 private:
  using Reason = std::shared_ptr<const std::string>;
  template <class T>
  struct Block {
    size_t bytes = 0;
    T known;
  };
  template <class T>
  using Blocks = std::map<const void*, Block<T>>;
  template <class T>
  static const Block<T>* Find(const Blocks<T>& blocks, const void* begin, size_t bytes);
  void CountLost() noexcept;

  mutable Mutex mutex_;
  uint64_t next_ = 1;
  std::vector<uint64_t> under_way_;
  std::map<uint64_t, Reason> lost_runs_;  // of those under way
  Blocks<uint64_t> unsure_;               // by the run
  Blocks<Reason> lost_;
  std::atomic<size_t> lost_count_{0};  // blocks and runs
};

}  // namespace ms::cuda
