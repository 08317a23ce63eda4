#include "passes/parallel/moves.h"

#include <algorithm>
#include <cmath>

namespace ms::parallel {
namespace {

constexpr double kNothing = 1e-9;  // seconds of a free move: fewer of them are better

class Moves {
 public:
  Moves(const Mesh& mesh, const Shape& shape, const Layout& at, const MoveScope& scope,
        const UseMove& use)
      : mesh_(mesh), shape_(shape), at_(at), scope_(scope), use_(use) {}

  void All() {
    for (int dim = 0; dim < at_.rank(); ++dim) FromDim(dim, at_.axes_of(dim));
    for (Partial kind : {Partial::kSum, Partial::kMax, Partial::kMin}) FromPartial(kind);
    for (int axis = 0; axis < mesh_.count(); ++axis) {
      if (active(axis) && at_.replicated(axis)) Slice(axis);
    }
    Swap();
  }

 private:
  bool active(int axis) const { return scope_.active >> axis & 1; }

  void Use(Move::Kind kind, const AxisList& axes, const Layout& after, int from_dim, int to_dim,
           Partial reduction = Partial::kNone) {
    Move move;
    move.kind = kind;
    move.axes = axes;
    move.from_dim = from_dim;
    move.to_dim = to_dim;
    move.reduction = reduction;
    move.after = after;
    use_(move);
  }

  // Whether an axis may cut the dimension: evenly, unless the ends are uneven too.
  bool MayCut(const Layout& next, int dim, const AxisList& axes) const {
    if (!scope_.anywhere) {
      for (int axis : axes) {
        if (scope_.from.dim_of(axis) != dim && scope_.to.dim_of(axis) != dim) return false;
      }
    }
    return scope_.uneven || shape_[dim] % next.Cuts(dim, mesh_) == 0;
  }
  // Axes with equal ways go all together, where there are many.
  bool Together(const AxisList& axes) const {
    if (!scope_.blocks) return true;
    for (int a : axes) {
      for (int b = 0; b < mesh_.count(); ++b) {
        bool same_way = active(b) && scope_.from.dim_of(a) == scope_.from.dim_of(b) &&
                        scope_.to.dim_of(a) == scope_.to.dim_of(b) &&
                        scope_.from.partial(a) == scope_.from.partial(b);
        bool same_place = at_.dim_of(a) == at_.dim_of(b) && at_.partial(a) == at_.partial(b);
        if (same_way && same_place && !axes.contains(b)) return false;
      }
    }
    return true;
  }

  Layout CutAll(Layout layout, int dim, const AxisList& axes) const {
    for (int axis : axes) layout = layout.Cut(dim, axis);
    return layout;
  }

  void FromDim(int dim, const AxisList& axes) {
    for (int first = axes.size() - 1; first >= 0 && active(axes[first]); --first) {
      AxisList last;
      for (int i = first; i < axes.size(); ++i) last.push_back(axes[i]);
      if (!Together(last) && first > 0) continue;
      Layout freed = at_;
      for (int i = axes.size() - 1; i >= first; --i) freed = freed.Free(axes[i]);
      Use(Move::kAllGather, last, freed, dim, -1);
      for (int to = 0; to < at_.rank(); ++to) {
        if (to == dim) continue;
        Layout next = CutAll(freed, to, last);
        if (MayCut(next, to, last)) Use(Move::kAllToAll, last, next, dim, to);
      }
    }
    if (axes.size() > 1 && shape_[dim] % at_.Cuts(dim, mesh_) == 0) Reorder(dim, axes);
  }

  // Another order of the axes that may move, which are the last of the dimension.
  void Reorder(int dim, const AxisList& axes) {
    AxisList kept, moved;
    for (int axis : axes) (moved.empty() && !active(axis) ? kept : moved).push_back(axis);
    if (moved.size() < 2) return;
    std::array<int, kMaxAxes> order{};
    for (int i = 0; i < moved.size(); ++i) order[static_cast<size_t>(i)] = moved[i];
    auto end = order.begin() + moved.size();
    auto use = [&] {
      AxisList next = kept;
      for (auto i = order.begin(); i != end; ++i) next.push_back(*i);
      if (next != axes) Use(Move::kPermute, moved, at_.WithAxes(dim, next), dim, dim);
    };
    if (scope_.anywhere) {
      std::sort(order.begin(), end);
      do use();
      while (std::next_permutation(order.begin(), end));
    } else {
      AxisList wanted = scope_.to.axes_of(dim);
      auto place = [&](int axis) {
        const uint8_t* found = std::find(wanted.begin(), wanted.end(), axis);
        return std::tuple(found - wanted.begin(), scope_.to.dim_of(axis), axis);
      };
      std::sort(order.begin(), end, [&](int a, int b) { return place(a) < place(b); });
      use();
    }
  }

