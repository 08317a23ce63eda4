// The launches of a chain of updates (ops/update_group.h). Where steps only scale a gradient or add
// weight decay to it, the update's kernel does so by itself, if it can: the gradient is never
// written. So it is where new values are kept only if a condition holds.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ir/graph.h"
#include "kernel/range_kernel.h"

namespace ms {

struct ChainStep {
  const Node* node;
  std::shared_ptr<const RangeKernel> kernel;
  Vars inputs, outputs;
};

// Lets kernels take in the steps around them, which go. `inside`: whether a value is seen by the
// chain only.
void JoinSteps(std::vector<ChainStep>* steps, const std::function<bool(const Var&)>& inside);

}  // namespace ms
