// How the loops of a fused body run on vectors and caches, chosen by rule. LLVM text is written
// from it (backends/cpu/codegen/nest_text.h).
//
// What is reduced decides how the space is walked; the innermost axis is always the vector's:
//   elementwise  tasks are blocks of the innermost axis; nothing but the body inside.
//   rows         the innermost axis is reduced: a task is one index of the kept axes. It passes
//                over its elements once for each stage, which finds them in the cache, and what is
//                costly and used by several passes is kept in a buffer of the row.
//   columns      the innermost axis is kept: a task is a tile of columns, totals stand in an array.
// Where these are too few tasks, each is cut into chunks, and every stage becomes a phase of its
// own which first combines, in order, the totals that the chunks of the phase before left. The cut
// depends on sizes only: results do not depend on the number of threads. What may be chosen by
// measurement (backends/cpu/codegen/tuning.h) leaves every sum in its order, too.
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/codegen/tuning.h"
#include "loops/loop_nest.h"

namespace ms::cpu {

struct ScheduledNest : loops::LoopNest {
  enum class Schedule : uint8_t { kElementwise, kRows, kColumns };
  static constexpr int64_t kBuffer = 1 << 15;  // elements of a row that may be buffered

  Schedule schedule = Schedule::kElementwise;
  int64_t chunks = 1;
  int64_t piece = 2048;  // elements of a row that are added up before they go to a total
  // Values that a pass writes to the row's buffer for later ones.
  std::vector<int> buffered;
  Tuning tuning;

  // Elements of one piece of a row in buffers; and pieces of a whole row of one task.
  int64_t piece_span() const;
  int64_t pieces() const;
  int64_t row_pieces() const { return (inner() + piece - 1) / piece; }
  int64_t tiles() const { return (inner() + tuning.tile - 1) / tuning.tile; }
};

// Returns why there is no code for the body; empty when there is.
std::string ScheduleNest(const FusedBody& body, int vector_bytes, ScheduledNest* nest);

// The nest with another tuning.
ScheduledNest Retuned(const ScheduledNest& nest, const Tuning& tuning);

// Of the whole nest on one core: operations (functions counted as 20), and rough time.
struct NestCost {
  double flops = 0;
  double ns = 0;
};
NestCost CostOf(const ScheduledNest& nest);

// Readable, for MS_DUMP=kernels.
std::string Print(const ScheduledNest& nest);

}  // namespace ms::cpu
