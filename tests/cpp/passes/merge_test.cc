// MergeEqualNodes, MergeCalls and FoldConstants.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;
using testing::Main;

bool MergeAll(Module& module) { return MergeEqualNodes(module); }

TEST(MergeEqualNodes, PureNodesAndSmallConstants) {
  ExpectPass(MergeAll,
             Main("%0 = Constant(Float32[] [2.0])\n%1 = Mul(x, %0)\n%2 = Constant(Float32[] "
                  "[2.0])\n%3 = Mul(x, %2)\n"
                  "%4 = Add(%1, %3)\nreturn %4"),
             Main("%0 = Constant(Float32[] [2.0])\n%1 = Mul(x, %0)\n%4 = Add(%1, %1)\nreturn %4"));
}

TEST(MergeEqualNodes, TellsAttributesTypesAndEffectsApart) {
  for (std::string text : {
           Main("%0 = Softmax(x)\n%1 = Softmax(x, axis=[0])\n%2 = Add(%0, %1)\nreturn %2"),
           Main("%0 = Constant(Float32[] [0.0])\n%1 = Constant(Float32[] [-0.0])\n%2 = RealDiv(x, "
                "%0)\n"
                "%3 = RealDiv(x, %1)\n%4 = Add(%2, %3)\nreturn %4"),
           Main("%0 = Constant(Float32[] [1.0])\n%1 = Constant(weak Float32[] [1.0])\n%2 = Mul(x, "
                "%0)\n"
                "%3 = Mul(x, %1)\n%4 = Add(%2, %3)\nreturn %4"),
           Main("%0, %1 = Dropout(x)\n%2, %3 = Dropout(x)\n%4 = Add(%0, %2)\nreturn %4"),
       }) {
    ExpectPass(MergeAll, text, text);
  }
}

const char kDrop[] = R"(
  graph f(x: Float32[2]) -> (Float32[2]) {
    %0, %1 = Dropout(x)
    return %0
  })";
const char kSeed[] = "%s = Fill(dtype=Float32, shape=[2], value=1.0)\n";

TEST(MergeCalls, AFunctionBesideItsGradientRunsOnce) {
  std::string after =
      Main(std::string(kSeed) +
           "%0 = Partial(graph=@f)\n%1 = Vjp(%0)\n%2, %3 = Call(%1, x)\n%4, %5 = Call(%3, %s)\n"
           "%6 = Add(%2, %5)\nreturn %6") +
      kDrop;
  auto run = [](Module& module) { return MergeCalls(module) && (RemoveDeadCode(module), true); };
  // The plain call first, then the gradient; and the other way round.
  ExpectPass(run,
             Main(std::string(kSeed) +
                  "%0 = Partial(graph=@f)\n%y = Call(%0, x)\n%1 = Vjp(%0)\n"
                  "%2, %3 = Call(%1, x)\n%4, %5 = Call(%3, %s)\n%6 = Add(%y, %5)\nreturn %6") +
                 kDrop,
             after);
  ExpectPass(run,
             Main(std::string(kSeed) +
                  "%0 = Partial(graph=@f)\n%1 = Vjp(%0)\n%2, %3 = Call(%1, x)\n"
                  "%y = Call(%0, x)\n%4, %5 = Call(%3, %s)\n%6 = Add(%y, %5)\nreturn %6") +
                 kDrop,
             after);
}

TEST(MergeCalls, OtherArgumentsAndFurtherRunsStay) {
  std::string other =
      Main(
          "%0 = Partial(graph=@f)\n%y = Call(%0, y)\n%1 = Vjp(%0)\n%2, %3 = Call(%1, x)\n"
          "%6 = Add(%y, %2)\nreturn %6") +
      kDrop;
  ExpectPass(MergeCalls, other, other);
  // Two runs and one gradient: the gradient is that of the second run.
  auto module =
      Parse(Main("%0 = Partial(graph=@f)\n%y = Call(%0, x)\n%z = Call(%0, x)\n%1 = Vjp(%0)\n"
                 "%2, %3 = Call(%1, x)\n%4 = Add(%y, %z)\n%5 = Add(%4, %2)\nreturn %5") +
            kDrop);
  MergeCalls(*module);
  RemoveDeadCode(*module);
  Verify(*module);
  EXPECT_TRUE(testing::SameGraphs(
      *module, Main("%0 = Partial(graph=@f)\n%y = Call(%0, x)\n%1 = Vjp(%0)\n"
                    "%2, %3 = Call(%1, x)\n%4 = Add(%y, %2)\n%5 = Add(%4, %2)\nreturn %5") +
                   kDrop));
}

TEST(FoldConstants, ReplacesNodesOfConstants) {
  int calls = 0;
  auto fold = [&](Module& module) {
    return FoldConstants(module, [&](const Node& node) {
      ++calls;
      EXPECT_EQ(node.op->name, "Add");
      return std::vector<Tensor>{Tensor::Scalar(5.0f)};
    });
  };
  ExpectPass(
      [&](Module& m) { return fold(m) && (RemoveDeadCode(m), true); },
      Main("%0 = Constant(Float32[] [2.0])\n%1 = Constant(Float32[] [3.0])\n%2 = Add(%0, %1)\n"
           "%3 = Mul(x, %2)\nreturn %3"),
      Main("%0 = Constant(Float32[] [5.0])\n%3 = Mul(x, %0)\nreturn %3"));
  EXPECT_EQ(calls, 1);
  std::string large =
      Main("%0 = Constant(Float32[] [2.0])\n%1 = BroadcastTo(%0, shape=[1000])\nreturn x");
  ExpectPass(fold, large, large);  // would make the program larger
}

}  // namespace
}  // namespace ms
