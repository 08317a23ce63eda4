#include "passes/parallel/fold.h"

#include <algorithm>

namespace ms::parallel {
namespace {

constexpr int kFew = 3;  // up to so many axes may go anywhere on the way

// Axes that differ, and those that cut a dimension behind one that does: all others cut first.
uint32_t DifferingAxes(const Mesh& mesh, const Layout& from, const Layout& to) {
  uint32_t active = 0;
  int first[kMaxRank];  // place of a dimension from which on something differs
  std::fill_n(first, kMaxRank, kMaxAxes);
  auto differ = [&](const Layout& layout, int axis) {
    int dim = layout.dim_of(axis);
    if (dim >= 0) first[dim] = std::min(first[dim], layout.position(axis));
  };
  for (int axis = 0; axis < mesh.count(); ++axis) {
    bool same = from.dim_of(axis) == to.dim_of(axis) && from.partial(axis) == to.partial(axis);
    if (!same) active |= 1u << axis;
    if (same && from.position(axis) == to.position(axis)) continue;
    differ(from, axis);
    differ(to, axis);
  }
  for (int axis = 0; axis < mesh.count(); ++axis) {
    int dim = from.dim_of(axis);  // where it is not active yet, that of `to`, too
    if (dim >= 0 && std::max(from.position(axis), to.position(axis)) >= first[dim])
      active |= 1u << axis;
  }
  return active;
}

// Whether the axis cuts next after the other, which cuts the same dimension, or neither cuts.
bool Follows(const Layout& layout, int before, int axis) {
  return layout.dim_of(axis) < 0 || layout.position(axis) == layout.position(before) + 1;
}

bool GoAlike(const Layout& layout, int a, int b) {
  return layout.dim_of(a) == layout.dim_of(b) && layout.partial(a) == layout.partial(b);
}

class Question {
 public:
  Question(const Mesh& mesh, const std::vector<int>& links, const Type& global, const Layout& from,
           const Layout& to)
      : mesh_(mesh), links_(links), global_(global), from_(from), to_(to) {}

  FoldedWay Fold() {
    way_.uneven = !from_.Even(global_.shape(), mesh_) || !to_.Even(global_.shape(), mesh_);
    uint32_t active = Axes();
    Rest(active);
    Dims();
    way_.from = Ends(from_);
    way_.to = Ends(to_);
    return std::move(way_);
  }

 private:
  // With few axes all may move; with more, those that differ, and free ones as long as they are
  // few.
  uint32_t Axes() {
    uint32_t active = (1u << mesh_.count()) - 1;
    if (mesh_.count() <= kFew) {
      for (int axis = 0; axis < mesh_.count(); ++axis) Add(axis, false);
      return active;
    }
    active = DifferingAxes(mesh_, from_, to_);
    for (int axis = 0; axis < mesh_.count(); ++axis) {
      if (active >> axis & 1) Add(axis, !way_.uneven);
    }
    auto differing = way_.axes.size();
    for (int axis = mesh_.count() - 1; axis >= 0; --axis) {
      bool free = from_.replicated(axis) && to_.replicated(axis) && mesh_.size(axis) > 1;
      if (!free || (active >> axis & 1)) continue;
      bool last = way_.axes.size() > differing && way_.axes.back().links == Links(axis);
      if (last && !way_.uneven)
        Prepend(axis);
      else if (way_.axes.size() < kFew)
        way_.axes.push_back({{axis}, Links(axis), mesh_.size(axis)});
      else
        break;
      active |= 1u << axis;
    }
    std::sort(way_.axes.begin(), way_.axes.end(),
              [](const FoldedAxis& a, const FoldedAxis& b) { return a.members[0] < b.members[0]; });
    return active;
  }
  int Links(int axis) const { return links_[static_cast<size_t>(axis)]; }

  void Add(int axis, bool join) {
    for (FoldedAxis& folded : way_.axes) {
      int last = folded.members.back();
      if (!join || folded.links != Links(axis)) continue;
      if (!GoAlike(from_, last, axis) || !GoAlike(to_, last, axis)) continue;
      if (!Follows(from_, last, axis) || !Follows(to_, last, axis)) continue;
      folded.members.push_back(axis);
      folded.size *= mesh_.size(axis);
      return;
    }
    way_.axes.push_back({{axis}, Links(axis), mesh_.size(axis)});
  }
  void Prepend(int axis) {
    FoldedAxis& folded = way_.axes.back();
    AxisList members{axis};
    for (int member : folded.members) members.push_back(member);
    folded.members = members;
    folded.size *= mesh_.size(axis);
  }

  // What the other axes leave of the tensor.
  void Rest(uint32_t active) {
    for (int dim = 0; dim < from_.rank(); ++dim) {
      int64_t size = global_.shape()[dim];
      for (int axis = 0; axis < mesh_.count(); ++axis) {
        if (!(active >> axis & 1) && from_.dim_of(axis) == dim)
          size = (size + mesh_.size(axis) - 1) / mesh_.size(axis);
      }
      sizes_[dim] = size;
    }
  }

