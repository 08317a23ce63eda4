// Calls of known graphs disappear; loops and recursion stay.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;
using testing::Main;

bool InlineAll(Module& module) { return Inline(module, 100'000); }
bool InlineAndSweep(Module& module) {
  bool changed = InlineAll(module);
  return RemoveDeadCode(module) || changed;
}

const char kHelper[] = R"(
  graph helper[k: Float32[2]](z: Float32[2]) -> (Float32[2], Float32[2]) {
    %0 = Mul(k, z)
    %1 = Constant(Float32[] [2.0])
    %2 = Add(%0, %1)
    return %2, z
  })";

TEST(Inline, CopiesTheBody) {
  ExpectPass(
      InlineAndSweep,
      Main("%0 = Partial(x, graph=@helper)\n%1, %2 = Call(%0, y)\n%3 = Sub(%1, %2)\nreturn %3") +
          kHelper,
      Main("%0 = Mul(x, y)\n%1 = Constant(Float32[] [2.0])\n%2 = Add(%0, %1)\n%3 = Sub(%2, "
           "y)\nreturn %3"));
}

TEST(Inline, FollowsFunctionsThatAreArguments) {
  ExpectPass(
      InlineAndSweep,
      Main("%0 = Partial(x, graph=@helper)\n%1 = Partial(graph=@apply)\n"
           "%2 = Call(%1, %0, y)\nreturn %2") +
          kHelper + R"(
               graph apply(f: (Float32[2]) -> (Float32[2], Float32[2]), z: Float32[2]) -> (Float32[2]) {
                 %0, %1 = Call(f, z)
                 %2, %3 = Call(f, %0)
                 return %2
               })",
      Main("%0 = Mul(x, y)\n%1 = Constant(Float32[] [2.0])\n%2 = Add(%0, %1)\n%3 = Mul(x, %2)\n"
           "%4 = Constant(Float32[] [2.0])\n%5 = Add(%3, %4)\nreturn %5"));
}

TEST(Inline, LeavesRecursionAndChoices) {
  std::string text = Main("%0 = Partial(graph=@loop)\n%1 = Call(%0, c, x)\nreturn %1") + R"(
    graph loop(c: Bool[], x: Float32[2]) -> (Float32[2]) {
      %0 = Partial(graph=@again)
      %1 = Partial(graph=@end)
      %2 = Switch(c, %0, %1)
      %3 = Call(%2, x)
      return %3
    }
    graph again(x: Float32[2]) -> (Float32[2]) {
      %0 = Constant(Bool[] [false])
      %1 = Partial(graph=@loop)
      %2 = Call(%1, %0, x)
      return %2
    }
    graph end(x: Float32[2]) -> (Float32[2]) {
      return x
    })";
  ExpectPass(InlineAll, text, text);
}

TEST(Inline, StopsAtTheLimit) {
  std::string body;
  for (int i = 0; i < 40; ++i)
    body += fmt::format("%{} = Neg({})\n", i, i == 0 ? "z" : fmt::format("%{}", i - 1));
  std::string helper = "graph big(z: Float32[2]) -> (Float32[2]) {\n" + body + "return %39\n}";
  auto module = Parse(Main("%0 = Partial(graph=@big)\n%1 = Call(%0, x)\n%2 = Call(%0, %1)\n%3 = "
                           "Call(%0, %2)\nreturn %3") +
                      helper);
  Inline(*module, 100);
  Verify(*module);
  int calls = 0;
  for (const Node* n : module->main()->nodes()) calls += n->op == Control().call;
  EXPECT_EQ(calls, 1);
}

TEST(Inline, SpansKeepTheCall) {
  auto module =
      Parse(Main("%0 = Partial(x, graph=@helper)\n%1, %2 = Call(%0, y)\nreturn %1") + kHelper);
  SpanId call = InternSpan({"net.py", 20, 1, 20, 9, "Net.construct", 0});
  SpanId body = InternSpan({"layer.py", 7, 1, 7, 9, "Layer.construct", 0});
  for (Node* n : module->main()->nodes()) n->span = call;
  for (Node* n : module->graphs()[1]->nodes()) n->span = body;
  Inline(*module, 100);
  const Span& span = GetSpan(module->main()->outputs()[0].node->span);
  EXPECT_EQ(span.file, "layer.py");
  EXPECT_EQ(span.caller, call);
}

TEST(Inline, DoublingChainsStayBounded) {
  std::string text = Main("%0 = Partial(graph=@g0)\n%1 = Call(%0, x)\nreturn %1");
  for (int i = 0; i < 60; ++i) {  // 2^60 nodes, were they all inlined
    text += fmt::format(
        "graph g{}(z: Float32[2]) -> (Float32[2]) {{\n%0 = Partial(graph=@g{})\n%1 = Call(%0, z)\n"
        "%2 = Call(%0, %1)\nreturn %2\n}}\n",
        i, i + 1);
  }
  auto module =
      Parse(text + "graph g60(z: Float32[2]) -> (Float32[2]) {\n%0 = Sin(z)\nreturn %0\n}");
  Inline(*module, 100'000);
  Verify(*module);
  EXPECT_LT(testing::NodeCount(*module), 1'000'000u);
}

}  // namespace
}  // namespace ms
