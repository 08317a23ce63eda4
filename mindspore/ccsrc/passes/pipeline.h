// The compiler's middle on one screen: which passes run, and in which order.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "passes/parallel/lower.h"
#include "passes/passes.h"

namespace ms {

struct PassOptions {
  Evaluator evaluate;             // folds constants; without it they stay
  size_t inline_limit = 100'000;  // nodes that inlining may add, but for small bodies
  // Whether the passes of the fast stage run (Accelerate).
  bool fast = true;
  // Whether the device has a kernel for an op: passes that would make others do not run.
  std::function<bool(std::string_view op)> has_kernel = [](std::string_view) { return true; };
  Layouts layouts;  // of the device
  // Which inputs of main are Parameters, the same from one call to the next in most calls: what
  // depends on them alone is prepared once (SplitSteadyPart). Empty: nothing is.
  std::vector<uint32_t> steady_inputs;
  // Cuts the program and keeps the part of one process; what became of it goes to `lowered`.
  std::shared_ptr<const parallel::ParallelOptions> parallel;
  std::function<void(std::shared_ptr<parallel::Lowered>)> lowered;
  // Called with "Parse" at the start and with the name of a pass after each change it made; see
  // also MS_DUMP=passes in the environment, which prints the graphs, or with MS_DUMP_PATH=dir
  // writes them to dir/<number>_<pass>.ir.
  std::function<void(const std::string& pass, const Module& module)> dump;
};

// Graphs are written to files of this existing folder, as with MS_DUMP_PATH; "" stops that.
void DumpGraphsTo(std::string directory);

// Gradients expanded, calls inlined, rules applied. Afterwards no Vjp, Jvp or Vmap is left.
void Optimize(Module& module, const PassOptions& options = {});

// The fast stage, between lowering and planning: what changes only how fast values are computed.
// All sizes must be known. Does nothing unless options.fast. What it returns, if anything, computes
// further inputs of main from the inputs that main had before (SplitSteadyPart).
std::shared_ptr<Module> Accelerate(Module& module, const PassOptions& options = {});

}  // namespace ms
