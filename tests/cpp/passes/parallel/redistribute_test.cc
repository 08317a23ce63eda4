// Redistribution: for all pairs of layouts, the moves of the path lead simulated ranks from one to
// the other; what paths cost and how they look where that is known.
#include "passes/parallel/redistribute.h"

#include "passes/parallel/simulated.h"

namespace ms::parallel {
namespace {

using testing::Piece1;
using testing::Ranks;

Mesh MeshOf(std::vector<int64_t> sizes, double slow = 1) {
  Mesh mesh;
  for (size_t i = 0; i < sizes.size(); ++i) {
    double factor = i == 0 ? slow : 1;
    mesh.axes.push_back(
        {std::string(1, static_cast<char>('a' + i)), sizes[i], 1e-6, factor * 1e-9});
  }
  return mesh;
}

Piece1 Counted(const Shape& shape) {
  Piece1 whole{shape, {}};
  for (int64_t i = 0; i < shape.size(); ++i) whole.values.push_back(i * 7 % 1000);
  return whole;
}

// All layouts, with all orders of axes within a dimension.
std::vector<Layout> AllLayouts(int rank, int axes, Partial kind = Partial::kSum) {
  std::vector<Layout> layouts{Layout::Replicated(rank)};
  std::vector<int> order;
  for (int a = 0; a < axes; ++a) order.push_back(a);
  std::vector<Layout> result;
  do {
    layouts = {Layout::Replicated(rank)};
    for (int axis : order) {
      std::vector<Layout> more;
      for (const Layout& l : layouts) {
        more.push_back(l);
        if (kind != Partial::kNone) more.push_back(l.With(axis, kind));
        for (int dim = 0; dim < rank; ++dim) more.push_back(l.Cut(dim, axis));
      }
      layouts = std::move(more);
    }
    for (const Layout& l : layouts) {
      if (std::find(result.begin(), result.end(), l) == result.end()) result.push_back(l);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

bool Leads(const Mesh& mesh, const Layout& from, const Layout& to) {
  for (int a = 0; a < mesh.count(); ++a) {
    if (to.partial(a) != Partial::kNone && to.partial(a) != from.partial(a)) return false;
  }
  return true;
}

void CheckAllPairs(const Mesh& mesh, const Shape& shape, size_t step = 1,
                   Partial kind = Partial::kSum) {
  Redistributor redistributor(mesh);
  Type type(DType::kInt32, shape);
  std::vector<Layout> all = AllLayouts(shape.rank(), mesh.count(), kind);
  Piece1 whole = Counted(shape);
  size_t number = 0;
  for (const Layout& from : all) {
    for (const Layout& to : all) {
      if (!Leads(mesh, from, to) || number++ % step) continue;
      Ranks ranks(mesh, whole, from, static_cast<unsigned>(number));
      const Path& path = redistributor.Find(type, from, to);
      double seconds = 0;
      for (const Move& move : path.moves) {
        ranks.Apply(move);
        seconds += move.seconds;
        if (::testing::Test::HasFatalFailure()) return;
      }
      ASSERT_TRUE(ranks.Right(to)) << from.ToString(mesh) << " to " << to.ToString(mesh);
      ASSERT_NEAR(seconds, path.seconds, 1e-12);
      ASSERT_NEAR(redistributor.Seconds(type, from, to), path.seconds, 1e-6 * path.seconds + 1e-12);
    }
  }
}

TEST(Redistribute, AllPairsOfThreeAxes) {
  CheckAllPairs(MeshOf({2, 2, 2}), {8, 8, 8}, 7);
  CheckAllPairs(MeshOf({2, 3, 2}), {12, 12}, 1);
  CheckAllPairs(MeshOf({2, 3, 2}), {12}, 1);
}
TEST(Redistribute, AllPairsOfUnevenPieces) {
  CheckAllPairs(MeshOf({2, 3}), {5, 7, 3});
  CheckAllPairs(MeshOf({2, 2, 2}), {5, 3}, 3);
  CheckAllPairs(MeshOf({2, 3, 2}), {7}, 1);
  CheckAllPairs(MeshOf({4, 2}), {3, 1});  // more pieces than elements
}
TEST(Redistribute, ExtremesJoinToo) {
  CheckAllPairs(MeshOf({2, 2}), {4, 6}, 1, Partial::kMax);
  CheckAllPairs(MeshOf({2, 3}), {5, 6}, 1, Partial::kMin);
}
TEST(Redistribute, ManyAxes) {
  CheckAllPairs(MeshOf({2, 2, 2, 2}), {16, 16}, 37);
  CheckAllPairs(MeshOf({2, 2, 2, 2}), {5, 16}, 101);
  // Random ends on seven axes, some of them in blocks.
  Mesh mesh = MeshOf({2, 1, 2, 2, 2, 2, 2});
  Redistributor redistributor(mesh);
  Shape shape{64, 64, 2};
  Piece1 whole = Counted(shape);
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    Layout ends[2] = {Layout::Replicated(3), Layout::Replicated(3)};
    for (Layout& end : ends) {
      for (int axis = 0; axis < 7; ++axis) {
        auto place = static_cast<int>(random() % 4);
        if (place < 2) end = end.Cut(place, axis);
        if (place == 3 && &end == ends) end = end.With(axis, Partial::kSum);
      }
    }
    Ranks ranks(mesh, whole, ends[0], static_cast<unsigned>(i));
    for (const Move& move :
         redistributor.Find(Type(DType::kFloat32, shape), ends[0], ends[1]).moves)
      ranks.Apply(move);
    ASSERT_TRUE(ranks.Right(ends[1])) << ends[0].ToString(mesh) << " to " << ends[1].ToString(mesh);
  }
}

// Of several speeds, some of which go the same way and so as one.
TEST(Redistribute, AxesThatGoTogether) {
  Mesh mesh = MeshOf({2, 2, 2, 2, 2, 3});
  mesh.axes[1].beta = mesh.axes[0].beta = 1e-8;
  Redistributor redistributor(mesh);
  Shape shape{8, 96, 8};
  Piece1 whole = Counted(shape);
  std::mt19937 random(6);
  for (int i = 0; i < 80; ++i) {
    Layout ends[2] = {Layout::Replicated(3), Layout::Replicated(3)};
    for (Layout& end : ends) {
      int place = 0;
      for (int axis = 0; axis < 6; ++axis) {
        if (axis == 0 || random() % 2) place = static_cast<int>(random() % 4);
        bool fits = place < 3 && shape[place] % (end.Cuts(place, mesh) * mesh.size(axis)) == 0;
        if (fits) end = end.Cut(place, axis);
        if (place == 3 && &end == ends) end = end.With(axis, Partial::kSum);
      }
    }
    Ranks ranks(mesh, whole, ends[0], static_cast<unsigned>(i));
    Type type(DType::kInt32, shape);
    const Path& path = redistributor.Find(type, ends[0], ends[1]);
    for (const Move& move : path.moves) ranks.Apply(move);
    ASSERT_TRUE(ranks.Right(ends[1])) << ends[0].ToString(mesh) << " to " << ends[1].ToString(mesh);
    double seconds = redistributor.Seconds(type, ends[0], ends[1]);
    ASSERT_NEAR(seconds, path.seconds, 1e-6 * path.seconds + 1e-12);
  }
}

std::string Words(const Mesh& mesh, const Path& path) {
  std::string text;
  for (const Move& move : path.moves) {
    text += fmt::format("{}{}(", text.empty() ? "" : " ", Name(move.kind));
    for (int axis : move.axes) text += mesh.axes[static_cast<size_t>(axis)].name;
    text += ")";
  }
  return text;
}

TEST(Redistribute, FreeAxesHelpSlowOnesTogether) {
  Mesh mesh = MeshOf({2, 2, 2, 2, 2, 2});
  for (size_t a = 0; a < 3; ++a) mesh.axes[a].beta = 2e-8;
  Redistributor redistributor(mesh);
  Layout pending = Layout::Replicated(1);
  for (int a = 0; a < 3; ++a) pending = pending.With(a, Partial::kSum);
  Type type(DType::kFloat32, {int64_t{1} << 24});
  EXPECT_EQ(Words(mesh, redistributor.Find(type, pending, Layout::Replicated(1))),
            "slice(def) all-reduce(abc) all-gather(def)");
}

TEST(Redistribute, AllReduceAcrossHostsIsHierarchical) {
  Mesh mesh = MeshOf({8, 8}, 20);
  Redistributor redistributor(mesh);
  Layout pending = Layout::Replicated(1).With(0, Partial::kSum).With(1, Partial::kSum);
  Type type(DType::kFloat32, {int64_t{1} << 24});
  EXPECT_EQ(Words(mesh, redistributor.Find(type, pending, Layout::Replicated(1))),
            "reduce-scatter(b) all-reduce(a) all-gather(b)");
  // A small one is quicker at once, and a free axis helps a slow one.
  EXPECT_EQ(
      Words(mesh, redistributor.Find(Type(DType::kFloat32, {8}), pending, Layout::Replicated(1))),
      "all-reduce(ab)");
  EXPECT_EQ(Words(mesh, redistributor.Find(type, Layout::Replicated(1).With(0, Partial::kSum),
                                           Layout::Replicated(1))),
            "slice(b) all-reduce(a) all-gather(b)");
}

TEST(Redistribute, NoGatherWhereAnExchangeDoes) {
  Mesh mesh = MeshOf({4, 2});
  Redistributor redistributor(mesh);
  Type type(DType::kFloat32, {64, 64});
  Layout rows = Layout::Replicated(2).Cut(0, 0).Cut(0, 1);
  Layout columns = Layout::Replicated(2).Cut(1, 0).Cut(1, 1);
  const Path& path = redistributor.Find(type, rows, columns);
  EXPECT_EQ(path.peak_bytes, 64 * 64 * 4 / 8);
  for (const Move& move : path.moves) EXPECT_NE(move.kind, Move::kAllGather);
  EXPECT_EQ(redistributor.Find(type, rows, rows).moves.size(), 0u);
}

}  // namespace
}  // namespace ms::parallel
