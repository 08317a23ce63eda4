// Replaces ops that the device has no kernel for by their expansion into smaller ops.
#pragma once

#include <functional>

#include "kernel/kernel.h"
#include "passes/pipeline.h"
#include "runtime/plan.h"

namespace ms {

// Leaves an op that has neither kernel nor expansion: planning reports it.
void LowerForDevice(Module& module, const Backend& backend);
// Replaces those that are not `accepted`, by expansions of which the same holds, as far as there
// are any.
void LowerUnless(Module& module, const std::function<bool(const Node&)>& accepted);
// Lowers before the fast stage and what that made; returns what Accelerate does.
std::shared_ptr<Module> LowerAndAccelerate(Module& module, const Backend& backend,
                                           const PassOptions& options);
// Prints what was planned where MS_DUMP in the environment names plans.
void DumpPlan(const Program& program);

}  // namespace ms
