// Straight-line plans: memory, views, updates in place, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compile.h"
#include "runtime/machine.h"
#include "runtime/profile.h"
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

TEST(Plan, ComputesAndReusesOnePlaceAlongAChain) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(1000));
  Term y = x;
  for (int i = 0; i < 20; ++i) y = y + 1.0;
  b.Return({y * 2.0});
  module.set_main(b.graph);
  auto executable = Make(module);
  EXPECT_FLOAT_EQ(First(Execute(*executable, {Filled(1000, 3)})[0]), 46);
  EXPECT_EQ(executable->memory().arena,
            0u);  // every step is written over the one before, into the output
  EXPECT_EQ(executable->memory().outputs, 4000u);
}

TEST(Plan, ValuesThatAreReadAgainAreNotOverwritten) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(16));
  Term y = x + 1.0;
  Term z = y * 2.0;
  Term w = b.Op("CumSum", {y}, {{"axis", int64_t{0}}});
  b.Return({z + y, w});
  module.set_main(b.graph);
  auto executable = Make(module);
  auto out = Execute(*executable, {Filled(16, 1)});
  EXPECT_FLOAT_EQ(First(out[0]), 6);
  EXPECT_FLOAT_EQ(out[1].tensor().data<float>()[15], 32);
  EXPECT_EQ(executable->memory().workspace, 64u);
}

TEST(Plan, OutputsMayBeInputsConstantsViewsAndRepeated) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(6));
  Term k = b.Number(7);
  Term y = Reshape(x + 1.0, Shape{2, 3});
  b.Return({x, k, y, y, Reshape(k, Shape{1}), Reshape(x, Shape{3, 2})});
  module.set_main(b.graph);
  auto executable = Make(module);
  Tensor in = Filled(6, 4);
  auto out = Execute(*executable, {in});
  EXPECT_EQ(out[0].tensor().raw(), in.raw());
  EXPECT_FLOAT_EQ(First(out[1]), 7);
  EXPECT_EQ(out[2].tensor().shape(), (Shape{2, 3}));
  EXPECT_EQ(out[2].tensor().raw(), out[3].tensor().raw());
  EXPECT_FLOAT_EQ(First(out[3]), 5);
  EXPECT_EQ(out[4].tensor().shape(), (Shape{1}));
  EXPECT_EQ(out[5].tensor().shape(), (Shape{3, 2}));
}

TEST(Plan, EmptyTensorsPass) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(0));
  b.Return({(x + 1.0) * x});
  module.set_main(b.graph);
  auto out = Execute(*Make(module), {Filled(0, 0)});
  EXPECT_EQ(out[0].tensor().size(), 0);
}

TEST(Plan, UpdatesAreWrittenInPlace) {
  Module module;
  Builder b(module, "main");
  Term w = b.In(Vector(100), "w"), x = b.In(Vector(100), "x");
  Term loss = w * x;
  Term next = w - x * 0.5;  // by elementwise ops
  Term v = b.In(Vector(100), "v");
  Term added = b.Op("AssignAdd", {v, x});  // by an op that updates
  b.Return({loss, next, added});
  b.graph->updates = {{1, 0}, {2, 2}};
  module.set_main(b.graph);
  auto executable = Make(module);
  Tensor tw = Filled(100, 3), tx = Filled(100, 2), tv = Filled(100, 10);
  auto out = Execute(*executable, {tw, tx, tv});
  EXPECT_FLOAT_EQ(First(out[0]), 6);
  EXPECT_EQ(out[1].tensor().raw(), tw.raw());
  EXPECT_EQ(out[2].tensor().raw(), tv.raw());
  EXPECT_FLOAT_EQ(tw.data<float>()[99], 2);
  EXPECT_FLOAT_EQ(tv.data<float>()[99], 12);
  EXPECT_EQ(executable->memory().outputs, 400u);  // the loss
}

TEST(Plan, AnOldValueThatIsReturnedSurvivesTheUpdate) {
  Module module;
  Builder b(module, "main");
  Term w = b.In(Vector(8), "w");
  b.Return({w, w + 1.0});
  b.graph->updates = {{1, 0}};
  module.set_main(b.graph);
  auto out = Execute(*Make(module), {Filled(8, 1)});
  EXPECT_FLOAT_EQ(First(out[0]), 1);
  EXPECT_FLOAT_EQ(First(out[1]), 2);
}

TEST(Plan, ParametersCanBeSwapped) {
  Module module;
  Builder b(module, "main");
  Term v = b.In(Vector(4), "v"), w = b.In(Vector(4), "w");
  b.Return({w, v + 0.0});
  b.graph->updates = {{0, 0}, {1, 1}};
  module.set_main(b.graph);
  auto out = Execute(*Make(module), {Filled(4, 1), Filled(4, 2)});
  EXPECT_FLOAT_EQ(First(out[0]), 2);
  EXPECT_FLOAT_EQ(First(out[1]), 1);
}

