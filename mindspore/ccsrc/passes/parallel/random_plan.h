// A plan in which everything is cut at random: what the lowering must be right for.
#pragma once

#include "passes/parallel/plan.h"

namespace ms::parallel {

// The same for equal modules and seeds.
Plan RandomPlan(const Module& module, const PlanOptions& options, uint64_t seed);

}  // namespace ms::parallel
