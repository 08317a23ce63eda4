// Plans of programs that say themselves how values lie: ops ShardHint around ops and values.
#include "passes/parallel/networks.h"

namespace ms::parallel {
namespace {

using namespace testing;
using ms::testing::ErrorOf;
using ::testing::HasSubstr;

std::string Hinted(Network& n, const std::string& value, const std::string& layout,
                   const std::string& strategy = "") {
  return n.Op("ShardHint({}, layout=\"{}\", strategy=\"{}\")", value, layout, strategy);
}

// A product whose operands, and result, are pinned where the texts say something.
std::unique_ptr<Module> Product(const std::string& x_pin, const std::string& w_pin,
                                const std::string& y_pin = "") {
  Network n;
  std::string x = n.Data("x", "Float32[64, 32]"), w = n.Parameter("w", "Float32[32, 16]");
  if (!x_pin.empty()) x = Hinted(n, x, x_pin, "MatMul#0");
  if (!w_pin.empty()) w = Hinted(n, w, w_pin, "MatMul#0");
  std::string y = n.Op("MatMul({}, {})", x, w);
  if (!y_pin.empty()) y = Hinted(n, y, y_pin, "MatMul#0");
  return n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", n.Op("ReLU({})", y)));
}

PlanOptions Modes(const Module& module, Mode mode) {
  PlanOptions options = OptionsFor(module, MeshOf({2, 2}));
  options.mode = mode;
  return options;
}
constexpr Mode kModes[] = {Mode::kSemiAuto, Mode::kPropagation, Mode::kSearch, Mode::kRecursive};

std::string PlannedProduct(const Module& module, Mode mode) {
  return Layouts(module, MakePlan(module, Modes(module, mode)), "f", "MatMul")[0];
}

TEST(Pins, OpsTakeThemInEveryMode) {
  for (Mode mode : kModes) {
    EXPECT_EQ(PlannedProduct(*Product("[-, a]", "[a, -]"), mode), "[-, a] [a, -] -> [-, -] sum(a)");
    EXPECT_EQ(PlannedProduct(*Product("[a, -]", "[-, b]"), mode), "[a, -] [-, b] -> [a, b]");
    EXPECT_EQ(PlannedProduct(*Product("[-, -]", "[-, -]"), mode), "[-, -] [-, -] -> [-, -]");
    // Parts of a sum are handed out as the result is pinned.
    EXPECT_EQ(PlannedProduct(*Product("[-, a]", "[a, -]", "[a, -]"), mode),
              "[-, a] [a, -] -> [-, -] sum(a)");
  }
}

TEST(Pins, WhatIsNotPinnedIsFree) {
  // The rows of x are cut as nothing else may be.
  EXPECT_EQ(PlannedProduct(*Product("", "[-, b]"), Mode::kSemiAuto), "[a, -] [-, b] -> [a, b]");
}

TEST(Pins, NeighboursAndParametersFollow) {
  auto module = Product("[-, -]", "[-, a]");
  Plan plan = MakePlan(*module, Modes(*module, Mode::kSemiAuto));
  // Along b the product is computed alike, and the rows of what follows are cut.
  EXPECT_EQ(Layouts(*module, plan, "f", "MatMul")[0], "[-, -] [-, a] -> [-, a]");
  EXPECT_EQ(Layouts(*module, plan, "f", "ReLU")[0], "[b, a] -> [b, a]");
  for (const Var& v : module->main()->inputs()) {
    if (v.node->name == "w" || v.node->name == "m_w") {
      EXPECT_EQ(plan.parameters.at(v.node).ToString(plan.mesh), "[-, a]") << v.node->name;
    }
  }
}

TEST(Pins, ValuesLieAsTheySay) {
  Network n;
  std::string x = n.Data("x", "Float32[64, 32]"), w = n.Parameter("w", "Float32[32, 32]");
  std::string y = n.Op("MatMul({}, {})", x, w);
  y = n.Op("ReLU({})", Hinted(n, y, "[b, a]", "reshard"));
  y = n.Op("Neg({})", Hinted(n, y, "[-, -]", "reshard"));
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", y));
  for (Mode mode : kModes) {
    Plan plan = MakePlan(*module, Modes(*module, mode));
    std::vector<std::string> hints = Layouts(*module, plan, "f", "ShardHint");
    EXPECT_EQ(hints[0], "[b, a] -> [b, a]");
    EXPECT_EQ(hints[1], "[-, -] -> [-, -]");
  }
}

TEST(Pins, OpsInARowMayDiffer) {
  Network n;
  std::string x = n.Data("x", "Float32[64, 32]"), w = n.Parameter("w", "Float32[32, 32]");
  std::string y = n.Op("MatMul({}, {})", Hinted(n, x, "[a, -]", "MatMul#0"),
                       Hinted(n, w, "[-, b]", "MatMul#0"));
  std::string v = n.Parameter("w_next", "Float32[32, 32]");
  y = n.Op("MatMul({}, {})", Hinted(n, y, "[-, a]", "MatMul#1"),
           Hinted(n, v, "[a, -]", "MatMul#1"));
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", y));
  for (Mode mode : kModes) {
    Plan plan = MakePlan(*module, Modes(*module, mode));
    std::vector<std::string> products = Layouts(*module, plan, "f", "MatMul");
    EXPECT_EQ(products[0], "[a, -] [-, b] -> [a, b]");
    EXPECT_EQ(products[1], "[-, a] [a, -] -> [-, -] sum(a)");
  }
}

std::string ErrorOfPlan(const Module& module) {
  return ErrorOf([&] { MakePlan(module, Modes(module, Mode::kSemiAuto)); });
}

TEST(Pins, ThatTheRuleCannotHaveAreRefused) {
  std::string error = ErrorOfPlan(*Product("[-, a]", "[-, -]"));
  EXPECT_THAT(error, HasSubstr("For 'MatMul', along the axis 'a' all inputs and outputs must be "
                               "cut where they belong together, but got layouts of inputs [-, a] "
                               "[-, -], outputs any"));
  EXPECT_THAT(ErrorOfPlan(*Product("[a, -]", "[-, a]")), HasSubstr("along the axis 'a'"));
  EXPECT_THAT(ErrorOfPlan(*Product("[a, -]", "[-, -]", "[-, a]")), HasSubstr("outputs [-, a]"));
  EXPECT_THAT(ErrorOfPlan(*Product("[c, -]", "[-, -]")), HasSubstr("For 'MatMul'"));
}

TEST(Pins, OfWhatIsNeverCutAreRefused) {
  Network n;
  std::string x = n.Data("x", "Float32[64, 32]"), w = n.Parameter("w", "Float32[32]");
  std::string y =
      n.Op("Softmax({}, axis=[-1])", Hinted(n, n.Op("Mul({}, {})", x, w), "[-, a]", "Softmax#0"));
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", y));
  std::string error = ErrorOfPlan(*module);
  EXPECT_THAT(error, HasSubstr("For 'Softmax', dimension 1 of input 0 must not be cut"));
  EXPECT_THAT(error, HasSubstr("but got layouts of inputs [-, a]"));
}

TEST(Pins, OfMorePiecesThanElementsAreRefused) {
  Network n;
  std::string x = n.Data("x", "Float32[3, 32]"), w = n.Parameter("w", "Float32[32]");
  std::string y = n.Op("Mul({}, {})", Hinted(n, x, "[(a, b), -]", "reshard"), w);
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", y));
  EXPECT_THAT(ErrorOfPlan(*module), HasSubstr("got 4 pieces of dimension 0"));
}

TEST(Pins, WhatGathersMuchIsWarnedOf) {
  Network n;
  std::string x = n.Data("x", "Float32[1024, 1024]"), w = n.Parameter("w", "Float32[1024, 1024]");
  std::string y = Hinted(n, n.Op("MatMul({}, {})", x, w), "[a, -]", "reshard");
  y = n.Op("CumSum({}, axis=0)", n.Op("Reshape({}, shape=[-1])", y));
  auto module = n.Step(n.Op("ReduceMean({}, axis=[], keep_dims=false)", y));
  Plan plan = MakePlan(*module, Modes(*module, Mode::kSemiAuto));
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_THAT(plan.warnings[0], HasSubstr("For 'CumSum', nothing can be cut"));
}

}  // namespace
}  // namespace ms::parallel
