#include "passes/parallel/redistribute.h"

#include <algorithm>
#include <map>

#include "passes/parallel/fold.h"
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
struct PathHash {
  size_t operator()(const PathKey& k) const {
    return HashCombine(HashCombine(k.from.Hash(), k.to.Hash()), k.tensor);
  }
};

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
std::vector<uint64_t> DivisionsOf(const Shape& shape, const Mesh& mesh) {
  std::vector<uint64_t> divisions;
  for (int64_t size : shape) {
    uint64_t bits = 0;
    for (uint32_t set = 0; set < 1u << mesh.count(); ++set) {
      int64_t cuts = 1;
      for (int axis = 0; axis < mesh.count(); ++axis) {
        if (set >> axis & 1) cuts *= mesh.size(axis);
      }
      bits |= static_cast<uint64_t>(size % cuts == 0) << set;
    }
    divisions.push_back(bits);
  }
  return divisions;
}

// What ways depend on besides their ends.
struct Ground {
  int mesh = 0;  // number of the folded one
  Shape shape;
  size_t item = 0;
  bool uneven = false;
  Partial kind = Partial::kNone;  // of the only kind; kNone: there are several
  bool operator==(const Ground&) const = default;
};
struct GroundHash {
  size_t operator()(const Ground& g) const {
    size_t rest = g.item * 64 + static_cast<size_t>(g.mesh) * 4096 + g.uneven * 32;
    return HashCombine(g.shape.Hash(), rest + static_cast<size_t>(g.kind));
  }
};

}  // namespace

struct Redistributor::Tables {
  explicit Tables(const Mesh& m) : folder(m) {}

  // Tensors on the axes of a folded mesh: with few axes on a grid, with many each way by itself.
  struct Tensor {
    const Mesh* mesh = nullptr;
    GridTensor on_grid;
    std::vector<std::unique_ptr<GridWays>> ways;  // by state; made when asked for
    std::unordered_map<PathKey, Path, PathHash> paths;

    GridWays& From(int state) {
      std::unique_ptr<GridWays>& place = ways[static_cast<size_t>(state)];
      if (!place) place = std::make_unique<GridWays>(on_grid, state);
      return *place;
    }
  };

  int MeshNumber(const FoldedWay& way) {
    std::vector<int64_t> key;
    for (const FoldedAxis& axis : way.axes) {
      key.push_back(axis.links);
      key.push_back(axis.size);
    }
    auto [place, fresh] = numbers.try_emplace(std::move(key), static_cast<int>(meshes.size()));
    if (fresh) meshes.push_back(std::make_unique<Mesh>(folder.MeshOf(way)));
    return place->second;
  }

  Tensor& TensorOf(const FoldedWay& way) {
    Ground ground{MeshNumber(way), way.shape, way.item, way.uneven, Partial::kNone};
    const Mesh& mesh = *meshes[static_cast<size_t>(ground.mesh)];
    std::optional<Partial> kind = KindOf(mesh, way.from, way.to);
    if (kind) ground.kind = *kind;
    std::unique_ptr<Tensor>& tensor = tensors[ground];
    if (tensor) return *tensor;
    tensor = std::make_unique<Tensor>();
    tensor->mesh = &mesh;
    if (mesh.count() > kFew || !kind) return *tensor;
    const Grid& grid = GridOf(ground);
    tensor->on_grid.grid = &grid;
    tensor->ways.resize(static_cast<size_t>(grid.size()));
    for (int i = 0; i < grid.size(); ++i)
      tensor->on_grid.bytes.push_back(grid.state(i).LocalElements(way.shape, mesh) *
                                      static_cast<int64_t>(way.item));
    return *tensor;
  }

