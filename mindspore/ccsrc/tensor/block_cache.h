// Freed blocks of memory above a page, kept for the next request of about their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "base/mutex.h"

namespace ms {

// The most that was in use at one time within the last one to two windows of time.
class RecentPeak {
 public:
  explicit RecentPeak(int64_t window_ns) : window_ns_(window_ns) {}
  // `bytes` are in use at the time `now_ns`; returns the peak.
  size_t Note(size_t bytes, int64_t now_ns);

 private:
  int64_t window_ns_;
  int64_t begin_ns_ = 0;
  size_t before_ = 0;  // the peak of the window before this one
  size_t current_ = 0;
};

// What is in use and what is kept together stay within the recent peak of what is in use (or
// kFloor): so keeping blocks never makes a process larger than its own use made it, and what a
// phase needed goes back to the system some time after it. Within that, a block is kept however
// large it is: fresh pages cost more than most kernels that write them.
class BlockCache {
 public:
  // A block of at least `capacity` bytes, a multiple of the page size; null where there is none.
  // `granted` says how large it is: at most an eighth more.
  void* Take(size_t capacity, size_t* granted);
  // Gives a block back that was granted `capacity` bytes; to the system where there is no memory to
  // keep it in mind.
  void Put(void* block, size_t capacity) noexcept;
  void Clear();

  struct Sizes {
    size_t used = 0;
    size_t kept = 0;
    size_t peak = 0;  // of both together, since the last reset
  };
  Sizes sizes();
  void ResetPeak();

  static constexpr size_t kFloor = size_t{64} << 20;

 private:
  struct Kept;
  using BySize = std::multimap<size_t, std::list<Kept>::iterator>;
  struct Kept {
    void* block;
    BySize::iterator by_size;
  };
  struct Victim {
    void* block;
    size_t capacity;
  };

  void* TakeKept(size_t capacity, size_t* granted);
  bool Keep(void* block, size_t capacity);  // false: there is no memory for it
  // Moves the blocks that lay idle longest to `victims` until `bytes` more stay within the limit.
  void MakeRoom(size_t bytes, std::vector<Victim>* victims);
  static void Release(const std::vector<Victim>& victims);

  Mutex mutex_;
  std::list<Kept> idle_;  // longest idle first
  BySize by_size_;
  RecentPeak recent_{int64_t{10} * 1000 * 1000 * 1000};
  size_t used_ = 0;
  size_t kept_ = 0;
  size_t peak_ = 0;
};

// The cache of the process, never destroyed: buffers may outlive static destructors.
BlockCache& Blocks();

// The most bytes that were in use or kept at one time, small blocks with them, since the last
// reset.
size_t ReservedPeak();
void ResetReservedPeak();

}  // namespace ms
