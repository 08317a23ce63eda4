// How one tensor lies on a mesh: which axes cut which dimension, and along which axes the devices
// hold parts of a sum (or of a maximum or minimum) that are still to be joined. Along all other
// axes every device has the same. A value of 16 bytes.
//
// A dimension of n that is cut in k has pieces of ceil(n / k); the last ones are shorter, maybe
// empty. Several axes cut one after the other, the outermost first, each the piece that the axes
// before it have left.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/shape.h"
#include "passes/parallel/mesh.h"

namespace ms::parallel {

enum class Partial : uint8_t { kNone, kSum, kMax, kMin };
std::string_view Name(Partial partial);  // "sum"; "" for none

// Offset and size of each dimension of a piece.
struct Extent {
  int64_t offset = 0;
  int64_t size = 0;
  bool operator==(const Extent&) const = default;
};
using Box = std::vector<Extent>;

// Piece `index` of `count` of a range.
Extent Piece(Extent whole, int64_t count, int64_t index);

class Layout {
 public:
  Layout() = default;
  static Layout Replicated(int rank) {
    Layout layout;
    layout.rank_ = static_cast<uint8_t>(rank);
    return layout;
  }

  int rank() const { return rank_; }
  int dim_of(int axis) const {  // that it cuts; -1: none
    int code = place_[static_cast<size_t>(axis)] & 15;
    return code >= 1 && code <= kMaxRank ? code - 1 : -1;
  }
  Partial partial(int axis) const {
    int code = place_[static_cast<size_t>(axis)] & 15;
    return code > kMaxRank ? static_cast<Partial>(code - kMaxRank) : Partial::kNone;
  }
  // How many axes cut the same dimension before it.
  int position(int axis) const { return place_[static_cast<size_t>(axis)] >> 4; }
  bool replicated(int axis) const { return place_[static_cast<size_t>(axis)] == 0; }
  bool replicated() const;  // along all axes
  bool has_partial() const;
  AxisList axes_of(int dim) const;  // that cut the dimension, the outermost cut first
  AxisList PartialAxes(Partial kind) const;
  bool innermost(int axis) const;                 // no axis cuts the same dimension after it
  int64_t Cuts(int dim, const Mesh& mesh) const;  // pieces of a dimension
  int64_t Pieces(const Mesh& mesh) const;         // of all dimensions together

  // Copies. Cut appends the axis, which must be free, as the innermost of the dimension.
  Layout Cut(int dim, int axis) const;
  Layout Free(int axis) const;  // replicated along it; those after it move up
  Layout With(int axis, Partial partial) const;
  Layout WithAxes(int dim, const AxisList& axes) const;  // which are free, or cut it already
  Layout Swapped(int a, int b) const;                    // two axes in each other's place
  // With what `inner`, of other axes, does to the pieces.
  Layout Under(const Layout& inner) const;
  // The axes of each dimension in the order of the mesh.
  Layout Sorted() const;

  // The piece of a rank.
  Box BoxOf(const Shape& global, const Mesh& mesh, int64_t rank) const;
  Shape Local(const Shape& global, const Mesh& mesh, int64_t rank) const;
  // The size of the largest piece, which rank 0 has.
  int64_t LocalElements(const Shape& global, const Mesh& mesh) const;
  // All pieces have the same size.
  bool Even(const Shape& global, const Mesh& mesh) const;

  std::string ToString(const Mesh& mesh) const;  // "[dp, (sp, mp), -] sum(tp)"
  // ValueError says what is wrong with the text.
  static Layout Parse(std::string_view text, int rank, const Mesh& mesh);

  bool operator==(const Layout& other) const {
    return std::memcmp(this, &other, sizeof(Layout)) == 0;
  }
  size_t Hash() const;

 private:
  // For each axis the place in the lower half, 0: none, 1..8: a dimension, from 9 on: a kind of
  // partial; its position among the axes of the dimension in the upper half.
  std::array<uint8_t, kMaxAxes> place_ = {};
  uint8_t rank_ = 0;
  uint8_t unused_[3] = {};
};

struct LayoutHash {
  size_t operator()(const Layout& layout) const { return layout.Hash(); }
};

}  // namespace ms::parallel
