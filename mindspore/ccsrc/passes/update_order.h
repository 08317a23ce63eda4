// When optimizers run. Updates that only make new values of Parameters run as soon as what they
// need is there, a few megabytes of gradients at a time, so that gradients die early. But they
// stay behind what has an effect or may fail and stands before them, and before what stands behind
// them: a step that raises leaves Parameters as eager code does.
#pragma once

#include <vector>

#include "passes/effects.h"

namespace ms {

struct UpdateOrder {
  std::vector<Node*> nodes;  // all that apply ops, in program order but for the updates
  std::vector<std::pair<size_t, size_t>> batches;  // [begin, end): places of updates in a row
};
UpdateOrder OrderUpdates(const Graph& graph, const EffectAnalysis& effects);

}  // namespace ms
