#include "passes/parallel/redistribute.h"

#include <algorithm>
#include <map>

#include "passes/parallel/ways.h"

namespace ms::parallel {
namespace {

constexpr int kFew = 3;   // up to so many axes may go anywhere on the way
constexpr int kMany = 5;  // more than so many go in blocks

struct PathKey {
  uint32_t tensor = 0;
  Layout from, to;
  bool operator==(const PathKey&) const = default;
};
struct KeyHash {
  size_t operator()(const PathKey& k) const {
    return HashCombine(HashCombine(k.from.Hash(), k.to.Hash()), k.tensor);
  }
};

// Axes that differ, and those that cut a dimension behind one that does: all others cut first.
uint32_t DifferingAxes(const Mesh& mesh, const Layout& from, const Layout& to) {
  uint32_t active = 0;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (from.dim_of(axis) != to.dim_of(axis) || from.partial(axis) != to.partial(axis))
      active |= 1u << axis;
  }
  for (int dim = 0; dim < from.rank(); ++dim) {
    AxisList a = from.axes_of(dim), b = to.axes_of(dim);
    int same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same] && !(active >> a[same] & 1))
      ++same;
    for (int i = same; i < a.size(); ++i) active |= 1u << a[i];
    for (int i = same; i < b.size(); ++i) active |= 1u << b[i];
  }
  return active;
}

// With few axes all may move; with more, those that differ, and free ones as long as they are few.
uint32_t ActiveAxes(const Mesh& mesh, const Layout& from, const Layout& to) {
  if (mesh.count() <= kFew) return (1u << mesh.count()) - 1;
  uint32_t active = DifferingAxes(mesh, from, to);
  int count = std::popcount(active);
  for (int axis = mesh.count() - 1; axis >= 0 && count < kFew; --axis) {
    if (!from.replicated(axis) || !to.replicated(axis) || mesh.size(axis) == 1) continue;
    active |= 1u << axis;
    ++count;
  }
  return active;
}

// What the active axes alone make of a layout, and the rest of it.
Layout Only(Layout layout, const Mesh& mesh, uint32_t axes) {
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (!(axes >> axis & 1)) layout = layout.Free(axis);
  }
  return layout;
}

// The one kind of partial that there is; nothing where there are several.
std::optional<Partial> KindOf(const Mesh& mesh, const Layout& from, const Layout& to) {
  Partial kind = Partial::kNone;
  for (const Layout* layout : {&from, &to}) {
    for (int axis = 0; axis < mesh.count(); ++axis) {
      Partial here = layout->partial(axis);
      if (here == Partial::kNone || here == kind) continue;
      if (kind != Partial::kNone) return std::nullopt;
      kind = here;
    }
  }
  return kind == Partial::kNone ? Partial::kSum : kind;
}

// For each dimension, by which products of axes it divides: as many bits as there are sets of axes.
std::vector<uint64_t> DivisionsOf(const Shape& shape, const Mesh& mesh, uint32_t axes) {
  std::vector<uint64_t> divisions;
  for (int64_t size : shape) {
    uint64_t bits = 0;
    for (uint32_t set = axes, number = 0; set; set = (set - 1) & axes, ++number) {
      int64_t cuts = 1;
      for (int axis = 0; axis < mesh.count(); ++axis) {
        if (set >> axis & 1) cuts *= mesh.size(axis);
      }
      bits |= static_cast<uint64_t>(size % cuts == 0) << number;
    }
    divisions.push_back(bits);
  }
  return divisions;
}

}  // namespace

struct Redistributor::Tables {
  explicit Tables(const Mesh& m) : mesh(m) {}

  // A tensor on the grid of some axes: what the other axes have left of it.
  struct Problem {
    Shape shape;
    size_t item = 0;
    uint32_t active = 0;
    bool uneven = false;
    Partial kind = Partial::kSum;
    bool operator==(const Problem&) const = default;
  };
  struct ProblemHash {
    size_t operator()(const Problem& p) const {
      size_t rest = p.item * 64 + p.active * 4096 + p.uneven * 32 + static_cast<size_t>(p.kind);
      return HashCombine(p.shape.Hash(), rest);
    }
  };
  struct Tensor {
    GridTensor on_grid;
    std::vector<std::unique_ptr<GridWays>> ways;  // by state; made when asked for

    const GridWays& From(int state) {
      std::unique_ptr<GridWays>& place = ways[static_cast<size_t>(state)];
      if (!place) place = std::make_unique<GridWays>(on_grid, state);
      return *place;
    }
  };
  struct Answer {
    const GridWays* ways;
    int to;
  };

