// The loops of divide and conquer (factor_equation.h): sums over the poles of a secular equation.
// Places are an `origin`, which is a pole, and a distance `t` from it, so that differences between
// them and poles nearby lose nothing. For singular values a difference is that of the squares.
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

MS_DECLARE_ISA(SecularLoops MakeSecularLoops(bool of_squares);)

inline const SecularLoops& Secular(bool of_squares) {
  static const SecularLoops plain = MS_PICK_ISA(MakeSecularLoops)(false);
  static const SecularLoops squares = MS_PICK_ISA(MakeSecularLoops)(true);
  return of_squares ? squares : plain;
}

}  // namespace ms::cpu
