// Which values leave the device's memory while no step needs them, so that the rest fits: they wait
// in the memory that takes what does not (Memory::spill).
#pragma once

#include <cstddef>
#include <vector>

namespace ms {

// A value of the arena: it is made at its first step, and needed at each.
struct Resident {
  size_t bytes = 0;
  std::vector<int> steps;  // ascending
};

// The value is not in the arena between two steps that need it, one after the other.
struct Absence {
  size_t value = 0;
  int after = 0;
  int before = 0;
};

// Chosen so that what is present at any step is `limit` bytes at most, as far as that is possible.
// `workspaces`: by step, what it takes beside. First goes what is needed again last, unless it is
// much larger than what has to go.
std::vector<Absence> ChooseAbsences(const std::vector<Resident>& values,
                                    const std::vector<size_t>& workspaces, size_t limit);

}  // namespace ms
