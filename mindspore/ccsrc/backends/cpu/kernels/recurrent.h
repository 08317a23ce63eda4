// Sizes and operands of recurrent layers, for the vector kernels and their reference.
#pragma once

#include <string>

#include "backends/cpu/kernels/recurrent_loops.h"
#include "kernel/kernel.h"

namespace ms::cpu {

// Of Recurrence and RecurrenceGrad.
struct RecurrentSizes {
  RecurrentMode mode = RecurrentMode::kLstm;
  bool reverse = false, batch_first = false, keep = false;
  int64_t steps = 0, batch = 0, hidden = 0;
  int gates = 0, biases = 0, blocks = 0;  // blocks: of what is kept

  explicit RecurrentSizes(const KernelRequest& r);

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

// Lengths of either index type.
class SequenceLengths {
 public:
  SequenceLengths(const void* data, bool wide) : data_(data), wide_(wide) {}
  int64_t operator[](int64_t i) const {
    return wide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i];
  }

 private:
  const void* data_;
  bool wide_;
};

KernelChoice ReferenceRecurrence(const KernelRequest& r);
KernelChoice ReferenceRecurrenceGrad(const KernelRequest& r);

}  // namespace ms::cpu