TEST(Plan, ErrorsNameTheLineAndLeaveTheExecutableUsable) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(4)), i = b.In(Type(DType::kInt64, Shape{4}), "i");
  b.emitter.span = InternSpan({"net.py", 14, 1, 14, 9, "Net.construct", 0});
  b.Return({b.Op("GatherD", {x, i}, {{"dim", int64_t{0}}})});
  module.set_main(b.graph);
  auto executable = Make(module);
  std::vector<Tensor> inputs{Filled(4, 1), Tensor::Full(DType::kInt64, Shape{4}, 0)};
  for (int round = 0; round < 3; ++round) {
    try {
      Execute(*executable, inputs);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIndex);
      EXPECT_EQ(ShortSpan(error.span()), "net.py:14");
    }
  }
}

TEST(Plan, AMissingKernelNamesOpDeviceAndLine) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Type(DType::kFloat32, Shape{2, 2}));
  b.emitter.span = InternSpan({"net.py", 3, 1, 3, 9, "f", 0});
  b.Return({b.Op("MatMul", {x, x})});
  module.set_main(b.graph);
  try {
    Make(module);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("For 'MatMul'"));
    EXPECT_THAT(error.message(), ::testing::HasSubstr("Test"));
    EXPECT_EQ(ShortSpan(error.span()), "net.py:3");
  }
}

TEST(Plan, WrongInputsAreRefused) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(4));
  b.Return({x + 1.0});
  module.set_main(b.graph);
  auto executable = Make(module);
  EXPECT_THROW(Execute(*executable, {}), Error);
  EXPECT_THROW(Execute(*executable, {Filled(5, 0)}), Error);
  EXPECT_THROW(Execute(*executable, {Tensor::Full(DType::kInt32, Shape{4}, 0)}), Error);
}

TEST(Plan, AnInterruptStopsALongRun) {
  Module module;
  Builder b(module, "main");
  Builder loop(module, "loop");
  Term i = loop.In(kScalar);
  loop.graph->DeclareOutputTypes({kScalar});
  loop.Return(loop.Call(loop.Partial(loop.graph), {i}));  // for ever
  b.Return(b.Call(b.Partial(loop.graph), {b.In(kScalar)}));
  module.set_main(b.graph);
  auto executable = Make(module);
  SetInterruptPoll([] { Throw(ErrorKind::kRuntime, "interrupted"); });
  EXPECT_THROW(Execute(*executable, {Value(1)}), Error);
  SetInterruptPoll(nullptr);
}

// The places of a program where most memory lives, largest first.
TEST(Plan, ReportsMemoryByLine) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(256)), small = b.In(Vector(16));
  auto scan = [&](const Term& t, int line) {
    b.emitter.span = InternSpan({"net.py", line, 1, line, 9, "f", 0});
    return b.Op("CumSum", {t}, {{"axis", int64_t{0}}});
  };
  Term p = scan(x, 1), q = scan(p, 2), r = scan(small, 3);
  b.Return({b.Op("CumSum", {p + q}, {{"axis", int64_t{0}}}),
            b.Op("CumSum", {r}, {{"axis", int64_t{0}}})});
  module.set_main(b.graph);
  MemoryReport report = Make(module)->memory();
  EXPECT_EQ(report.parameters, 272u * 4);
  EXPECT_EQ(report.outputs, 272u * 4);
  EXPECT_EQ(report.workspace, 64u);
  EXPECT_EQ(report.feature_maps, 2048u + 64);
  ASSERT_GE(report.peak.size(), 2u);
  EXPECT_EQ(ShortSpan(report.peak[0].first), "net.py:1");
  EXPECT_EQ(report.peak[0].second, 1024u);
  EXPECT_EQ(ShortSpan(report.peak[1].first), "net.py:2");
}

TEST(Plan, ProfilesLaunchesByOpAndLine) {
  Module module;
  Builder b(module, "main");
  b.emitter.span = InternSpan({"net.py", 5, 1, 5, 9, "f", 0});
  Term x = b.In(Vector(16));
  b.Return({b.Op("CumSum", {x + x}, {{"axis", int64_t{0}}})});
  module.set_main(b.graph);
  auto executable = Make(module);
  ResetProfile();
  SetProfile(true);
  for (int i = 0; i < 3; ++i) Execute(*executable, {Filled(16, 1)});
  SetProfile(false);
  Execute(*executable, {Filled(16, 1)});
  std::vector<ProfileRow> rows = GetProfile();
  ASSERT_EQ(rows.size(), 2u);
  for (const ProfileRow& row : rows) {
    EXPECT_TRUE(row.op == "Add" || row.op == "CumSum");
    EXPECT_EQ(row.count, 3u);
    EXPECT_EQ(ShortSpan(row.span), "net.py:5");
  }
  EXPECT_THAT(ProfileTable(), ::testing::HasSubstr("net.py:5"));
  ResetProfile();
}

TEST(Plan, PrintsItsLaunches) {
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(4));
  b.Return({(x + 1.0) * x});
  module.set_main(b.graph);
  EXPECT_EQ(Print(Make(module)->program()),
            "plan main: (Float32[4]) -> (Float32[4]), arena 0, 2 cells, 2 launches\n"
            "  run\n"
            "    allocate c1 16\n"
            "    c1 <- Add(c0 k0)\n"
            "    c1 <- Mul(c1 c0)\n"
            "  return move c1\n");
}

}  // namespace
}  // namespace ms::testing
