// The secular equation: 1 / rho + sum of w[i] / (poles[i] - x) = 0, whose roots are the eigenvalues
// of a diagonal matrix of poles after a change of rank one. For singular values it is written in
// squares, w[i] / (poles[i]^2 - x^2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/factor_secular.h"

namespace ms::cpu {

using Doubles = std::vector<double>;

// As a pole and the distance from it.
struct Root {
  double origin, t;
};

// For poles in rising order, none below zero if they are squared, and positive w.
class SecularEquation {
 public:
  SecularEquation(const Doubles& poles, const Doubles& w, double rho, double precision,
                  bool of_squares);

  // One above each pole, below the next one.
  std::vector<Root> Solve() const;
  // The roots of w for which these roots are exact: vectors that are made with them stay orthogonal
  // (Gu and Eisenstat 1995).
  Doubles Changes(const std::vector<Root>& roots) const;

 private:
  struct Place {
    double origin, t;
    size_t pole;  // the one below
  };
  struct Value {
    double f, error;
    double below[2], above[2];  // sums over the poles there, and their slopes
  };

  Root RootAbove(size_t pole) const;
  Value Evaluate(const Place& at) const;
  double Step(const Place& at, const Value& v) const;
  double StepOfX(const Place& at, const Value& v) const;
  double Difference(double pole, double origin, double t) const;

  const Doubles &poles_, &w_;
  double inverse_, reach_, precision_;
  bool of_squares_;
  const SecularLoops& loops_;
};

}  // namespace ms::cpu
