// ▶ and ◀ of functions that stay values, against finite differences, to third order.
#include "grad/closure.h"

#include "grad/programs.h"
#include "grad/scalar_machine.h"
#include "passes/pipeline.h"

namespace ms {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::ScalarMachine;
using testing::Value;
using testing::Values;

// The graph of d output 0 / d input 0 of g; g has only tensors as inputs.
Graph* GradientOf(Module& module, Graph* g) {
  Graph* out = module.NewGraph("grad_" + g->name());
  GraphEmitter emitter(out);
  Vars arguments;
  for (const Node* p : g->parameters())
    arguments.push_back({out->AddParameter(p->outputs[0], p->name), 0});
  Var vjp = emitter.Emit(*Control().vjp, {emitter.Partial(g, {})}, nullptr)[0];
  Vars forward = emitter.CallFunction(vjp, arguments);
  Vars seeds{emitter.Constant(Tensor::Scalar(1.0), false)};
  out->SetOutputs({emitter.CallFunction(forward.back(), seeds)[1]});
  return out;
}

struct Case {
  const char* name;
  const char* program;
  std::vector<double> arguments;
};

class Gradients : public ::testing::TestWithParam<Case> {
 protected:
  // The gradient of order k as a module of its own.
  static std::unique_ptr<Module> Order(int k) {
    auto module = Parse(GetParam().program);
    for (int i = 0; i < k; ++i) module->set_main(GradientOf(*module, module->main()));
    return module;
  }
  static double Evaluate(const Module& module, double x, int* steps = nullptr) {
    Values inputs;
    for (double v : GetParam().arguments) inputs.push_back({v});
    inputs[0] = {x};
    ScalarMachine machine;
    double y = machine.Run(*module.main(), inputs)[0].number();
    if (steps) *steps = machine.steps;
    return y;
  }
  static void ExpectSlope(const Module& gradient, const Module& function, int order) {
    double x = GetParam().arguments[0], h = 1e-4;
    double numeric = (Evaluate(function, x + h) - Evaluate(function, x - h)) / (2 * h);
    EXPECT_NEAR(Evaluate(gradient, x), numeric, 1e-5 * std::max(1.0, std::abs(numeric)))
        << "order " << order;
  }
};

void ExpandAll(Module& module) {
  Verify(module);
  while (ExpandGradients(module)) Verify(module);
  Verify(module, Level::kNoGradLeft);
}

TEST_P(Gradients, MatchDifferencesToThirdOrder) {
  auto previous = Order(0);
  for (int k = 1; k <= 3; ++k) {
    auto gradient = Order(k);
    ExpandAll(*gradient);
    ExpectSlope(*gradient, *previous, k);
    previous = std::move(gradient);
  }
}

TEST_P(Gradients, MatchDifferencesWhenOptimised) {
  SetVerifying(true);
  auto previous = Order(0);
  Optimize(*previous);
  for (int k = 1; k <= 3; ++k) {
    auto gradient = Order(k);
    auto plain = Order(k);
    Optimize(*gradient);
    Verify(*gradient, Level::kNoGradLeft);
    ExpectSlope(*gradient, *previous, k);
    ExpandAll(*plain);
    int steps = 0, plain_steps = 0;
    Evaluate(*gradient, GetParam().arguments[0], &steps);
    Evaluate(*plain, GetParam().arguments[0], &plain_steps);
    EXPECT_LT(steps, plain_steps);
    previous = std::move(gradient);
  }
  SetVerifying(false);
}

INSTANTIATE_TEST_SUITE_P(Closure, Gradients,
                         ::testing::Values(Case{"power", testing::kPower, {2.0, 5.0}},
                                           Case{"sine_arm", testing::kChoose, {0.7}},
                                           Case{"square_arm", testing::kChoose, {1.3}},
                                           Case{"loop", testing::kLoop, {0.9}},
                                           Case{"then", testing::kBranch, {0.6, 3}},
                                           Case{"else", testing::kBranch, {1.6, 3}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Closure, SavesOnlyWhatGradientsRead) {
  auto module = Parse(R"(
    graph main(x: Float32[4, 2], y: Float32[4, 2]) -> (Float32[8], Float32[4, 2]) {
      %0 = Add(x, y)
      %1 = Sin(%0)
      %2 = Reshape(%1, shape=[8])
      %3 = Mul(%2, %2)
      %4 = Neg(%1)
      return %3, %4
    })");
  ClosureGradients gradients(module.get());
  Graph* forward = gradients.Forward(module->main());
  const Node* closure = forward->outputs().back().node;
  // The cosine reads the sum, the product reads the sine, as the reshaped view of it.
  std::vector<std::string> saved;
  for (const Var& v : closure->inputs) saved.push_back(v.node->op->name);
  EXPECT_THAT(saved, ::testing::UnorderedElementsAre("Add", "Sin"));
  Verify(*module);
}

TEST(Closure, IntegersHaveTangentsOfTheirType) {
  auto module = Parse(testing::kBranch);
  ClosureGradients gradients(module.get());
  Graph* forward = gradients.Forward(module->main());
  EXPECT_EQ(forward->outputs().back().type().ToString(),
            "(Float64[]) -> (Box, Float64[], Int64[])");
  Verify(*module);
}

// 10^4 graphs, each calling the next: neither the closures nor the passes recurse.
TEST(Closure, DeepNestsOfGraphs) {
  constexpr int kDepth = 10'000;
  auto build = [] {
    auto module = std::make_unique<Module>();
    Graph* callee = nullptr;
    for (int i = 0; i < kDepth; ++i) {
      Graph* g = module->NewGraph("g");
      GraphEmitter emitter(g);
      Term x = emitter.Wrap({g->AddParameter(Type(DType::kFloat64, {}), "x"), 0});
      Term y = x * x;
      g->SetOutputs(
          {callee ? emitter.CallFunction(emitter.Partial(callee, {}), {y.var})[0] : y.var});
      callee = g;
    }
    module->set_main(callee);
    return module;
  };
  auto module = build();
  module->set_main(GradientOf(*module, module->main()));
  ExpandAll(*module);
  module = build();
  module->set_main(GradientOf(*module, module->main()));
  Optimize(*module);
  EXPECT_EQ(module->graphs().size(), 1u);
  Verify(*module, Level::kNoGradLeft);
}

TEST(ExpandGradients, RefusesUnknownFunctions) {
  auto module = Parse(R"(
    graph main(f: (Float32[]) -> (Float32[]), x: Float32[]) -> (Float32[]) {
      %0 = Vjp(f)
      %1, %2 = Call(%0, x)
      return %1
    })");
  EXPECT_THAT(ErrorOf([&] { ExpandGradients(*module); }),
              HasSubstr("For 'grad', the function must be known"));
}

TEST(ExpandGradients, RefusesAGradientOfItself) {
  auto module = Parse(R"(
    graph main(x: Float32[]) -> (Float32[]) {
      %0 = Partial(graph=@main)
      %1 = Vjp(%0)
      %2, %3 = Call(%1, x)
      return %2
    })");
  EXPECT_THAT(ErrorOf([&] { ExpandGradients(*module); }),
              HasSubstr("must not take its own gradient"));
}

}  // namespace
}  // namespace ms
