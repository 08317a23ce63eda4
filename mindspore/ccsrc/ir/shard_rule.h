// The sharding rule of an op: named factors for the dimensions of its inputs and outputs, as in an
// einsum, with marks for what a cut along a factor costs. From it follow which cuts are legal, the
// shapes of the parts, and how their results join:
//
//   "m k, k n -> m n; k sum"          a product of matrices
//   "... x -> ... x; x whole"         softmax along the last axis
//   "v d, i -> i d; v indexed by 1"   rows of a table
//   "a*b c -> a b c; shape = a b c"   a reshape
//
// Operands are separated by commas, results follow `->`, clauses follow `;`. An operand names one
// item for each of its dimensions: a factor, a product of factors (the first is the slowest to
// change, and the only one that may be cut), `1` for a dimension of size 1 that has no factor, or
// `...` for all dimensions that the others leave, which are aligned at the right as in NumPy and
// may be of size 1 where others are not. A result that has a factor is the concatenation of the
// parts' results along it. A factor that a result lacks must be marked:
//
//   k sum|max|min|mean    the result is that of the parts' results (mean: weighed by their sizes)
//   k mean by 2           weighed by result 2 of each part, which is a sum itself; a part of weight
//                         zero counts for nothing, whatever its mean is
//   k whole               not to be cut
//   k indexed by 1        positions along it are the values of operand 1: a part takes its offset
//                         from them and leaves out what is not its own; a result without the
//                         factor is the sum of the parts' results
//   k halo                a part needs rows of its neighbours
//   seeded                the number of the part goes into the seed of the random numbers
//   shape = a b _         the sizes of a part stand in an attribute; `_`: an entry that stays
//
// A part of a view is a reshape to the shape that the part's factors give.
//
// The gradient follows as well: an operand that lacks a factor that is cut gets a partial sum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/op.h"

namespace ms {

enum class ShardMark : uint8_t { kNone, kWhole, kSum, kMax, kMin, kMean, kIndexed, kHalo };
std::string_view Name(ShardMark mark);  // "whole"; "" for none

struct ShardFactor {
  std::string name;
  Dim size = 1;
  ShardMark mark = ShardMark::kNone;
  int by = -1;        // of a mean: the result that weighs the others, or -1 for the sizes;
                      // indexed: the operand that holds the positions
  bool leads = true;  // the first in every product that it is part of

  // Whether a part of it can be computed at all, be it with help.
  bool splits() const { return leads && mark != ShardMark::kWhole && !size.Is(0) && !size.Is(1); }
};

using ShardDim = std::vector<int>;           // numbers of factors; none: size 1 without a factor
using ShardOperand = std::vector<ShardDim>;  // one for each dimension

struct ShardSizes {
  std::string attr;
  std::vector<std::optional<ShardDim>> entries;  // none: stays as it is
};

struct ShardRule {
  std::vector<ShardFactor> factors;
  std::vector<ShardOperand> operands;
  std::vector<ShardOperand> results;
  std::vector<ShardSizes> sizes;
  bool seeded = false;
};

// What the rule of a declaration may read: what inference may, and the outputs.
class ShardContext : public InferContext {
 public:
  ShardContext(const OpDef& op, const Types& inputs, const Attrs& attrs, const Types& outputs)
      : InferContext(op, inputs, attrs), outputs_(outputs) {}
  const Types& outputs() const { return outputs_; }
  const Shape& out(size_t i) const { return outputs_[i].shape(); }

 private:
  const Types& outputs_;
};

// "..., ... -> ...": each element of the results is made of those at its place.
std::string ElementwiseShard(const ShardContext& c);

// The rule that the text states for these types. InternalError names the op and the mistake.
ShardRule ParseShardRule(const OpDef& op, const std::string& text, const Types& inputs,
                         const Types& outputs);

// The rule of an op, declared or derived; nothing where there is neither.
std::optional<ShardRule> ShardRuleOf(const OpDef& op, const Types& inputs, const Attrs& attrs);

}  // namespace ms
