// The sizes of a recurrent layer and the order of its steps, as all devices read them.
#pragma once

#include "kernel/kernel.h"
#include "ops/recurrent_steps.h"

namespace ms {

// Of Recurrence and RecurrenceGrad.
struct RecurrentSizes {
  RecurrentMode mode;
  bool reverse, batch_first, keep = false;
  int64_t steps, batch, hidden;
  int gates, biases, blocks;  // blocks: of what is kept

  explicit RecurrentSizes(const KernelRequest& r)
      : mode(RecurrentModeOf(r.attr<std::string>("mode"))),
        reverse(r.attr<bool>("reverse")),
        batch_first(r.attr<bool>("batch_first")),
        steps(r.shape(0)[batch_first ? 1 : 0]),
        batch(r.shape(0)[batch_first ? 0 : 1]),
        hidden(r.shape(1)[1]),
        gates(RecurrentGates(mode)),
        biases(RecurrentBiases(mode)),
        blocks(RecurrentSaved(mode)) {
    if (r.op.name == "Recurrence") keep = r.attr<bool>("keep");
  }

  int64_t distance() const { return batch_first ? steps : 1; }
  // The row at which a step starts, in matrices of one row for each step and sequence.
  int64_t Row(int64_t step) const { return batch_first ? step : step * batch; }
  // The step that is taken as number `count`.
  int64_t Step(int64_t count) const { return reverse ? steps - 1 - count : count; }
  double products() const {
    return static_cast<double>(steps) * static_cast<double>(batch) * gates *
           static_cast<double>(hidden) * static_cast<double>(hidden);
  }
};

}  // namespace ms
