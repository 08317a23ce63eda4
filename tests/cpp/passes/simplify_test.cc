// Each rule of the simplifier, before and after.
#include "passes/passes_test.h"
#include "passes/simplify/rules.h"

namespace ms {
namespace {

using testing::ExpectPass;
using testing::Main;

bool SimplifyAndSweep(Module& module) {
  bool changed = Simplify(module);
  return RemoveDeadCode(module) || changed;
}

void Becomes(const std::string& before, const std::string& after,
             const std::string& results = "Float32[2]") {
  ExpectPass(SimplifyAndSweep, Main(before, results), Main(after, results));
}
void Stays(const std::string& text, const std::string& results = "Float32[2]") {
  Becomes(text, text, results);
}

TEST(Simplify, RulesNameOpsThatExist) {
  EXPECT_THAT(AlgebraRules().UnknownOps(), ::testing::IsEmpty());
  EXPECT_THAT(ArrayRules().UnknownOps(), ::testing::IsEmpty());
  EXPECT_THAT(FastRules().UnknownOps(), ::testing::IsEmpty());
}

TEST(Simplify, Algebra) {
  const std::string one = "%0 = Constant(Float32[] [1.0])\n",
                    zero = "%0 = Constant(Float32[] [0.0])\n",
                    minus = "%0 = Constant(Float32[] [-1.0])\n";
  Becomes(one + "%1 = Mul(x, %0)\nreturn %1", "return x");
  Becomes(one + "%1 = Mul(%0, x)\nreturn %1", "return x");
  Becomes(one + "%1 = RealDiv(x, %0)\nreturn %1", "return x");
  Becomes(one + "%1 = Div(x, %0)\nreturn %1", "return x");
  Becomes(one + "%1 = Pow(x, %0)\nreturn %1", "return x");
  Becomes(zero + "%1 = Sub(x, %0)\nreturn %1", "return x");
  Becomes(minus + "%1 = Mul(x, %0)\nreturn %1", "%0 = Neg(x)\nreturn %0");
  Becomes(minus + "%1 = Mul(%0, x)\nreturn %1", "%0 = Neg(x)\nreturn %0");
  Becomes("%0 = Neg(x)\n%1 = Neg(%0)\nreturn %1", "return x");
  Becomes("%0 = Neg(y)\n%1 = Add(x, %0)\nreturn %1", "%0 = Sub(x, y)\nreturn %0");
  Becomes("%0 = Neg(x)\n%1 = Add(%0, y)\nreturn %1", "%0 = Sub(y, x)\nreturn %0");
  Becomes("%0 = Neg(y)\n%1 = Sub(x, %0)\nreturn %1", "%0 = Add(x, y)\nreturn %0");
  Becomes("%0 = Maximum(x, x)\nreturn %0", "return x");
  Becomes("%0 = Minimum(x, x)\nreturn %0", "return x");
  Becomes("%0 = LogicalNot(c)\n%1 = LogicalNot(%0)\nreturn %1", "return c", "Bool[]");
  Becomes("%0 = LogicalAnd(c, c)\nreturn %0", "return c", "Bool[]");
  Becomes("%0 = LogicalOr(c, c)\nreturn %0", "return c", "Bool[]");
  Becomes("%0 = Select(c, x, x)\nreturn %0", "return x");
}

// Of integers only: floats have two zeros.
TEST(Simplify, AlgebraOfIntegers) {
  auto becomes = [](const std::string& body, const std::string& after) {
    auto text = [](const std::string& lines) {
      return "graph main(x: Int32[2], y: Int32[2]) -> (Int32[2]) {\n" + lines + "\n}\n";
    };
    ExpectPass(SimplifyAndSweep, text(body), text(after));
  };
  const std::string zero = "%0 = Constant(Int32[] [0])\n";
  becomes(zero + "%1 = Add(x, %0)\nreturn %1", "return x");
  becomes(zero + "%1 = Add(%0, x)\nreturn %1", "return x");
  becomes(zero + "%1 = Sub(%0, x)\nreturn %1", "%0 = Neg(x)\nreturn %0");
  becomes("%0 = Sub(x, y)\n%1 = Neg(%0)\nreturn %1", "%0 = Sub(y, x)\nreturn %0");
  const std::string none = "%0 = Fill(dtype=Int32, shape=[2], value=0.0)\nreturn %0";
  becomes(zero + "%1 = Mul(x, %0)\nreturn %1", none);
  becomes(zero + "%1 = Mul(%0, x)\nreturn %1", none);
  Stays("%0 = Constant(Float32[] [0.0])\n%1 = Add(x, %0)\nreturn %1");
  Stays("%0 = Constant(Float32[] [0.0])\n%1 = Add(%0, x)\nreturn %1");
  Stays("%0 = Constant(Float32[] [0.0])\n%1 = Sub(%0, x)\nreturn %1");
  Stays("%0 = Sub(x, y)\n%1 = Neg(%0)\nreturn %1");
}

TEST(Simplify, ChainsInOneWalk) {
  std::string chain = "%0 = Constant(Float32[] [1.0])\n%1 = Mul(x, %0)\n";
  for (int i = 2; i < 50; ++i) chain += fmt::format("%{} = Mul(%{}, %0)\n", i, i - 1);
  Becomes(chain + "return %49", "return x");
}

TEST(Simplify, KeepsWhatIsNotTheSame) {
  Stays("%0 = Constant(Float32[] [0.0])\n%1 = Mul(x, %0)\nreturn %1");        // inf * 0 is nan
  Stays("%0 = Constant(Float32[2] [1.0, 1.0])\n%1 = Mul(a, %0)\nreturn %1");  // broadcasts a
}

TEST(Simplify, ZeroTangentsVanish) {
  const std::string zero = "%0 = Fill(dtype=Float32, shape=[2], value=0.0)\n";
  Becomes(zero + "%1 = Mul(%0, x)\n%2 = Neg(%1)\n%3 = Add(%2, y)\nreturn %3", "return y");
  Becomes(zero + "%1 = Sub(%0, x)\nreturn %1", "%0 = Neg(x)\nreturn %0");
  Becomes(zero + "%1 = Add(x, %0)\nreturn %1", "return x");
  Becomes(zero + "%1 = Add(%0, x)\nreturn %1", "return x");
  for (const char* gone : {"Mul(x, %0)", "Mul(%0, x)", "RealDiv(%0, x)", "Neg(%0)"}) {
    Becomes(zero + "%1 = " + gone + "\nreturn %1", zero + "return %0");
  }
  Becomes(zero + "%1 = Cast(%0, dtype=Float16)\nreturn %1",
          "%0 = Fill(dtype=Float16, shape=[2], value=0.0)\nreturn %0", "Float16[2]");
  Becomes(zero + "%1 = ReduceSum(%0, axis=[0])\nreturn %1",
          "%0 = Fill(dtype=Float32, shape=[], value=0.0)\nreturn %0", "Float32[]");
  for (const char* op : {"MatMul", "BatchMatMul"}) {
    std::string square = op == std::string("MatMul") ? "[2, 2]" : "[1, 2, 2]";
    std::string fill = "Fill(dtype=Float32, shape=" + square + ", value=0.0)\n";
    std::string full = "%0 = BroadcastTo(x, shape=" + square + ")\n%1 = " + fill;
    for (const char* order : {"(%0, %1)", "(%1, %0)"}) {
      Becomes(full + "%2 = " + op + order + "\nreturn %2", "%0 = " + fill + "return %0",
              "Float32" + square);
    }
  }
  Becomes(zero + "%1 = AddN(x, %0, y, %0)\nreturn %1", "%0 = AddN(x, y)\nreturn %0");
  Becomes(zero + "%1 = AddN(x, %0)\nreturn %1", "return x");
  Becomes(zero + "%1 = Reshape(%0, shape=[2, 1])\n%2 = Transpose(%1, perm=[1, 0])\nreturn %2",
          "%0 = Fill(dtype=Float32, shape=[1, 2], value=0.0)\nreturn %0", "Float32[1, 2]");
}

TEST(Simplify, Views) {
  Becomes("%0 = Reshape(x, shape=[2])\nreturn %0", "return x");
  Becomes("%0 = Reshape(x, shape=[2, 1])\n%1 = Reshape(%0, shape=[1, -1])\nreturn %1",
          "%0 = Reshape(x, shape=[1, -1])\nreturn %0", "Float32[1, 2]");
  Becomes("%0 = Reshape(x, shape=[2, 1])\n%1 = Reshape(%0, shape=[2])\nreturn %1", "return x");
  for (const char* nothing :
       {"BroadcastTo(x, shape=[2])", "Squeeze(x)", "Tile(x, dims=[1])", "Identity(x)"}) {
    Becomes(std::string("%0 = ") + nothing + "\nreturn %0", "return x");
  }
  Becomes("%0 = Reshape(x, shape=[1, 2])\n%1 = Flatten(%0)\nreturn %1",
          "%0 = Reshape(x, shape=[1, 2])\nreturn %0", "Float32[1, 2]");
  for (const char* view : {"Flatten(%0)", "Squeeze(%0)", "ExpandDims(%0, axis=0)"}) {
    const std::string made = "%0 = BroadcastTo(a, shape=[2, 1, 3])\n";
    Becomes(made + "%1 = " + view + "\n%2 = Reshape(%1, shape=[3, 2])\nreturn %2",
            made + "%1 = Reshape(%0, shape=[3, 2])\nreturn %1", "Float32[3, 2]");
  }
  Becomes("%0 = BroadcastTo(a, shape=[2])\n%1 = BroadcastTo(%0, shape=[3, 2])\nreturn %1",
          "%0 = BroadcastTo(a, shape=[3, 2])\nreturn %0", "Float32[3, 2]");
  Stays("%0 = StopGradient(x)\nreturn %0");
}

TEST(Simplify, ViewsOfConstants) {
  Becomes("%0 = Constant(Float32[] [1.0])\n%1 = Reshape(%0, shape=[1])\n%2 = Mul(x, %1)\nreturn %2",
          "return x");
  Becomes("%0 = Constant(Float32[2] [1.0, 2.0])\n%1 = Reshape(%0, shape=[2, 1])\nreturn %1",
          "%0 = Constant(Float32[2, 1] [1.0, 2.0])\nreturn %0", "Float32[2, 1]");
}

TEST(Simplify, Transpositions) {
  auto run = [](const char* before, const char* after) {
    auto text = [](const char* body) {
      return fmt::format("graph main(x: Float32[2, 3, 4]) -> (Float32[2, 3, 4]) {{\n{}\n}}", body);
    };
    ExpectPass(SimplifyAndSweep, text(before), text(after));
  };
  run("%0 = Transpose(x, perm=[0, 1, -1])\nreturn %0", "return x");
  run("%0 = Transpose(x, perm=[1, 2, 0])\n%1 = Transpose(%0, perm=[2, 0, 1])\nreturn %1",
      "return x");
  run("%0 = Transpose(x, perm=[1, 2, 0])\n%1 = Transpose(%0, perm=[1, 0, 2])\n%2 = Transpose(%1, "
      "perm=[2, 0, 1])\n"
      "%3 = Transpose(%2, perm=[0, 2, 1])\nreturn %3",
      "return x");
}

TEST(Simplify, ProductsReadTransposedMatrices) {
  auto run = [](const char* before, const char* after) {
    auto text = [](const char* body) {
      return fmt::format(
          "graph main(x: Float32[3, 2], y: Float32[3, 4]) -> (Float32[2, 4]) {{\n{}\n}}", body);
    };
    ExpectPass(SimplifyAndSweep, text(before), text(after));
  };
  run("%0 = Transpose(x, perm=[1, 0])\n%1 = MatMul(%0, y)\nreturn %1",
      "%1 = MatMul(x, y, transpose_a=true)\nreturn %1");
  run("%0 = Transpose(y, perm=[-1, 0])\n%1 = MatMul(x, %0, transpose_a=true, "
      "transpose_b=true)\nreturn %1",
      "%1 = MatMul(x, y, transpose_a=true)\nreturn %1");
}

TEST(Simplify, OnlyTheFastStageTakesAnotherKernel) {
  std::string text =
      "graph main(x: Float32[3, 2], y: Float32[3, 4]) -> (Float32[2, 4]) {\n"
      "%0 = Transpose(x, perm=[1, 0])\n%1 = MatMul(%0, y)\nreturn %1\n}";
  ExpectPass([](Module& module) { return Simplify(module, {}, false); }, text, text);
}

TEST(Simplify, SumsDropTheAxesThatAReshapeDrops) {
  auto text = [](const char* body, const char* result) {
    return fmt::format("graph main(x: Float32[3, 2]) -> ({}) {{\n{}\n}}", result, body);
  };
  const char* keeping =
      "%0 = ReduceSum(x, axis=[0], keep_dims=true)\n%1 = Reshape(%0, shape=[2])\nreturn %1";
  ExpectPass(SimplifyAndSweep, text(keeping, "Float32[2]"),
             text("%0 = ReduceSum(x, axis=[0])\nreturn %0", "Float32[2]"));
  std::string other =
      text("%0 = ReduceSum(x, axis=[0], keep_dims=true)\n%1 = Reshape(%0, shape=[2, 1])\nreturn %1",
           "Float32[2, 1]");
  ExpectPass(SimplifyAndSweep, other, other);
}

TEST(Simplify, Casts) {
  auto run = [](const char* type, const char* before, const char* after) {
    auto text = [&](const char* body) {
      return fmt::format("graph main(x: {}[2]) -> (Int32[2]) {{\n{}\n}}", type, body);
    };
    ExpectPass(SimplifyAndSweep, text(before), text(after));
  };
  run("Int32", "%0 = Cast(x, dtype=Int32)\nreturn %0", "return x");
  run("Int32", "%0 = Cast(x, dtype=Int64)\n%1 = Cast(%0, dtype=Int32)\nreturn %1", "return x");
  run("Int32", "%0 = Cast(x, dtype=Int8)\n%1 = Cast(%0, dtype=Int32)\nreturn %1",
      "%0 = Cast(x, dtype=Int8)\n%1 = Cast(%0, dtype=Int32)\nreturn %1");
  run("Float16", "%0 = Cast(x, dtype=Float32)\n%1 = Cast(%0, dtype=Int32)\nreturn %1",
      "%0 = Cast(x, dtype=Int32)\nreturn %0");
}

TEST(Simplify, ElementwiseOpsBroadcastThemselves) {
  Becomes("%0 = BroadcastTo(a, shape=[2])\n%1 = Mul(x, %0)\nreturn %1",
          "%0 = Mul(x, a)\nreturn %0");
  Becomes("%0 = Fill(dtype=Float32, shape=[2], value=3.0)\n%1 = Mul(x, %0)\nreturn %1",
          "%0 = Constant(Float32[] [3.0])\n%1 = Mul(x, %0)\nreturn %1");
  Stays("%0 = BroadcastTo(a, shape=[2])\n%1 = Mul(%0, a)\nreturn %1");  // nothing else has the full
                                                                        // shape
}

TEST(Simplify, KnownChoices) {
  const std::string arms = "%1 = Partial(x, graph=@f)\n%2 = Partial(y, graph=@f)\n";
  const std::string f = "graph f[z: Float32[2]]() -> (Float32[2]) {\n%0 = Sin(z)\nreturn %0\n}";
  ExpectPass(SimplifyAndSweep,
             Main("%0 = Constant(Bool[] [false])\n" + arms +
                  "%3 = Switch(%0, %1, %2)\n%4 = Call(%3)\nreturn %4") +
                 f,
             Main("%1 = Partial(y, graph=@f)\n%2 = Call(%1)\nreturn %2") + f);
  ExpectPass(
      SimplifyAndSweep,
      Main("%0 = LogicalNot(c)\n" + arms + "%3 = Switch(%0, %1, %2)\n%4 = Call(%3)\nreturn %4") + f,
      Main(arms + "%3 = Switch(c, %2, %1)\n%4 = Call(%3)\nreturn %4") + f);
  ExpectPass(
      SimplifyAndSweep,
      Main("%1 = Partial(x, graph=@f)\n%3 = Switch(c, %1, %1)\n%4 = Call(%3)\nreturn %4") + f,
      Main("%1 = Partial(x, graph=@f)\n%4 = Call(%1)\nreturn %4") + f);
}

TEST(Simplify, Boxes) {
  const std::string get = " = BoxGet(%b, types=[-1, 11, 1, 2])\n";  // (Box, Float32[2])
  Becomes("%z = BoxZero()\n%b = BoxMake(%z, x)\n%0, %1" + get + "return %1", "return x");
  Becomes("%b = BoxZero()\n%0, %1" + get + "return %1",
          "%0 = Fill(dtype=Float32, shape=[2], value=0.0)\nreturn %0");
  Becomes("%z = BoxZero()\n%p = BoxMake(%z, x)\n%q = BoxMake(%z, y)\n%b = BoxAdd(%p, %q)\n%0, %1" +
              get + "return %1",
          "%0 = Add(x, y)\nreturn %0");
  Becomes("%z = BoxZero()\n%p = BoxMake(%z, x)\n%b = BoxAdd(%z, %p)\n%0, %1" + get + "return %1",
          "return x");
}

TEST(Simplify, ALoopWhoseConditionIsKnownIsNone) {
  auto module = Parse(R"(
    graph main(x: Float32[]) -> (Float32[]) {
      %0 = Partial(graph=@loop)
      %1 = Call(%0, x)
      return %1
    }
    graph loop(x: Float32[]) -> (Float32[]) loop(body=@body, done=@done, trip_count=0) {
      %1 = Constant(Bool[] [false])
      %2 = Partial(graph=@body)
      %3 = Partial(graph=@done)
      %4 = Switch(%1, %2, %3)
      %5 = Call(%4, x)
      return %5
    }
    graph body(x: Float32[]) -> (Float32[]) {
      %0 = Partial(graph=@loop)
      %1 = Call(%0, x)
      return %1
    }
    graph done(x: Float32[]) -> (Float32[]) {
      return x
    })");
  Optimize(*module);
  EXPECT_TRUE(
      testing::SameGraphs(*module, "graph main(x: Float32[]) -> (Float32[]) {\nreturn x\n}"));
}

}  // namespace
}  // namespace ms
