// How the threads of a GPU share a loop nest.
#include <algorithm>
#include <cmath>

#include "backends/cuda/codegen/nest_text.h"

namespace ms::cuda {
namespace {

// Strides of a dense array of the whole space.
Ints DenseStrides(const Ints& sizes) {
  Ints strides(sizes.size());
  int64_t dense = 1;
  for (size_t d = sizes.size(); d-- > 0; dense *= sizes[d]) strides[d] = dense;
  return strides;
}

bool NeedsWide(const loops::LoopNest& nest) {
  constexpr double kMost = 0x1p31 - 0x1p24;  // loops step beyond the end
  if (static_cast<double>(nest.size()) >= kMost) return true;
  for (const loops::NestLeaf& leaf : nest.leaves) {
    double most = static_cast<double>(leaf.offset);
    for (size_t d = 0; d < nest.sizes.size(); ++d)
      most += static_cast<double>(std::abs(leaf.strides[d]) * (nest.sizes[d] - 1));
    if (most >= kMost) return true;
  }
  return false;
}

// Elements of 16 bytes, or of fewer where a value is wider than its neighbours.
int PackOf(const loops::LoopNest& nest) {
  size_t widest = 1;
  for (const loops::NestValue& value : nest.values) {
    if (value.node.op != ScalarOp::kInput) continue;
    const loops::NestLeaf& leaf = nest.leaves[static_cast<size_t>(value.node.input)];
    bool uniform = std::all_of(leaf.strides.begin(), leaf.strides.end(),
                               [](int64_t stride) { return stride == 0; });
    if (uniform) continue;
    if (leaf.offset != 0 || leaf.strides != DenseStrides(nest.sizes)) return 1;
    widest = std::max(widest, ItemSize(value.node.dtype));
  }
  for (const loops::NestOutput& o : nest.outputs)
    widest = std::max(widest, ItemSize(nest.values[static_cast<size_t>(o.value)].node.dtype));
  return static_cast<int>(16 / std::max<size_t>(widest, 2));
}

}  // namespace

NestPlan PlanNest(const loops::LoopNest& nest, int multiprocessors) {
  constexpr int64_t kLeast = 4096;  // elements of a chunk, for each group of threads
  constexpr int64_t kMostChunks = 256;
  NestPlan plan;
  plan.wide = NeedsWide(nest);
  if (nest.stages == 0) {
    plan.pack = PackOf(nest);
    return plan;
  }
  int64_t reduced = nest.reduced_size();
  if (nest.reduced.back()) {
    plan.along = reduced <= 1024 ? 32 : kBlock;
  } else {
    plan.across = 32;
    plan.along = kBlock / 32;
  }
  int64_t per_block = kBlock / plan.along;
  int64_t blocks = (nest.kept_size() + per_block - 1) / per_block;
  int64_t wanted = (4 * multiprocessors + blocks - 1) / blocks;
  int64_t least = plan.across == 1 ? kLeast : kLeast / 16;
  plan.chunks = std::clamp<int64_t>(std::min(wanted, reduced / least), 1, kMostChunks);
  return plan;
}

}  // namespace ms::cuda
