// The sizes of a problem of CTC and how its labels count, as all devices read them.
#pragma once

#include "kernel/kernel.h"

namespace ms {

struct CtcSizes {
  int64_t steps, batch, classes, labels, blank;
  bool merge, zero_infinity;

  // `first` is the place of log_probs among the inputs.
  CtcSizes(const KernelRequest& r, size_t first)
      : steps(r.shape(first)[0]),
        batch(r.shape(first)[1]),
        classes(r.shape(first)[2]),
        labels(r.shape(first + 1)[1]),
        blank(r.attr<int64_t>("blank")),
        merge(r.attr<bool>("merge_repeated")),
        zero_infinity(r.attr<bool>("zero_infinity")) {}
  int64_t states() const { return 2 * labels + 1; }  // of a step
};

}  // namespace ms
