// What nobody reads goes; effects stay.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;
using testing::Main;

TEST(RemoveDeadCode, NodesThatNobodyReads) {
  ExpectPass(RemoveDeadCode, Main("%0 = Sin(x)\n%1 = Cos(%0)\n%2 = Add(%0, y)\nreturn %2"),
             Main("%0 = Sin(x)\n%2 = Add(%0, y)\nreturn %2"));
}

TEST(RemoveDeadCode, KeepsEffects) {
  std::string random = Main("%0, %1 = Dropout(x)\nreturn y");
  ExpectPass(RemoveDeadCode, random, random);
  std::string called = Main("%0 = Partial(graph=@f)\n%1 = Call(%0, x)\nreturn y") + R"(
    graph f(x: Float32[2]) -> (Float32[2]) {
      %0, %1 = Dropout(x)
      return %0
    })";
  auto module = Parse(called);
  RemoveDeadCode(*module);
  Verify(*module);
  EXPECT_TRUE(
      testing::SameGraphs(*module, Main("%0 = Partial(graph=@f)\nCall(%0, x)\nreturn y") + R"(
    graph f(x: Float32[2]) -> () {
      %0, %1 = Dropout(x)
      return
    })"));
}

TEST(RemoveDeadCode, Graphs) {
  ExpectPass(RemoveDeadCode,
             Main("%0 = Partial(graph=@f)\nreturn x") + "graph f() -> () {\nreturn\n}",
             Main("return x"));
}

TEST(RemoveDeadCode, CapturesParametersAndResults) {
  ExpectPass(
      RemoveDeadCode,
      Main("%s = Sin(x)\n%0 = Partial(%s, y, graph=@f)\n%1, %2 = Call(%0, x, y)\nreturn %2") + R"(
               graph f[a: Float32[2], b: Float32[2]](p: Float32[2], q: Float32[2]) -> (Float32[2], Float32[2]) {
                 %0 = Mul(a, p)
                 %1 = Mul(b, q)
                 return %0, %1
               })",
      Main("%0 = Partial(y, graph=@f)\n%1 = Call(%0, y)\nreturn %1") + R"(
               graph f[b: Float32[2]](q: Float32[2]) -> (Float32[2]) {
                 %1 = Mul(b, q)
                 return %1
               })");
}

TEST(RemoveDeadCode, ArmsOfAChoiceShrinkTogether) {
  ExpectPass(RemoveDeadCode,
             Main("%0 = Partial(graph=@f)\n%1 = Partial(graph=@g)\n%2 = Switch(c, %0, %1)\n"
                  "%3, %4, %5 = Call(%2, x, y, a)\nreturn %5") +
                 R"(
               graph f(p: Float32[2], q: Float32[2], r: Float32[]) -> (Float32[2], Float32[2], Float32[2]) {
                 %0 = Sin(q)
                 return %0, p, p
               }
               graph g(p: Float32[2], q: Float32[2], r: Float32[]) -> (Float32[2], Float32[2], Float32[2]) {
                 %0 = Cos(q)
                 return p, p, %0
               })",
             Main("%0 = Partial(graph=@f)\n%1 = Partial(graph=@g)\n%2 = Switch(c, %0, %1)\n"
                  "%3 = Call(%2, x, y)\nreturn %3") +
                 R"(
               graph f(p: Float32[2], q: Float32[2]) -> (Float32[2]) {
                 return p
               }
               graph g(p: Float32[2], q: Float32[2]) -> (Float32[2]) {
                 %0 = Cos(q)
                 return %0
               })");
}

