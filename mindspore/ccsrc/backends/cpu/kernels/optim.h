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

// What becomes of the gradient on its way into a rule: (gradient * before + variable * decay) *
// after, rounded to the dtype after each step.
struct OnTheWay {
  double before = 1, decay = 0, after = 1;
  bool decays = false;
};

// One update of elements [begin, end) of arrays that lie as the rule wants them. Only updates of
// Float32 take something on the way; null: the gradient as it is.
using UpdateFn = void (*)(UpdateKind, const double* scalars, const OnTheWay*, const void* const* in,
                          void* const* out, int64_t begin, int64_t end);
UpdateFn UpdateOf(DType dtype);  // the quickest one; null for what is no float type
// A learning rate or another factor, which may be of any real dtype.
double ReadScalar(const void* value, DType dtype);

// Updates of rows (update_rows.cc).
void AddUpdateRows(KernelTable& table);

}  // namespace ms::cpu
