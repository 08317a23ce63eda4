// All passes together: what is left of a training step, and how long it takes.
#include <chrono>

#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::Main;

TEST(Pipeline, AGradientLeavesStraightCode) {
  auto module = Parse(R"(
    graph main(x: Float32[4, 3], w: Float32[3, 2]) -> (Float32[], Float32[3, 2]) {
      %0 = Partial(x, w, graph=@net)
      %1 = Call(%0)
      %2 = Vjp(%0)
      %3, %4 = Call(%2)
      %5 = Constant(Float32[] [1.0])
      %6 = Call(%4, %5)
      %7, %8 = BoxGet(%6, types=[11, 2, 4, 3, 11, 2, 3, 2])
      return %1, %8
    }
    graph net[x: Float32[4, 3], w: Float32[3, 2]]() -> (Float32[]) {
      %0 = MatMul(x, w)
      %1 = Sin(%0)
      %2 = ReduceSum(%1)
      return %2
    })");
  SetVerifying(true);
  std::vector<std::string> changes;
  PassOptions options;
  options.dump = [&](const std::string& pass, const Module&) { changes.push_back(pass); };
  Optimize(*module, options);
  SetVerifying(false);
  EXPECT_EQ(module->graphs().size(), 1u);
  std::vector<std::string> ops;
  for (const Node* n : module->main()->nodes()) {
    if (n->op) ops.push_back(n->op->name);
  }
  EXPECT_THAT(ops, ::testing::UnorderedElementsAre("MatMul", "Sin", "ReduceSum", "Cos", "MatMul"))
      << Print(*module);
  EXPECT_THAT(changes,
              ::testing::IsSupersetOf({"MergeCalls", "ExpandGradients", "Inline", "Simplify"}));
}

// The exponential is a result, but has no tangent: nothing of its gradient is left.
TEST(Pipeline, ResultsWithoutTangentsCostNothing) {
  auto module = Parse(R"(
    graph main(x: Float32[3]) -> (Float32[3], Float32[3]) {
      %0 = Partial(graph=@f)
      %1 = Vjp(%0)
      %2, %3, %4 = Call(%1, x)
      %5 = Fill(dtype=Float32, shape=[3], value=1.0)
      %6 = ZerosLike(%3)
      %7, %8 = Call(%4, %5, %6)
      return %3, %8
    }
    graph f(x: Float32[3]) -> (Float32[3], Float32[3]) {
      %0 = Sin(x)
      %1 = Exp(x)
      return %0, %1
    })");
  Optimize(*module);
  EXPECT_TRUE(testing::SameGraphs(*module, R"(
    graph main(x: Float32[3]) -> (Float32[3], Float32[3]) {
      %0 = Exp(x)
      %1 = Cos(x)
      return %0, %1
    })"));
}

TEST(Pipeline, NestedGradientsUnfold) {
  // d/dx of (d/dx sin(x) * x)
  auto module = Parse(R"(
    graph main(x: Float64[]) -> (Float64[]) {
      %0 = Partial(graph=@first)
      %1 = Vjp(%0)
      %2, %3 = Call(%1, x)
      %4 = Constant(Float64[] [1.0])
      %5, %6 = Call(%3, %4)
      return %6
    }
    graph first(x: Float64[]) -> (Float64[]) {
      %0 = Partial(graph=@f)
      %1 = Vjp(%0)
      %2, %3 = Call(%1, x)
      %4 = Constant(Float64[] [1.0])
      %5, %6 = Call(%3, %4)
      %7 = Mul(%6, x)
      return %7
    }
    graph f(x: Float64[]) -> (Float64[]) {
      %0 = Sin(x)
      return %0
    })");
  SetVerifying(true);
  Optimize(*module);
  SetVerifying(false);
  EXPECT_EQ(module->graphs().size(), 1u) << Print(*module);
  for (const Node* n : module->main()->nodes())
    EXPECT_FALSE(n->op && n->op->structural) << Print(*module);
}

double Seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Every graph-sized table is linear: a quadratic one would take minutes here. The figures are of
// benchmarks/compile_time.py.
TEST(Pipeline, LongStraightGraphsAreLinear) {
  double seconds[2];
  for (int i = 0; i < 2; ++i) {
    auto module = testing::Chain(25'000 << (2 * i), {"Sin", "Mul", "Neg", "Tanh"});
    auto start = std::chrono::steady_clock::now();
    Optimize(*module);
    seconds[i] = Seconds(start);
    EXPECT_GT(module->main()->nodes().size(), 25'000u << (2 * i));
  }
  fmt::print("passes over 25k nodes {:.3f} s, over 100k nodes {:.3f} s\n", seconds[0], seconds[1]);
}

TEST(Pipeline, GradientsOfLongGraphs) {
  auto module = testing::Chain(50'000, {"Sin", "Mul"});
  Graph* net = module->main();
  Graph* out = module->NewGraph("grad");
  GraphEmitter emitter(out);
  Var x{out->AddParameter(Type(DType::kFloat32, {2}), "x"), 0};
  Var vjp = emitter.Emit(*Control().vjp, {emitter.Partial(net, {})}, nullptr)[0];
  Vars forward = emitter.CallFunction(vjp, {x});
  Var seed = emitter.Full(1, Type(DType::kFloat32, {2})).var;
  out->SetOutputs({emitter.CallFunction(forward[1], {seed})[1]});
  module->set_main(out);
  auto start = std::chrono::steady_clock::now();
  Optimize(*module);
  double seconds = Seconds(start);
  Verify(*module, Level::kNoGradLeft);
  EXPECT_EQ(module->graphs().size(), 1u);
  fmt::print("gradient of 50k nodes: {} nodes in {:.3f} s\n", module->main()->nodes().size(),
             seconds);
}

}  // namespace
}  // namespace ms
