// Ranks that are played by plain arrays: each holds its piece of a tensor, and a move of a
// redistribution is what its collective would do, among the members of a group alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "passes/parallel/redistribute.h"

namespace ms::parallel::testing {

struct Piece1 {
  Shape shape;
  std::vector<int64_t> values;
};

// Calls use(position in the whole, position in the box) for the elements of a box.
template <class F>
void ForBox(const Shape& whole, const Box& box, F use) {
  Ints strides = Strides(whole);
  int64_t count = 1;
  for (const Extent& e : box) count *= e.size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = box.size(); d-- > 0;) {
      at += (box[d].offset + rest % box[d].size) * strides[d];
      rest /= box[d].size;
    }
    use(at, i);
  }
}

inline Piece1 Cut(const Piece1& whole, const Box& box) {
  Ints sizes;
  for (const Extent& e : box) sizes.push_back(e.size);
  Piece1 piece{Shape(sizes), {}};
  ForBox(whole.shape, box, [&](int64_t at, int64_t) {
    piece.values.push_back(whole.values[static_cast<size_t>(at)]);
  });
  return piece;
}

inline Box WholeBox(const Shape& shape) {
  Box box;
  for (int64_t size : shape) box.push_back({0, size});
  return box;
}

// The part of a dimension that a member of a group has, where axes cut one after the other.
inline Piece1 CutAlong(const Piece1& whole, const Mesh& mesh, const AxisList& axes, int dim,
                       int64_t rank) {
  Box box = WholeBox(whole.shape);
  for (int axis : axes) {
    auto d = static_cast<size_t>(dim);
    box[d] = Piece(box[d], mesh.size(axis), mesh.Coordinate(rank, axis));
  }
  return Cut(whole, box);
}

inline Piece1 Concat(const std::vector<Piece1>& pieces, int dim) {
  int64_t size = 0;
  for (const Piece1& p : pieces) size += p.shape[dim];
  Piece1 whole{pieces[0].shape.With(dim, size), {}};
  whole.values.resize(static_cast<size_t>(whole.shape.size()));
  Box box = WholeBox(whole.shape);
  box[static_cast<size_t>(dim)].size = 0;
  for (const Piece1& p : pieces) {
    auto& extent = box[static_cast<size_t>(dim)];
    extent = {extent.offset + extent.size, p.shape[dim]};
    ForBox(whole.shape, box, [&](int64_t at, int64_t i) {
      whole.values[static_cast<size_t>(at)] = p.values[static_cast<size_t>(i)];
    });
  }
  return whole;
}

inline int64_t Join(Partial kind, int64_t a, int64_t b) {
  return kind == Partial::kSum ? a + b : kind == Partial::kMax ? std::max(a, b) : std::min(a, b);
}

// What all ranks hold of a tensor. Partial ones are drawn so that they join to it.
class Ranks {
 public:
  Ranks(const Mesh& mesh, Piece1 whole, const Layout& layout, unsigned seed)
      : mesh_(mesh), whole_(std::move(whole)), layout_(layout) {
    std::mt19937 random(seed);
    for (int64_t r = 0; r < mesh.devices(); ++r)
      pieces_.push_back(Cut(whole_, layout.BoxOf(whole_.shape, mesh, r)));
    for (int axis = 0; axis < mesh.count(); ++axis) {
      if (layout.partial(axis) != Partial::kNone) Split(axis, random);
    }
  }

  void Apply(const Move& move) {
    std::vector<Piece1> next;
    for (int64_t r = 0; r < mesh_.devices(); ++r) {
      next.push_back(After(move, r));
      ASSERT_EQ(next.back().shape, move.after.Local(whole_.shape, mesh_, r))
          << Name(move.kind) << " from " << layout_.ToString(mesh_) << " to "
          << move.after.ToString(mesh_);
    }
    pieces_ = std::move(next);
    layout_ = move.after;
  }

  // Whether each rank holds what direct slicing gives, partial ones joined.
  bool Right(const Layout& layout) const {
    std::vector<Piece1> pieces = pieces_;
    for (int axis = 0; axis < mesh_.count(); ++axis) {
      if (layout.partial(axis) == Partial::kNone) continue;
      std::vector<Piece1> joined;
      for (int64_t r = 0; r < mesh_.devices(); ++r)
        joined.push_back(Joined(pieces, layout.partial(axis), {axis}, r));
      pieces = std::move(joined);
    }
    for (int64_t r = 0; r < mesh_.devices(); ++r) {
      Piece1 expected = Cut(whole_, layout.BoxOf(whole_.shape, mesh_, r));
      if (pieces[static_cast<size_t>(r)].values != expected.values) return false;
    }
    return layout == layout_;
  }

 private:
  void Split(int axis, std::mt19937& random) {
    for (int64_t r = 0; r < mesh_.devices(); ++r) {
      std::vector<int64_t> members = mesh_.Members(r, {axis});
      if (members[0] != r) continue;
      Partial kind = layout_.partial(axis);
      for (size_t i = 0; i < pieces_[static_cast<size_t>(r)].values.size(); ++i) {
        int64_t& first = pieces_[static_cast<size_t>(r)].values[i];
        for (size_t m = 1; m < members.size(); ++m) {
          auto part = static_cast<int64_t>(random() % 100);
          int64_t& other = pieces_[static_cast<size_t>(members[m])].values[i];
          if (kind == Partial::kSum) other = part, first -= part;
          if (kind == Partial::kMax) other = first - part;
          if (kind == Partial::kMin) other = first + part;
        }
      }
    }
  }

  Piece1 Joined(const std::vector<Piece1>& pieces, Partial kind, const AxisList& axes,
                int64_t rank) const {
    std::vector<int64_t> members = mesh_.Members(rank, axes);
    Piece1 result = pieces[static_cast<size_t>(members[0])];
    for (size_t m = 1; m < members.size(); ++m) {
      const Piece1& other = pieces[static_cast<size_t>(members[m])];
      for (size_t i = 0; i < result.values.size(); ++i)
        result.values[i] = Join(kind, result.values[i], other.values[i]);
    }
    return result;
  }

  Piece1 After(const Move& move, int64_t rank) const {
    const Piece1& mine = pieces_[static_cast<size_t>(rank)];
    switch (move.kind) {
      case Move::kSlice:
        return CutAlong(mine, mesh_, move.axes, move.to_dim, rank);
      case Move::kAllReduce:
        return Joined(pieces_, move.reduction, move.axes, rank);
      case Move::kReduceScatter:
        return CutAlong(Joined(pieces_, move.reduction, move.axes, rank), mesh_, move.axes,
                        move.to_dim, rank);
      case Move::kPermute:
        return pieces_[static_cast<size_t>(PermuteSource(mesh_, layout_, move, rank))];
      default:
        break;
    }
    std::vector<Piece1> parts;
    for (int64_t m : mesh_.Members(rank, move.axes)) {
      const Piece1& theirs = pieces_[static_cast<size_t>(m)];
      parts.push_back(move.kind == Move::kAllGather
                          ? theirs
                          : CutAlong(theirs, mesh_, move.axes, move.to_dim, rank));
    }
    return Concat(parts, move.from_dim);
  }

  const Mesh& mesh_;
  Piece1 whole_;
  Layout layout_;
  std::vector<Piece1> pieces_;
};

}  // namespace ms::parallel::testing
