// How images are sampled at positions that a grid holds: for declarations, which check, and for
// kernels.
#pragma once

#include "ir/op.h"

namespace ms {

// What there is outside of an image.
enum class GridPadding : uint8_t {
  kZeros,
  kBorder,      // the nearest element
  kReflection,  // the image again, turned over
};

struct GridRule {
  bool nearest = false;        // the nearest element; else the 2^axes around a position, weighed
  bool align_corners = false;  // -1 and 1 are the middles of the outermost elements, not their ends
  GridPadding padding = GridPadding::kZeros;
  unsigned slopes = 0;  // bit k: not the sample, but how it changes with coordinate k
};

// Of the attributes of the ops; throws what is wrong with them, for grids of so many coordinates.
GridRule ParseGridRule(const OpDef& op, const Attrs& attrs, int axes);

}  // namespace ms
