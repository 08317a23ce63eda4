#include "passes/fuse/index_space.h"

#include <algorithm>

namespace ms {

int IndexSpace::New(int64_t size) {
  atoms_.push_back({size});
  return static_cast<int>(atoms_.size()) - 1;
}

AtomAxes IndexSpace::Fresh(const Shape& shape) {
  AtomAxes axes(static_cast<size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != 1) axes[static_cast<size_t>(i)] = {New(shape[i])};
  }
  return axes;
}

void IndexSpace::Resolve(int atom, Atoms* out) const {
  const Atom* a = &atoms_[static_cast<size_t>(atom)];
  while (a->same >= 0) {
    atom = a->same;
    a = &atoms_[static_cast<size_t>(atom)];
  }
  if (a->outer < 0) {
    out->push_back(atom);
    return;
  }
  Resolve(a->outer, out);
  Resolve(a->inner, out);
}

Atoms IndexSpace::Resolved(const Atoms& atoms) const {
  Atoms out;
  for (int a : atoms) Resolve(a, &out);
  return out;
}

Atoms IndexSpace::Flat(const AtomAxes& axes) const {
  Atoms out;
  for (const Atoms& axis : axes) {
    for (int a : axis) Resolve(a, &out);
  }
  return out;
}

int64_t IndexSpace::size(const Atoms& atoms) const {
  int64_t size = 1;
  for (int a : atoms) size *= this->size(a);
  return size;
}

bool IndexSpace::Unify(const Atoms& a, const Atoms& b) {
  // Innermost first, so that both can be taken from the back.
  Atoms x = Resolved(a), y = Resolved(b);
  while (!x.empty() && !y.empty()) {
    int p = x.back(), q = y.back();
    x.pop_back();
    y.pop_back();
    // What was done so far may have changed atoms that come again.
    Atoms changed;
    Resolve(p, &changed);
    if (changed.size() > 1 || changed[0] != p) {
      x.insert(x.end(), changed.begin(), changed.end());
      y.push_back(q);
      continue;
    }
    changed.clear();
    Resolve(q, &changed);
    if (changed.size() > 1 || changed[0] != q) {
      x.push_back(p);
      y.insert(y.end(), changed.begin(), changed.end());
      continue;
    }
    if (p == q) continue;
    int64_t m = size(p), n = size(q);
    if (m == n) {
      atoms_[static_cast<size_t>(q)].same = p;
      continue;
    }
    int large = m > n ? p : q;
    int64_t small = std::min(m, n), whole = std::max(m, n);
    if (whole % small != 0) return false;
    int outer = New(whole / small), inner = New(small);
    atoms_[static_cast<size_t>(large)].outer = outer;
    atoms_[static_cast<size_t>(large)].inner = inner;
    x.push_back(p);
    y.push_back(q);
  }
  return x.empty() && y.empty();
}

}  // namespace ms
