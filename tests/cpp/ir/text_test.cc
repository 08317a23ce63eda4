// The text form: what is printed is read back the same, and damaged text is an error that names the
// line.
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "ir/testing.h"

namespace ms {
namespace {

using testing::Chain;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::SameGraphs;

constexpr char kNet[] = R"(graph net(x: Float32[2, 3], w: Float32[2, 3]) -> (Float32[2, 2]) {
  %0 = MatMul(x, w, transpose_b=true)
  %1 = Sigmoid(%0)
  return %1
}
)";

constexpr char kLoop[] =
    R"(graph main(x: Float32[], %0 "n o": weak Int64[]) -> (Float32[]) updates(0=0) {
  %1 = Partial(graph=@"while <1>")
  %2 = Call(%1, x, %0)
  return %2
}
graph "while <1>"(x: Float32[], i: weak Int64[]) -> (Float32[]) loop(body=@body, done=@done, trip_count=7) {
  %0 = Constant(weak Int64[] [0])
  %1 = Greater(i, %0)
  %2 = Partial(x, graph=@body)
  %3 = Partial(x, graph=@done)
  %4 = Switch(%1, %2, %3)
  %5 = Call(%4, i)
  return %5
}
graph body[x: Float32[]](i: weak Int64[]) -> (Float32[]) {
  %0 = Constant(weak Int64[] [1])
  %1 = Sub(i, %0)
  %2 = Sin(x)
  %3 = Partial(graph=@"while <1>")
  %4 = Call(%3, %2, %1)
  return %4
}
graph done[x: Float32[]](i: weak Int64[]) -> (Float32[]) {
  return x
}
)";

void ExpectRoundTrip(const Module& module, const TensorTable* large = nullptr,
                     const PrintOptions& options = {}) {
  std::string text = Print(module, options);
  auto again = Parse(text, large);
  EXPECT_TRUE(SameGraphs(*again, module));
  EXPECT_EQ(Print(*again, options), text);
}

TEST(Text, PrintsAsWritten) {
  EXPECT_EQ(Print(*Parse(kNet)), kNet);
  EXPECT_EQ(Print(*Parse(kLoop)), kLoop);
  ExpectRoundTrip(*Parse(kLoop));
}

TEST(Text, SpansAreComments) {
  auto module = Parse(kNet);
  module->main()->nodes()[2]->span =
      InternSpan({"/home/me/net.py", 14, 1, 14, 9, "Net.construct", 0});
  std::string text = Print(*module);
  EXPECT_THAT(text, HasSubstr("%0 = MatMul(x, w, transpose_b=true)  # net.py:14\n"));
  EXPECT_TRUE(SameGraphs(*Parse(text), *module));
  EXPECT_THAT(Print(*module, {.types = true}), HasSubstr("  # Float32[2, 2] net.py:14\n"));
}

TEST(Text, FunctionAndBoxTypes) {
  auto module = Parse(R"(
    graph main(f: (Float32[], Int32[2]) -> (Float32[], (Float32[]) -> (Box, Float32[])), b: Box) -> (Box) {
      return b
    })");
  ExpectRoundTrip(*module);
  const Type& f = module->main()->parameters()[0]->outputs[0];
  EXPECT_EQ(f.function().results[1].function().results[0], Type::Box());
}

TEST(Text, ConstantsKeepTheirBits) {
  Module module;
  Graph* graph = module.NewGraph("main");
  module.set_main(graph);
  GraphEmitter emitter(graph);
  Vars outputs;
  auto add = [&](Tensor t, bool weak = false) {
    outputs.push_back(emitter.Constant(std::move(t), weak));
  };
  std::mt19937_64 random(1);
  for (int type = 0; type < kDTypeCount; ++type) {
    for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{3}, Shape{2, 2}, Shape{40}}) {
      Tensor t(static_cast<DType>(type), shape);
      auto* bytes = static_cast<unsigned char*>(t.raw());
      for (size_t i = 0; i < t.bytes(); ++i)
        bytes[i] = static_cast<unsigned char>(random() & (type == 0 ? 1 : 255));
      add(t, type == 7);
    }
  }
  for (double v :
       {0.1, -0.0, 1e300, 5e-324, double(INFINITY), -double(INFINITY), double(NAN), -double(NAN)}) {
    add(Tensor::Scalar(v));
    add(Tensor::Scalar(static_cast<float>(v)));
    add(Tensor::Scalar(Half(static_cast<float>(v))));
  }
  add(Tensor::Scalar(std::numeric_limits<int64_t>::min()));
  add(Tensor::Scalar(std::numeric_limits<uint64_t>::max()), true);
  graph->SetOutputs(outputs);
  ExpectRoundTrip(module);
}

