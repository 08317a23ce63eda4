// Modules to executables: sharing, lowering, the null device.
#include "driver/compile.h"

#include <gtest/gtest.h>

#include <thread>

#include "backends/null/null.h"
#include "driver/fingerprint.h"
#include "driver/lower.h"
#include "kernel/prepare.h"
#include "runtime/testing.h"

namespace ms::testing {
namespace {

std::shared_ptr<Module> Affine(double scale, int64_t size = 4, const char* name = "net") {
  auto module = std::make_shared<Module>();
  Builder b(*module, name);
  Term x = b.In(Vector(size), "x"), w = b.In(Vector(size), "w");
  b.Return({x * scale + w});
  module->set_main(b.graph);
  return module;
}

const CompileOptions kTest{"Test"};

TEST(Compile, EqualModulesShareAnExecutable) {
  ClearCompiled();
  auto a = Compile(Affine(2), kTest);
  EXPECT_EQ(a, Compile(Affine(2, 4, "other"), kTest));  // names do not matter
  EXPECT_NE(a, Compile(Affine(3), kTest));              // constants do
  EXPECT_NE(a, Compile(Affine(2, 5), kTest));           // types do
  EXPECT_EQ(CompiledCount(), 3u);
  std::vector<RtValue> out;
  a->Run(std::vector<Tensor>{Filled(4, 5), Filled(4, 1)}, &out, nullptr);
  EXPECT_FLOAT_EQ(out[0].tensor().data<float>()[3], 11);
}

TEST(Compile, ThreadsWaitForOneCompilation) {
  ClearCompiled();
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const Executable>> results(8);
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] { results[t] = Compile(Affine(7), kTest); });
  for (auto& thread : threads) thread.join();
  for (const auto& r : results) EXPECT_EQ(r, results[0]);
}

TEST(Compile, AFailureIsReportedEveryTimeAndNotKept) {
  ClearCompiled();
  for (int i = 0; i < 2; ++i) {
    auto module = std::make_shared<Module>();
    Builder b(*module, "main");
    Term x = b.In(Type(DType::kFloat32, Shape{2, 2}));
    b.Return({b.Op("MatMul", {x, x})});
    module->set_main(b.graph);
    EXPECT_THROW(Compile(module, kTest), Error);
  }
  EXPECT_EQ(CompiledCount(), 0u);
  EXPECT_THROW(Compile(Affine(1), {"Abacus"}), Error);
}

TEST(Compile, TheCacheIsBounded) {
  ClearCompiled();
  for (int i = 0; i < 300; ++i) Compile(Affine(i), kTest);
  EXPECT_LE(CompiledCount(), 256u);
  ClearCompiled();
}

TEST(Fingerprint, SeesWhatMatters) {
  auto print = [](const std::shared_ptr<Module>& m) { return FingerprintOf(*m); };
  EXPECT_EQ(print(Affine(2)), print(Affine(2, 4, "x")));
  EXPECT_FALSE(print(Affine(2)) == print(Affine(2.5)));
  auto updating = Affine(2);
  updating->main()->updates = {{0, 1}};
  EXPECT_FALSE(print(updating) == print(Affine(2)));
}

TEST(Prepare, EqualRequestsShareAKernel) {
  Device();
  ClearPreparedKernels();
  const OpDef& add = Ops().Get("Add");
  Types strong{Vector(3), Vector(3)}, weak{Vector(3), Type(DType::kFloat32, Shape{3}, true)},
      out{Vector(3)};
  auto a = PrepareKernel(Device(), {add, strong, out, {}});
  EXPECT_EQ(a, PrepareKernel(Device(), {add, weak, out, {}}));
  Types longer{Vector(4), Vector(4)}, longer_out{Vector(4)};
  EXPECT_NE(a, PrepareKernel(Device(), {add, longer, longer_out, {}}));
  EXPECT_EQ(PreparedKernelCount(), 2u);
}

// An op that the test device does not know, made of one that it does not know either, made of some
// that it does.
TEST(Lower, ExpandsWhatTheDeviceLacks) {
  Device();
  static OpDef inner, outer;
  inner.name = "Inner";
  inner.In("x")
      .Infer([](InferContext& c) { return c.Like(0, c.shape(0)); })
      .Expand([](ExpandContext& c) { return c.in(0) * 3.0; });
  outer.name = "Outer";
  outer.In("x")
      .Infer([](InferContext& c) { return c.Like(0, c.shape(0)); })
      .Expand([](ExpandContext& c) {
        Emitter& e = c.emitter();
        Term first = e.Wrap(e.Emit(inner, {c.in(0).var}, nullptr)[0]);
        return e.Wrap(e.Emit(inner, {(first + 1.0).var}, nullptr)[0]);
      });
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(2));
  Term y = b.emitter.Wrap(b.emitter.Emit(outer, {x.var}, nullptr)[0]);
  b.Return({y + x, y});
  module.set_main(b.graph);
  LowerForDevice(module, Device());
  for (const Node* node : b.graph->nodes()) EXPECT_TRUE(node->op != &inner && node->op != &outer);
  Executable executable(BuildProgram(module, Device()));
  std::vector<RtValue> out;
  executable.Run(std::vector<Tensor>{Filled(2, 2)}, &out, nullptr);
  EXPECT_FLOAT_EQ(out[0].tensor().data<float>()[0], 23);
  EXPECT_FLOAT_EQ(out[1].tensor().data<float>()[1], 21);
}

TEST(NullDevice, AcceptsEverything) {
  Device();
  static const bool registered = (RegisterBackend(MakeNullBackend()), true);
  EXPECT_TRUE(registered);
  auto module = std::make_shared<Module>();
  Builder b(*module, "main");
  Term x = b.In(Type(DType::kFloat32, Shape{64, 64}));
  b.Return({b.Op("MatMul", {x, x})});
  module->set_main(b.graph);
  auto executable = Compile(module, {"Null"});
  std::vector<RtValue> out;
  executable->Run(std::vector<Tensor>{Tensor(DType::kFloat32, Shape{64, 64})}, &out, nullptr);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{64, 64}));
}

}  // namespace
}  // namespace ms::testing
