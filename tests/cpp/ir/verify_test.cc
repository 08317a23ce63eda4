// The verifier finds each kind of broken graph and names it.
#include "ir/testing.h"

namespace ms {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;

struct Broken {
  std::unique_ptr<Module> module = Parse(R"(
    graph main(x: Float32[2], y: Float32[2]) -> (Float32[2]) {
      %0 = Add(x, y)
      %1 = Neg(%0)
      return %1
    }
    graph other(z: Float32[2]) -> (Float32[2]) {
      return z
    })");
  Graph* main = module->main();
  Node* add = main->nodes()[2];
  Node* neg = main->nodes()[3];
  std::string Problem(Level level = Level::kTyped) {
    return ErrorOf([&] { Verify(*module, level); });
  }
};

TEST(Verify, AcceptsAGoodModule) { EXPECT_EQ(Broken().Problem(), ""); }

TEST(Verify, FindsBrokenEdges) {
  Broken foreign;
  foreign.neg->inputs[0] = {foreign.module->graphs()[1]->parameters()[0], 0};
  EXPECT_THAT(foreign.Problem(),
              HasSubstr("in the graph 'main', a value of another graph is used"));
  Broken late;
  late.add->inputs[0] = {late.neg, 0};
  EXPECT_THAT(late.Problem(), HasSubstr("a value is used before it is made"));
  Broken null;
  null.add->inputs[0] = {};
  EXPECT_THAT(null.Problem(), HasSubstr("a null value is used"));
  Broken index;
  index.neg->inputs[0].index = 1;
  EXPECT_THAT(index.Problem(), HasSubstr("output 1 of a node with 1 is used"));
  Broken order;
  order.add->id = 3;
  EXPECT_THAT(order.Problem(), HasSubstr("the node is not at its place"));
}

TEST(Verify, FindsWrongTypes) {
  Broken type;
  type.neg->outputs[0] = Type(DType::kFloat64, {2});
  EXPECT_THAT(type.Problem(), HasSubstr("it is typed (Float64[2]), but is (Float32[2])"));
  EXPECT_THAT(type.Problem(), HasSubstr("> "));  // the line is marked in the dump
  Broken arity;
  arity.neg->inputs.push_back(arity.neg->inputs[0]);
  EXPECT_THAT(arity.Problem(),
              HasSubstr("its op refuses it: For 'Neg', it takes 1 input, but got 2."));
  Broken attrs;
  attrs.neg->attrs = std::make_shared<const Attrs>(Attrs{int64_t{1}});
  EXPECT_THAT(attrs.Problem(), HasSubstr("it has 1 attributes, but 'Neg' declares 0"));
}

TEST(Verify, FindsBrokenSignatures) {
  Broken unfinished;
  Graph* graph = unfinished.module->NewGraph("fresh");
  EXPECT_THAT(unfinished.Problem(), HasSubstr("in the graph 'fresh', its outputs are not set"));
  graph->SetOutputs({{unfinished.neg, 0}});
  EXPECT_THAT(unfinished.Problem(), HasSubstr("a value of another graph is used"));
  Broken updates;
  updates.main->updates = {{0, 7}};
  EXPECT_THAT(updates.Problem(), HasSubstr("the update 0=7 names no output or no input"));
  Broken main;
  main.module->set_main(nullptr);
  EXPECT_THAT(main.Problem(), HasSubstr("the module has no main graph"));
}

TEST(Verify, ChecksFunctionValues) {
  auto module = Parse(R"(
    graph main(x: Float32[2]) -> (Float32[2]) {
      %0 = Partial(x, graph=@f)
      %1 = Call(%0, x)
      return %1
    }
    graph f[a: Float32[2]](x: Float32[2]) -> (Float32[2]) {
      %0 = Mul(a, x)
      return %0
    })");
  Verify(*module);
  Node* partial = module->main()->nodes()[1];
  Node* call = module->main()->nodes()[2];
  call->inputs.pop_back();
  EXPECT_THAT(ErrorOf([&] { Verify(*module); }),
              HasSubstr("the function takes 1 arguments, but got 0"));
  partial->inputs.clear();
  EXPECT_THAT(ErrorOf([&] { Verify(*module); }),
              HasSubstr("the graph 'f' captures 1 values, but got 0"));
  Module elsewhere;
  partial->attrs = std::make_shared<const Attrs>(Attrs{elsewhere.NewGraph("g")});
  EXPECT_THAT(ErrorOf([&] { Verify(*module); }), HasSubstr("refers to no graph of the module"));
}

TEST(Verify, ChecksLoopTags) {
  const char* text = R"(
    graph main(x: Float32[]) -> (Float32[]) loop(body=@body, done=@done, trip_count=-1) {
      %0 = Constant(Float32[] [0.0])
      %1 = Less(x, %0)
      %2 = Partial(graph=@body)
      %3 = Partial(graph=@done)
      %4 = Switch(%1, %2, %3)
      %5 = Call(%4, x)
      return %5
    }
    graph body(x: Float32[]) -> (Float32[]) {
      %0 = Partial(graph=@main)
      %1 = Call(%0, x)
      return %1
    }
    graph done(x: Float32[]) -> (Float32[]) {
      return x
    })";
  auto module = Parse(text);
  Verify(*module);
  std::swap(module->main()->loop.body, module->main()->loop.done);
  EXPECT_THAT(ErrorOf([&] { Verify(*module); }),
              HasSubstr("it is tagged as a loop, but not built as one"));
}

TEST(Verify, Levels) {
  auto module = Parse(R"(
    graph main(x: Float32[]) -> (Float32[]) {
      %0 = Partial(graph=@f)
      %1 = Vjp(%0)
      %2, %3 = Call(%1, x)
      return %2
    }
    graph f(x: Float32[]) -> (Float32[]) {
      return x
    })");
  Verify(*module, Level::kTyped);
  EXPECT_THAT(ErrorOf([&] { Verify(*module, Level::kNoGradLeft); }),
              HasSubstr("a transform is left"));
  Broken lowered;
  VerifyOptions options{Level::kLowered, "after Lower",
                        [](const Node& n) { return n.op->name == "Neg" ? "no" : ""; }};
  EXPECT_THAT(ErrorOf([&] { Verify(*lowered.module, options); }),
              HasSubstr("no kernel: no after Lower"));
}

}  // namespace
}  // namespace ms
