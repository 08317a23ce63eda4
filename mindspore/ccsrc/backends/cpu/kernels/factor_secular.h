// The loops of divide and conquer for eigenvalues (factor_divide.cc): sums over the poles of the
// secular equation. Places are an `origin`, which is a pole, and a distance `t` from it, so that
// differences between them and poles nearby lose nothing.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace ms::cpu {

struct SecularLoops {
  // sums[0] = sum of w[i] / (poles[i] - place), sums[1] that of w[i] / (poles[i] - place)^2.
  void (*sum)(int64_t n, const double* poles, const double* w, double origin, double t,
              double* sums);
  // w[i] *= (poles[i] - place) / (poles[i] - other).
  void (*divide)(int64_t n, const double* poles, double origin, double t, double other, double* w);
  // to[i] = z[i] / (poles[i] - place); returns the sum of squares.
  double (*vector)(int64_t n, const double* poles, const double* z, double origin, double t,
                   double* to);
};

MS_DECLARE_ISA(SecularLoops MakeSecularLoops();)

inline const SecularLoops& Secular() {
  static const SecularLoops loops = MS_PICK_ISA(MakeSecularLoops)();
  return loops;
}

}  // namespace ms::cpu
