// Fuse: groups that are equal but for their place share one body.
#include "passes/fuse/fuse.h"

#include "ops/fused.h"
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

// Two groups with a MatMul between them, which no group takes.
std::string Pair(const std::string& first, const std::string& second) {
  return "graph main(x: Float32[4, 8], y: Float32[4, 8], w: Float32[8, 8]) -> (Float32[4, 8]) {\n" +
         first + "%9 = MatMul(%8, w)\n" + second + "return %19\n}\n";
}

// How many bodies the groups of a graph have.
size_t CountBodies(const std::string& text) {
  auto module = Parse(text);
  EXPECT_TRUE(Fuse(*module));
  Verify(*module);
  GraphSet bodies;
  size_t groups = 0;
  for (const Node* node : module->main()->nodes()) {
    if (!IsFused(*node)) continue;
    bodies.insert(FusedGraph(*node));
    ++groups;
  }
  EXPECT_EQ(groups, 2);
  return bodies.size();
}

TEST(FuseStructure, EqualGroupsShareABody) {
  ExpectPass(Fuse,
             Pair("%1 = Constant(Float32[] [2.0])\n%2 = Mul(x, %1)\n%8 = Sub(%2, y)\n",
                  "%11 = Constant(Float32[] [2.0])\n%12 = Mul(y, %11)\n%19 = Sub(%12, %9)\n"),
             R"(
  graph main(x: Float32[4, 8], y: Float32[4, 8], w: Float32[8, 8]) -> (Float32[4, 8]) {
    %0 = Fused(x, y, body=@fused)
    %1 = MatMul(%0, w)
    %2 = Fused(y, %1, body=@fused)
    return %2
  }
  graph fused(x0: Float32[4, 8], x1: Float32[4, 8]) -> (Float32[4, 8]) {
    %0 = Constant(Float32[] [2.0])
    %1 = Mul(x0, %0)
    %2 = Sub(%1, x1)
    return %2
  })");
}

TEST(FuseStructure, EqualGlueIsShared) {
  EXPECT_EQ(CountBodies(Pair("%1 = Transpose(w, perm=[1, 0])\n%2 = Slice(%1, begin=[0, 0], "
                             "size=[4, 8])\n%8 = Mul(x, %2)\n",
                             "%11 = Transpose(w, perm=[1, 0])\n%12 = Slice(%11, begin=[0, 0], "
                             "size=[4, 8])\n%19 = Mul(%9, %12)\n")),
            1);
}

TEST(FuseStructure, WhatDiffersIsNotShared) {
  const std::string plain = "%2 = Mul(x, y)\n%8 = Exp(%2)\n";
  auto second = [](const std::string& a, const std::string& b) {
    return "%12 = Mul(" + a + ", " + b + ")\n%19 = Exp(%12)\n";
  };
  EXPECT_EQ(CountBodies(Pair(plain, second("%9", "y"))), 1);
  EXPECT_EQ(CountBodies(Pair(plain, second("%9", "%9"))), 2) << "one input is read twice";
  EXPECT_EQ(CountBodies(Pair(plain, "%12 = Mul(%9, y)\n%19 = Tanh(%12)\n")), 2) << "another op";
  auto scaled = [](const std::string& source, const std::string& number, int at) {
    return fmt::format(
        "%{0} = Constant(Float32[] [{1}])\n%{2} = Mul({3}, %{0})\n%{4} = Exp(%{2})\n", at + 1,
        number, at + 2, source, at + 8 + at / 10);
  };
  EXPECT_EQ(CountBodies(Pair(scaled("x", "2.0", 0), scaled("%9", "2.0", 10))), 1);
  EXPECT_EQ(CountBodies(Pair(scaled("x", "2.0", 0), scaled("%9", "3.0", 10))), 2)
      << "another number";
}

TEST(FuseStructure, ANeededValueMakesAnotherGroup) {
  auto text = [](const std::string& result) {
    return "graph main(x: Float32[4, 8], y: Float32[4, 8], w: Float32[8, 8]) -> (Float32[4, 8], "
           "Float32[4, 8]) {\n%0 = Mul(x, y)\n%1 = Exp(%0)\n%2 = MatMul(%1, w)\n%3 = Mul(%2, y)\n"
           "%4 = Exp(%3)\nreturn %4, " +
           result + "\n}\n";
  };
  EXPECT_EQ(CountBodies(text("%2")), 1);
  EXPECT_EQ(CountBodies(text("%3")), 2);
}

}  // namespace
}  // namespace ms
