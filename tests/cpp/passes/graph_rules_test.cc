// Rules that replace several nodes at once.
#include "passes/graph_rules.h"

#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ErrorOf;
using testing::ExpectPass;
using testing::Main;

void Becomes(const GraphRules& rules, const std::string& before, const std::string& after,
             const std::string& results = "Float32[2]") {
  EXPECT_TRUE(rules.UnknownOps().empty());
  ExpectPass([&](Module& m) { return rules.Apply(m.main()); }, Main(before, results),
             Main(after, results));
}
void Stays(const GraphRules& rules, const std::string& body,
           const std::string& results = "Float32[2]") {
  Becomes(rules, body, body, results);
}

const std::string kTwo = "Float32[2], Float32[2]";

TEST(GraphRules, NodesThatNobodyElseReadsGo) {
  const GraphRules rules({GraphRule("u = Sin(v)\nw = Cos(u)").To("w = Neg(v)")});
  Becomes(rules, "%0 = Sin(x)\n%1 = Cos(%0)\nreturn %1", "%0 = Neg(x)\nreturn %0");
  Stays(rules, "%0 = Sin(x)\n%1 = Cos(%0)\n%2 = Add(%1, %0)\nreturn %2");
  Stays(rules, "%0 = Sin(x)\n%1 = Cos(%0)\nreturn %1, %0", kTwo);
  Stays(rules, "%0 = Sin(x)\n%1 = Neg(%0)\nreturn %1");
}

TEST(GraphRules, WhatIsReadButNotDefinedStays) {
  const GraphRules rules({GraphRule("u = Sin(v)\nw = Cos(u)").To("w = Neg(u)")});
  Becomes(rules, "%0 = Sin(x)\n%1 = Cos(%0)\nreturn %1, %0",
          "%0 = Sin(x)\n%1 = Neg(%0)\nreturn %1, %0", kTwo);
}

// Both results of a node, one of an op that follows, and readers that come between.
// A node that stays may be part of several applications, but not go in another.
TEST(GraphRules, NodesThatStayAreShared) {
  const GraphRules rules({GraphRule("u = Sin(v)\nw = Cos(u)").To("w = Neg(u)")});
  Becomes(rules, "%0 = Sin(x)\n%1 = Cos(%0)\n%2 = Cos(%0)\nreturn %1, %2",
          "%0 = Sin(x)\n%1 = Neg(%0)\n%2 = Neg(%0)\nreturn %1, %2", kTwo);
  const GraphRules two({GraphRule("u = Sin(v)\nw = Cos(u)").To("w = Neg(u)"),
                        GraphRule("w = Sin(v)").To("w = Exp(v)")});
  Becomes(two, "%0 = Sin(x)\n%1 = Cos(%0)\n%2 = Sin(%1)\nreturn %2",
          "%0 = Sin(x)\n%1 = Neg(%0)\n%2 = Exp(%1)\nreturn %2");
}

// The same value in two places of the pattern, of which one goes.
TEST(GraphRules, WhatGoesIsNotRead) {
  const GraphRules rules({GraphRule("w = Add(Sin(v), u)").To("w = Sub(v, u)")});
  Becomes(rules, "%0 = Sin(x)\n%1 = Add(%0, y)\nreturn %1", "%0 = Sub(x, y)\nreturn %0");
  Stays(rules, "%0 = Sin(x)\n%1 = Add(%0, %0)\nreturn %1");
}

TEST(GraphRules, SeveralResultsAreReplaced) {
  const GraphRules rules({GraphRule("i, u = ArgMaxWithValue(v, axis=a, keep_dims=k)\nw = Neg(u)")
                              .To("i, s = ArgMinWithValue(v, axis=a, keep_dims=k)\nw = Exp(s)")});
  Becomes(rules,
          "%0, %1 = ArgMaxWithValue(x, keep_dims=true)\n%2 = Add(%0, %0)\n%3 = Neg(%1)\n"
          "return %2, %3",
          "%0, %1 = ArgMinWithValue(x, keep_dims=true)\n%2 = Add(%0, %0)\n%3 = Exp(%1)\n"
          "return %2, %3",
          "Int64[1], Float32[1]");
}

