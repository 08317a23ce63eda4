// Which run made what a block holds, so that what was left out after an error is known as such.
// Runs have numbers in the order in which they begin; several may be under way, each of a thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace ms::cuda {

class Results {
 public:
  uint64_t Begin();
  void End(uint64_t run) noexcept;
  // Of the runs under way, the first: what is found wrong now, it or one after it has done. Without
  // any, the next one.
  uint64_t Earliest() const;

  void Add(const void* block, size_t bytes, uint64_t run);
  // What another one holds, if that is known; nothing changes where a run is to make this one.
  void AddCopy(const void* block, const void* of, size_t bytes);
  // All that begin in the block.
  void Remove(const void* block, size_t bytes) noexcept;

  // What runs from this one on have made by now, or are under way to make, was left out.
  void LoseSince(uint64_t run, std::string why);
  // Throws where that is so of the value, which may be a part of a block.
  void Require(const void* value) const {
    if (any_lost_.load(std::memory_order_relaxed)) RequireNow(value);
  }

 private:
  struct Result {
    size_t bytes = 0;
    uint64_t run = 0;
  };
  struct Loss {
    uint64_t first = 0;
    std::string why;
  };
  const Result* Find(const void* value) const;
  void RequireNow(const void* value) const;

  mutable Mutex mutex_;
  uint64_t next_ = 1;
  std::vector<uint64_t> under_way_;
  std::map<const void*, Result> results_;
  std::map<uint64_t, Loss> losses_;  // by the last run
  std::atomic<bool> any_lost_{false};
};

}  // namespace ms::cuda
