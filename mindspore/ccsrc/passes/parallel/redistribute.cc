#include "passes/parallel/redistribute.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <unordered_map>

#include "passes/parallel/moves.h"

namespace ms::parallel {
namespace {

constexpr int kFew = 3;   // up to so many axes may go anywhere on the way
constexpr int kMany = 5;  // more than so many go in blocks

// The ways from one layout of one tensor: Dijkstra that goes on where the last question ended.
class Ways {
 public:
  Ways(const Mesh& mesh, const Type& global, const Layout& from, const MoveScope& scope)
      : mesh_(mesh),
        shape_(global.shape()),
        item_(static_cast<int64_t>(ItemSize(global.dtype()))),
        scope_(scope) {
    states_.reserve(64);
    Reach(from, 0, Bytes(from), -1, {});
  }

  int Settle(const Layout& to) {
    auto found = number_.find(to);
    if (found != number_.end() && states_[static_cast<size_t>(found->second)].settled)
      return found->second;
    while (!queue_.empty()) {
      Entry entry = queue_.top();
      queue_.pop();
      State& state = states_[static_cast<size_t>(entry.state)];
      if (state.settled) continue;
      state.settled = true;
      Leave(entry.state);
      if (states_[static_cast<size_t>(entry.state)].layout == to) return entry.state;
    }
    return -1;
  }
  double Seconds(int state) const { return states_[static_cast<size_t>(state)].seconds; }

  Path PathTo(int at) const {
    Path path;
    path.seconds = Seconds(at);
    path.peak_bytes = states_[static_cast<size_t>(at)].peak;
    for (; states_[static_cast<size_t>(at)].before >= 0;
         at = states_[static_cast<size_t>(at)].before)
      path.moves.push_back(states_[static_cast<size_t>(at)].move);
    std::reverse(path.moves.begin(), path.moves.end());
    return path;
  }

 private:
  struct State {
    Layout layout;
    double seconds = 0;
    int64_t bytes = 0;
    int64_t peak = 0;
    int before = -1;
    bool settled = false;
    Move move;
  };
  struct Entry {
    double seconds;
    int64_t peak;
    int state;
    bool operator<(const Entry& o) const {
      return std::tie(seconds, peak, state) > std::tie(o.seconds, o.peak, o.state);
    }
  };

  int64_t Bytes(const Layout& layout) const {
    return layout.LocalElements(shape_, mesh_) * item_;
  }

  void Reach(const Layout& layout, double seconds, int64_t peak, int before, const Move& move) {
    auto [place, fresh] = number_.try_emplace(layout, static_cast<int>(states_.size()));
    if (fresh) {
      states_.emplace_back();
      states_.back().layout = layout;
      states_.back().bytes = Bytes(layout);
    }
    State& state = states_[static_cast<size_t>(place->second)];
    peak = std::max(peak, state.bytes);
    if (!fresh && (state.settled || std::tie(state.seconds, state.peak) <= std::tie(seconds, peak)))
      return;
    state.seconds = seconds;
    state.peak = peak;
    state.before = before;
    state.move = move;
    queue_.push({seconds, peak, place->second});
  }

  void Leave(int from) {
    State state = states_[static_cast<size_t>(from)];
    ForMoves(mesh_, shape_, state.layout, scope_, [&](Move& move) {
      bool gathers = move.kind == Move::kAllGather;
      int64_t bytes = gathers ? Bytes(move.after) : state.bytes;
      move.seconds = CollectiveSeconds(mesh_, move.kind, move.axes, bytes);
      move.bytes = SentBytes(mesh_, move, bytes);
      Reach(move.after, state.seconds + move.seconds, state.peak, from, move);
    });
  }

