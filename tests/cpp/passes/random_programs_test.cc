// Passes keep what programs compute and the order of their effects; gradients match differences. On
// random programs.
#include "passes/random_programs.h"

#include <cstdlib>

#include "grad/scalar_machine.h"
#include "passes/pipeline.h"

namespace ms {
namespace {

using testing::RandomProgram;
using testing::ScalarMachine;

struct Outcome {
  std::vector<double> values;
  std::vector<std::string> effects;
};

Outcome RunProgram(const Module& module, double x) {
  ScalarMachine machine;
  Outcome outcome;
  for (const testing::Value& v : machine.Run(*module.main(), {{x}, {0.7}}))
    outcome.values.push_back(v.number());
  outcome.effects = machine.effects;
  return outcome;
}

void ExpectSame(const Module& got, const Module& expected, double x, unsigned seed) {
  Outcome a = RunProgram(got, x), b = RunProgram(expected, x);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_NEAR(a.values[i], b.values[i], 1e-9 * std::max(1.0, std::abs(b.values[i])))
        << "program " << seed;
  }
  EXPECT_EQ(a.effects, b.effects) << "program " << seed;
}

// d main[0] / d x as a program of its own.
std::unique_ptr<Module> Gradient(std::unique_ptr<Module> module) {
  Graph* g = module->main();
  Graph* out = module->NewGraph("grad");
  GraphEmitter emitter(out);
  Vars arguments;
  for (const Node* p : g->parameters())
    arguments.push_back({out->AddParameter(p->outputs[0], p->name), 0});
  Var vjp = emitter.Emit(*Control().vjp, {emitter.Partial(g, {})}, nullptr)[0];
  Vars forward = emitter.CallFunction(vjp, arguments);
  Vars seeds{emitter.Constant(Tensor::Scalar(1.0), false)};
  for (size_t i = 1; i < g->outputs().size(); ++i)
    seeds.push_back(emitter.Full(0, g->outputs()[i].type()).var);
  out->SetOutputs({emitter.CallFunction(forward.back(), seeds)[1]});
  module->set_main(out);
  return module;
}

void Expand(Module& module) {
  while (ExpandGradients(module)) {
  }
}

// MS_RANDOM_PROGRAMS=20000 in the environment makes it a longer search.
const unsigned kPrograms = [] {
  const char* count = std::getenv("MS_RANDOM_PROGRAMS");
  return count ? static_cast<unsigned>(std::atoi(count)) : 300u;
}();

class RandomPrograms : public ::testing::Test {
 protected:
  void SetUp() override { SetVerifying(true); }
  void TearDown() override { SetVerifying(false); }
};

TEST_F(RandomPrograms, TextRoundTrips) {
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    auto module = RandomProgram(seed).Make();
    Verify(*module);
    EXPECT_TRUE(testing::SameGraphs(*Parse(Print(*module)), *module)) << "program " << seed;
  }
}

TEST_F(RandomPrograms, PassesKeepTheMeaning) {
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    auto plain = RandomProgram(seed).Make();
    auto optimised = RandomProgram(seed).Make();
    Optimize(*optimised);
    for (double x : {0.3, -1.2}) ExpectSame(*optimised, *plain, x, seed);
    if (HasFailure()) break;
  }
}

// With a small budget for inlining, functions stay functions.
TEST_F(RandomPrograms, PassesKeepTheMeaningOfCalls) {
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    auto plain = RandomProgram(seed).Make();
    auto optimised = RandomProgram(seed).Make();
    for (int round = 0; round < 3; ++round) {
      Simplify(*optimised);
      MergeEqualNodes(*optimised);
      RemoveDeadCode(*optimised);
      Verify(*optimised);
    }
    ExpectSame(*optimised, *plain, 0.4, seed);
    if (HasFailure()) break;
  }
}

TEST_F(RandomPrograms, GradientsMatchDifferences) {
  int compared = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    auto function = RandomProgram(seed).Make();
    auto plain = Gradient(RandomProgram(seed).Make());
    auto optimised = Gradient(RandomProgram(seed).Make());
    Expand(*plain);
    Verify(*plain, Level::kNoGradLeft);
    Optimize(*optimised);
    double x = 0.31;  // none of the numbers in the programs: a branch may turn there
    ExpectSame(*optimised, *plain, x, seed);
    auto slope = [&](double h) {
      return (RunProgram(*function, x + h).values[0] - RunProgram(*function, x - h).values[0]) /
             (2 * h);
    };
    double wide = slope(1e-4), narrow = slope(1e-5);
    double size = std::max(1.0, std::abs(narrow));
    if (std::isfinite(narrow) && std::abs(wide - narrow) < 1e-4 * size) {  // no jump, not too steep
      ++compared;
      EXPECT_NEAR(RunProgram(*plain, x).values[0], narrow, 1e-3 * size) << "program " << seed;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(compared, static_cast<int>(kPrograms) / 2);
}

TEST_F(RandomPrograms, SecondGradientsAgree) {
  for (unsigned seed = 0; seed < kPrograms / 3; ++seed) {
    auto plain = Gradient(Gradient(RandomProgram(seed).Make()));
    auto optimised = Gradient(Gradient(RandomProgram(seed).Make()));
    Expand(*plain);
    Optimize(*optimised);
    ExpectSame(*optimised, *plain, 0.3, seed);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace ms
