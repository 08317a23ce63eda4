// The layouts that moves lead between, numbered; Dijkstra over their numbers.
#include <algorithm>
#include <limits>
#include <tuple>

#include "passes/parallel/ways.h"

namespace ms::parallel {

Grid::Grid(const Mesh& mesh, const Shape& shape, const MoveScope& scope, Partial kind) {
  Layout whole = Layout::Replicated(shape.rank()), pending = whole;
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (scope.active >> axis & 1) pending = pending.With(axis, kind);
  }
  Add(whole);
  Add(pending);
  first_.push_back(0);
  for (size_t i = 0; i < states_.size(); ++i) {
    Layout at = states_[i];
    ForMoves(mesh, shape, at, scope, [&](Move& move) {
      double fixed = CollectiveSeconds(mesh, move.kind, move.axes, 0);
      constexpr int64_t kMany = 1 << 30;
      double each = (CollectiveSeconds(mesh, move.kind, move.axes, kMany) - fixed) / kMany;
      edges_.push_back({Add(move.after), static_cast<int>(moves_.size()), static_cast<float>(fixed),
                        static_cast<float>(each)});
      moves_.push_back(move);
    });
    first_.push_back(static_cast<int>(edges_.size()));
  }
}

int Grid::Add(const Layout& layout) {
  auto [place, fresh] = numbers_.try_emplace(layout, size());
  if (fresh) states_.push_back(layout);
  return place->second;
}

GridWays::GridWays(const GridTensor& tensor, int from) : tensor_(tensor) {
  auto n = static_cast<size_t>(tensor.grid->size());
  seconds_.assign(n, std::numeric_limits<double>::infinity());
  peak_.assign(n, 0);
  through_.assign(n, nullptr);
  before_.assign(n, -1);
  std::vector<bool> settled(n);
  using Entry = std::tuple<double, int64_t, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  seconds_[static_cast<size_t>(from)] = 0;
  peak_[static_cast<size_t>(from)] = tensor.bytes[static_cast<size_t>(from)];
  queue.emplace(0, peak_[static_cast<size_t>(from)], from);
  while (!queue.empty()) {
    auto at = static_cast<size_t>(std::get<2>(queue.top()));
    queue.pop();
    if (settled[at]) continue;
    settled[at] = true;
    for (const Grid::Edge& edge : tensor.grid->edges(static_cast<int>(at))) {
      auto to = static_cast<size_t>(edge.to);
      if (settled[to]) continue;
      bool gathers = tensor.grid->move(edge).kind == Move::kAllGather;
      int64_t bytes = tensor.bytes[gathers ? to : at];
      double seconds = seconds_[at] + edge.fixed + edge.each_byte * static_cast<double>(bytes);
      int64_t peak = std::max(peak_[at], tensor.bytes[to]);
      if (std::tie(seconds_[to], peak_[to]) <= std::tie(seconds, peak)) continue;
      seconds_[to] = seconds;
      peak_[to] = peak;
      through_[to] = &edge;
      before_[to] = static_cast<int>(at);
      queue.emplace(seconds, peak, edge.to);
    }
  }
}

Path GridWays::PathTo(const Mesh& mesh, int to) const {
  Path path;
  path.peak_bytes = peak_[static_cast<size_t>(to)];
  for (int at = to; before_[static_cast<size_t>(at)] >= 0; at = before_[static_cast<size_t>(at)]) {
    Move move = tensor_.grid->move(*through_[static_cast<size_t>(at)]);
    bool gathers = move.kind == Move::kAllGather;
    int64_t bytes =
        tensor_.bytes[static_cast<size_t>(gathers ? at : before_[static_cast<size_t>(at)])];
    move.seconds = CollectiveSeconds(mesh, move.kind, move.axes, bytes);
    move.bytes = SentBytes(mesh, move, bytes);
    path.seconds += move.seconds;
    path.moves.push_back(move);
  }
  std::reverse(path.moves.begin(), path.moves.end());
  return path;
}

}  // namespace ms::parallel
