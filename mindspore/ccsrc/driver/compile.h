// From a module to something that runs. Equal modules share one executable: parameters are inputs,
// so two networks of one structure differ only in what they pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/plan.h"

namespace ms {

struct CompileOptions {
  std::string device = "CPU";
  bool operator==(const CompileOptions&) const = default;
};

// Immutable; any number of threads may run it at the same time.
class Executable {
 public:
  explicit Executable(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  // `inputs`: in the order of main's inputs(). For a pair of main's `updates` the input must be
  // unique: the new value is written over it and the output shares its buffer, unless something
  // that outlives the step (a closure that is returned, say) still needs the old one; so always go
  // on with the output. `random` may be null if nothing is random.
  void Run(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
           RandomState* random) const;

  // Calls a function value that a run returned (of this executable or another).
  static void RunClosure(const RtValue& closure, std::span<const RtValue> arguments,
                         std::vector<RtValue>* outputs, RandomState* random);

  const Types& input_types() const { return program_->main().input_types; }
  const Types& output_types() const { return program_->main().output_types; }
  const MemoryReport& memory() const { return program_->memory(); }
  const Program& program() const { return *program_; }

 private:
  std::shared_ptr<const Program> program_;
};

// Takes the module over: passes rewrite it. Throws what infer, kernel tables and passes throw, with
// spans. A module that equals one compiled before gives the same executable; while one thread
// compiles it, others wait for it.
std::shared_ptr<const Executable> Compile(std::shared_ptr<Module> module,
                                          const CompileOptions& options = {});

// The cache behind Compile: the least recently used go first.
size_t CompiledCount();
void ClearCompiled();

}  // namespace ms
