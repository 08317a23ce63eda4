// The launches of a chain (runtime/group_plan.h). Where steps only scale a gradient or add weight
// decay to it, the update's kernel does so by itself, if it can: the gradient is never written. So
// it is where new values are kept only if a condition holds.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ir/graph.h"
#include "kernel/kernel.h"

namespace ms {

struct ChainLaunch {
  const Node* node;
  std::shared_ptr<const Kernel> kernel;
  Vars inputs, outputs;
};

Vars OutputsOf(const Node& node);

// Of steps [begin, end) of `nodes` and `kernels`, null for views. `inside`: whether a value is seen
// by the chain only.
std::vector<ChainLaunch> LaunchesOfChain(const std::vector<const Node*>& nodes,
                                         const std::vector<std::shared_ptr<const Kernel>>& kernels,
                                         size_t begin, size_t end,
                                         const std::function<bool(const Var&)>& inside);

}  // namespace ms
