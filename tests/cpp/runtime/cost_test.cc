// What running costs beside the kernels: time per launch, per loop step and per call, and memory
// taken by a warm run, which must be none. Times are printed, not judged: machines are busy.
#include <gtest/gtest.h>

#include <chrono>

#include "driver/compile.h"
#include "runtime/allocation_count.h"
#include "runtime/testing.h"

namespace ms::testing {
namespace {

class IdleKernel : public Kernel {
 public:
  explicit IdleKernel(double cost) { cost_ns_ = cost; }
  void Run(const KernelArgs&) const override {}
};

// Counts steps for loops; all other ops do nothing.
class IdleBackend : public Backend {
 public:
  IdleBackend() {
    table_.ForScalar().Try(
        "idle", [](const KernelRequest&) { return KernelChoice(std::make_unique<IdleKernel>(1)); });
    table_.For("Add").Try("number", [](const KernelRequest&) {
      return FunctionKernel(
          [](const KernelArgs& a) {
            *static_cast<float*>(a.out[0]) =
                *static_cast<const float*>(a.in[0]) + *static_cast<const float*>(a.in[1]);
          },
          1);
    });
    table_.For("Less").Try("number", [](const KernelRequest&) {
      return FunctionKernel(
          [](const KernelArgs& a) {
            *static_cast<bool*>(a.out[0]) =
                *static_cast<const float*>(a.in[0]) < *static_cast<const float*>(a.in[1]);
          },
          1);
    });
  }
  std::string_view name() const override { return "Idle"; }
  const KernelTable& kernels() const override { return table_; }

 private:
  KernelTable table_;
};

const Backend& Idle() {
  static IdleBackend backend;
  return backend;
}

struct Cost {
  double ns;     // per run, the best of several
  long news;     // per warm run
  size_t bytes;  // buffers that a warm run left behind
};

Cost Measure(const Executable& executable, const std::vector<Tensor>& inputs, int repeats) {
  std::vector<RtValue> outputs;
  double best = 1e18;
  for (int round = 0; round < 5; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) executable.Run(inputs, &outputs, nullptr);
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / repeats);
  }
  long before = AllocationCount();
  size_t live = HostMemory().stats().live;
  executable.Run(inputs, &outputs, nullptr);
  return {best, AllocationCount() - before, HostMemory().stats().live - live};
}

TEST(Cost, OfALaunch) {
  Device();
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(16)), y = x;
  constexpr int kLaunches = 1000;
  for (int i = 0; i < kLaunches; ++i) y = y * x;
  b.Return({y});
  module.set_main(b.graph);
  Executable executable(BuildProgram(module, Idle()));
  Cost cost = Measure(executable, {Filled(16, 1)}, 200);
  std::printf("launch: %.1f ns; warm run: %ld allocations\n", cost.ns / kLaunches, cost.news);
  EXPECT_EQ(cost.news, 0);
  EXPECT_EQ(cost.bytes, 0u);
}

TEST(Cost, OfARun) {
  Device();
  Module module;
  Builder b(module, "main");
  Terms outputs;
  for (int i = 0; i < 160; ++i) {
    outputs.push_back(b.In(Vector(16), "w") * 2.0);
    b.graph->updates.emplace_back(i, i);
  }
  b.Return(outputs);
  module.set_main(b.graph);
  Executable executable(BuildProgram(module, Idle()));
  Cost cost = Measure(executable, std::vector<Tensor>(160, Filled(16, 1)), 500);
  std::printf("run with 160 parameters updated: %.0f ns; %ld allocations\n", cost.ns, cost.news);
  EXPECT_EQ(cost.news, 0);
  EXPECT_EQ(cost.bytes, 0u);
}

// while i < n: s = s + x; i = i + 1
TEST(Cost, OfALoopStep) {
  Device();
  Module module;
  Builder main(module, "main"), loop(module, "loop"), body(module, "body"), done(module, "done");
  for (Builder* b : {&loop, &body, &done}) b->graph->DeclareOutputTypes({kScalar});
  auto inputs = [](Builder& b) {
    return Terms{b.In(kScalar), b.In(kScalar), b.In(kScalar), b.In(kScalar)};
  };
  Terms d = inputs(done), v = inputs(body), h = inputs(loop);
  done.Return({d[1]});
  body.Return(body.Call(body.Partial(loop.graph), {v[0], v[1] + v[0], v[2] + 1.0, v[3]}));
  Term more = loop.Op("Less", {h[2], h[3]});
  loop.Return(loop.Call(loop.Switch(more, loop.Partial(body.graph), loop.Partial(done.graph)), h));
  Term x = main.In(kScalar), n = main.In(kScalar);
  main.Return(main.Call(main.Partial(loop.graph), {x, main.Number(0), main.Number(0), n}));
  module.set_main(main.graph);
  Executable executable(BuildProgram(module, Idle()));
  constexpr int kSteps = 10000;
  Cost cost = Measure(executable, {Value(1), Value(kSteps)}, 10);
  std::printf("loop step: %.0f ns; warm run: %ld allocations\n", cost.ns / kSteps, cost.news);
  EXPECT_EQ(cost.news, 0);
  EXPECT_EQ(cost.bytes, 0u);
}

TEST(Cost, OfACall) {
  Device();
  Module module;
  Builder main(module, "main"), layer(module, "layer");
  Term w = layer.In(Vector(16)), x = layer.In(Vector(16));
  layer.Return({x * w});
  w = main.In(Vector(16));
  x = main.In(Vector(16));
  constexpr int kCalls = 1000;
  for (int i = 0; i < kCalls; ++i) x = main.Call(main.Partial(layer.graph), {w, x})[0];
  main.Return({x});
  module.set_main(main.graph);
  Executable executable(BuildProgram(module, Idle()));
  Cost cost = Measure(executable, {Filled(16, 1), Filled(16, 1)}, 50);
  std::printf("call: %.0f ns; warm run: %ld allocations\n", cost.ns / kCalls, cost.news);
  EXPECT_EQ(cost.news, 0);
  EXPECT_EQ(cost.bytes, 0u);
}

TEST(Cost, OfPlanningALongChain) {
  Device();
  Module module;
  Builder b(module, "main");
  Term x = b.In(Vector(16)), y = x;
  constexpr int kNodes = 200000;
  for (int i = 0; i < kNodes; ++i) y = y * x;
  b.Return({y});
  module.set_main(b.graph);
  auto start = std::chrono::steady_clock::now();
  Executable executable(BuildProgram(module, Idle()));
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::printf("planning: %.2f us a node\n", time.count() * 1e6 / kNodes);
}

}  // namespace
}  // namespace ms::testing
