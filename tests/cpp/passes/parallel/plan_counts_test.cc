// What a plan says of itself: how often graphs run, what no plan can do without, what is not cut
// and why, and where the time goes.
#include "passes/parallel/callees.h"
#include "passes/parallel/explain.h"
#include "passes/parallel/networks.h"

namespace ms::parallel {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const Graph* Named(const Module& module, std::string_view name) {
  for (const auto& graph : module.graphs()) {
    if (graph->name() == name) return graph.get();
  }
  return nullptr;
}

TEST(Counts, GraphsRunAsOftenAsTheyAreCalled) {
  auto module = Parse(R"(
    graph main(x: Float32[64, 64], c: Bool[]) -> (Float32[64, 64]) {
      %0 = Partial(graph=@twice)
      %1 = Call(%0, x)
      %2 = Call(%0, %1)
      %3 = Call(%0, %2)
      %4 = Partial(graph=@once)
      %5 = Switch(c, %0, %4)
      %6 = Call(%5, %3)
      return %6
    }
    graph twice(x: Float32[64, 64]) -> (Float32[64, 64]) {
      %0 = Partial(graph=@once)
      %1 = Call(%0, x)
      %2 = Call(%0, %1)
      return %2
    }
    graph once(x: Float32[64, 64]) -> (Float32[64, 64]) {
      %0 = MatMul(x, x)
      return %0
    })");
  Callees callees(*module);
  EXPECT_EQ(callees.Times(Named(*module, "main")), 1);
  EXPECT_EQ(callees.Times(Named(*module, "twice")), 3.5);  // one arm of two
  EXPECT_EQ(callees.Times(Named(*module, "once")), 7.5);
  PlanOptions options;
  options.mesh = MeshOf({1});
  Plan plan = MakePlan(*module, options);
  const Node* product = nullptr;
  for (const Node* node : Named(*module, "once")->nodes()) {
    if (node->kind == NodeKind::kApply) product = node;
  }
  double one = 2.0 * 64 * 64 * 64 / options.device.flops +
               3.0 * 4 * 64 * 64 / options.device.bytes + options.device.launch;
  EXPECT_NEAR(plan.of(product).compute_seconds, 7.5 * one, 1e-3 * one);
}

TEST(Counts, LoopsRunTheirBodies) {
  auto module = Parse(R"(
    graph main(x: Float32[64, 64]) -> (Float32[64, 64]) {
      %0 = Constant(Int64[] [0])
      %1 = Partial(graph=@loop)
      %2 = Call(%1, %0, x)
      return %2
    }
    graph loop(i: Int64[], x: Float32[64, 64]) -> (Float32[64, 64]) loop(body=@body, done=@done, trip_count=8) {
      %0 = Constant(Int64[] [8])
      %1 = Less(i, %0)
      %2 = Partial(i, x, graph=@body)
      %3 = Partial(x, graph=@done)
      %4 = Switch(%1, %2, %3)
      %5 = Call(%4)
      return %5
    }
    graph body[i: Int64[], x: Float32[64, 64]]() -> (Float32[64, 64]) {
      %0 = Constant(Int64[] [1])
      %1 = Add(i, %0)
      %2 = MatMul(x, x)
      %3 = Partial(graph=@loop)
      %4 = Call(%3, %1, %2)
      return %4
    }
    graph done[x: Float32[64, 64]]() -> (Float32[64, 64]) {
      return x
    })");
  Callees callees(*module);
  EXPECT_EQ(callees.Times(Named(*module, "loop")), 8);
  EXPECT_EQ(callees.Times(Named(*module, "body")), 8);
  EXPECT_EQ(callees.Times(Named(*module, "done")), 1);
}

TEST(Bounds, OfManyAxesAreBelowThePlanAndNotNothing) {
  Sizes sizes;
  sizes.batch = 16;
  sizes.layers = 1;
  auto module = Transformer(sizes).Step();
  PlanOptions options = OptionsFor(*module, MeshOf({2, 2, 2, 2}));
  options.device = FastDevice();
  for (Mode mode : {Mode::kSearch, Mode::kRecursive, Mode::kSemiAuto}) {
    options.mode = mode;
    Plan plan = MakePlan(*module, options);
    EXPECT_GT(plan.bound, 0);
    EXPECT_LE(plan.bound, plan.seconds);
  }
  // What no plan of any mesh can do without is no more than the least there is.
  options.mesh = MeshOf({2, 2});
  options.mode = Mode::kSearch;
  Plan exact = MakePlan(*module, options);
  options.mode = Mode::kRecursive;
  EXPECT_LE(MakePlan(*module, options).bound, exact.seconds);
}

TEST(Whole, ConvolutionsSayWhy) {
  Network n;
  std::string x = n.Data("x", "Float32[1, 1, 1024, 512]");
  std::string w = n.Parameter("w", "Float32[1, 1, 3, 3]");
  x = n.Op(
      "Conv2D({}, {}, out_channel=1, kernel_size=[3, 3], pad_mode=\"same\", pad=[0, 0, 0, 0], "
      "stride=[1, 1], dilation=[1, 1])",
      x, w);
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", x));
  PlanOptions options = OptionsFor(*module, MeshOf({2}));
  options.alternatives = true;
  Plan plan = MakePlan(*module, options);
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_THAT(plan.warnings[0], HasSubstr("For 'Conv2D', each device computes all of"));
  EXPECT_THAT(plan.warnings[0], HasSubstr("would need rows of the neighbours"));
  EXPECT_THAT(ToText(Explain(*module, plan)), HasSubstr("not cut: '"));
}

TEST(Parts, AddUpToTheStep) {
  Sizes sizes;
  sizes.batch = 16;
  auto module = Transformer(sizes).Step();
  PlanOptions options = OptionsFor(*module, MeshOf({2, 4}));
  options.device = FastDevice();
  options.alternatives = true;
  Plan plan = MakePlan(*module, options);
  double seconds = 0;
  for (const Part& part : plan.parts) seconds += part.seconds;
  EXPECT_NEAR(seconds, plan.seconds, 1e-3 * plan.seconds);
  EXPECT_GT(plan.critical.seconds, 0);
  EXPECT_LE(plan.critical.seconds, plan.seconds * (1 + 1e-6));
  EXPECT_GE(plan.critical.seconds, plan.parts[0].seconds + plan.parts[1].seconds - 1e-9);
}

}  // namespace
}  // namespace ms::parallel
