// Values that a graph computes from Parameters alone (packed weights, folded factors): kept from
// one run to the next for as long as the Parameters are the same.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "ir/graph.h"
#include "runtime/plan.h"

namespace ms {

class SteadyValues {
 public:
  // `graph`: what the program was planned from, for what it reads.
  SteadyValues(std::shared_ptr<const Program> program, const Graph* graph);
  // Appends the values for these inputs. Those of the last call are used again where the inputs
  // are the same memory, which nobody can have written: whoever writes in place makes sure that he
  // is the only holder, and these values hold their inputs; arrays of NumPy are watched. After an
  // error that a device found late they are computed again: it may have left out their kernels.
  void Append(std::vector<Tensor>* inputs) const;

 private:
  struct Kept {
    std::vector<Tensor> read;                 // the inputs in reads_
    uint64_t exposures = 0, late_errors = 0;  // as they were before the values were computed
    std::vector<Tensor> values;
  };
  bool Fits(const Kept& kept, std::span<const Tensor> inputs) const;
  std::shared_ptr<const Kept> Compute(std::span<const Tensor> inputs) const;

  std::shared_ptr<const Program> program_;
  std::vector<uint32_t> reads_;  // positions of the inputs that it reads
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Kept> kept_;
};

}  // namespace ms
