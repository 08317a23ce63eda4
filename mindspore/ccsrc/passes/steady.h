// Which values of main depend on constants and on inputs that stay the same from call to call.
#pragma once

#include <vector>

#include "ir/var_map.h"

namespace ms {

// `inputs`: positions of the steady ones; those that the graph updates do not count.
VarSet SteadyValuesOf(const Graph& graph, const std::vector<uint32_t>& inputs);

// A weight as it was before it was cast from Float32, if it was: what is packed or folded is made
// of that.
Var BeforeCast(const Var& weight);

}  // namespace ms
