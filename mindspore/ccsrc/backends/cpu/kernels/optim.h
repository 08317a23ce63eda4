// The optimiser updates that optim_rules.h knows.
#pragma once

#include "kernel/kernel.h"

namespace ms::cpu {

enum class UpdateKind {
  kMomentum,
  kSgd,
  kAdam,
  kAdamWeightDecay,
  kAdaMax,
  kRmsProp,
  kCenteredRmsProp,
  kAdagrad,
  kAdadelta,
  kFtrl,
  kDescent,
};

// One update of elements [begin, end) of arrays that lie as the rule wants them.
using UpdateFn = void (*)(UpdateKind, const double* scalars, const void* const* in,
                          void* const* out, int64_t begin, int64_t end);
UpdateFn UpdateOf(DType dtype);  // the quickest one; null for what is no float type
// A learning rate or another factor, which may be of any real dtype.
double ReadScalar(const void* value, DType dtype);

// Updates of rows (update_rows.cc).
void AddUpdateRows(KernelTable& table);

}  // namespace ms::cpu
