// ▷ of functions that stay values, against finite differences and against reverse mode.
#include "grad/forward.h"

#include "grad/programs.h"
#include "grad/scalar_machine.h"
#include "passes/pipeline.h"

namespace ms {
namespace {

using testing::ScalarMachine;
using testing::Value;
using testing::Values;

// The graph of d output 0 / d input 0 of g, by forward or reverse mode.
Graph* SlopeOf(Module& module, Graph* g, bool forward) {
  Graph* out = module.NewGraph("slope_" + g->name());
  GraphEmitter emitter(out);
  Vars arguments;
  for (const Node* p : g->parameters())
    arguments.push_back({out->AddParameter(p->outputs[0], p->name), 0});
  const OpDef& op = forward ? *Control().jvp : *Control().vjp;
  Var f = emitter.Emit(op, {emitter.Partial(g, {})}, nullptr)[0];
  Var one = emitter.Constant(Tensor::Scalar(1.0), false);
  if (!forward) {
    Vars results = emitter.CallFunction(f, arguments);
    out->SetOutputs({emitter.CallFunction(results.back(), {one})[1]});
    return out;
  }
  Vars tangents;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].type().has_tangent()) continue;
    tangents.push_back(i == 0 ? one : emitter.Full(0, arguments[i].type().Tangent()).var);
  }
  arguments.insert(arguments.end(), tangents.begin(), tangents.end());
  out->SetOutputs({emitter.CallFunction(f, arguments)[g->outputs().size()]});
  return out;
}

struct Case {
  const char* name;
  const char* program;
  std::vector<double> arguments;
};

class Forward : public ::testing::TestWithParam<Case> {
 protected:
  // `modes`: 'f' or 'r' for each order.
  static std::unique_ptr<Module> Slope(std::string_view modes, bool optimize) {
    auto module = Parse(GetParam().program);
    for (char mode : modes) module->set_main(SlopeOf(*module, module->main(), mode == 'f'));
    if (optimize) {
      Optimize(*module);
    } else {
      while (ExpandGradients(*module)) Verify(*module);
    }
    Verify(*module, Level::kNoGradLeft);
    return module;
  }
  static double Evaluate(const Module& module, double x) {
    Values inputs;
    for (double v : GetParam().arguments) inputs.push_back({v});
    inputs[0] = {x};
    return ScalarMachine().Run(*module.main(), inputs)[0].number();
  }
};

TEST_P(Forward, MatchesDifferencesToThirdOrder) {
  double x = GetParam().arguments[0], h = 1e-4;
  auto previous = Parse(GetParam().program);
  for (const char* modes : {"f", "ff", "fff"}) {
    auto slope = Slope(modes, false);
    double numeric = (Evaluate(*previous, x + h) - Evaluate(*previous, x - h)) / (2 * h);
    EXPECT_NEAR(Evaluate(*slope, x), numeric, 1e-5 * std::max(1.0, std::abs(numeric))) << modes;
    previous = std::move(slope);
  }
}

TEST_P(Forward, AgreesWithReverseModeInAnyOrder) {
  double x = GetParam().arguments[0];
  double wanted = Evaluate(*Slope("rr", true), x);
  for (const char* modes : {"ff", "rf", "fr"}) {
    EXPECT_NEAR(Evaluate(*Slope(modes, true), x), wanted, 1e-9 * std::max(1.0, std::abs(wanted)))
        << modes;
    EXPECT_NEAR(Evaluate(*Slope(modes, false), x), wanted, 1e-9 * std::max(1.0, std::abs(wanted)))
        << modes;
  }
}

INSTANTIATE_TEST_SUITE_P(Closure, Forward,
                         ::testing::Values(Case{"power", testing::kPower, {2.0, 5.0}},
                                           Case{"sine_arm", testing::kChoose, {0.7}},
                                           Case{"square_arm", testing::kChoose, {1.3}},
                                           Case{"loop", testing::kLoop, {0.9}},
                                           Case{"then", testing::kBranch, {0.6, 3}},
                                           Case{"else", testing::kBranch, {1.6, 3}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ForwardMode, LoopsStayLoops) {
  auto module = Parse(testing::kLoop);
  module->set_main(SlopeOf(*module, module->main(), true));
  Optimize(*module);
  auto is_loop = [](const auto& g) { return g->loop.body != nullptr; };
  EXPECT_TRUE(std::any_of(module->graphs().begin(), module->graphs().end(), is_loop));
}

// 10^4 graphs, each calling the next: no pass recurses, none is quadratic.
TEST(Transforms, DeepNestsOfGraphs) {
  constexpr int kDepth = 10'000;
  for (bool batch : {false, true}) {
    Module module;
    Graph* callee = nullptr;
    for (int i = 0; i < kDepth; ++i) {
      Graph* g = module.NewGraph("g");
      GraphEmitter emitter(g);
      Term x = emitter.Wrap({g->AddParameter(Type(DType::kFloat64, {}), "x"), 0});
      Term y = x * x;
      g->SetOutputs(
          {callee ? emitter.CallFunction(emitter.Partial(callee, {}), {y.var})[0] : y.var});
      callee = g;
    }
    Graph* main = module.NewGraph("main");
    GraphEmitter emitter(main);
    Var x{main->AddParameter(Type(DType::kFloat64, {3}), "x"), 0};
    AttrsRef attrs = MakeAttrs(*Control().vmap,
                               {{"in_axes", Ints{0}}, {"out_axes", Ints{0}}, {"size", int64_t{3}}});
    if (batch) {
      Var f = emitter.Emit(*Control().vmap, {emitter.Partial(callee, {})}, attrs)[0];
      main->SetOutputs(emitter.CallFunction(f, {x}));
      module.set_main(main);
      EXPECT_TRUE(ExpandBatches(module));
    } else {
      module.set_main(SlopeOf(module, callee, true));
      EXPECT_TRUE(ExpandGradients(module));
    }
    Verify(module);
    Optimize(module);
    EXPECT_EQ(module.graphs().size(), 1u);
  }
}

}  // namespace
}  // namespace ms