TEST(GraphRules, ResultsOtherThanTheNamedOneDoNotFit) {
  const GraphRules rules({GraphRule("u, i = Sort(v)\nw = Neg(i)").To("w = Abs(i)")});
  Becomes(rules, "%0, %1 = Sort(x)\n%2 = Neg(%1)\nreturn %2",
          "%0, %1 = Sort(x)\n%2 = Abs(%1)\nreturn %2", "Int32[2]");
  Stays(rules, "%0, %1 = Sort(x)\n%2 = Neg(%0)\nreturn %2");
}

TEST(GraphRules, OperandsInEitherOrder) {
  const GraphRules rules({GraphRule("w = Add{Sin(u), Mul{v, 2}}").To("w = Sub(u, v)")});
  const std::string two = "%0 = Constant(Float32[] [2.0])\n%1 = Sin(x)\n";
  for (const char* product : {"Mul(y, %0)", "Mul(%0, y)"}) {
    for (const char* sum : {"Add(%1, %2)", "Add(%2, %1)"}) {
      Becomes(rules, two + "%2 = " + product + "\n%3 = " + sum + "\nreturn %3",
              "%0 = Constant(Float32[] [2.0])\n%1 = Sub(x, y)\nreturn %1");
    }
  }
  Stays(rules, two + "%2 = Mul(%1, %0)\n%3 = Add(%2, y)\nreturn %3");
}

TEST(GraphRules, ReadersThatDoNotLeadToTheRootAreFound) {
  const GraphRules rules(
      {GraphRule("u = Sin(v)\na = Neg(u)\nb = Cos(u)").To("a, b = Sort(v)"),
       GraphRule("u = Sin(v)\na = Neg(u)\nb = Cos(u)").To("a = Exp(v)\nb = Abs(v)")});
  Becomes(rules, "%0 = Sin(x)\n%1 = Neg(%0)\n%2 = Cos(%0)\nreturn %1, %2",
          "%0 = Exp(x)\n%1 = Abs(x)\nreturn %0, %1", kTwo);
  Stays(rules,
        "%0 = Sin(x)\n%1 = Neg(%0)\n%2 = Cos(%0)\n%3 = Abs(%0)\n%4 = Add(%1, %3)\nreturn %4, %2",
        kTwo);
  Stays(rules, "%0 = Sin(x)\n%1 = Cos(%0)\nreturn %1");
}

// A new node stands where the first of its results stood.
TEST(GraphRules, OperandsMustBeThereInTime) {
  const GraphRules rules({GraphRule("u, i = Sort(v)\nw = Add{u, r}").To("w, i = Sort(r)")});
  Becomes(rules, "%0 = Neg(y)\n%1, %2 = Sort(x)\n%3 = Add(%1, %0)\nreturn %3, %2",
          "%0 = Neg(y)\n%1, %2 = Sort(%0)\nreturn %1, %2", "Float32[2], Int32[2]");
  Stays(rules, "%0, %1 = Sort(x)\n%2 = Neg(y)\n%3 = Add(%0, %2)\nreturn %3, %1",
        "Float32[2], Int32[2]");
}

TEST(GraphRules, Conditions) {
  auto is_y = [](const Match& m) { return m["v"].node->name == "y"; };
  const GraphRules rules({GraphRule("w = Sin(v)").When(is_y).To("w = Cos(v)")});
  Becomes(rules, "%0 = Sin(y)\nreturn %0", "%0 = Cos(y)\nreturn %0");
  Stays(rules, "%0 = Sin(x)\nreturn %0");
}

TEST(GraphRules, AttributesAreMatchedGivenAndComputed) {
  auto next = [](const std::vector<Attr>& in) -> Attr { return std::get<int64_t>(in[0]) + 1; };
  const GraphRules rules(
      {GraphRule("u = GeLU(v, approximate=\"none\")\nw = CumSum(u, axis=k)")
           .To("p = GeLU(v, approximate=\"tanh\")\nw = CumSum(p, axis=Next(k))")},
      {{"Next", next}});
  Becomes(rules, "%0 = GeLU(x, approximate=\"none\")\n%1 = CumSum(%0, axis=-1)\nreturn %1",
          "%0 = GeLU(x, approximate=\"tanh\")\n%1 = CumSum(%0, axis=0)\nreturn %1");
  Stays(rules, "%0 = GeLU(x, approximate=\"tanh\")\n%1 = CumSum(%0, axis=-1)\nreturn %1");
  // What the op refuses is not made.
  Stays(rules, "%0 = GeLU(x, approximate=\"none\")\n%1 = CumSum(%0, axis=0)\nreturn %1");
}