// What a loop carries for nothing goes, through the recursion.
TEST(RemoveDeadCode, CarriedValuesOfALoop) {
  auto loop = [](const char* carried, const char* types, const char* next, const char* results) {
    return fmt::format(R"(
      graph loop({0}) -> ({1}) loop(body=@body, done=@done, trip_count=-1) {{
        %0 = Constant(Float32[] [1.0])
        %1 = Less(i, %0)
        %2 = Partial(graph=@body)
        %3 = Partial(graph=@done)
        %4 = Switch(%1, %2, %3)
        {3} = Call(%4, {2})
        return {3}
      }}
      graph done({0}) -> ({1}) {{
        return {2}
      }}
      )",
                       carried, types, next, results);
  };
  ExpectPass(RemoveDeadCode,
             Main("%0 = Partial(graph=@loop)\n%1, %2 = Call(%0, x, a)\nreturn %2", "Float32[]") +
                 loop("s: Float32[2], i: Float32[]", "Float32[2], Float32[]", "s, i", "%5, %6") +
                 R"(
               graph body(s: Float32[2], i: Float32[]) -> (Float32[2], Float32[]) {
                 %0 = Sin(s)
                 %1 = Add(i, i)
                 %2 = Partial(graph=@loop)
                 %3, %4 = Call(%2, %0, %1)
                 return %3, %4
               })",
             Main("%0 = Partial(graph=@loop)\n%1 = Call(%0, a)\nreturn %1", "Float32[]") +
                 loop("i: Float32[]", "Float32[]", "i", "%5") + R"(
               graph body(i: Float32[]) -> (Float32[]) {
                 %1 = Add(i, i)
                 %2 = Partial(graph=@loop)
                 %3 = Call(%2, %1)
                 return %3
               })");
}

// A function whose callers are not all known keeps its type.
TEST(RemoveDeadCode, EscapingFunctionsKeepTheirType) {
  std::string text =
      Main("%0 = Partial(y, graph=@f)\nreturn %0", "(Float32[2], Float32[2]) -> (Float32[2])") + R"(
    graph f[b: Float32[2]](p: Float32[2], q: Float32[2]) -> (Float32[2]) {
      %0 = Mul(b, q)
      return %0
    })";
  ExpectPass(RemoveDeadCode, text, text);
}

// Positions may be out of range, which is an error whether or not the value is read.
TEST(RequireRefusals, ValuesThatMayFail) {
  auto read = [](const std::string& rest) {
    return "graph main(x: Float32[2], i: Int64[]) -> (Float32[2]) {\n"
           "%0 = Gather(x, i, axis=0)\n" +
           rest + "\n}\n";
  };
  ExpectPass(RequireRefusals, read("%1 = Sin(%0)\n%2 = Cos(x)\nreturn %2"),
             read("%3 = Require(%0)\n%1 = Sin(%0)\n%2 = Cos(x)\nreturn %2"));
  std::string used = read("%1 = Add(x, %0)\nreturn %1");
  ExpectPass(RequireRefusals, used, used);
  auto module = Parse(read("%1 = Sin(%0)\n%2 = Cos(x)\nreturn %2"));
  RequireRefusals(*module);
  RemoveDeadCode(*module);
  EXPECT_TRUE(testing::SameGraphs(*module, read("%3 = Require(%0)\n%2 = Cos(x)\nreturn %2")));
}

// The call that ends a loop's round stays the last node.
TEST(RequireRefusals, InAFunctionWhoseResultIsNotRead) {
  auto text = [](const std::string& gather) {
    return "graph main(x: Float32[2], i: Int64[]) -> (Float32[2]) {\n"
           "%0 = Partial(graph=@f)\n%1 = Call(%0, x, i)\nreturn x\n}\n"
           "graph f(x: Float32[2], i: Int64[]) -> (Float32[]) {\n" +
           gather +
           "%1 = Partial(graph=@g)\n%2 = Call(%1, %0)\nreturn %2\n}\n"
           "graph g(x: Float32[]) -> (Float32[]) {\nreturn x\n}\n";
  };
  ExpectPass(RequireRefusals, text("%0 = Gather(x, i, axis=0)\n"),
             text("%0 = Gather(x, i, axis=0)\n%3 = Require(%0)\n"));
}

}  // namespace
}  // namespace ms