TEST(Text, LargeConstantsMayStandInATable) {
  Module module;
  Graph* graph = module.NewGraph("main");
  module.set_main(graph);
  GraphEmitter emitter(graph);
  graph->SetOutputs({emitter.Constant(Tensor::Full(DType::kFloat32, {1000}, 0.5), false)});
  TensorTable large;
  PrintOptions options{.large = &large};
  EXPECT_LT(Print(module, options).size(), 200u);
  EXPECT_EQ(large.size(), 1u);
  ExpectRoundTrip(module, &large, options);
  EXPECT_THAT(ErrorOf([&] { Parse(Print(module, options)); }), HasSubstr("is missing"));
  std::string text = Print(module, options);
  large.begin()->second = Tensor::Full(DType::kFloat32, {10}, 0.5);
  EXPECT_THAT(ErrorOf([&] { Parse(text, &large); }), HasSubstr("is not Float32[1000]"));
}

TEST(Text, EveryKindOfAttribute) {
  OpRegistry registry;
  auto module = std::make_unique<Module>();
  Graph* graph = module->NewGraph("main");
  module->set_main(graph);
  Types none;
  auto print = [&](Attr attr) {
    OpDef op;
    op.name = "Test";
    op.attributes.push_back({"a", {}, true, 0, false, ""});
    Graph g(module.get(), "g");
    g.AddApply(op, {}, std::make_shared<const Attrs>(Attrs{std::move(attr)}), none, 0);
    std::string text = Print(g);
    return text.substr(text.find("a=") + 2, text.rfind(')') - text.find("a=") - 2);
  };
  EXPECT_EQ(print(int64_t{-3}), "-3");
  EXPECT_EQ(print(3.0), "3.0");
  EXPECT_EQ(print(0.1), "0.1");
  EXPECT_EQ(print(1e22), "1e+22");
  EXPECT_EQ(print(double(NAN)), "nan(7ff8000000000000)");
  EXPECT_EQ(print(std::string("a \"b\"\n\\\x01")), R"("a \"b\"\n\\\x01")");
  EXPECT_EQ(print(std::vector<double>{}), "doubles[]");
  EXPECT_EQ(print(std::vector<double>{1, 0.5}), "doubles[1.0, 0.5]");
  EXPECT_EQ(print(Ints{}), "[]");
  EXPECT_EQ(print(DType::kBFloat16), "BFloat16");
  EXPECT_EQ(print(Attr{}), "none");
  EXPECT_EQ(print(Tensor::Scalar(1.5f)), "Tensor(Float32[] [1.5])");
  EXPECT_EQ(print(Attr(graph)), "@main");
}

TEST(Text, AttributesRoundTrip) {
  ExpectRoundTrip(*Parse(R"(
    graph main(x: Float32[2, 3]) -> (Float32[2, 3], Int64[3], Float32[4]) {
      %0 = Pad(x, paddings=[0, 0, 0, 0], value=-0.25)
      %1 = MirrorPad(x, paddings=[0, 0, 0, 0], mode="SYMMETRIC")
      %2 = Range(start=0, end=3, step=1)
      %3 = Range(start=0.0, end=2.0, step=0.5)
      %4 = Fill(dtype=Float32, shape=[], value=inf)
      %5 = Fill(dtype=Float32, shape=[1], value=nan(fff8000000000001))
      return %1, %2, %3
    })"));
}

TEST(Text, DamagedTextIsRefusedWithItsLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"graph", "line 1: a name is expected"},
      {"graph f(", "line 1: a name is expected"},
      {"graph f() -> () {", "line 1: a body that ends in '}' is expected"},
      {"graph f(x: Float31[]) -> () {}", "there is no type 'Float31'"},
      {"graph f(x: Float32[-1]) -> () {}", "must not be negative"},
      {"graph f(x: Float32[99999999999999999999]) -> () {}", "is not a number"},
      {"graph f(x: Float32[1000000,1000000,1000000]) -> () {}", "too many elements"},
      {"graph f(x: Box, x: Box) -> () {}", "the parameter 'x' is defined twice"},
      {"graph f() -> () {}\ngraph f() -> () {}", "line 2: the graph 'f' is defined twice"},
      {"graph f() -> () {\n\n%0 = Nop()\n}", "line 3: there is no op 'Nop'"},
      {"graph f() -> () {\n%0 = Neg(y)\n}", "line 2: the value 'y' is not defined before its use"},
      {"graph f(x: Float32[]) -> () {\n%0 = Neg(x, x)\n}",
       "line 2: For 'Neg', it takes 1 input, but got 2."},
      {"graph f(x: Float32[]) -> () {\n%0, %1 = Neg(x)\n}",
       "the op returns 1 values, but 2 are named"},
      {"graph f(x: Float32[]) -> () {\n%0 = Neg(x)\n%0 = Neg(x)\n}",
       "line 3: a value is defined twice"},
      {"graph f(x: Float32[]) -> () {\n%0 = Neg(x, a=1)\n}", "'Neg' has no attribute 'a'"},
      {"graph f(x: Float32[]) -> () {\n%0 = Reshape(x)\n}",
       "the attribute 'shape' of 'Reshape' is missing"},
      {"graph f(x: Float32[]) -> () {\n%0 = Reshape(x, shape=1)\n}", "is of another kind"},
      {"graph f(x: Float32[]) -> () {\n%0 = Reshape(x, shape=[2])\n}", "line 2: For 'Reshape'"},
      {"graph f(x: Float32[]) -> () {\n%0 = Partial(graph=@g)\n}", "there is no graph 'g'"},
      {"graph f(x: Float32[]) -> (Int32[]) {\nreturn x\n}",
       "must return (Int32[]), but returns (Float32[])"},
      {"graph f() -> () {\n%0 = Constant(Float32[3] [1.0])\n}", "needs 3 elements, but got 1"},
      {"graph f() -> () {\n%0 = Constant(Float32[1000000] [1.0])\n}", "is written in base64"},
      {"graph f() -> () {\n%0 = Constant(Int8[] [300])\n}", "is not a number"},
      {"graph f() -> () {\n%0 = Constant(Float32[100000000000] base64 \"AAAA\")\n}",
       "bytes, but got 3"},
      {"graph f() -> () {\n%0 = Constant(Float32[] base64 \"AA=A\")\n}",
       "the base64 text is damaged"},
      {"graph f() -> () {\n%0 = Constant(Box)\n}", "a constant is a tensor"},
      {"graph f() -> () updates(0=0) {\nreturn\n}", "names no output"},
      {"graph \"a\nb\"() -> () {}", "a string must end on its line"},
  };
  for (const auto& [text, expected] : cases) {
    std::string message = ErrorOf([&] { Parse(text); });
    EXPECT_THAT(message, HasSubstr("IR text, line ")) << text;
    EXPECT_THAT(message, HasSubstr(expected)) << text;
  }
  std::string nested = "graph f(x: ";
  for (int i = 0; i < 100000; ++i) nested += "(";
  EXPECT_THAT(ErrorOf([&] { Parse(nested); }), HasSubstr("nested too deeply"));
}

