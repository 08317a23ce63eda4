#include "backends/cpu/kernels/reduce_plan.h"

#include <algorithm>

namespace ms::cpu {

ReducePlan PlanReduce(const Shape& shape, const std::vector<int>& axes) {
  struct Group {
    int64_t size, stride;
    bool reduced;
  };
  std::vector<Group> groups;
  Ints strides = Strides(shape);
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!groups.empty() && groups.back().reduced == reduced) {
      groups.back().size *= shape[i];
      groups.back().stride = strides[static_cast<size_t>(i)];
    } else {
      groups.push_back({shape[i], strides[static_cast<size_t>(i)], reduced});
    }
  }
  ReducePlan plan;
  if (!groups.empty()) {
    plan.row = groups.back().reduced;
    plan.inner = groups.back().size;
    groups.pop_back();
  }
  for (const Group& g : groups) {
    (g.reduced ? plan.reduced_dims : plan.kept_dims).push_back(g.size);
    (g.reduced ? plan.reduced_strides : plan.kept_strides).push_back(g.stride);
    (g.reduced ? plan.reduced : plan.kept) *= g.size;
  }
  plan.count = plan.row ? plan.reduced * plan.inner : plan.reduced;
  plan.results = plan.row ? plan.kept : plan.kept * plan.inner;
  // Few results of many elements each are made in parts.
  constexpr int64_t kEnough = 64;
  int64_t units = plan.kept * plan.tiles();
  if (units < kEnough) {
    int64_t width = plan.row ? 1 : std::min(plan.inner, ReducePlan::kTile);
    int64_t steps =
        plan.row ? plan.reduced * plan.pieces() : std::max<int64_t>(plan.reduced / 16, 1);
    int64_t wanted = plan.count * width / ReducePlan::kPiece;
    plan.chunks = std::clamp<int64_t>(std::min({wanted, steps, kEnough / units}), 1, kEnough);
  }
  return plan;
}

}  // namespace ms::cpu
