#include "backends/cpu/kernels/factor_equation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernel/parallel.h"

namespace ms::cpu {

SecularEquation::SecularEquation(const Doubles& poles, const Doubles& w, double rho,
                                 double precision, bool of_squares)
    : poles_(poles),
      w_(w),
      inverse_(1 / rho),
      precision_(precision),
      of_squares_(of_squares),
      loops_(Secular(of_squares)) {
  constexpr double kRoom = 1 + 1e-12;  // a root may lie at the end
  reach_ = rho * std::accumulate(w.begin(), w.end(), 0.0) * kRoom;
  if (of_squares && !poles.empty()) {
    double last = poles.back();
    reach_ /= last + std::sqrt(last * last + reach_);
  }
}

std::vector<Root> SecularEquation::Solve() const {
  std::vector<Root> roots(poles_.size());
  auto count = static_cast<int64_t>(roots.size());
  ParallelFor(count, 20 + 4 * static_cast<double>(count), [&](int64_t begin, int64_t end) {
    for (auto j = static_cast<size_t>(begin); j < static_cast<size_t>(end); ++j)
      roots[j] = RootAbove(j);
  });
  return roots;
}

Root SecularEquation::RootAbove(size_t pole) const {
  bool last = pole + 1 == poles_.size();
  double gap = last ? reach_ : poles_[pole + 1] - poles_[pole];
  Place at{poles_[pole], gap / 2, pole};
  double low = 0, high = gap;
  Value value = Evaluate(at);
  if (!last) {  // from the pole that is nearer
    if (value.f >= 0) {
      high = at.t;
    } else {
      at = {poles_[pole + 1], -gap / 2, pole};
      low = at.t, high = 0;
    }
  }
  constexpr int kMost = 100;
  for (int step = 0; step < kMost && !(std::abs(value.f) <= value.error); ++step) {
    (value.f < 0 ? low : high) = at.t;
    double next = at.t + Step(at, value);
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == at.t || !(next > low && next < high)) break;
    at.t = next;
    value = Evaluate(at);
  }
  return {at.origin, at.t};
}

SecularEquation::Value SecularEquation::Evaluate(const Place& at) const {
  Value v{};
  size_t split = at.pole + 1;
  loops_.sum(static_cast<int64_t>(split), poles_.data(), w_.data(), at.origin, at.t, v.below);
  loops_.sum(static_cast<int64_t>(poles_.size() - split), poles_.data() + split, w_.data() + split,
             at.origin, at.t, v.above);
  v.f = inverse_ + v.below[0] + v.above[0];
  v.error = precision_ * (inverse_ - v.below[0] + v.above[0]);
  return v;
}

// To the root of what has the same values and slopes with one pole on each side (Bunch, Nielsen,
// Sorensen 1978).
double SecularEquation::StepOfX(const Place& at, const Value& v) const {
  double first = Difference(poles_[at.pole], at.origin, at.t);
  double s = v.below[1] * first * first;
  if (at.pole + 1 == poles_.size()) return first + s / (v.f - v.below[1] * first);
  double second = Difference(poles_[at.pole + 1], at.origin, at.t);
  double q = v.above[1] * second * second;
  double c = v.f - v.below[1] * first - v.above[1] * second;
  double a = c * (first + second) + s + q, b = first * second * v.f;
  double root = std::sqrt(std::max(a * a - 4 * b * c, 0.0));
  return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

double SecularEquation::Step(const Place& at, const Value& v) const {
  double step = StepOfX(at, v);
  if (!of_squares_) return step;
  double root = at.origin + at.t;
  return step / (root + std::sqrt(std::max(root * root + step, 0.0)));
}

double SecularEquation::Difference(double pole, double origin, double t) const {
  double plain = (pole - origin) - t;
  return of_squares_ ? plain * ((pole + origin) + t) : plain;
}

Doubles SecularEquation::Changes(const std::vector<Root>& roots) const {
  Doubles w(poles_.size(), 1.0);
  for (size_t j = 0; j < poles_.size(); ++j) {
    auto [origin, t] = roots[j];
    auto behind = static_cast<int64_t>(poles_.size() - j - 1);
    w[j] *= Difference(poles_[j], origin, t);
    loops_.divide(static_cast<int64_t>(j), poles_.data(), origin, t, poles_[j], w.data());
    loops_.divide(behind, poles_.data() + j + 1, origin, t, poles_[j], w.data() + j + 1);
  }
  for (double& x : w) x = std::sqrt(std::abs(x));
  return w;
}

}  // namespace ms::cpu
