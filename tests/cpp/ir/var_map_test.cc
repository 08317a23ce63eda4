// Tables over the values of a graph, and who reads a value.
#include "ir/var_map.h"

#include "ir/testing.h"
#include "passes/readers.h"

namespace ms {
namespace {

constexpr const char* kGraph =
    "graph main(x: Float32[2], y: Float32[2]) -> (Float32[2], Float32[2]) {\n"
    "%0 = Add(x, y)\n%1 = Mul(%0, x)\n%2 = Mul(%0, %0)\n%3 = Exp(y)\nreturn %1, %0\n}\n";

TEST(VarMap, HoldsWhatWasPutAndTakesNodesThatAreAdded) {
  auto module = Parse(kGraph);
  Graph* graph = module->main();
  Var x = graph->inputs()[0], sum{graph->nodes()[2], 0};
  VarMap<int> map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.Find(x), nullptr);
  map[sum] = 7;
  Var added{graph->AddParameter(x.type(), "z"), 0};
  EXPECT_EQ(map.Find(added), nullptr);
  map[added] = 8;
  map[sum] += 1;
  EXPECT_EQ(*map.Find(sum), 8);
  EXPECT_EQ(*map.Find(added), 8);
  EXPECT_EQ(map.Find(x), nullptr);
}

TEST(VarSet, ForgetsWhatIsErased) {
  auto module = Parse(kGraph);
  Vars in = module->main()->inputs();
  VarSet set;
  set.insert(in[0]);
  EXPECT_TRUE(set.contains(in[0]));
  EXPECT_FALSE(set.contains(in[1]));
  set.erase(in[0]);
  EXPECT_FALSE(set.contains(in[0]));
}

TEST(Readers, AreInProgramOrderWithResultsLast) {
  auto module = Parse(kGraph);
  const auto& nodes = module->main()->nodes();
  Node *sum = nodes[2], *product = nodes[3], *square = nodes[4], *exp = nodes[5];
  Readers readers(*module->main());
  auto of = [&](Node* node) {
    auto found = readers[{node, 0}];
    return std::vector<Node*>(found.begin(), found.end());
  };
  EXPECT_EQ(of(sum), (std::vector<Node*>{product, square, square, nullptr}));
  EXPECT_EQ(of(nodes[1]), (std::vector<Node*>{sum, exp}));
  EXPECT_TRUE(of(square).empty());
  EXPECT_EQ(readers.Only({nodes[0], 0}), nullptr);
  EXPECT_EQ(readers.Only({product, 0}), nullptr);  // a result
  EXPECT_EQ(of(product).size(), 1u);
}

TEST(Readers, OnlyOne) {
  auto module = Parse(
      "graph main(x: Float32[2]) -> (Float32[2]) {\n%0 = Exp(x)\n%1 = Exp(%0)\nreturn %1\n}\n");
  const auto& nodes = module->main()->nodes();
  Readers readers(*module->main());
  EXPECT_EQ(readers.Only({nodes[0], 0}), nodes[1]);
  EXPECT_EQ(readers.Only({nodes[1], 0}), nodes[2]);
}

}  // namespace
}  // namespace ms
