// Where a plan's values and workspaces lie in its arena, and what the report on memory says of it.
#pragma once

#include <memory>
#include <vector>

#include "kernel/kernel.h"
#include "runtime/plan.h"
#include "runtime/storage_plan.h"

namespace ms {

// A storage of the arena, from the step where it comes to the one where it goes: more than one
// where it is spilled between.
struct Stay {
  size_t storage = 0;
  int first = 0;
  int last = 0;
  size_t offset = 0;
};

// A storage is moved to the memory that takes what does not fit, and back before it is needed.
struct Spill {
  size_t storage = 0;
  int after = 0;   // the step after which it goes
  int before = 0;  // the step before which it is back
  size_t offset = 0;
};

struct PlanMemory {
  std::vector<Stay> stays;         // in the order of storages, then of steps
  std::vector<size_t> first_stay;  // by storage
  std::vector<size_t> workspaces;  // by step
  size_t bytes = 0;                // size of the arena
  std::vector<Spill> spills;
  size_t spill_bytes = 0;

  // Where a storage lies in the arena at a step.
  size_t OffsetAt(size_t storage, int step) const;
};

// `kernels` by step, null for steps without. Adds to the report; `main`: source lines with it.
// `limit`: bytes that the arena may take together with what the report says of others; 0: any.
// MemoryError where that cannot be.
PlanMemory LayOutPlan(const StoragePlan& values,
                      const std::vector<std::shared_ptr<const Kernel>>& kernels, bool main,
                      size_t limit, MemoryReport& report);

// Bytes of the values that a run of the main graph returns in new memory.
size_t BytesOfNewOutputs(const StoragePlan& values, const Vars& outputs);

}  // namespace ms
