// Axes of different values as one set of axes. Every axis is a sequence of atoms, outermost first;
// two axes that must run together are unified, which splits atoms where a Reshape cut an axis.
#pragma once

#include <vector>

#include "base/shape.h"

namespace ms {

using Atoms = std::vector<int>;
using AtomAxes = std::vector<Atoms>;  // for each axis of a value; of size 1: none

class IndexSpace {
 public:
  // Axes of their own for a value of this shape.
  AtomAxes Fresh(const Shape& shape);
  // The two sequences walk the same elements from now on; false where sizes do not divide.
  bool Unify(const Atoms& a, const Atoms& b);
  // What a sequence has become: atoms that are neither split nor replaced.
  Atoms Resolved(const Atoms& atoms) const;
  Atoms Flat(const AtomAxes& axes) const;  // of all axes, resolved
  int64_t size(int atom) const { return atoms_[static_cast<size_t>(atom)].size; }
  int64_t size(const Atoms& atoms) const;

 private:
  struct Atom {
    int64_t size;
    int same = -1;               // replaced by this one
    int outer = -1, inner = -1;  // split into these two
  };
  int New(int64_t size);
  void Resolve(int atom, Atoms* out) const;

  std::vector<Atom> atoms_;
};

}  // namespace ms
