#include "backends/cpu/kernels/factor_merge.h"

#include <numeric>

namespace ms::cpu {

template <class T>
Merge<T>::Merge(int64_t n, int64_t split, int64_t middle, double* d, std::vector<Side<T>> sides)
    : n_(n), split_(split), middle_(middle), d_(d), sides_(std::move(sides)) {
  part_.assign(static_cast<size_t>(n), kTop);
  std::fill(part_.begin() + split, part_.end(), kBottom);
  if (squares()) part_[static_cast<size_t>(middle)] = kBoth;
}

template <class T>
void Merge<T>::Run(Doubles z, double rho, double most) {
  z_ = std::move(z);
  rho_ = rho;
  for (int64_t i = 0; i < n_; ++i) most = std::max(most, std::abs(d_[i]));
  small_ = most * static_cast<double>(std::numeric_limits<T>::epsilon());
  Deflate();
  if (squares() && kept_.size() == 1) {  // z is a multiple of the middle vector
    d_[middle_] = z_[static_cast<size_t>(middle_)];
    deflated_.push_back(middle_);
    kept_.clear();
  } else if (squares()) {  // its row stays, so there must be something in it
    double& first = z_[static_cast<size_t>(middle_)];
    first = std::max(first, small_);
  }
  std::vector<Root> roots;
  Doubles changes;
  Doubles values = FindRoots(roots, changes);
  std::vector<Scratch<T>> made;
  Combine(roots, changes, made);
  for (int64_t i : deflated_) {
    auto to = static_cast<int64_t>(values.size());
    for (size_t s = 0; s < sides_.size(); ++s)
      std::copy_n(&sides_[s].rows(i, 0), sides_[s].columns, &made[s].view()(to, 0));
    values.push_back(d_[i]);
  }
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  auto at = [&](int64_t i) { return values[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return at(i) < at(j); });
  for (size_t s = 0; s < sides_.size(); ++s)
    PickRows<T>(order, sides_[s].columns, made[s], sides_[s].rows);
  for (size_t i = 0; i < order.size(); ++i) d_[i] = at(order[i]);
}

// The values of both halves, the middle one first.
template <class T>
std::vector<int64_t> Merge<T>::Rising() const {
  std::vector<int64_t> order(static_cast<size_t>(n_));
  std::iota(order.begin(), order.end(), 0);
  auto begin = order.begin();
  if (squares()) {
    std::rotate(begin, begin + middle_, begin + middle_ + 1);
    ++begin;
  }
  std::inplace_merge(begin, order.begin() + split_, order.end(),
                     [&](int64_t i, int64_t j) { return d_[i] < d_[j]; });
  return order;
}

// Leaves out what the change does not concern; of values that lie together it concerns one, when
// their vectors are turned.
template <class T>
void Merge<T>::Deflate() {
  int64_t last = kNone;
  for (int64_t j : Rising()) {
    if (j != middle_ && rho_ * std::abs(z_[static_cast<size_t>(j)]) <= small_) {
      deflated_.push_back(j);
      continue;
    }
    if (last != kNone && last == middle_ && DeflateBesideMiddle(j)) continue;
    if (last != kNone && !DeflateBeside(last, j)) kept_.push_back(last);
    last = j;
  }
  if (last != kNone) kept_.push_back(last);
}

// `last` is left out, if it may.
template <class T>
bool Merge<T>::DeflateBeside(int64_t last, int64_t j) {
  double &z = z_[static_cast<size_t>(j)], before = z_[static_cast<size_t>(last)];
  double both = std::hypot(z, before), c = z / both, s = -before / both;
  if (last == middle_ || std::abs((d_[j] - d_[last]) * c * s) > small_) return false;
  Turn(last, j, c, s, sides_.size());
  z = both;
  double di = d_[last], dj = d_[j];
  d_[last] = di * c * c + dj * s * s;
  // Rounding, too, leaves the order as it is.
  d_[j] = std::clamp(di * s * s + dj * c * c, di, dj);
  deflated_.push_back(last);
  return true;
}

// j is left out, if it may: the middle row has no left vector to turn, for it stands for z itself.
template <class T>
bool Merge<T>::DeflateBesideMiddle(int64_t j) {
  double &z = z_[static_cast<size_t>(middle_)], beside = z_[static_cast<size_t>(j)];
  double both = std::hypot(z, beside), c = z / both, s = beside / both;
  if (std::abs(d_[j] * s) > small_) return false;
  Turn(middle_, j, c, s, 1);
  z = both;
  d_[j] *= c;
  deflated_.push_back(j);
  return true;
}

template <class T>
void Merge<T>::Turn(int64_t i, int64_t j, double c, double s, size_t sides) {
  auto tc = static_cast<T>(c), ts = static_cast<T>(s);
  for (size_t side = 0; side < sides; ++side) {
    T *x = &sides_[side].rows(i, 0), *y = &sides_[side].rows(j, 0);
    for (int64_t k = 0; k < sides_[side].columns; ++k) {
      T turned = tc * x[k] + ts * y[k];
      y[k] = tc * y[k] - ts * x[k];
      x[k] = turned;
    }
  }
  auto &a = part_[static_cast<size_t>(i)], &b = part_[static_cast<size_t>(j)];
  a = b = static_cast<Part>(a | b);
}

// The values of the rows that were kept, and z for which they are exact.
template <class T>
Doubles Merge<T>::FindRoots(std::vector<Root>& roots, Doubles& changes) const {
  Doubles poles(kept_.size()), w(kept_.size()), values(kept_.size());
  for (size_t i = 0; i < kept_.size(); ++i) {
    poles[i] = d_[kept_[i]];
    w[i] = z_[static_cast<size_t>(kept_[i])];
    w[i] *= w[i];
  }
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  SecularEquation equation(poles, w, rho_, std::max(kSmall<T>, kRounding), squares());
  roots = equation.Solve();
  changes = equation.Changes(roots);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = roots[i].origin + roots[i].t;
    changes[i] = std::copysign(changes[i], z_[static_cast<size_t>(kept_[i])]);
  }
  return values;
}

