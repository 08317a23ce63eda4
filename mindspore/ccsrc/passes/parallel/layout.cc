#include "passes/parallel/layout.h"

#include <algorithm>

namespace ms::parallel {
namespace {

constexpr std::string_view kPartialNames[] = {"", "sum", "max", "min"};

// Reads "[dp, (sp, tp), -] sum(x) max(y)".
class LayoutReader {
 public:
  LayoutReader(std::string_view text, int rank, const Mesh& mesh)
      : text_(text), rank_(rank), mesh_(mesh) {}

  Layout Read() {
    Layout layout = Layout::Replicated(rank_);
    Expect('[');
    int dim = 0;
    if (!Take(']')) {
      for (;; ++dim) {
        Check(dim < rank_, "more dimensions than the tensor has");
        ReadDim(dim, &layout);
        if (Take(']')) break;
        Expect(',');
      }
      ++dim;
    }
    Check(dim == rank_, "as many dimensions as the tensor");
    while (Skip() < text_.size()) ReadPartial(&layout);
    return layout;
  }

 private:
  void Check(bool ok, std::string_view what) const {
    if (ok) return;
    Throw(ErrorKind::kValue,
          "For 'Layout', '{}' must be the layout of a tensor of {} dimensions: {}.", text_, rank_,
          what);
  }
  size_t Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_;
  }
  bool Take(char c) {
    if (Skip() >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) { Check(Take(c), fmt::format("'{}' is missing at {}", c, at_)); }
  std::string_view Word() {
    size_t first = Skip();
    auto inner = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    while (at_ < text_.size() && inner(text_[at_])) ++at_;
    return text_.substr(first, at_ - first);
  }
  int Axis(const Layout& layout) {
    std::string_view name = Word();
    int axis = mesh_.Find(name);
    Check(axis >= 0, fmt::format("'{}' is no axis of the mesh", name));
    Check(layout.replicated(axis), fmt::format("axis '{}' is used twice", name));
    return axis;
  }
  void ReadDim(int dim, Layout* layout) {
    if (Take('-')) return;
    if (!Take('(')) {
      *layout = layout->Cut(dim, Axis(*layout));
      return;
    }
    do *layout = layout->Cut(dim, Axis(*layout));
    while (Take(','));
    Expect(')');
  }
  void ReadPartial(Layout* layout) {
    std::string_view name = Word();
    auto found = std::find(std::begin(kPartialNames) + 1, std::end(kPartialNames), name);
    Check(found != std::end(kPartialNames), fmt::format("'{}' is not sum, max or min", name));
    Expect('(');
    do *layout = layout->With(Axis(*layout), static_cast<Partial>(found - kPartialNames));
    while (Take(','));
    Expect(')');
  }

  std::string_view text_;
  int rank_;
  const Mesh& mesh_;
  size_t at_ = 0;
};

}  // namespace

std::string_view Name(Partial partial) { return kPartialNames[static_cast<size_t>(partial)]; }

Extent Piece(Extent whole, int64_t count, int64_t index) {
  int64_t piece = (whole.size + count - 1) / count;
  int64_t first = std::min(piece * index, whole.size);
  return {whole.offset + first, std::min(piece, whole.size - first)};
}

bool Layout::replicated() const {
  return std::all_of(place_.begin(), place_.end(), [](uint8_t p) { return p == 0; });
}

bool Layout::has_partial() const {
  return std::any_of(place_.begin(), place_.end(), [](uint8_t p) { return (p & 15) > kMaxRank; });
}

AxisList Layout::axes_of(int dim) const {
  AxisList list;
  int found = 0;
  for (uint8_t p : place_) found += (p & 15) == dim + 1;
  for (int position = 0; position < found; ++position) {
    for (int axis = 0; axis < kMaxAxes; ++axis) {
      if (place_[static_cast<size_t>(axis)] == ((position << 4) | (dim + 1))) list.push_back(axis);
    }
  }
  return list;
}

AxisList Layout::PartialAxes(Partial kind) const {
  AxisList list;
  for (int axis = 0; axis < kMaxAxes; ++axis) {
    if (kind != Partial::kNone && partial(axis) == kind) list.push_back(axis);
  }
  return list;
}

bool Layout::innermost(int axis) const {
  uint8_t place = place_[static_cast<size_t>(axis)];
  return std::none_of(place_.begin(), place_.end(),
                      [&](uint8_t p) { return (p & 15) == (place & 15) && p > place; });
}

int64_t Layout::Cuts(int dim, const Mesh& mesh) const {
  int64_t cuts = 1;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (dim_of(axis) == dim) cuts *= mesh.size(axis);
  }
  return cuts;
}

int64_t Layout::Pieces(const Mesh& mesh) const {
  int64_t pieces = 1;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (dim_of(axis) >= 0) pieces *= mesh.size(axis);
  }
  return pieces;
}

Layout Layout::Cut(int dim, int axis) const {
  MS_ASSERT(replicated(axis) && dim >= 0 && dim < rank_);
  Layout result = *this;
  int position = 0;
  for (uint8_t p : place_) position += (p & 15) == dim + 1;
  result.place_[static_cast<size_t>(axis)] = static_cast<uint8_t>((position << 4) | (dim + 1));
  return result;
}

