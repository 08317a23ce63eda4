// Nodes that ask for the same share a kernel, however many others are asked for between them.
#include "kernel/node_kernels.h"

#include <gtest/gtest.h>

#include "backends/null/null.h"
#include "ir/text.h"
#include "ops/all.h"

namespace ms {
namespace {

std::vector<std::shared_ptr<const Kernel>> KernelsOf(const std::string& text) {
  static const auto backend = MakeNullBackend();
  SetOpSource(DefineAllOps);
  auto module = Parse(text);
  NodeKernels kernels(*backend);
  std::vector<std::shared_ptr<const Kernel>> found;
  for (const Node* node : module->main()->nodes()) {
    if (node->kind == NodeKind::kApply) found.push_back(kernels.Of(*node));
  }
  return found;
}

TEST(NodeKernels, ManyKindsOfOneOp) {
  constexpr int kKinds = 20;
  std::string inputs, nodes;
  for (int i = 0; i < 2 * kKinds; ++i) {
    inputs += fmt::format("{}x{}: Float32[{}]", i ? ", " : "", i, 2 + i % kKinds);
    nodes += fmt::format("%{} = Exp(x{})\n", i, i);
  }
  auto kernels =
      KernelsOf("graph main(" + inputs + ") -> (Float32[2]) {\n" + nodes + "return %0\n}\n");
  for (int i = 0; i < kKinds; ++i) EXPECT_EQ(kernels[i], kernels[i + kKinds]);
  EXPECT_NE(kernels[0], kernels[1]);
}

// Those of the process refer to no graph, so these are known here or nowhere.
TEST(NodeKernels, GroupsOfOneBody) {
  auto kernels = KernelsOf(R"(
  graph main(x: Float32[4], y: Float32[4]) -> (Float32[4]) {
    %0 = Fused(x, y, body=@one)
    %1 = Fused(%0, y, body=@two)
    %2 = Fused(%1, y, body=@one)
    return %2
  }
  graph one(x0: Float32[4], x1: Float32[4]) -> (Float32[4]) {
    %0 = Add(x0, x1)
    return %0
  }
  graph two(x0: Float32[4], x1: Float32[4]) -> (Float32[4]) {
    %0 = Mul(x0, x1)
    return %0
  })");
  EXPECT_EQ(kernels[0], kernels[2]);
  EXPECT_NE(kernels[0], kernels[1]);
}

}  // namespace
}  // namespace ms
