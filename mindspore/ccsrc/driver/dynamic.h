// A compiled module whose types have symbolic sizes: optimised once, planned for each set of sizes
// that calls bring. A plan is cheap beside a compile, and the latest ones are kept.
#pragma once

#include <list>
#include <memory>
#include <span>

#include "base/mutex.h"
#include "ir/graph.h"
#include "kernel/kernel.h"
#include "passes/pipeline.h"
#include "runtime/plan.h"

namespace ms {

class DynamicProgram {
 public:
  // `module` is optimised; `scope` holds what was assumed about its symbols.
  // `passes`: for the fast stage, which needs the sizes and so runs for each plan.
  DynamicProgram(std::shared_ptr<const Module> module, DimScope scope, const Backend& backend,
                 PassOptions passes = {}, size_t memory_limit = 0);

  // The sizes that the inputs give to the symbols. ValueError naming the input and its dimension
  // where a shape does not fit.
  Ints Bind(std::span<const Tensor> inputs) const;
  // Whether what was assumed holds for these sizes; else another version is needed.
  bool Holds(const Ints& sizes) const { return scope_.Holds(sizes); }
  std::shared_ptr<const Program> ProgramFor(const Ints& sizes) const;

  // What was assumed, as text: "s0 - 4 == 0", "not s1 - 3 > 0".
  std::vector<std::string> Assumptions() const;

  const Types& input_types() const { return input_types_; }
  const Backend& backend() const { return backend_; }
  size_t planned() const;  // how many plans were made and used

 private:
  using Plans = std::list<std::pair<Ints, std::shared_ptr<const Program>>>;
  // Null: it is to be made. The caller holds the lock.
  std::shared_ptr<const Program> Planned(const Ints& sizes) const;

  std::shared_ptr<const Module> module_;
  DimScope scope_;
  const Backend& backend_;
  PassOptions passes_;
  size_t memory_limit_;
  Types input_types_;
  std::vector<std::vector<int>> symbols_;  // of each input's dimension: its symbol; -1: a number
  mutable Mutex mutex_;
  mutable Plans plans_;  // latest use first
  mutable size_t planned_ = 0;
};

bool HasSymbols(const Module& module);
// A copy of the module in which every symbol has its size.
std::shared_ptr<Module> Specialise(const Module& module, std::span<const int64_t> sizes);

}  // namespace ms
