// Branches, loops, recursion, closures and boxes on the frame machine.
#include <gtest/gtest.h>

#include <thread>

#include "driver/compile.h"
#include "runtime/machine.h"
#include "runtime/testing.h"

namespace ms::testing {
namespace {

std::shared_ptr<const Executable> Make(Module& module) {
  return std::make_shared<const Executable>(BuildProgram(module, Device()));
}

std::vector<RtValue> Execute(const Executable& executable, const std::vector<Tensor>& inputs) {
  std::vector<RtValue> outputs;
  executable.Run(inputs, &outputs, nullptr);
  return outputs;
}

double First(const RtValue& value) { return value.tensor().data<float>()[0]; }

// while i < n: s = s + x; i = i + 1
std::shared_ptr<const Executable> SumLoop(Module& module) {
  Builder main(module, "main"), loop(module, "loop"), body(module, "body"), done(module, "done");
  for (Builder* b : {&loop, &body, &done}) b->graph->DeclareOutputTypes({kScalar});
  auto inputs = [](Builder& b) {
    return Terms{b.In(kScalar, "x"), b.In(kScalar, "s"), b.In(kScalar, "i"), b.In(kScalar, "n")};
  };
  Terms d = inputs(done), v = inputs(body), h = inputs(loop);
  done.Return({d[1]});
  body.Return(body.Call(body.Partial(loop.graph), {v[0], v[1] + v[0], v[2] + 1.0, v[3]}));
  Term chosen = loop.Switch(loop.Op("Less", {h[2], h[3]}), loop.Partial(body.graph),
                            loop.Partial(done.graph));
  loop.Return(loop.Call(chosen, h));
  Term x = main.In(kScalar, "x"), n = main.In(kScalar, "n");
  main.Return(main.Call(main.Partial(loop.graph), {x, main.Number(0), main.Number(0), n}));
  module.set_main(main.graph);
  return Make(module);
}

TEST(Control, ALoopOfManySteps) {
  Module module;
  auto executable = SumLoop(module);
  EXPECT_FLOAT_EQ(First(Execute(*executable, {Value(0.5), Value(0)})[0]), 0);
  EXPECT_FLOAT_EQ(First(Execute(*executable, {Value(0.5), Value(200000)})[0]), 100000);
}

// power(x, n) = n < 1 ? 1 : x * power(x, n - 1)
TEST(Control, DeepRecursion) {
  Module module;
  Builder main(module, "main"), power(module, "power"), base(module, "base"), step(module, "step");
  for (Builder* b : {&power, &base, &step}) b->graph->DeclareOutputTypes({kScalar});
  base.In(kScalar);
  base.In(kScalar);
  base.Return({base.Number(1)});
  Term x = step.In(kScalar), n = step.In(kScalar), power_x = power.In(kScalar),
       power_n = power.In(kScalar);
  step.Return({x * step.Call(step.Partial(power.graph), {x, n - 1.0})[0]});
  x = power_x;
  n = power_n;
  Term one = power.Number(1);
  power.Return(power.Call(power.Switch(power.Op("Less", {n, one}), power.Partial(base.graph),
                                       power.Partial(step.graph)),
                          {x, n}));
  x = main.In(kScalar);
  n = main.In(kScalar);
  main.Return(main.Call(main.Partial(power.graph), {x, n}));
  module.set_main(main.graph);
  auto executable = Make(module);
  EXPECT_FLOAT_EQ(First(Execute(*executable, {Value(2), Value(10)})[0]), 1024);
  EXPECT_FLOAT_EQ(First(Execute(*executable, {Value(1), Value(100000)})[0]), 1);
}

TEST(Control, EndlessRecursionIsAnError) {
  Module module;
  Builder main(module, "main"), f(module, "f");
  f.graph->DeclareOutputTypes({kScalar});
  Term x = f.In(kScalar);
  f.Return({f.Call(f.Partial(f.graph), {x})[0] + 1.0});
  main.Return(main.Call(main.Partial(f.graph), {main.In(kScalar)}));
  module.set_main(main.graph);
  auto executable = Make(module);
  EXPECT_THROW(Execute(*executable, {Value(1)}), Error);
}

// f = x < 1 ? (y -> sin(a) + y) : (y -> a * y) with a = x * x captured; f(f(x))
TEST(Control, AClosureChosenByAValueAndCalledTwice) {
  Module module;
  Builder main(module, "main"), wave(module, "wave"), scale(module, "scale");
  Term a = wave.Capture(kScalar), y = wave.In(kScalar);
  wave.Return({wave.Op("Sin", {a}) + y});
  a = scale.Capture(kScalar);
  y = scale.In(kScalar);
  scale.Return({a * y});
  Term x = main.In(kScalar);
  a = x * x;
  Term f = main.Switch(main.Op("Less", {x, main.Number(1)}), main.Partial(wave.graph, {a}),
                       main.Partial(scale.graph, {a}));
  Term once = main.Call(f, {x})[0];
  main.Return({main.Call(f, {once})[0], f});
  module.set_main(main.graph);
  auto executable = Make(module);
  auto low = Execute(*executable, {Value(0.7)});
  EXPECT_NEAR(First(low[0]), 2 * std::sin(0.49) + 0.7, 1e-6);
  auto high = Execute(*executable, {Value(1.5)});
  EXPECT_NEAR(First(high[0]), 2.25 * 2.25 * 1.5, 1e-5);
  // The function itself was returned; it outlives its executable and its module.
  executable.reset();
  std::vector<RtValue> result;
  std::vector<RtValue> arguments{Value(10)};
  ASSERT_TRUE(high[1].is_closure());
  Executable::RunClosure(high[1], arguments, &result, nullptr);
  EXPECT_NEAR(First(result[0]), 22.5, 1e-5);
  EXPECT_THROW(Executable::RunClosure(high[1], {}, &result, nullptr), Error);
}

// Called as the last thing, and calls another function of its own program as the last thing.
TEST(Control, AFunctionOfAnotherProgramIsAnArgument) {
  Type function = Type::Function({kScalar}, {kScalar});
  Module first, second;
  {
    Builder main(first, "main"), f(first, "f"), g(first, "g");
    Term x = g.In(kScalar);
    g.Return({x * x});
    Term a = f.Capture(kScalar), y = f.In(kScalar);
    f.Return(f.Call(f.Partial(g.graph), {a + y}));
    main.Return({main.Partial(f.graph, {main.In(kScalar)})});
    first.set_main(main.graph);
  }
  Builder main(second, "main"), h(second, "h");
  Term k = h.In(function), y = h.In(kScalar);
  h.Return(h.Call(k, {y}));
  main.In(kScalar);
  main.Return({main.Partial(h.graph)});
  second.set_main(main.graph);
  auto given = Execute(*Make(first), {Value(1)}), called = Execute(*Make(second), {Value(0)});
  std::vector<RtValue> arguments{given[0], Value(2)}, result;
  given.clear();
  Executable::RunClosure(called[0], arguments, &result, nullptr);
  EXPECT_FLOAT_EQ(First(result[0]), 9);
}

// Each step wraps the function of the step before: f' = y -> f(y) + 1. Freed without recursion.
TEST(Control, AChainOfManyClosures) {
  Module module;
  Type function = Type::Function({kScalar}, {kScalar});
  Builder main(module, "main"), loop(module, "loop"), body(module, "body"), done(module, "done");
  Builder wrap(module, "wrap"), same(module, "same");
  same.Return({same.In(kScalar)});
  Term f = wrap.Capture(function), y = wrap.In(kScalar);
  wrap.Return({wrap.Call(f, {y})[0] + 1.0});
  for (Builder* b : {&loop, &body, &done}) b->graph->DeclareOutputTypes({function});
  f = done.In(function);
  done.In(kScalar);
  done.Return({f});
  Term loop_f = loop.In(function), loop_n = loop.In(kScalar);
  f = body.In(function);
  Term n = body.In(kScalar);
  body.Return(body.Call(body.Partial(loop.graph), {body.Partial(wrap.graph, {f}), n - 1.0}));
  f = loop_f;
  n = loop_n;
  Term more = loop.Op("Greater", {n, loop.Number(0)});
  loop.Return(
      loop.Call(loop.Switch(more, loop.Partial(body.graph), loop.Partial(done.graph)), {f, n}));
  n = main.In(kScalar);
  f = main.Call(main.Partial(loop.graph), {main.Partial(same.graph), n})[0];
  main.Return({f, main.Call(f, {main.Number(0)})[0]});
  module.set_main(main.graph);
  auto executable = Make(module);
  {
    auto out = Execute(*executable, {Value(100000)});
    EXPECT_FLOAT_EQ(First(out[1]), 100000);
    std::vector<RtValue> result;
    std::vector<RtValue> arguments{Value(1)};
    Executable::RunClosure(out[0], arguments, &result, nullptr);
    EXPECT_FLOAT_EQ(First(result[0]), 100001);
  }
  EXPECT_FLOAT_EQ(First(Execute(*executable, {Value(3)})[1]), 3);
}

TEST(Control, BoxesAddAndZeroIsNothing) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(3)), y = b.In(Vector(3)), c = b.In(Type(DType::kBool, Shape{}));
  Term zero = b.Op("BoxZero", {});
  Term inner = b.Op("BoxMake", {x});
  Term p = b.Op("BoxMake", {x, inner, zero});
  Term q = b.Op("BoxMake", {y, zero, inner});
  Term sum = b.Op("BoxAdd", {b.Op("BoxAdd", {p, q}), p});
  Term kept = b.Switch(c, sum, zero);
  Ints types{static_cast<int64_t>(DType::kFloat32), 1, 3, -1, -1};
  Terms parts = b.emitter.CallMany("BoxGet", {kept}, {{"types", types}});
  Ints one{static_cast<int64_t>(DType::kFloat32), 1, 3};
  Term second = b.emitter.CallMany("BoxGet", {parts[1]}, {{"types", one}})[0];
  Term third = b.emitter.CallMany("BoxGet", {parts[2]}, {{"types", one}})[0];
  b.Return({parts[0] + 0.0, second, third, sum});
  module.set_main(b.graph);
  auto executable = Make(module);
  Tensor yes = Tensor::Scalar(true), no = Tensor::Scalar(false);
  auto out = Execute(*executable, {Filled(3, 1), Filled(3, 10), yes});
  EXPECT_FLOAT_EQ(First(out[0]), 12);
  EXPECT_FLOAT_EQ(First(out[1]), 2);
  EXPECT_FLOAT_EQ(First(out[2]), 1);
  EXPECT_TRUE(out[3].is_box());
  out = Execute(*executable, {Filled(3, 1), Filled(3, 10), no});
  for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(First(out[i]), 0);
}