  // Those that the axes cut, as they come to them, and one more to which they may go. What divides
  // anyhow is as good as any other that does.
  void Dims() {
    all_ = 1;
    for (const FoldedAxis& axis : way_.axes) all_ *= axis.size;
    way_.item = ItemSize(global_.dtype());
    if (way_.uneven) {
      for (int dim = 0; dim < from_.rank(); ++dim) Keep(dim);
    } else {
      for (const FoldedAxis& axis : way_.axes) {
        Keep(from_.dim_of(axis.members[0]));
        Keep(to_.dim_of(axis.members[0]));
      }
      Keep(Spare());
    }
    for (int dim = 0; dim < from_.rank(); ++dim) {
      if (!kept_[dim]) way_.item *= static_cast<size_t>(sizes_[dim]);
    }
    way_.shape = Shape(shape_);
  }
  bool Divides(int dim) const { return sizes_[dim] > 0 && sizes_[dim] % all_ == 0; }
  void Keep(int dim) {
    if (dim < 0 || kept_[dim]) return;
    kept_[dim] = true;
    way_.dims.push_back(dim);
    bool alike = !way_.uneven && Divides(dim);
    if (alike) way_.item *= static_cast<size_t>(sizes_[dim] / all_);
    shape_.push_back(alike ? all_ : sizes_[dim]);
  }
  int Spare() const {
    int spare = -1;
    for (int dim = 0; dim < from_.rank(); ++dim) {
      if (kept_[dim]) continue;
      if (Divides(dim)) return dim;
      if (spare < 0 && sizes_[dim] > 1) spare = dim;
    }
    return spare;
  }

  Layout Ends(const Layout& layout) const {
    auto count = static_cast<int>(way_.axes.size());
    auto first_of = [&](int a) { return way_.axes[static_cast<size_t>(a)].members[0]; };
    int order[kMaxAxes], places[kMaxRank] = {};
    for (int a = 0; a < count; ++a) order[a] = a;
    std::sort(order, order + count, [&](int a, int b) {
      return layout.position(first_of(a)) < layout.position(first_of(b));
    });
    for (size_t d = 0; d < way_.dims.size(); ++d) places[way_.dims[d]] = static_cast<int>(d);
    Layout folded = Layout::Replicated(static_cast<int>(way_.dims.size()));
    for (int i = 0; i < count; ++i) {
      int axis = first_of(order[i]), dim = layout.dim_of(axis);
      if (dim >= 0) folded = folded.Cut(places[dim], order[i]);
      if (layout.partial(axis) != Partial::kNone)
        folded = folded.With(order[i], layout.partial(axis));
    }
    return folded;
  }

  const Mesh& mesh_;
  const std::vector<int>& links_;
  const Type& global_;
  const Layout &from_, &to_;
  FoldedWay way_;
  int64_t sizes_[kMaxRank] = {}, all_ = 1;
  bool kept_[kMaxRank] = {};
  Ints shape_;
};

}  // namespace

Folder::Folder(const Mesh& mesh) : mesh_(mesh) {
  for (const MeshAxis& axis : mesh.axes) {
    auto same = std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](const MeshAxis& other) {
      return other.alpha == axis.alpha && other.beta == axis.beta;
    });
    links_.push_back(static_cast<int>(same - mesh.axes.begin()));
  }
}

FoldedWay Folder::Fold(const Type& global, const Layout& from, const Layout& to) const {
  return Question(mesh_, links_, global, from, to).Fold();
}

Mesh Folder::MeshOf(const FoldedWay& way) const {
  Mesh mesh;
  for (const FoldedAxis& axis : way.axes) {
    MeshAxis folded = mesh_.axes[static_cast<size_t>(axis.members[0])];
    folded.size = axis.size;
    mesh.axes.push_back(folded);
  }
  return mesh;
}

Path Folder::Unfold(const FoldedWay& way, const Layout& from, const Path& path) const {
  Path unfolded = path;
  Layout rest = from;
  for (const FoldedAxis& axis : way.axes) {
    for (int i = axis.members.size() - 1; i >= 0; --i) rest = rest.Free(axis.members[i]);
  }
  auto members = [&](const AxisList& folded) {
    AxisList axes;
    for (int a : folded) {
      for (int axis : way.axes[static_cast<size_t>(a)].members) axes.push_back(axis);
    }
    return axes;
  };
  auto dim_of = [&](int dim) { return dim < 0 ? dim : way.dims[static_cast<size_t>(dim)]; };
  for (Move& move : unfolded.moves) {
    Layout after = rest;
    for (int dim = 0; dim < move.after.rank(); ++dim) {
      for (int axis : members(move.after.axes_of(dim))) after = after.Cut(dim_of(dim), axis);
    }
    for (size_t a = 0; a < way.axes.size(); ++a) {
      Partial partial = move.after.partial(static_cast<int>(a));
      for (int axis : way.axes[a].members) {
        if (partial != Partial::kNone) after = after.With(axis, partial);
      }
    }
    move.after = after;
    move.axes = members(move.axes);
    move.from_dim = dim_of(move.from_dim);
    move.to_dim = dim_of(move.to_dim);
  }
  return unfolded;
}

}  // namespace ms::parallel
