// Which launches run as one. The updates of many parameters are many small loops that do not depend
// on each other; as one launch they wake the threads once, share the work evenly whatever the
// sizes, and what leads to an update (decay, scaling, clipping) passes through the first-level
// cache.
#pragma once

#include <vector>

#include "kernel/kernel.h"
#include "runtime/plan_order.h"

namespace ms {

inline constexpr size_t kMaxChainPlaces = 128;  // inputs and outputs of the launches of a chain

// The value whose memory a view shows.
Var WithoutViews(Var v);

// By step. The steps of a group are neighbours, and so are those of a chain in it: launches that
// read and write elements of each other at the same positions only. Different chains of a group
// have no value of more than one element in common, nor the memory that a parameter's old and new
// value share.
struct GroupPlan {
  std::vector<int> group;  // -1: launched alone
  std::vector<int> chain;
};

// Finds groups in the stretches of updates; `order` and the kernels, one for each step (null for
// views and control), are permuted inside them.
GroupPlan GroupLaunches(const Graph& graph, StepOrder* order,
                        std::vector<std::shared_ptr<const Kernel>>* kernels);

}  // namespace ms
