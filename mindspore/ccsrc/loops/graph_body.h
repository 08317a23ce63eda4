// The scalar code of a straight graph of elementwise ops: what a fused group of nodes computes.
#pragma once

#include <string>

#include "ir/graph.h"
#include "loops/tile_program.h"

namespace ms::loops {

// Fills `body`: its inputs are graph.inputs(), its outputs graph.outputs(), every value rounded to
// its dtype as the single ops do. Returns why that cannot be done; empty when it can. The caller
// sees to it that all inputs broadcast to the one shape of all outputs.
std::string BodyOfGraph(const Graph& graph, LoopBody* body);

}  // namespace ms::loops
