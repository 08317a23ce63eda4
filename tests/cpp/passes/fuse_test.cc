// Fuse: which nodes become one, and which stay apart.
#include "passes/fuse/fuse.h"

#include "ops/fused.h"
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

std::string Graph2(const std::string& body, const std::string& results = "Float32[4, 8]") {
  return "graph main(x: Float32[4, 8], y: Float32[4, 8], b: Float32[8], w: Float32[8, 8]) -> (" +
         results + ") {\n" + body + "\n}\n";
}

void ExpectUnchanged(const std::string& text) { ExpectPass(Fuse, text, text); }

TEST(Fuse, ChainWithANumber) {
  ExpectPass(Fuse,
             Graph2("%0 = Constant(Float32[] [2.0])\n%1 = Mul(x, %0)\n%2 = Add(%1, b)\n"
                    "%3 = Exp(%2)\nreturn %3"),
             Graph2("%0 = Fused(x, b, body=@fused)\nreturn %0") + R"(
  graph fused(x0: Float32[4, 8], x1: Float32[8]) -> (Float32[4, 8]) {
    %0 = Constant(Float32[] [2.0])
    %1 = Mul(x0, %0)
    %2 = Add(%1, x1)
    %3 = Exp(%2)
    return %3
  })");
}

TEST(Fuse, SingleNodesStay) {
  ExpectUnchanged(Graph2("%0 = Add(x, b)\nreturn %0"));
  ExpectUnchanged(Graph2("%0 = Add(x, b)\n%1 = MatMul(%0, w)\n%2 = Tanh(%1)\nreturn %2"));
  ExpectUnchanged(Graph2("%0 = ReduceSum(x, axis=[0])\nreturn %0", "Float32[8]"));
}

TEST(Fuse, ValuesThatOthersNeedAreOutputs) {
  ExpectPass(Fuse,
             Graph2("%0 = Add(x, y)\n%1 = MatMul(%0, w)\n%2 = Exp(%0)\nreturn %1, %2",
                    "Float32[4, 8], Float32[4, 8]"),
             Graph2("%0, %1 = Fused(x, y, body=@fused)\n%2 = MatMul(%0, w)\nreturn %2, %1",
                    "Float32[4, 8], Float32[4, 8]") +
                 R"(
  graph fused(x0: Float32[4, 8], x1: Float32[4, 8]) -> (Float32[4, 8], Float32[4, 8]) {
    %0 = Add(x0, x1)
    %1 = Exp(%0)
    return %0, %1
  })");
}

// They run in the launch of all updates.
TEST(Fuse, WhatLeadsToUpdatesAloneStays) {
  auto updating = [](const std::string& body, const std::string& results) {
    std::string text = Graph2(body, results);
    return text.replace(text.find(") {"), 3, ") updates(0=0) {");
  };
  std::string start = "%0 = Constant(Float32[] [0.5])\n%1 = Mul(y, %0)\n%2 = Add(%1, x)\n";
  ExpectUnchanged(
      updating(start + "%3 = ApplyGradientDescent(x, %0, %2)\nreturn %3", "Float32[4, 8]"));
  ExpectPass(Fuse,
             updating(start + "%3 = ApplyGradientDescent(x, %0, %2)\nreturn %3, %2",
                      "Float32[4, 8], Float32[4, 8]"),
             updating("%0 = Constant(Float32[] [0.5])\n%1 = Fused(y, x, body=@fused)\n"
                      "%2 = ApplyGradientDescent(x, %0, %1)\nreturn %2, %1",
                      "Float32[4, 8], Float32[4, 8]") +
                 R"(
  graph fused(x0: Float32[4, 8], x1: Float32[4, 8]) -> (Float32[4, 8]) {
    %0 = Constant(Float32[] [0.5])
    %1 = Mul(x0, %0)
    %2 = Add(%1, x1)
    return %2
  })");
}

TEST(Fuse, NeverMakesACycle) {
  ExpectUnchanged(Graph2("%0 = Exp(x)\n%1 = MatMul(%0, w)\n%2 = Add(%0, %1)\nreturn %2"));
}

TEST(Fuse, ReadsThroughTransposesAndReshapes) {
  ExpectPass(Fuse, R"(
  graph main(x: Float32[2, 3, 4], y: Float32[6, 4]) -> (Float32[6, 4]) {
    %0 = Exp(x)
    %1 = Reshape(%0, shape=[6, 4])
    %2 = Mul(%1, y)
    return %2
  })",
             R"(
  graph main(x: Float32[2, 3, 4], y: Float32[6, 4]) -> (Float32[6, 4]) {
    %0 = Fused(x, y, body=@fused)
    return %0
  }
  graph fused(x0: Float32[2, 3, 4], x1: Float32[6, 4]) -> (Float32[6, 4]) {
    %0 = Exp(x0)
    %1 = Reshape(x1, shape=[2, 3, 4])
    %2 = Mul(%0, %1)
    %3 = Reshape(%2, shape=[6, 4])
    return %3
  })");
  ExpectPass(Fuse, R"(
  graph main(x: Float32[3, 4], y: Float32[4, 3]) -> (Float32[4, 3]) {
    %0 = Transpose(x, perm=[1, 0])
    %1 = Add(%0, y)
    return %1
  })",
             R"(
  graph main(x: Float32[3, 4], y: Float32[4, 3]) -> (Float32[4, 3]) {
    %0 = Fused(x, y, body=@fused)
    return %0
  }
  graph fused(x0: Float32[3, 4], x1: Float32[4, 3]) -> (Float32[4, 3]) {
    %0 = Transpose(x0, perm=[1, 0])
    %1 = Add(%0, x1)
    return %1
  })");
}

