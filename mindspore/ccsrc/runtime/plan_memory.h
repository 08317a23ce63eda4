// Where a plan's values and workspaces lie in its arena, and what the report on memory says of it.
#pragma once

#include <memory>
#include <vector>

#include "kernel/kernel.h"
#include "runtime/plan.h"
#include "runtime/storage_plan.h"

namespace ms {

struct PlanMemory {
  std::vector<size_t> offsets;     // by storage
  std::vector<size_t> workspaces;  // by step
  size_t bytes = 0;                // size of the arena
};

// `kernels` by step, null for steps without. Adds to the report; `main`: source lines with it.
PlanMemory LayOutPlan(const StoragePlan& values,
                      const std::vector<std::shared_ptr<const Kernel>>& kernels, bool main,
                      MemoryReport& report);

// Bytes of the values that a run of the main graph returns in new memory.
size_t BytesOfNewOutputs(const StoragePlan& values, const Vars& outputs);

}  // namespace ms
