// Ways from one layout of one tensor to all others, for the Redistributor. With few axes the
// layouts between which moves lead are numbered once for all tensors of a rank whose sizes divide
// alike (Grid), and each question is a Dijkstra over arrays. With many axes layouts are numbered as
// they are met (Ways), and go only where the ends have them.
#pragma once

#include <limits>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "passes/parallel/fold.h"
#include "passes/parallel/moves.h"

namespace ms::parallel {

class Grid {
 public:
  struct Edge {
    int to;
    int move;         // number of a move
    float fixed;      // seconds
    float each_byte;  // seconds for each byte of the piece before, of that after for a gather
  };
  // All layouts that the active axes can make of a tensor, partial ones of `kind` among them.
  Grid(const Mesh& mesh, const Shape& shape, const MoveScope& scope, Partial kind);

  int Number(const Layout& layout) const {
    auto found = numbers_.find(layout);
    return found == numbers_.end() ? -1 : found->second;
  }
  int size() const { return static_cast<int>(states_.size()); }
  const Layout& state(int i) const { return states_[static_cast<size_t>(i)]; }
  std::span<const Edge> edges(int i) const {
    auto first = static_cast<size_t>(first_[static_cast<size_t>(i)]);
    return std::span(edges_).subspan(
        first, static_cast<size_t>(first_[static_cast<size_t>(i) + 1]) - first);
  }
  const Move& move(const Edge& edge) const { return moves_[static_cast<size_t>(edge.move)]; }

 private:
  int Add(const Layout& layout);

  std::vector<Layout> states_;
  std::unordered_map<Layout, int, LayoutHash> numbers_;
  std::vector<int> first_;
  std::vector<Edge> edges_;
  std::vector<Move> moves_;  // without bytes and seconds
};

// A tensor on a grid: how large its pieces are.
struct GridTensor {
  const Grid* grid = nullptr;
  std::vector<int64_t> bytes;  // of the largest piece, by state
};

// The cheapest ways from one state to others, found as far as they are asked for.
class GridWays {
 public:
  GridWays(const GridTensor& tensor, int from);
  double Seconds(int to) {
    Settle(to);
    return states_[static_cast<size_t>(to)].seconds;
  }
  // The moves with their bytes and seconds; `mesh` of the grid.
  Path PathTo(const Mesh& mesh, int to);

 private:
  struct State {
    double seconds = std::numeric_limits<double>::infinity();
    int64_t peak = 0;
    const Grid::Edge* through = nullptr;
    int before = -1;
    bool settled = false;
  };
  using Entry = std::tuple<double, int64_t, int>;  // seconds, peak, state

  void Settle(int to);
  void Leave(int from);

  const GridTensor& tensor_;
  std::vector<State> states_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// The same where there are many axes: one question, of a tensor whose elements have `item` bytes.
Path FindWay(const Mesh& mesh, const Shape& shape, size_t item, const Layout& from,
             const Layout& to, const MoveScope& scope);

// About what a way takes that is not looked for: one move for each axis, in a good order.
double SecondsByAxis(const Mesh& mesh, const FoldedWay& way);

}  // namespace ms::parallel