// Every prefix, and random bytes changed: an Error or a graph, never anything else.
TEST(Text, DamageNeverCrashes) {
  std::mt19937 random(7);
  for (std::string text : {std::string(kNet), std::string(kLoop)}) {
    for (size_t i = 0; i < text.size(); ++i)
      ErrorOf([&] { Parse(std::string_view(text).substr(0, i)); });
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = text;
      for (int k = 0; k < 3; ++k) {
        size_t at = random() % damaged.size();
        switch (random() % 3) {
          case 0:
            damaged[at] = static_cast<char>(random());
            break;
          case 1:
            damaged.erase(at, random() % 8);
            break;
          default:
            damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 12));
        }
      }
      ErrorOf([&] { Verify(*Parse(damaged)); });
    }
  }
}

TEST(Text, DifferencesAreFound) {
  auto differ = [](const char* a, const char* b) { return Difference(*Parse(a), *Parse(b)); };
  const char* two =
      "graph f(x: Float32[]) -> (Float32[]) {\n%0 = Sin(x)\n%1 = Cos(x)\n%2 = Add(%0, %1)\nreturn "
      "%2\n}";
  const char* swapped =
      "graph g(y: Float32[]) -> (Float32[]) {\n%5 = Cos(y)\n%7 = Sin(y)\n%9 = Add(%7, %5)\nreturn "
      "%9\n}";
  EXPECT_EQ(differ(two, swapped), "");
  const char* shared =
      "graph f(x: Float32[]) -> (Float32[]) {\n%0 = Sin(x)\n%2 = Add(%0, %0)\nreturn %2\n}";
  const char* copied =
      "graph f(x: Float32[]) -> (Float32[]) {\n%0 = Sin(x)\n%1 = Sin(x)\n%2 = Add(%0, %1)\nreturn "
      "%2\n}";
  EXPECT_NE(differ(shared, copied), "");
  EXPECT_NE(differ(copied, shared), "");
  EXPECT_NE(differ(two, copied), "");
  const char* dead =
      "graph f(x: Float32[]) -> (Float32[]) {\n%0 = Sin(x)\n%1 = Cos(x)\n%2 = Add(%0, %1)\n%3 = "
      "Neg(%2)\nreturn %2\n}";
  EXPECT_NE(differ(two, dead), "");
  EXPECT_NE(differ(dead, two), "");
  EXPECT_EQ(differ(dead, dead), "");
}

double Seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Text, AMillionNodesInAChain) {
  auto start = std::chrono::steady_clock::now();
  auto module = Chain(1'000'000);
  double made = Seconds(start);
  std::string text = Print(*module);
  double printed = Seconds(start);
  auto again = Parse(text);
  double parsed = Seconds(start);
  EXPECT_TRUE(StructurallyEqual(*module, *again));
  double compared = Seconds(start);
  module.reset();
  again.reset();
  double destroyed = Seconds(start);
  fmt::print("make {:.2f} s, print {:.2f}, parse {:.2f}, compare {:.2f}, destroy {:.2f}\n", made,
             printed - made, parsed - printed, compared - parsed, destroyed - compared);
}

}  // namespace
}  // namespace ms