  const Grid& GridOf(const Ground& ground) {
    const Mesh& mesh = *meshes[static_cast<size_t>(ground.mesh)];
    std::vector<uint64_t> key = DivisionsOf(ground.shape, mesh);
    key.push_back(static_cast<uint64_t>(ground.mesh) * 8 + ground.uneven * 4u +
                  static_cast<uint32_t>(ground.kind));
    std::unique_ptr<Grid>& grid = grids[key];
    MoveScope scope;
    scope.active = (1u << mesh.count()) - 1;
    scope.uneven = ground.uneven;
    if (!grid) grid = std::make_unique<Grid>(mesh, ground.shape, scope, ground.kind);
    return *grid;
  }

  // A way where there are many axes or several kinds of partial.
  const Path& Alone(Tensor* tensor, const FoldedWay& way) {
    auto [place, fresh] = tensor->paths.try_emplace({0, way.from, way.to});
    if (!fresh) return place->second;
    int count = tensor->mesh->count();
    MoveScope scope;
    scope.active = (1u << count) - 1;
    scope.uneven = way.uneven;
    scope.anywhere = count <= kFew;
    scope.blocks = count > kMany;
    scope.from = way.from;
    scope.to = way.to;
    return place->second = FindWay(*tensor->mesh, way.shape, way.item, way.from, way.to, scope);
  }

  double Seconds(const FoldedWay& way) {
    Tensor& tensor = TensorOf(way);
    const Grid* grid = tensor.on_grid.grid;
    if (!grid) return Alone(&tensor, way).seconds;
    int first = grid->Number(way.from), last = grid->Number(way.to);
    MS_ASSERT(first >= 0 && last >= 0);
    return tensor.From(first).Seconds(last);
  }

  Path Make(const Type& global, const Layout& from, const Layout& to) {
    FoldedWay way = folder.Fold(global, from, to);
    Tensor& tensor = TensorOf(way);
    const Grid* grid = tensor.on_grid.grid;
    if (!grid) return folder.Unfold(way, from, Alone(&tensor, way));
    GridWays& ways = tensor.From(grid->Number(way.from));
    return folder.Unfold(way, from, ways.PathTo(*tensor.mesh, grid->Number(way.to)));
  }

  const Path& Find(const Type& global, const Layout& from, const Layout& to) {
    std::pair shape(ItemSize(global.dtype()), global.shape().ToInts());
    auto next = static_cast<uint32_t>(shapes.size());
    PathKey key{shapes.try_emplace(shape, next).first->second, from, to};
    auto found = paths.find(key);
    if (found != paths.end()) return found->second;
    return paths.emplace(key, Make(global, from, to)).first->second;
  }

  Folder folder;
  std::map<std::vector<int64_t>, int> numbers;  // of folded meshes
  std::vector<std::unique_ptr<Mesh>> meshes;
  std::map<std::vector<uint64_t>, std::unique_ptr<Grid>> grids;
  std::unordered_map<Ground, std::unique_ptr<Tensor>, GroundHash> tensors;
  std::map<std::pair<size_t, Ints>, uint32_t> shapes;
  std::unordered_map<PathKey, Path, PathHash> paths;
};

Redistributor::Redistributor(const Mesh& mesh)
    : mesh_(mesh), tables_(std::make_unique<Tables>(mesh_)) {}
Redistributor::~Redistributor() = default;

const Path& Redistributor::Find(const Type& global, const Layout& from, const Layout& to) {
  return tables_->Find(global, from, to);
}

double Redistributor::Seconds(const Type& global, const Layout& from, const Layout& to) {
  return from == to ? 0 : tables_->Seconds(tables_->folder.Fold(global, from, to));
}

bool Redistributor::NearSeconds(const Type& global, const Layout& from, const Layout& to,
                                double* seconds) {
  *seconds = 0;
  if (from == to) return true;
  FoldedWay way = tables_->folder.Fold(global, from, to);
  bool near = way.axes.size() <= kFew;
  *seconds = near ? tables_->Seconds(way) : SecondsByAxis(tables_->folder.MeshOf(way), way);
  return near;
}

}  // namespace ms::parallel
