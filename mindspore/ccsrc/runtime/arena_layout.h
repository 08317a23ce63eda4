// Offsets in one arena for values whose lifetimes are known: the peak is known before the first
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ms {

// Live at the steps first, first + 1, ..., last.
struct Lifetime {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaLayout {
  std::vector<size_t> offsets;  // one per lifetime, 64-byte aligned
  size_t bytes = 0;             // size of the arena
};

inline constexpr size_t kArenaAlignment = 64;

// Values that live at the same step never overlap. Empty values get offset 0.
ArenaLayout PlanArena(std::span<const Lifetime> values);

// The step at which most bytes live, and how many; what no layout can go below.
struct LivePeak {
  size_t bytes = 0;
  int step = 0;
};
LivePeak FindLivePeak(std::span<const Lifetime> values);

}  // namespace ms
