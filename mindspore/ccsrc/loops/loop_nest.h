// The loops of a fused body: scalar code over index maps, and a schedule chosen by rule. LLVM text
// is written from it (loops/nest_text.h).
//
// Schedules. What is reduced decides how the space is walked; the innermost axis is always the
// vector's:
//   elementwise  tasks are blocks of the innermost axis; nothing but the body inside.
//   rows         the innermost axis is reduced: a task is one index of the kept axes. It passes
//   over
//                its elements once for each stage, which finds them in the cache, and what is
//                costly and used by several passes is kept in a buffer of the row.
//   columns      the innermost axis is kept: a task is a tile of columns, totals stand in an array.
// Where these are too few tasks, each is cut into chunks, and every stage becomes a phase of its
// own which first combines, in order, the totals that the chunks of the phase before left. The cut
// depends on sizes only: results do not depend on the number of threads. What may be chosen by
// measurement (loops/tuning.h) leaves every sum in its order, too.
#pragma once

#include <string>
#include <vector>

#include "loops/tuning.h"
#include "loops/vector_table.h"
#include "ops/fused.h"

namespace ms::loops {

enum class Reduction : uint8_t { kNone, kSum, kMean, kMax, kMin, kProd };

struct NestValue {
  ScalarNode node;                         // `args` are values of the nest; `input` counts leaves
  Reduction reduction = Reduction::kNone;  // of args[0]
  int stage = 0;                           // reductions before it, itself included
  bool kept = false;                       // the same along all reduced axes
  bool flat = false;                       // the same along the innermost axis
  bool uniform = false;
  bool heavy = false;  // costs more to compute again than to read back
};

// An input as it is walked.
struct NestLeaf {
  int input;
  int64_t offset;
  Ints strides;  // in elements, for each axis
};

struct NestOutput {
  int value;
  bool kept;
};

struct LoopNest {
  enum class Schedule : uint8_t { kElementwise, kRows, kColumns };
  static constexpr int64_t kBuffer = 1 << 15;  // elements of a row that may be buffered

  Ints sizes;
  std::vector<bool> reduced;
  std::vector<NestValue> values;  // operands come before users
  std::vector<NestLeaf> leaves;
  std::vector<NestOutput> outputs;
  int stages = 0;
  int inputs = 0;

  Schedule schedule = Schedule::kElementwise;
  int64_t chunks = 1;
  int64_t piece = 2048;  // elements of a row that are added up before they go to a total
  // Values that a pass writes to the row's buffer for later ones.
  std::vector<int> buffered;
  Tuning tuning;

  int64_t inner() const { return sizes.back(); }
  int64_t size() const;
  int64_t kept_size() const;  // of the kept axes
  int64_t reduced_size() const { return size() / kept_size(); }
  // The reduced axes (rows: without the innermost) or the kept ones (columns: likewise).
  std::vector<int> Outer(bool reduced_axes) const;
  int64_t OuterSize(bool reduced_axes) const;
  // Elements of one piece of a row in buffers; and pieces of a whole row of one task.
  int64_t piece_span() const;
  int64_t pieces() const;
  int64_t row_pieces() const { return (inner() + piece - 1) / piece; }
  int64_t tiles() const { return (inner() + tuning.tile - 1) / tuning.tile; }
  // Whether the last pass has full outputs to write (otherwise the last one reduces).
  bool HasFullOutputs() const;
  int passes() const;  // over the elements
};

// Returns why there are no loops for the body; empty when there are.
std::string MakeNest(const FusedBody& body, int vector_bytes, LoopNest* nest);

// The nest with another tuning.
LoopNest Retuned(const LoopNest& nest, const Tuning& tuning);

// Of the whole nest on one core: operations (functions counted as 20), and rough time.
struct NestCost {
  double flops = 0;
  double ns = 0;
};
NestCost CostOf(const LoopNest& nest);

// Readable, for MS_DUMP=kernels.
std::string Print(const LoopNest& nest);

}  // namespace ms::loops
