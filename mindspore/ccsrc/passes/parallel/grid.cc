// The layouts that moves lead between, numbered; Dijkstra over their numbers.
#include <algorithm>

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

GridWays::GridWays(const GridTensor& tensor, int from)
    : tensor_(tensor), states_(static_cast<size_t>(tensor.grid->size())) {
  State& first = states_[static_cast<size_t>(from)];
  first.seconds = 0;
  first.peak = tensor.bytes[static_cast<size_t>(from)];
  queue_.emplace(0, first.peak, from);
}

void GridWays::Settle(int to) {
  while (!states_[static_cast<size_t>(to)].settled && !queue_.empty()) {
    int at = std::get<2>(queue_.top());
    queue_.pop();
    if (!states_[static_cast<size_t>(at)].settled) Leave(at);
  }
}

void GridWays::Leave(int from) {
  State& at = states_[static_cast<size_t>(from)];
  at.settled = true;
  for (const Grid::Edge& edge : tensor_.grid->edges(from)) {
    State& to = states_[static_cast<size_t>(edge.to)];
    if (to.settled) continue;
    int64_t after = tensor_.bytes[static_cast<size_t>(edge.to)];
    bool gathers = tensor_.grid->move(edge).kind == Move::kAllGather;
    int64_t bytes = gathers ? after : tensor_.bytes[static_cast<size_t>(from)];
    double seconds = at.seconds + edge.fixed + edge.each_byte * static_cast<double>(bytes);
    int64_t peak = std::max(at.peak, after);
    if (std::tie(to.seconds, to.peak) <= std::tie(seconds, peak)) continue;
    to = {seconds, peak, &edge, from, false};
    queue_.emplace(seconds, peak, edge.to);
  }
}

Path GridWays::PathTo(const Mesh& mesh, int to) {
  Settle(to);
  Path path;
  path.peak_bytes = states_[static_cast<size_t>(to)].peak;
  for (const State* at = &states_[static_cast<size_t>(to)]; at->before >= 0;
       at = &states_[static_cast<size_t>(at->before)]) {
    Move move = tensor_.grid->move(*at->through);
    bool gathers = move.kind == Move::kAllGather;
    int64_t bytes = tensor_.bytes[static_cast<size_t>(gathers ? at->through->to : at->before)];
    move.seconds = CollectiveSeconds(mesh, move.kind, move.axes, bytes);
    move.bytes = SentBytes(mesh, move, bytes);
    path.seconds += move.seconds;
    path.moves.push_back(move);
  }
  std::reverse(path.moves.begin(), path.moves.end());
  return path;
}

}  // namespace ms::parallel