Layout Layout::Free(int axis) const {
  Layout result = *this;
  uint8_t place = place_[static_cast<size_t>(axis)];
  for (uint8_t& p : result.place_) {
    if ((p & 15) == (place & 15) && (p & 15) <= kMaxRank && p > place)
      p = static_cast<uint8_t>(p - 16);
  }
  result.place_[static_cast<size_t>(axis)] = 0;
  return result;
}

Layout Layout::With(int axis, Partial partial) const {
  Layout result = Free(axis);
  if (partial != Partial::kNone)
    result.place_[static_cast<size_t>(axis)] =
        static_cast<uint8_t>(kMaxRank + static_cast<int>(partial));
  return result;
}

Layout Layout::WithAxes(int dim, const AxisList& axes) const {
  Layout result = *this;
  for (int axis : axes_of(dim)) result = result.Free(axis);
  for (int axis : axes) result = result.Cut(dim, axis);
  return result;
}

Layout Layout::Swapped(int a, int b) const {
  Layout result = *this;
  std::swap(result.place_[static_cast<size_t>(a)], result.place_[static_cast<size_t>(b)]);
  return result;
}

Layout Layout::Under(const Layout& inner) const {
  Layout result = *this;
  for (int dim = 0; dim < rank_; ++dim) {
    for (int axis : inner.axes_of(dim)) result = result.Cut(dim, axis);
  }
  for (int axis = 0; axis < kMaxAxes; ++axis) {
    if (inner.partial(axis) != Partial::kNone) result = result.With(axis, inner.partial(axis));
  }
  return result;
}

Layout Layout::Sorted() const {
  Layout result = *this;
  for (int dim = 0; dim < rank_; ++dim) {
    int position = 0;
    for (uint8_t& p : result.place_) {
      if ((p & 15) == dim + 1) p = static_cast<uint8_t>((position++ << 4) | (dim + 1));
    }
  }
  return result;
}

Box Layout::BoxOf(const Shape& global, const Mesh& mesh, int64_t rank) const {
  MS_ASSERT(global.rank() == rank_);
  Box box;
  for (int dim = 0; dim < rank_; ++dim) {
    Extent extent{0, global[dim]};
    for (int axis : axes_of(dim))
      extent = Piece(extent, mesh.size(axis), mesh.Coordinate(rank, axis));
    box.push_back(extent);
  }
  return box;
}

Shape Layout::Local(const Shape& global, const Mesh& mesh, int64_t rank) const {
  Ints sizes;
  for (const Extent& extent : BoxOf(global, mesh, rank)) sizes.push_back(extent.size);
  return Shape(sizes);
}

int64_t Layout::LocalElements(const Shape& global, const Mesh& mesh) const {
  int64_t sizes[kMaxRank];
  for (int dim = 0; dim < rank_; ++dim) sizes[dim] = global[dim];
  // The order within a dimension does not change the size of the first piece.
  for (int axis = 0; axis < mesh.count(); ++axis) {
    int dim = dim_of(axis);
    if (dim >= 0) sizes[dim] = (sizes[dim] + mesh.size(axis) - 1) / mesh.size(axis);
  }
  int64_t elements = 1;
  for (int dim = 0; dim < rank_; ++dim) elements *= sizes[dim];
  return elements;
}

bool Layout::Even(const Shape& global, const Mesh& mesh) const {
  for (int dim = 0; dim < rank_; ++dim) {
    if (global[dim] % Cuts(dim, mesh) != 0) return false;
  }
  return true;
}

std::string Layout::ToString(const Mesh& mesh) const {
  auto names = [&](const AxisList& axes) {
    std::string text;
    for (int axis : axes)
      text += (text.empty() ? "" : ", ") + mesh.axes[static_cast<size_t>(axis)].name;
    return text;
  };
  std::string text = "[";
  for (int dim = 0; dim < rank_; ++dim) {
    AxisList axes = axes_of(dim);
    if (dim) text += ", ";
    text += axes.empty() ? "-" : axes.size() == 1 ? names(axes) : "(" + names(axes) + ")";
  }
  text += "]";
  for (Partial kind : {Partial::kSum, Partial::kMax, Partial::kMin}) {
    AxisList axes = PartialAxes(kind);
    if (!axes.empty()) text += fmt::format(" {}({})", Name(kind), names(axes));
  }
  return text;
}

Layout Layout::Parse(std::string_view text, int rank, const Mesh& mesh) {
  return LayoutReader(text, rank, mesh).Read();
}

size_t Layout::Hash() const {
  uint64_t words[2];
  static_assert(sizeof(Layout) == sizeof(words));
  std::memcpy(words, this, sizeof(words));
  uint64_t h = (words[0] ^ (words[1] << 1)) * 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 29)) + words[1];
  return static_cast<size_t>((h ^ (h >> 32)) * 0xbf58476d1ce4e5b9ull);
}

}  // namespace ms::parallel
