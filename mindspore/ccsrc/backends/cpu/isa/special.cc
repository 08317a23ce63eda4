#include "backends/cpu/isa/special.h"

#include <math.h>  // lgamma_r is not in <cmath>

#include <limits>
#include <numbers>

namespace ms::cpu {

double LogGamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// Reflection to x > 0, recurrence to x >= 10, then the asymptotic series.
double Digamma(double x) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (x != x || x == -std::numeric_limits<double>::infinity()) return kNan;
  if (x == 0) return std::signbit(x) ? HUGE_VAL : -HUGE_VAL;
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    double fraction = x - std::nearbyint(x);  // exact, however small x is
    result = -std::numbers::pi / std::tan(std::numbers::pi * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  double s = 1 / (x * x);
  double series =
      s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132)))));
  return result + std::log(x) - 0.5 / x - series;
}

}  // namespace ms::cpu
