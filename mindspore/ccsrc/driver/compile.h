// From a module to something that runs. Equal modules share one executable: parameters are inputs,
// so two networks of one structure differ only in what they pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver/dynamic.h"
#include "driver/steady.h"
#include "ir/graph.h"
#include "kernel/kernel.h"
#include "passes/parallel/lower.h"
#include "runtime/plan.h"

namespace ms {

struct CompileOptions {
  std::string device{kHostDevice};
  bool fast = true;  // the passes of the fast stage run (passes/pipeline.h)
  // The inputs of main that are Parameters.
  std::vector<uint32_t> parameters = {};
  size_t memory_limit = 0;  // of the device, for a run; see BuildProgram
  // Cut over processes: what is compiled is the program of one of them. Null: it is not.
  std::shared_ptr<const parallel::ParallelOptions> parallel = nullptr;
  bool operator==(const CompileOptions& other) const;
};

// Immutable; any number of threads may run it at the same time.
class Executable {
 public:
  explicit Executable(std::shared_ptr<const Program> program,
                      std::shared_ptr<const SteadyValues> steady = nullptr,
                      std::shared_ptr<const parallel::Lowered> lowered = nullptr)
      : program_(std::move(program)), steady_(std::move(steady)), lowered_(std::move(lowered)) {}
  explicit Executable(std::shared_ptr<const DynamicProgram> dynamic)
      : dynamic_(std::move(dynamic)) {}

  // `inputs`: in the order of main's inputs(). For a pair of main's `updates` the input must be
  // unique: the new value is written over it and the output shares its buffer, unless something
  // that outlives the step (a closure that is returned, say) still needs the old one; so always go
  // on with the output. `random` may be null if nothing is random.
  void Run(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
           RandomState* random) const;

  // Calls a function value that a run returned (of this executable or another).
  static void RunClosure(const RtValue& closure, std::span<const RtValue> arguments,
                         std::vector<RtValue>* outputs, RandomState* random);

  // Null where all sizes are known. A program of dynamic sizes has no `program`: it plans one for
  // each set of sizes.
  const DynamicProgram* dynamic() const { return dynamic_.get(); }
  const Types& input_types() const {
    return dynamic_ ? dynamic_->input_types() : program_->main().input_types;
  }
  const Types& output_types() const { return program().main().output_types; }
  // How inputs and outputs lie over the processes; null: the program is not cut. Types are those of
  // this process's pieces.
  const parallel::Lowered* lowered() const { return lowered_.get(); }
  const MemoryReport& memory() const { return program().memory(); }
  const Backend& backend() const { return dynamic_ ? dynamic_->backend() : program_->backend(); }
  const Program& program() const {
    MS_ASSERT(program_);
    return *program_;
  }

 private:
  void RunUnnamed(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
                  RandomState* random) const;

  std::shared_ptr<const Program> program_;
  std::shared_ptr<const SteadyValues> steady_;  // null where nothing is prepared
  std::shared_ptr<const DynamicProgram> dynamic_;
  std::shared_ptr<const parallel::Lowered> lowered_;
};

// Takes the module over: passes rewrite it. Throws what infer, kernel tables and passes throw, with
// spans. A module that equals one compiled before gives the same executable; while one thread
// compiles it, others wait for it.
// `scope`: the symbols of the module, if it has any, and what the front end assumed about them.
std::shared_ptr<const Executable> Compile(std::shared_ptr<Module> module,
                                          const CompileOptions& options = {}, DimScope scope = {});

// Makes a group of processes of a mesh, if it is not there: all of its members do. RuntimeError
// where not as many processes have joined as the mesh has devices.
void EnsureGroup(const parallel::ProcessGroup& group, const parallel::Mesh& mesh);

// The cache behind Compile: the least recently used go first.
size_t CompiledCount();
// How often the passes ran since the process began.
size_t PassRuns();
void ClearCompiled();

}  // namespace ms
