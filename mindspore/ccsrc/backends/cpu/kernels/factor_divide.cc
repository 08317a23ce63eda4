// Eigenvectors of two diagonals by divide and conquer. The matrix is torn into halves by a change
// of rank one; the values of the whole are the roots of a secular equation over those of the
// halves, and its vectors a product of matrices (Cuppen 1981). So that vectors stay orthogonal,
// they are made with the change that the computed roots belong to exactly (Gu and Eisenstat 1995).
#include <array>
#include <numeric>

#include "backends/cpu/kernels/factor_iterate.h"
#include "backends/cpu/kernels/factor_secular.h"

namespace ms::cpu {
namespace {

using Doubles = std::vector<double>;

// A root of 1 / rho + sum of w[i] / (poles[i] - root), as a pole and the distance from it.
struct Root {
  double origin, t;
};

// The equation, for poles in rising order and positive w.
class SecularEquation {
 public:
  SecularEquation(const Doubles& poles, const Doubles& w, double rho, double precision)
      : poles_(poles), w_(w), inverse_(1 / rho), precision_(precision) {
    constexpr double kRoom = 1 + 1e-12;  // a root may lie at the end
    reach_ = rho * std::accumulate(w.begin(), w.end(), 0.0) * kRoom;
  }

  // The root above pole j, below the next one.
  Root Solve(size_t j) const {
    double gap = j + 1 < poles_.size() ? poles_[j + 1] - poles_[j] : reach_;
    Place at{poles_[j], gap / 2, j};
    double low = 0, high = gap;
    Value value = Evaluate(at);
    if (j + 1 < poles_.size()) {  // from the pole that is nearer
      if (value.f >= 0) {
        high = at.t;
      } else {
        at = {poles_[j + 1], -gap / 2, j};
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

 private:
  struct Place {
    double origin, t;
    size_t pole;  // the one below
  };
  struct Value {
    double f, error;
    std::array<double, 2> below, above;  // sums over the poles there, and their slopes
  };

  Value Evaluate(const Place& at) const {
    Value v{};
    size_t split = at.pole + 1;
    Secular().sum(static_cast<int64_t>(split), poles_.data(), w_.data(), at.origin, at.t,
                  v.below.data());
    Secular().sum(static_cast<int64_t>(poles_.size() - split), poles_.data() + split,
                  w_.data() + split, at.origin, at.t, v.above.data());
    v.f = inverse_ + v.below[0] + v.above[0];
    v.error = precision_ * (inverse_ - v.below[0] + v.above[0]);
    return v;
  }

  // To the root of what has the same values and slopes with one pole on each side (Bunch, Nielsen,
  // Sorensen 1978).
  double Step(const Place& at, const Value& v) const {
    double first = (poles_[at.pole] - at.origin) - at.t;
    double s = v.below[1] * first * first;
    if (at.pole + 1 == poles_.size()) return first + s / (v.f - v.below[1] * first);
    double second = (poles_[at.pole + 1] - at.origin) - at.t;
    double q = v.above[1] * second * second;
    double c = v.f - v.below[1] * first - v.above[1] * second;
    double a = c * (first + second) + s + q, b = first * second * v.f;
    double root = std::sqrt(std::max(a * a - 4 * b * c, 0.0));
    return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
  }

  const Doubles &poles_, &w_;
  double inverse_, reach_, precision_;
};

// In which halves a row of vectors has elements.
enum Part : uint8_t { kTop = 1, kBottom = 2, kBoth = 3 };

// Joins the halves of a matrix of n rows, the first with m. `vectors` are rows.
template <class T>
class Merge {
 public:
  Merge(int64_t n, int64_t m, double* d, View<T> vectors)
      : n_(n), m_(m), d_(d), vectors_(vectors), z_(static_cast<size_t>(n)) {}

  // `beside` is the element that was torn out.
  void Run(double beside) {
    rho_ = 2 * std::abs(beside);
    part_.assign(static_cast<size_t>(n_), kTop);
    std::fill(part_.begin() + m_, part_.end(), kBottom);
    double sign = std::copysign(std::sqrt(0.5), beside);
    for (int64_t i = 0; i < n_; ++i) {
      z_[static_cast<size_t>(i)] = i < m_
                                       ? std::sqrt(0.5) * static_cast<double>(vectors_(i, m_ - 1))
                                       : sign * static_cast<double>(vectors_(i, m_));
    }
    Deflate();
    Scratch<T> made(n_, n_);
    Doubles values = FindRoots(made);
    auto kept = static_cast<int64_t>(values.size());
    for (int64_t i : deflated_) {
      std::copy_n(&vectors_(i, 0), n_, &made.view()(kept++, 0));
      values.push_back(d_[i]);
    }
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    auto at = [&](int64_t i) { return values[static_cast<size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t i, int64_t j) { return at(i) < at(j); });
    PickRows<T>(order, n_, made, vectors_);
    for (size_t i = 0; i < order.size(); ++i) d_[i] = at(order[i]);
  }

 private:
  // Leaves out what the change does not concern; of values that lie together it concerns one, when
  // their vectors are turned.
  void Deflate() {
    std::vector<int64_t> order(static_cast<size_t>(n_));
    std::iota(order.begin(), order.end(), 0);
    std::inplace_merge(order.begin(), order.begin() + m_, order.end(),
                       [&](int64_t i, int64_t j) { return d_[i] < d_[j]; });
    double most = std::max({std::abs(d_[order.front()]), std::abs(d_[order.back()]), rho_});
    double small = most * static_cast<double>(std::numeric_limits<T>::epsilon());
    int64_t last = -1;
    for (int64_t j : order) {
      double z = z_[static_cast<size_t>(j)];
      if (rho_ * std::abs(z) <= small) {
        deflated_.push_back(j);
        continue;
      }
      if (last >= 0) {
        double before = z_[static_cast<size_t>(last)], both = std::hypot(z, before);
        double c = z / both, s = -before / both;
        if (std::abs((d_[j] - d_[last]) * c * s) <= small) {
          TurnRows(last, j, c, s);
          z_[static_cast<size_t>(j)] = both;
          deflated_.push_back(last);
        } else {
          kept_.push_back(last);
        }
      }
      last = j;
    }
    if (last >= 0) kept_.push_back(last);
  }

  void TurnRows(int64_t i, int64_t j, double c, double s) {
    T *x = &vectors_(i, 0), *y = &vectors_(j, 0), tc = static_cast<T>(c), ts = static_cast<T>(s);
    for (int64_t k = 0; k < n_; ++k) {
      T turned = tc * x[k] + ts * y[k];
      y[k] = tc * y[k] - ts * x[k];
      x[k] = turned;
    }
    double di = d_[i], dj = d_[j];
    d_[i] = di * c * c + dj * s * s;
    d_[j] =
        std::clamp(di * s * s + dj * c * c, di, dj);  // rounding, too, leaves the order as it is
    auto& part = part_[static_cast<size_t>(j)];
    part = part_[static_cast<size_t>(i)] = static_cast<Part>(part | part_[static_cast<size_t>(i)]);
  }

  // The values of the rows that were kept, whose vectors become the first rows of `made`.
  Doubles FindRoots(View<T> made) {
    auto k = static_cast<int64_t>(kept_.size());
    Doubles poles(kept_.size()), w(kept_.size()), values(kept_.size());
    for (size_t i = 0; i < kept_.size(); ++i) {
      poles[i] = d_[kept_[i]];
      w[i] = z_[static_cast<size_t>(kept_[i])];
      w[i] *= w[i];
    }
    constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
    SecularEquation equation(poles, w, rho_, std::max(kSmall<T>, kRounding));
    std::vector<Root> roots(kept_.size());
    ParallelFor(k, 20 + 4 * static_cast<double>(k), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        auto at = static_cast<size_t>(j);
        roots[at] = equation.Solve(at);
        values[at] = roots[at].origin + roots[at].t;
      }
    });
    Combine(poles, Changes(poles, roots), roots, made);
    return values;
  }

  // The z for which the roots are exact.
  Doubles Changes(const Doubles& poles, const std::vector<Root>& roots) const {
    Doubles w(poles.size(), 1.0);
    for (size_t j = 0; j < poles.size(); ++j) {
      auto [origin, t] = roots[j];
      auto behind = static_cast<int64_t>(poles.size() - j - 1);
      w[j] *= (poles[j] - origin) - t;
      Secular().divide(static_cast<int64_t>(j), poles.data(), origin, t, poles[j], w.data());
      Secular().divide(behind, poles.data() + j + 1, origin, t, poles[j], w.data() + j + 1);
    }
    for (size_t i = 0; i < w.size(); ++i) {
      double sign = z_[static_cast<size_t>(kept_[i])];
      w[i] = std::copysign(std::sqrt(std::abs(w[i])), sign);
    }
    return w;
  }

  // Rows of `made`, combined from those that were kept. These stand in the order top, both, bottom,
  // so that each half of the columns is a product with some of them.
  void Combine(const Doubles& poles, const Doubles& z, const std::vector<Root>& roots,
               View<T> made) {
    auto k = static_cast<int64_t>(kept_.size());
    std::vector<size_t> order(kept_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    auto part = [&](size_t i) { return part_[static_cast<size_t>(kept_[i])]; };
    auto both = std::stable_partition(order.begin(), order.end(),
                                      [&](size_t i) { return part(i) == kTop; });
    auto bottom =
        std::stable_partition(both, order.end(), [&](size_t i) { return part(i) == kBoth; });
    int64_t first = both - order.begin(), last = bottom - order.begin();
    Doubles p(order.size()), zs(order.size());
    for (size_t i = 0; i < order.size(); ++i) p[i] = poles[order[i]], zs[i] = z[order[i]];
    Scratch<T> shares(k, k);
    ParallelFor(k, 10 + static_cast<double>(k), [&](int64_t begin, int64_t end) {
      Doubles x(order.size());
      for (int64_t j = begin; j < end; ++j) {
        auto [origin, t] = roots[static_cast<size_t>(j)];
        double squares = Secular().vector(k, p.data(), zs.data(), origin, t, x.data());
        double inverse = 1 / std::sqrt(squares);
        T* to = &shares.view()(j, 0);
        for (size_t i = 0; i < x.size(); ++i) to[i] = static_cast<T>(x[i] * inverse);
      }
    });
    auto combine = [&](int64_t begin, int64_t end, int64_t column, int64_t width) {
      Scratch<T> rows(end - begin, width);
      for (int64_t i = begin; i < end; ++i) {
        const T* from = &vectors_(kept_[order[static_cast<size_t>(i)]], column);
        std::copy_n(from, width, &rows.view()(i - begin, 0));
      }
      Multiply<T>(k, width, end - begin, T(1), shares.view().From(0, begin), rows,
                  made.From(0, column));
    };
    combine(0, last, 0, m_);
    combine(first, k, m_, n_ - m_);
  }

  int64_t n_, m_;
  double* d_;
  View<T> vectors_;
  Doubles z_;  // the vector of the change, in the vectors of the halves
  double rho_ = 0;
  std::vector<Part> part_;
  std::vector<int64_t> kept_, deflated_;
};

// Few rows are left to rotations.
template <class T>
bool SolveFew(int64_t n, double* d, double* e, View<T> vectors) {
  Scratch<T> rows(n, n);
  SetUnit<T>(n, n, rows);
  Rotations<T> rotations(rows, n);
  if (!Diagonalise<T>(n, d, e, rotations)) return false;
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return d[i] < d[j]; });
  PickRows<T>(order, n, rows, vectors);
  std::sort(d, d + n);
  return true;
}

}  // namespace

template <class T>
bool DivideAndConquer(int64_t n, double* d, double* e, View<T> vectors) {
  constexpr int64_t kFew = 32;
  if (n <= kFew) return SolveFew(n, d, e, vectors);
  int64_t m = n / 2;
  double beside = e[m - 1];
  d[m - 1] -= std::abs(beside);
  d[m] -= std::abs(beside);
  if (!DivideAndConquer(m, d, e, vectors)) return false;
  if (!DivideAndConquer(n - m, d + m, e + m, vectors.From(m, m))) return false;
  Merge<T>(n, m, d, vectors).Run(beside);
  return true;
}

template bool DivideAndConquer<float>(int64_t, double*, double*, View<float>);
template bool DivideAndConquer<double>(int64_t, double*, double*, View<double>);

}  // namespace ms::cpu
