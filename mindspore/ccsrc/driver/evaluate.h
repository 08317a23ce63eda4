// Runs single nodes whose inputs are constants, for the pass that folds them.
#pragma once

#include "kernel/kernel.h"
#include "passes/passes.h"

namespace ms {

// Empty results where the backend has no kernel or the kernel refuses the values.
Evaluator EvaluateOn(const Backend& backend);

}  // namespace ms