  const Mesh& mesh_;
  Shape shape_;
  int64_t item_;
  MoveScope scope_;
  std::vector<State> states_;
  std::unordered_map<Layout, int, LayoutHash> number_;
  std::priority_queue<Entry> queue_;
};

struct WaysKey {
  uint32_t shape = 0;
  uint32_t active = 0;
  Layout from, to;  // `to` where it limits the moves
  bool operator==(const WaysKey&) const = default;
};
struct PathKey {
  uint32_t shape = 0;
  Layout from, to;
  bool operator==(const PathKey&) const = default;
};
struct KeyHash {
  size_t operator()(const WaysKey& k) const {
    return HashCombine(HashCombine(k.from.Hash(), k.to.Hash()), k.shape * 4099u + k.active);
  }
  size_t operator()(const PathKey& k) const {
    return HashCombine(HashCombine(k.from.Hash(), k.to.Hash()), k.shape);
  }
};

// Axes that differ, and those that cut a dimension behind one that does.
uint32_t DifferingAxes(const Mesh& mesh, const Layout& from, const Layout& to) {
  uint32_t active = 0;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (from.dim_of(axis) != to.dim_of(axis) || from.partial(axis) != to.partial(axis))
      active |= 1u << axis;
  }
  for (int dim = 0; dim < from.rank(); ++dim) {
    AxisList a = from.axes_of(dim), b = to.axes_of(dim);
    int same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
    for (int i = same; i < a.size(); ++i) active |= 1u << a[i];
    for (int i = same; i < b.size(); ++i) active |= 1u << b[i];
  }
  return active;
}

// With few axes all may move; with more, those that differ, and free ones as long as they are few.
MoveScope ScopeOf(const Mesh& mesh, const Shape& shape, const Layout& from, const Layout& to) {
  MoveScope scope;
  scope.uneven = !from.Even(shape, mesh) || !to.Even(shape, mesh);
  int count = mesh.count();
  if (count <= kFew) {
    scope.active = (1u << count) - 1;
    return scope;
  }
  scope.active = DifferingAxes(mesh, from, to);
  count = std::popcount(scope.active);
  for (int axis = mesh.count() - 1; axis >= 0 && count < kFew; --axis) {
    if (!from.replicated(axis) || !to.replicated(axis) || mesh.size(axis) == 1) continue;
    scope.active |= 1u << axis;
    ++count;
  }
  scope.anywhere = count <= kFew;
  scope.blocks = count > kMany;
  if (!scope.anywhere) scope.from = from, scope.to = to;
  return scope;
}

}  // namespace

struct Redistributor::Tables {
  std::map<std::pair<size_t, Ints>, uint32_t> shapes;
  std::unordered_map<WaysKey, Ways, KeyHash> ways;
  std::unordered_map<PathKey, Path, KeyHash> paths;

  uint32_t Number(const Type& type) {
    auto next = static_cast<uint32_t>(shapes.size());
    return shapes.try_emplace({ItemSize(type.dtype()), type.shape().ToInts()}, next).first->second;
  }
  std::pair<Ways*, int> Settle(const Mesh& mesh, const Type& global, const Layout& from,
                               const Layout& to) {
    MoveScope scope = ScopeOf(mesh, global.shape(), from, to);
    WaysKey key{Number(global), scope.active | (scope.uneven ? 1u << 31 : 0), from, scope.to};
    auto place = ways.try_emplace(key, mesh, global, from, scope).first;
    int state = place->second.Settle(to);
    MS_ASSERT(state >= 0);
    return {&place->second, state};
  }
};

Redistributor::Redistributor(const Mesh& mesh)
    : mesh_(mesh), tables_(std::make_unique<Tables>()) {}
Redistributor::~Redistributor() = default;

const Path& Redistributor::Find(const Type& global, const Layout& from, const Layout& to) {
  auto [place, fresh] =
      tables_->paths.try_emplace(PathKey{tables_->Number(global), from, to});
  if (fresh) {
    auto [ways, state] = tables_->Settle(mesh_, global, from, to);
    place->second = ways->PathTo(state);
  }
  return place->second;
}

double Redistributor::Seconds(const Type& global, const Layout& from, const Layout& to) {
  if (from == to) return 0;
  auto [ways, state] = tables_->Settle(mesh_, global, from, to);
  return ways->Seconds(state);
}

}  // namespace ms::parallel