TEST(Fuse, RowsWithTheirReductions) {
  ExpectPass(Fuse,
             Graph2("%0 = ReduceMax(x, axis=[1], keep_dims=true)\n%1 = Sub(x, %0)\n%2 = Exp(%1)\n"
                    "%3 = ReduceSum(%2, axis=[-1])\n%4 = Reshape(%3, shape=[4, 1])\n"
                    "%5 = RealDiv(%2, %4)\nreturn %5"),
             Graph2("%0 = Fused(x, body=@fused)\nreturn %0") + R"(
  graph fused(x0: Float32[4, 8]) -> (Float32[4, 8]) {
    %0 = ReduceMax(x0, axis=[1], keep_dims=true)
    %1 = Sub(x0, %0)
    %2 = Exp(%1)
    %3 = ReduceSum(%2, axis=[1], keep_dims=true)
    %4 = RealDiv(%2, %3)
    return %4
  })");
}

TEST(Fuse, AColumnSumBesideWhatItReads) {
  ExpectPass(
      Fuse,
      Graph2("%0 = Mul(x, y)\n%1 = ReduceSum(%0, axis=[0])\nreturn %0, %1",
             "Float32[4, 8], Float32[8]"),
      Graph2("%0, %1 = Fused(x, y, body=@fused)\nreturn %0, %1", "Float32[4, 8], Float32[8]") +
          R"(
  graph fused(x0: Float32[4, 8], x1: Float32[4, 8]) -> (Float32[4, 8], Float32[8]) {
    %0 = Mul(x0, x1)
    %1 = ReduceSum(%0, axis=[0], keep_dims=true)
    %2 = Reshape(%1, shape=[8])
    return %0, %2
  })");
}

TEST(Fuse, WhatUsesAColumnSumInFullStaysApart) {
  ExpectUnchanged(
      Graph2("%0 = ReduceSum(x, axis=[0], keep_dims=true)\n%1 = Mul(y, %0)\nreturn %1"));
}

TEST(Fuse, SiblingsReadTheirInputOnce) {
  auto module =
      Parse(Graph2("%0 = Tanh(x)\n%1 = Mul(x, y)\nreturn %0, %1", "Float32[4, 8], Float32[4, 8]"));
  EXPECT_TRUE(Fuse(*module));
  Verify(*module);
  EXPECT_EQ(module->main()->nodes().size(), 5u);
}

TEST(Fuse, SmallValuesAreNotComputedForEveryElement) {
  ExpectUnchanged(Graph2("%0 = Exp(b)\n%1 = Add(x, %0)\nreturn %1"));
}

// The ops of the only body, in words.
std::string Bodies(const std::string& text) {
  auto module = Parse(text);
  Fuse(*module);
  Verify(*module);
  std::string ops;
  for (const Node* node : module->main()->nodes()) {
    if (node->kind != NodeKind::kApply) continue;
    ops += (ops.empty() ? "" : "; ") + node->op->name;
    if (!IsFused(*node)) continue;
    for (const Node* inner : FusedGraph(*node)->nodes()) {
      if (inner->kind == NodeKind::kApply) ops += " " + inner->op->name;
    }
  }
  return ops;
}

TEST(Fuse, SoftmaxAndLayerNormJoinWhatIsAroundThem) {
  EXPECT_EQ(Bodies(Graph2("%0 = Add(x, y)\n%1 = Softmax(%0)\nreturn %1")),
            "Fused Add ReduceMax Sub Exp ReduceSum Reciprocal Mul");
  EXPECT_EQ(Bodies(Graph2("%0, %1, %2 = LayerNorm(x, b, b)\n%3 = GeLU(%0)\n"
                          "%4 = Softmax(%3)\nreturn %4")),
            "Fused ReduceMean Sub Mul ReduceMean Add Rsqrt Mul Mul Add GeLU ReduceMax Sub Exp "
            "ReduceSum Reciprocal Mul");
  EXPECT_EQ(Bodies(Graph2("%0 = SoftmaxGrad(x, y)\n%1 = Neg(%0)\nreturn %1")),
            "Fused Mul ReduceSum Sub Mul Neg");
}

TEST(Fuse, SoftmaxAndLayerNormStayAlone) {
  EXPECT_EQ(Bodies(Graph2("%0 = MatMul(x, w)\n%1 = Softmax(%0)\n%2 = MatMul(%1, w)\nreturn %2")),
            "MatMul; Softmax; MatMul");
  EXPECT_EQ(Bodies(Graph2("%0 = Add(x, y)\n%1 = Softmax(%0, axis=[0])\nreturn %1")),
            "Add; Softmax");
  EXPECT_EQ(Bodies(Graph2("%1 = ReduceMean(x, axis=[1], "
                          "keep_dims=true)\n%2, %3, %4 = LayerNormGrad(y, x, %1, %1, b)\n"
                          "return %2, %3, %4",
                          "Float32[4, 8], Float32[8], Float32[8]")),
            "ReduceMean; LayerNormGrad");
}

TEST(Fuse, ResultsThatNobodyReadsMakeNoBodies) {
  EXPECT_EQ(
      Bodies(Graph2("%0 = Exp(x)\n%1, %2, %3 = LayerNorm(%0, b, b)\nreturn %2", "Float32[4, 1]")),
      "Fused Exp ReduceMean");
  EXPECT_EQ(Bodies(Graph2("%0 = Exp(x)\n%1 = Mul(%0, y)\nreturn x")), "Exp; Mul");
}

TEST(Fuse, RunsOnce) {
  auto module = Parse(Graph2("%0 = Add(x, b)\n%1 = Exp(%0)\nreturn %1"));
  EXPECT_TRUE(Fuse(*module));
  EXPECT_FALSE(Fuse(*module));
}

}  // namespace
}  // namespace ms
