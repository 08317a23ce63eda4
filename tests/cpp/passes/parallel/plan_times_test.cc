// How long planning takes: printed, never asserted. The large ones run with
// --gtest_also_run_disabled_tests.
#include <ctime>

#include "passes/parallel/networks.h"

namespace ms::parallel {
namespace {

using namespace testing;

void Time(const char* name, const Sizes& sizes, const Mesh& mesh) {
  auto module = Transformer(sizes).Step();
  size_t nodes = 0;
  for (const auto& graph : module->graphs()) nodes += graph->nodes().size();
  PlanOptions options = OptionsFor(*module, mesh);
  options.device = FastDevice();
  std::clock_t before = std::clock();
  Plan plan = MakePlan(*module, options);
  double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  fmt::print("{}: {} nodes, {} devices: planned in {:.3f} s; a step takes {:.4f} s\n", name, nodes,
             mesh.devices(), seconds, plan.seconds);
  EXPECT_GT(plan.seconds, 0);
}

Sizes Llama(int64_t batch, int layers) {
  return {batch, 2048, 4096, 14336, 32, 128256, layers, true};
}

TEST(PlanTimes, Llama8BOn64Devices) { Time("LLaMA-8B", Llama(64, 32), MeshOf({4, 4, 4})); }
TEST(PlanTimes, DISABLED_4096Devices) { Time("LLaMA-8B", Llama(4096, 32), MeshOf({8, 8, 8, 8})); }
TEST(PlanTimes, DISABLED_100000Nodes) { Time("1100 layers", Llama(64, 1100), MeshOf({8, 8})); }

}  // namespace
}  // namespace ms::parallel
