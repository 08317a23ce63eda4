// Sums of which each process gets its rows go to where what they add up is made.
#include "passes/passes_test.h"

namespace ms {
namespace {

// The ops of a program in their order, after the pass.
std::string Order(const std::string& body, bool changes) {
  auto module = Parse("graph main(x: Float32[4], y: Float32[4]) -> (Float32[2], Float32[2]) {\n" +
                      body + "\n}\n");
  Verify(*module);
  EXPECT_EQ(ScatterEarly(*module), changes);
  Verify(*module);
  std::string order;
  for (const auto& graph : module->graphs()) {
    for (const Node* node : graph->nodes()) {
      if (node->kind == NodeKind::kApply) order += node->op->name + " ";
    }
  }
  return order;
}

const std::string kScatter = "group=\"g\", members=2";

TEST(ScatterEarly, GoesToWhereItsGradientIsMade) {
  EXPECT_EQ(Order("%0 = Sin(x)\n%1 = Cos(y)\n%2 = Exp(%1)\n%3 = ReduceScatter(%0, " + kScatter +
                      ")\n%4 = ReduceScatter(%2, " + kScatter + ")\nreturn %3, %4",
                  true),
            "Sin ReduceScatter Cos Exp ReduceScatter ");
}

TEST(ScatterEarly, KeepsTheOrderOfCallsOfAll) {
  EXPECT_EQ(Order("%0 = Sin(x)\n%1 = Cos(y)\n%2 = Exp(%1)\n%3 = ReduceScatter(%1, " + kScatter +
                      ")\n%4 = ReduceScatter(%0, " + kScatter + ")\nreturn %3, %4",
                  true),
            "Sin Cos ReduceScatter ReduceScatter Exp ");
  EXPECT_EQ(Order("%0 = Sin(x)\n%1 = Cos(y)\n%2 = AllReduce(%1, " + kScatter +
                      ")\n%3 = ReduceScatter(%0, " + kScatter + ")\n%4 = ReduceScatter(%2, " +
                      kScatter + ")\nreturn %3, %4",
                  false),
            "Sin Cos AllReduce ReduceScatter ReduceScatter ");
}

}  // namespace
}  // namespace ms