  void FromPartial(Partial kind) {
    AxisList axes;
    for (int axis : at_.PartialAxes(kind)) {
      if (active(axis)) axes.push_back(axis);
    }
    if (axes.empty()) return;
    uint32_t all = (1u << axes.size()) - 1;
    for (uint32_t chosen = 1; chosen <= all; ++chosen) {
      bool few = axes.size() <= 3 || std::popcount(chosen) == 1 || chosen == all;
      if (!few) continue;
      AxisList some;
      for (int i = 0; i < axes.size(); ++i) {
        if (chosen >> i & 1) some.push_back(axes[i]);
      }
      if (Together(some) || chosen == all) Join(kind, some);
    }
  }
  void Join(Partial kind, const AxisList& axes) {
    Layout joined = at_;
    for (int axis : axes) joined = joined.Free(axis);
    Use(Move::kAllReduce, axes, joined, -1, -1, kind);
    for (int dim = 0; dim < at_.rank(); ++dim) {
      Layout next = CutAll(joined, dim, axes);
      if (MayCut(next, dim, axes)) Use(Move::kReduceScatter, axes, next, -1, dim, kind);
    }
  }

  void Slice(int axis) {
    for (int dim = 0; dim < at_.rank(); ++dim) {
      Layout next = at_.Cut(dim, axis);
      if (scope_.blocks && !InOrder(next.axes_of(dim), scope_.to.axes_of(dim))) continue;
      if (MayCut(next, dim, {axis})) Use(Move::kSlice, {axis}, next, -1, dim);
    }
  }
  static bool InOrder(const AxisList& axes, const AxisList& wanted) {
    return axes.size() <= wanted.size() && std::equal(axes.begin(), axes.end(), wanted.begin());
  }

  // Two axes of one size take each other's place.
  void Swap() {
    for (int a = 0; a < mesh_.count(); ++a) {
      for (int b = a + 1; b < mesh_.count(); ++b) {
        int x = at_.dim_of(a), y = at_.dim_of(b);
        if (!active(a) || !active(b) || x == y || mesh_.size(a) != mesh_.size(b)) continue;
        if ((x < 0 && !at_.replicated(a)) || (y < 0 && !at_.replicated(b))) continue;
        if (!scope_.anywhere && (!Allowed(a, y) || !Allowed(b, x))) continue;
        Use(Move::kPermute, {a, b}, at_.Swapped(a, b), x, y);
      }
    }
  }
  bool Allowed(int axis, int dim) const {
    return dim < 0 || scope_.from.dim_of(axis) == dim || scope_.to.dim_of(axis) == dim;
  }

  const Mesh& mesh_;
  const Shape& shape_;
  const Layout& at_;
  const MoveScope& scope_;
  const UseMove& use_;
};

}  // namespace

void ForMoves(const Mesh& mesh, const Shape& shape, const Layout& at, const MoveScope& scope,
              const UseMove& use) {
  Moves(mesh, shape, at, scope, use).All();
}

std::string_view Name(Move::Kind kind) {
  constexpr std::string_view kNames[] = {"slice",          "all-gather", "all-to-all",
                                         "reduce-scatter", "all-reduce", "permute"};
  return kNames[kind];
}

double CollectiveSeconds(const Mesh& mesh, Move::Kind kind, const AxisList& axes, int64_t bytes) {
  if (kind == Move::kSlice) return kNothing;
  double alpha = 0, beta = 0;
  int64_t ranks = 1;
  for (int axis : axes) {
    const MeshAxis& a = mesh.axes[static_cast<size_t>(axis)];
    if (a.size == 1) continue;
    alpha = std::max(alpha, a.alpha);
    beta = std::max(beta, a.beta);
    ranks *= a.size;
  }
  if (ranks == 1) return kNothing;
  double n = static_cast<double>(bytes), k = static_cast<double>(ranks);
  double rounds = std::ceil(std::log2(k));
  if (kind == Move::kPermute) return 2 * alpha + beta * n;
  if (kind == Move::kAllReduce) rounds *= 2, n *= 2;
  return alpha * (1 + rounds) + beta * n * (k - 1) / k + kNothing;
}

int64_t SentBytes(const Mesh& mesh, const Move& move, int64_t bytes) {
  if (move.kind == Move::kSlice) return 0;
  if (move.kind == Move::kPermute) return bytes;
  int64_t ranks = 1;
  for (int axis : move.axes) ranks *= mesh.size(axis);
  int64_t sent = bytes / ranks * (ranks - 1);
  return move.kind == Move::kAllReduce ? 2 * sent : sent;
}

int64_t PermuteSource(const Mesh& mesh, const Layout& before, const Move& move, int64_t rank) {
  std::vector<int64_t> coordinates = mesh.Coordinates(rank);
  std::vector<int64_t> source = coordinates;
  // Where the piece lies is a number in the digits of the axes of a dimension; -1: of no dimension.
  for (int dim = -1; dim < before.rank(); ++dim) {
    auto digits = [&](const Layout& layout) {
      AxisList axes;
      for (int axis : dim < 0 ? move.axes : layout.axes_of(dim)) {
        if (move.axes.contains(axis) && layout.dim_of(axis) == dim) axes.push_back(axis);
      }
      return axes;
    };
    int64_t number = 0;
    for (int axis : digits(move.after))
      number = number * mesh.size(axis) + coordinates[static_cast<size_t>(axis)];
    AxisList had = digits(before);
    for (int i = had.size() - 1; i >= 0; --i) {
      source[static_cast<size_t>(had[i])] = number % mesh.size(had[i]);
      number /= mesh.size(had[i]);
    }
  }
  int64_t result = 0;
  for (int axis = 0; axis < mesh.count(); ++axis)
    result = result * mesh.size(axis) + source[static_cast<size_t>(axis)];
  return result;
}

}  // namespace ms::parallel