// A closure that captured a Parameter and leaves the step keeps the old value.
TEST(Control, ACapturedParameterIsNotOverwritten) {
  Module module;
  Builder b(module, "main"), f(module, "f"), g(module, "g");
  Term w = f.Capture(kScalar);
  f.Return({w * f.In(kScalar)});
  Term v = g.In(kScalar);
  g.Return({v * v});
  w = b.In(kScalar, "w");
  Term u = b.In(kScalar, "u");
  Term squared = b.Call(b.Partial(g.graph), {u})[0];  // the call is over when u is updated
  b.Return({b.Partial(f.graph, {w}), w + 1.0, squared, u + squared});
  b.graph->updates = {{1, 0}, {3, 1}};
  module.set_main(b.graph);
  auto executable = Make(module);
  Tensor tw = Value(5), tu = Value(3);
  auto out = Execute(*executable, {tw, tu});
  EXPECT_FLOAT_EQ(First(out[1]), 6);
  EXPECT_EQ(out[3].tensor().raw(), tu.raw());
  EXPECT_FLOAT_EQ(First(out[3]), 12);
  std::vector<RtValue> result;
  std::vector<RtValue> arguments{Value(2)};
  Executable::RunClosure(out[0], arguments, &result, nullptr);
  EXPECT_FLOAT_EQ(First(result[0]), 10);
}

