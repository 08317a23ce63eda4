// The optimiser updates that optim_rules.h knows.
#pragma once

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

}  // namespace ms::cpu