// Vectors of the roots in terms of the rows that were kept, for each side.
template <class T>
void Merge<T>::PutShares(const std::vector<Root>& roots, const Doubles& z,
                         const std::vector<size_t>& order, std::vector<Scratch<T>>& shares) const {
  auto k = static_cast<int64_t>(order.size());
  Doubles poles(order.size()), zs(order.size());
  size_t middle = order.size();
  for (size_t i = 0; i < order.size(); ++i) {
    poles[i] = d_[kept_[order[i]]], zs[i] = z[order[i]];
    if (kept_[order[i]] == middle_) middle = i;
  }
  auto put = [&](size_t side, int64_t j, const Doubles& x, double squares) {
    double inverse = 1 / std::sqrt(squares);
    T* to = &shares[side].view()(j, 0);
    for (size_t i = 0; i < x.size(); ++i) to[i] = static_cast<T>(x[i] * inverse);
  };
  ParallelFor(k, 10 + static_cast<double>(k), [&](int64_t begin, int64_t end) {
    Doubles x(order.size());
    for (int64_t j = begin; j < end; ++j) {
      auto [origin, t] = roots[static_cast<size_t>(j)];
      put(0, j, x, Secular(squares()).vector(k, poles.data(), zs.data(), origin, t, x.data()));
      if (!squares()) continue;
      double sum = 1;
      for (size_t i = 0; i < x.size(); ++i) x[i] *= poles[i], sum += x[i] * x[i];
      x[middle] = -1;
      put(1, j, x, sum);
    }
  });
}

// Rows of `made`, combined from those that were kept. These stand in the order top, both, bottom,
// so that each part of the columns is a product with some of them.
template <class T>
void Merge<T>::Combine(const std::vector<Root>& roots, const Doubles& z,
                       std::vector<Scratch<T>>& made) const {
  auto k = static_cast<int64_t>(kept_.size());
  std::vector<size_t> order(kept_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  auto part = [&](size_t i) { return part_[static_cast<size_t>(kept_[i])]; };
  auto both =
      std::stable_partition(order.begin(), order.end(), [&](size_t i) { return part(i) == kTop; });
  auto bottom =
      std::stable_partition(both, order.end(), [&](size_t i) { return part(i) == kBoth; });
  int64_t first = both - order.begin(), last = bottom - order.begin();
  std::vector<Scratch<T>> shares;
  for (const Side<T>& side : sides_) {
    shares.emplace_back(k, k);
    made.emplace_back(n_, side.columns);
  }
  PutShares(roots, z, order, shares);
  for (size_t s = 0; s < sides_.size(); ++s) {
    auto combine = [&](int64_t begin, int64_t end, int64_t column, int64_t width) {
      Scratch<T> rows(end - begin, width);
      for (int64_t i = begin; i < end; ++i) {
        const T* from = &sides_[s].rows(kept_[order[static_cast<size_t>(i)]], column);
        std::copy_n(from, width, &rows.view()(i - begin, 0));
      }
      Multiply<T>(k, width, end - begin, T(1), shares[s].view().From(0, begin), rows,
                  made[s].view().From(0, column));
    };
    combine(0, last, 0, split_);
    combine(first, k, split_, sides_[s].columns - split_);
  }
}

template class Merge<float>;
template class Merge<double>;

}  // namespace ms::cpu
