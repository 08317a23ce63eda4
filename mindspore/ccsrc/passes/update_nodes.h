// Which nodes do nothing but make new values of Parameters: what the passes for optimizers share.
#pragma once

#include <functional>
#include <vector>

#include "passes/effects.h"

namespace ms {

// Whether the node is cheap and without effects: elementwise, a view, an update of Parameters, or a
// group of elementwise nodes.
bool MayUpdate(const Node& node);

// By id: nodes for which `may` holds, and that nothing reads but such nodes and the new values of
// Parameters.
std::vector<bool> FindUpdateNodes(const Graph& graph, const std::function<bool(const Node&)>& may);

// By id: nodes that have an effect or may fail. No update may pass them, in either direction: a
// step that raises leaves Parameters as eager code does. Positions that an earlier node has taken
// are not refused again: those of gradients, mostly.
std::vector<bool> FindGuards(const Graph& graph, const EffectAnalysis& effects);

}  // namespace ms