TEST(Control, TheSameArgumentsMayBePassedTwiceAndSwapped) {
  Module module;
  Builder main(module, "main"), loop(module, "loop"), body(module, "body"), done(module, "done");
  for (Builder* b : {&loop, &body, &done}) b->graph->DeclareOutputTypes({kScalar, kScalar});
  auto inputs = [](Builder& b) { return Terms{b.In(kScalar), b.In(kScalar), b.In(kScalar)}; };
  Terms d = inputs(done), v = inputs(body), h = inputs(loop);
  done.Return({d[0], d[1]});
  body.Return(body.Call(body.Partial(loop.graph), {v[1], v[0] + v[1], v[2] - 1.0}));  // Fibonacci
  Term more = loop.Op("Greater", {h[2], loop.Number(0)});
  loop.Return(loop.Call(loop.Switch(more, loop.Partial(body.graph), loop.Partial(done.graph)), h));
  Term one = main.In(kScalar);
  main.Return(main.Call(main.Partial(loop.graph), {one, one, main.In(kScalar)}));
  module.set_main(main.graph);
  auto out = Execute(*Make(module), {Value(1), Value(10)});
  EXPECT_FLOAT_EQ(First(out[0]), 89);
  EXPECT_FLOAT_EQ(First(out[1]), 144);
}

TEST(Control, ManyThreadsRunOneExecutable) {
  Module module;
  auto executable = SumLoop(module);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (First(Execute(*executable, {Value(t + 1), Value(i)})[0]) !=
            static_cast<float>((t + 1) * i))
          ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ms::testing