TEST(GraphRules, TypesStay) {
  const GraphRules rules({GraphRule("w = Add{u, v}").To("w = Neg(u)")});
  Becomes(rules, "%0 = Add(a, y)\nreturn %0", "%0 = Neg(y)\nreturn %0");
  Stays(GraphRules({GraphRule("w = Add(u, v)").To("w = Neg(u)")}), "%0 = Add(a, y)\nreturn %0");
}

TEST(GraphRules, AnyNumberOfViewsBetween) {
  const GraphRules rules({GraphRule("w = Sin(Neg*(Cos(v)))").To("w = Exp(v)")});
  Becomes(rules, "%0 = Cos(x)\n%1 = Sin(%0)\nreturn %1", "%0 = Exp(x)\nreturn %0");
  Becomes(rules, "%0 = Cos(x)\n%1 = Neg(%0)\n%2 = Neg(%1)\n%3 = Sin(%2)\nreturn %3",
          "%0 = Exp(x)\nreturn %0");
  Stays(rules, "%0 = Cos(x)\n%1 = Neg(%0)\n%2 = Sin(%1)\nreturn %2, %1", kTwo);
  Stays(rules, "%0 = Neg(x)\n%1 = Sin(%0)\nreturn %1");
}

TEST(GraphRules, FunctionsMakeValues) {
  auto squared = [](Emitter&, const Terms& in, const Match&) { return Terms{in[0] * in[0]}; };
  const GraphRules rules({GraphRule("u = Sin(v)\nw = Cos(u)").To("w = Squared(v)")}, {},
                         {{"Squared", squared}});
  Becomes(rules, "%0 = Sin(x)\n%1 = Cos(%0)\nreturn %1", "%0 = Mul(x, x)\nreturn %0");
}

// The last one first; a node is part of one application.
TEST(GraphRules, ApplicationsDoNotOverlap) {
  const GraphRules rules({GraphRule("u = Sin(v)\nw = Sin(u)").To("w = Neg(v)"),
                          GraphRule("w = Sin(v)").To("w = Cos(v)")});
  Becomes(rules, "%0 = Sin(x)\n%1 = Sin(%0)\n%2 = Sin(%1)\nreturn %2",
          "%0 = Cos(x)\n%1 = Neg(%0)\nreturn %1");
}

TEST(GraphRules, TextsThatAreWrongAreRefused) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "w = Neg(v)"},
      {"w = Sin(v)", ""},
      {"Sin(v)", "w = Neg(v)"},
      {"w = v", "w = Neg(v)"},
      {"w Sin(v)", "w = Neg(v)"},
      {"w, = Sin(v)", "w = Neg(v)"},
      {"w = Sin(v) u = Cos(w)", "u = Neg(v)"},
      {"w = Sin(v)", "w = Neg(u)"},              // unknown
      {"w = Sin(v)", "w = Neg(w)"},              // reads what goes
      {"w = Sin(v)", "v = Neg(w)"},              // replaces an operand
      {"w = Sin(v)", "u = Neg(v)"},              // replaces nothing
      {"w = Sin(v)", "w = Neg(v); w = Cos(v)"},  // twice
      {"w = Sin(v); w = Cos(w)", "w = Neg(v)"},
      {"w = Sin(v)", "w = Add(v, 1)"},
      {"w = Sin(v)", "w = Neg(\"v\")"},
      {"w = GeLU(v, approximate=\"none)", "w = Neg(v)"},
      {"w = Add{u}", "w = Neg(u)"},
      {"w = Add{u, v", "w = Neg(u)"},
  };
  for (const auto& [from, to] : wrong) {
    EXPECT_NE(ErrorOf([&] { GraphRules({GraphRule(from).To(to)}); }), "") << from << " -> " << to;
  }
  EXPECT_EQ(GraphRules({GraphRule("w = NoSuchOp(v)").To("w = NorThis(v)")}).UnknownOps().size(),
            2u);
}

}  // namespace
}  // namespace ms
