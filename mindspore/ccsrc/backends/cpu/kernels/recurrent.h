// Operands of recurrent layers, for the vector kernels and their reference.
#pragma once

#include "backends/cpu/kernels/recurrent_loops.h"
#include "kernel/recurrent_sizes.h"

namespace ms::cpu {

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
