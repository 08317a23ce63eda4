// What the kernel of a fused body computes: scalar code over index maps, in one iteration space.
// How the space is walked is for each device to choose.
#pragma once

#include <string>
#include <vector>

#include "ir/scalar.h"
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
  Ints sizes;
  std::vector<bool> reduced;
  std::vector<NestValue> values;  // operands come before users
  std::vector<NestLeaf> leaves;
  std::vector<NestOutput> outputs;
  int stages = 0;
  int inputs = 0;

  int64_t inner() const { return sizes.back(); }
  int64_t size() const;
  int64_t kept_size() const;  // of the kept axes
  int64_t reduced_size() const { return size() / kept_size(); }
  // The reduced axes or the kept ones, without the innermost axis.
  std::vector<int> Outer(bool reduced_axes) const;
  int64_t OuterSize(bool reduced_axes) const;
  // Whether the last pass has full outputs to write (otherwise the last one reduces).
  bool HasFullOutputs() const;
  int passes() const;  // over the elements
};

// Returns why there are no loops for the body; empty when there are.
std::string MakeNest(const FusedBody& body, LoopNest* nest);

// Readable: `schedule` says how the space is walked, `buffered` which values it keeps in memory.
std::string Print(const LoopNest& nest, const std::string& schedule,
                  const std::vector<int>& buffered);

}  // namespace ms::loops
