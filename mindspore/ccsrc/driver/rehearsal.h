// The programs of all processes of a planned program, run in this process by threads: whether they
// do what one process does can so be seen anywhere, of any program.
#pragma once

#include <exception>

#include "driver/compile.h"

namespace ms {

class Rehearsal {
 public:
  // Null where it cannot be: a function is among the results, sizes are dynamic, or Python is
  // called from inside. `options.parallel` has the mesh and the planner.
  static std::shared_ptr<const Rehearsal> Make(const Module& module, const CompileOptions& options);
  ~Rehearsal();

  // As Executable::Run, of whole inputs and outputs. InternalError where processes that should have
  // the same have not.
  void Run(std::span<const Tensor> inputs, std::vector<RtValue>* outputs,
           RandomState* random) const;

 private:
  class Groups;
  struct Part;
  Rehearsal() = default;
  std::vector<Part> Cut(std::span<const Tensor> inputs, const RandomState* random) const;
  void RunTogether(std::vector<Part>& parts, bool random) const;
  // An output made whole of the parts.
  Tensor Join(const std::vector<Part>& parts, size_t output) const;
  static std::exception_ptr FirstError(const std::vector<Part>& parts);

  std::vector<std::shared_ptr<const Executable>> programs_;  // by rank
  std::unique_ptr<Groups> groups_;
  std::vector<std::pair<int, int>> updates_;  // of main
};

}  // namespace ms
