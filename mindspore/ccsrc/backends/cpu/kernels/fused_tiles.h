// Fused bodies by tile programs: elementwise parts run over tiles, reductions over blocks of rows
// that stay in cache. Nothing is generated, so every machine has it; generated code is checked
// against it.
//
// Work is cut into *stages*, as the values of a body are (ops/fused.h): stage s computes what the
// reductions of stage s + 1 read. Rows are taken in blocks through all stages at once, and values
// that a later stage wants again are kept for the block. In the other forms every stage is a pass
// over everything, after which the reduced values are there; what it needs of earlier stages is
// computed again.
#pragma once

#include "backends/cpu/codegen/tile_program.h"
#include "backends/cpu/kernels/reduce_plan.h"
#include "ops/fused.h"

namespace ms::cpu {

// Where a pass finds or puts a value.
struct FusedPlace {
  enum class Kind : uint8_t {
    kParameter,
    kOutput,
    kKept,   // an array in the workspace, one element for each index of the kept axes
    kBlock,  // the elements of the block under way
  };
  Kind kind = Kind::kParameter;
  int index = -1;
  size_t item = 0;
};

// A program over the elements of the space, or over those of the kept axes.
struct FusedPass {
  TileProgram program;
  std::vector<FusedPlace> in, out;
  bool empty() const { return out.empty(); }
};

struct FusedReduction {
  FusedPlace from, to;
  DType dtype = DType::kFloat32;  // of the elements read; a half type is summed as Float32
  DType result = DType::kFloat32;
  ReduceFn reduce = nullptr;
  bool mean = false;           // `reduce` only adds up
  VectorFn combine = nullptr;  // of partial results
};

struct FusedStage {
  FusedPass kept, full;                    // in this order
  std::vector<FusedReduction> reductions;  // then these
};

struct FusedProgram {
  FusedBody::Form form = FusedBody::Form::kElementwise;
  int64_t size = 1, kept = 1, reduced = 1;
  int64_t inner = 1;  // elements from one index of the leading reduced axes to the next
  std::vector<FusedStage> stages;
  std::vector<size_t> arrays;  // element sizes of the arrays in the workspace
  std::vector<size_t> blocks;  // likewise of a block's values
  double ns_per_element = 0;
  bool rows() const { return form == FusedBody::Form::kRows; }
};

// Returns why the body cannot be run this way; empty when it can.
std::string CompileFused(const FusedBody& body, FusedProgram* program);

}  // namespace ms::cpu
