// How a reduction walks memory. Neighbouring axes of one kind are merged, then the innermost group
// decides: a *row* reduction sums contiguous runs, a *column* reduction adds contiguous rows. Work
// is cut into tasks by the shapes alone, never by the number of threads, so results do not depend
// on it.
#pragma once

#include <vector>

#include "base/shape.h"

namespace ms::cpu {

struct ReducePlan {
  bool row = true;
  int64_t inner = 1;  // row: length of a run; column: length of a row of results
  Ints kept_dims,
      kept_strides;  // in elements, the innermost kept group left out in a column reduction
  Ints reduced_dims, reduced_strides;  // likewise without the runs of a row reduction
  int64_t kept = 1, reduced = 1;       // products of the two
  int64_t count = 1;                   // elements per result
  int64_t results = 1;
  int64_t chunks = 1;                         // parts that each result is made of
  static constexpr int64_t kPiece = 1 << 15;  // longer runs are cut
  static constexpr int64_t kTile = 512;       // columns that one task handles
  int64_t pieces() const { return row ? (inner + kPiece - 1) / kPiece : 1; }
  int64_t tiles() const { return row ? 1 : (inner + kTile - 1) / kTile; }
  int64_t tasks() const { return kept * tiles() * chunks; }
  // Partial results, when chunks > 1: [tasks][partial_width()].
  int64_t partial_width() const { return row ? 1 : kTile; }
};

enum class ReduceKind { kSum, kMean, kMax, kMin, kProd, kAll, kAny };
// (plan, input, output, workspace for plan.tasks() * plan.partial_width() totals of at most 16
// bytes)
using ReduceFn = void (*)(const ReducePlan&, const void*, void*, void*);

// No axis of `shape` may be empty. `axes` are sorted.
ReducePlan PlanReduce(const Shape& shape, const std::vector<int>& axes);

}  // namespace ms::cpu
