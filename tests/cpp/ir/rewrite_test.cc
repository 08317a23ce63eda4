// The rewriting walk and rules written as text.
#include "ir/rewrite.h"

#include "ir/testing.h"

namespace ms {
namespace {

using testing::ErrorOf;
using testing::SameGraphs;

constexpr char kText[] = R"(
  graph main(x: Float32[2], y: Float32[2]) -> (Float32[2]) {
    %0 = Sin(x)
    %1 = Cos(%0)
    %2 = Add(%1, y)
    return %2
  })";

TEST(Rewriter, PutsNewNodesBeforeTheVisitedOne) {
  auto module = Parse(kText);
  Rewriter rewriter(module->main());
  rewriter.Walk([&](Node& node) {
    if (!node.op || node.op->name != "Cos") return;
    Term x = rewriter.emitter().Wrap(node.inputs[0]);
    rewriter.Replace({&node, 0}, (-x).var);
    rewriter.Drop(node);
  });
  EXPECT_TRUE(rewriter.changed());
  Verify(*module);
  EXPECT_TRUE(SameGraphs(*module, R"(
    graph main(x: Float32[2], y: Float32[2]) -> (Float32[2]) {
      %0 = Sin(x)
      %1 = Neg(%0)
      %2 = Add(%1, y)
      return %2
    })"));
}

TEST(Rewriter, LeavesAGraphThatNothingChanges) {
  auto module = Parse(kText);
  std::vector<Node*> before = module->main()->nodes();
  Rewriter rewriter(module->main());
  rewriter.Walk([](Node&) {});
  EXPECT_FALSE(rewriter.changed());
  EXPECT_EQ(module->main()->nodes(), before);
}

TEST(Rewriter, OutputsFollowReplacements) {
  auto module = Parse(kText);
  Rewriter rewriter(module->main());
  rewriter.Walk([&](Node& node) {
    if (node.op && node.op->name == "Add") rewriter.Replace({&node, 0}, node.inputs[0]);
  });
  EXPECT_EQ(module->main()->outputs()[0].node->op->name, "Cos");
}

// Each way to change a graph, first done at the last node: what was visited before keeps its place.
TEST(Rewriter, AFirstChangeLateKeepsTheOrder) {
  auto names = [](const Module& module) {
    std::vector<std::string_view> found;
    for (const Node* node : module.main()->nodes()) {
      if (node->op) found.push_back(node->op->name);
    }
    return found;
  };
  using Visit = std::function<void(Rewriter&, Node&)>;
  auto changed = [&](const Visit& visit) {
    auto module = Parse(kText);
    Rewriter rewriter(module->main());
    rewriter.Walk([&](Node& node) {
      if (node.op && node.op->name == "Add") visit(rewriter, node);
    });
    EXPECT_TRUE(rewriter.changed());
    Verify(*module);
    return names(*module);
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(changed([](Rewriter& r, Node& node) { r.emitter().Wrap(node.inputs[0]) * 2.0; }),
              ElementsAre("Sin", "Cos", "Mul", "Add"));
  EXPECT_THAT(changed([](Rewriter& r, Node& node) { r.Replace({&node, 0}, node.inputs[0]); }),
              ElementsAre("Sin", "Cos", "Add"));
  EXPECT_THAT(changed([](Rewriter& r, Node& node) {
                r.Replace({&node, 0}, node.inputs[0]);
                r.Drop(node);
              }),
              ElementsAre("Sin", "Cos"));
}

// The replacement of output 0 of the last node of main.
std::string Applied(const RuleTable& rules, const char* text) {
  auto module = Parse(text);
  GraphEmitter emitter(module->main());
  size_t before = module->main()->nodes().size();
  Var v = rules.Apply(*module->main()->outputs()[0].node, emitter);
  if (!v) {
    EXPECT_EQ(module->main()->nodes().size(), before) << "a rule that does not apply left nodes";
    return "none";
  }
  module->main()->SetOutputs({v});
  Verify(*module);
  return v.node->op ? v.node->op->name : v.node->name;
}

TEST(Rules, MatchValuesNumbersAndAttributes) {
  const RuleTable rules{Rule("Mul(x, 1)").To("x"), Rule("Add(x, x)").To("Neg(x)"),
                        Rule("Transpose(x, perm=p)")
                            .When([](const Match& m) { return m.attr<Ints>("p")[0] == 0; })
                            .To("x"),
                        Rule("ReduceSum(x, keep_dims=1)").To("x"), Rule("Sub(x, y)").To("0")};
  auto body = [&](const std::string& statements) {
    return Applied(
        rules, ("graph main(x: Float32[2], y: Float32[2], m: Float32[2, 2]) -> (Float32[2]) {\n" +
                statements + "\nreturn %r\n}")
                   .c_str());
  };
  EXPECT_EQ(body("%c = Constant(Float32[] [1.0])\n%r = Mul(x, %c)"), "x");
  EXPECT_EQ(body("%c = Constant(Float32[2] [1.0, 1.0])\n%r = Mul(x, %c)"), "x");
  EXPECT_EQ(body("%c = Fill(dtype=Float32, shape=[2], value=1.0)\n%r = Mul(x, %c)"), "x");
  EXPECT_EQ(body("%c = Constant(Float32[2] [1.0, 2.0])\n%r = Mul(x, %c)"), "none");
  EXPECT_EQ(body("%r = Add(x, x)"), "Neg");
  EXPECT_EQ(body("%r = Add(x, y)"), "none");
  EXPECT_EQ(body("%r = Sub(x, y)"), "Fill");
}

TEST(Rules, KeepTheType) {
  const RuleTable rules{Rule("Mul(x, 1)").To("x"), Rule("Mul(1, x)").To("Neg(x)")};
  // x would lose the broadcast.
  EXPECT_EQ(Applied(rules, R"(
    graph main(x: Float32[]) -> (Float32[3]) {
      %0 = Constant(Float32[3] [1.0, 1.0, 1.0])
      %1 = Mul(x, %0)
      return %1
    })"),
            "none");
  EXPECT_EQ(Applied(rules, R"(
    graph main(x: Float32[]) -> (Float32[3]) {
      %0 = Constant(Float32[3] [1.0, 1.0, 1.0])
      %1 = Mul(%0, x)
      return %1
    })"),
            "none");
  // ... or the strength of its type.
  EXPECT_EQ(Applied(rules, R"(
    graph main(x: weak Float32[]) -> (Float32[]) {
      %0 = Constant(Float32[] [1.0])
      %1 = Mul(x, %0)
      return %1
    })"),
            "none");
}

TEST(Rules, OperandsInEitherOrderAndTexts) {
  const RuleTable rules{Rule("Add{Neg(x), Mul{y, 2}}").To("Sub(y, x)"),
                        Rule("GeLU(x, approximate=\"none\")").To("SiLU(x)")};
  auto body = [&](const std::string& statements) {
    return Applied(rules, ("graph main(x: Float32[2], y: Float32[2]) -> (Float32[2]) {\n"
                           "%n = Neg(x)\n%c = Constant(Float32[] [2.0])\n" +
                           statements + "\nreturn %r\n}")
                              .c_str());
  };
  for (const char* product : {"%m = Mul(y, %c)\n", "%m = Mul(%c, y)\n"}) {
    EXPECT_EQ(body(std::string(product) + "%r = Add(%n, %m)"), "Sub");
    EXPECT_EQ(body(std::string(product) + "%r = Add(%m, %n)"), "Sub");
    EXPECT_EQ(body(std::string(product) + "%r = Add(%m, %m)"), "none");
  }
  EXPECT_EQ(body("%r = GeLU(x, approximate=\"none\")"), "SiLU");
  EXPECT_EQ(body("%r = GeLU(x, approximate=\"tanh\")"), "none");
}

TEST(Rules, BadTextIsRefused) {
  for (const char* text :
       {"", "Mul(x", "Mul(x,,y)", "Mul(x) y", "Mul(x, axis=)", "Mul{x}", "Mul{x, y, z}",
        "Mul{x, y)", "Mul*", "Mul*(x, y)", "GeLU(x, approximate=\"no)"}) {
    EXPECT_NE(ErrorOf([&] { ParsePattern(text); }), "") << text;
  }
  const RuleTable rules{Rule("NoSuchOp(x)").To("Mul(x, AlsoNone(x))")};
  EXPECT_EQ(rules.UnknownOps().size(), 2u);
}

}  // namespace
}  // namespace ms
