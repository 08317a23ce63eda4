#include "passes/parallel/ways.h"

#include <algorithm>
#include <tuple>

namespace ms::parallel {
namespace {

class Ways {
 public:
  Ways(const Mesh& mesh, const Shape& shape, size_t item, const Layout& from,
       const MoveScope& scope)
      : mesh_(mesh), shape_(shape), item_(static_cast<int64_t>(item)), scope_(scope) {
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

  int64_t Bytes(const Layout& layout) const { return layout.LocalElements(shape_, mesh_) * item_; }

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
    const State& at = states_[static_cast<size_t>(from)];  // which grow meanwhile
    Layout layout = at.layout;
    double seconds = at.seconds;
    int64_t before = at.bytes, peak = at.peak;
    ForMoves(mesh_, shape_, layout, scope_, [&](Move& move) {
      auto known = number_.find(move.after);
      if (known != number_.end() && states_[static_cast<size_t>(known->second)].settled) return;
      bool gathers = move.kind == Move::kAllGather;
      int64_t bytes = gathers ? Bytes(move.after) : before;
      move.seconds = CollectiveSeconds(mesh_, move.kind, move.axes, bytes);
      move.bytes = SentBytes(mesh_, move, bytes);
      Reach(move.after, seconds + move.seconds, peak, from, move);
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

}  // namespace

Path FindWay(const Mesh& mesh, const Shape& shape, size_t item, const Layout& from,
             const Layout& to, const MoveScope& scope) {
  Ways ways(mesh, shape, item, from, scope);
  int state = ways.Settle(to);
  MS_ASSERT(state >= 0);
  return ways.PathTo(state);
}

double SecondsByAxis(const Mesh& mesh, const FoldedWay& way) {
  std::vector<int> scattered, turned, gathered;  // axes, by what they do
  auto bytes =
      static_cast<double>(way.from.LocalElements(way.shape, mesh) * static_cast<int64_t>(way.item));
  for (int axis = 0; axis < mesh.count(); ++axis) {
    int from = way.from.dim_of(axis), to = way.to.dim_of(axis);
    bool partial = way.from.partial(axis) != way.to.partial(axis);
    if (partial) scattered.push_back(axis);
    if (from >= 0 && to >= 0 && from != to) turned.push_back(axis);
    if (to < 0 && (from >= 0 || partial)) gathered.push_back(axis);
    if (way.from.replicated(axis) && to >= 0) bytes /= static_cast<double>(mesh.size(axis));
  }
  auto quick = [&](int a, int b) {
    return mesh.axes[static_cast<size_t>(a)].beta < mesh.axes[static_cast<size_t>(b)].beta;
  };
  // Sums over slow links have the smallest pieces, and so have gathers.
  std::stable_sort(scattered.begin(), scattered.end(), quick);
  std::stable_sort(gathered.rbegin(), gathered.rend(), quick);
  double seconds = 0;
  auto move = [&](Move::Kind kind, int axis) {
    seconds += CollectiveSeconds(mesh, kind, {axis}, static_cast<int64_t>(bytes));
  };
  for (int axis : scattered) {
    move(Move::kReduceScatter, axis);
    bytes /= static_cast<double>(mesh.size(axis));
  }
  for (int axis : turned) move(Move::kAllToAll, axis);
  for (int axis : gathered) {
    bytes *= static_cast<double>(mesh.size(axis));
    move(Move::kAllGather, axis);
  }
  return seconds;
}

}  // namespace ms::parallel