  const Grid& GridOf(const Problem& p) {
    std::vector<uint64_t> divisions = DivisionsOf(p.shape, mesh, p.active);
    divisions.push_back(p.active * 8u + p.uneven * 4u + static_cast<uint32_t>(p.kind));
    std::unique_ptr<Grid>& grid = grids[divisions];
    MoveScope scope;
    scope.active = p.active;
    scope.uneven = p.uneven;
    if (!grid) grid = std::make_unique<Grid>(mesh, p.shape, scope, p.kind);
    return *grid;
  }

  Tensor& TensorOf(const Problem& p) {
    std::unique_ptr<Tensor>& tensor = tensors[p];
    if (tensor) return *tensor;
    tensor = std::make_unique<Tensor>();
    const Grid& grid = GridOf(p);
    tensor->on_grid.grid = &grid;
    tensor->ways.resize(static_cast<size_t>(grid.size()));
    for (int i = 0; i < grid.size(); ++i)
      tensor->on_grid.bytes.push_back(grid.state(i).LocalElements(p.shape, mesh) *
                                      static_cast<int64_t>(p.item));
    return *tensor;
  }

  // Nothing where there are many axes or several kinds of partial.
  std::optional<Answer> Ask(const Type& global, const Layout& from, const Layout& to) {
    uint32_t active = ActiveAxes(mesh, from, to);
    if (std::popcount(active) > kFew) return std::nullopt;
    std::optional<Partial> kind = KindOf(mesh, from, to);
    if (!kind) return std::nullopt;
    Problem problem{global.shape(), ItemSize(global.dtype()), active, false, *kind};
    problem.uneven = !from.Even(global.shape(), mesh) || !to.Even(global.shape(), mesh);
    bool all = active + 1 == 1u << mesh.count();
    if (!all) problem.shape = Only(from, mesh, ~active).Local(global.shape(), mesh, 0);
    Tensor& tensor = TensorOf(problem);
    int first = tensor.on_grid.grid->Number(all ? from : Only(from, mesh, active));
    int last = tensor.on_grid.grid->Number(all ? to : Only(to, mesh, active));
    MS_ASSERT(first >= 0 && last >= 0);
    return Answer{&tensor.From(first), last};
  }

  Path Make(const Type& global, const Layout& from, const Layout& to) {
    if (from == to) {
      Path path;
      path.peak_bytes =
          from.LocalElements(global.shape(), mesh) * static_cast<int64_t>(ItemSize(global.dtype()));
      return path;
    }
    if (std::optional<Answer> answer = Ask(global, from, to)) {
      Path path = answer->ways->PathTo(mesh, answer->to);
      Layout rest = Only(from, mesh, ~ActiveAxes(mesh, from, to));
      for (Move& move : path.moves) move.after = rest.Under(move.after);
      return path;
    }
    MoveScope scope;
    scope.active = DifferingAxes(mesh, from, to);
    int count = std::popcount(scope.active);
    scope.uneven = !from.Even(global.shape(), mesh) || !to.Even(global.shape(), mesh);
    scope.anywhere = count <= kFew;
    scope.blocks = count > kMany;
    scope.from = from;
    scope.to = to;
    return FindWay(mesh, global, from, to, scope);
  }

  const Path& Find(const Type& global, const Layout& from, const Layout& to) {
    std::pair shape(ItemSize(global.dtype()), global.shape().ToInts());
    auto next = static_cast<uint32_t>(numbers.size());
    PathKey key{numbers.try_emplace(shape, next).first->second, from, to};
    auto found = paths.find(key);
    if (found != paths.end()) return found->second;
    return paths.emplace(key, Make(global, from, to)).first->second;
  }

  const Mesh& mesh;
  std::map<std::vector<uint64_t>, std::unique_ptr<Grid>> grids;
  std::unordered_map<Problem, std::unique_ptr<Tensor>, ProblemHash> tensors;
  std::map<std::pair<size_t, Ints>, uint32_t> numbers;
  std::unordered_map<PathKey, Path, KeyHash> paths;
};

Redistributor::Redistributor(const Mesh& mesh)
    : mesh_(mesh), tables_(std::make_unique<Tables>(mesh_)) {}
Redistributor::~Redistributor() = default;

const Path& Redistributor::Find(const Type& global, const Layout& from, const Layout& to) {
  return tables_->Find(global, from, to);
}

double Redistributor::Seconds(const Type& global, const Layout& from, const Layout& to) {
  if (from == to) return 0;
  if (auto answer = tables_->Ask(global, from, to)) return answer->ways->Seconds(answer->to);
  return tables_->Find(global, from, to).seconds;
}

}  // namespace ms::parallel
