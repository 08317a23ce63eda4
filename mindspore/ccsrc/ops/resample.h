// How images are sampled along one axis: which elements of the input an element of the result is
// made of, and by which weights. Used by declarations, which check, and by kernels.
#pragma once

#include <vector>

#include "ir/op.h"

namespace ms {

enum class SampleMode : uint8_t {
  kNearest,  // one element
  kLinear,   // the two around the position, beyond the ends the last one
  kCubic,    // the four around it by Keys' kernel with a = -3/4; beyond the ends the last one
  kKeys,     // the same with a = -1/2; what is beyond the ends does not count
  kMean,     // all elements that touch the result's share of the axis, alike
  kArea,     // the same, by how much of each lies in the share
};

// Where element i of `out` lies among `in`, by s = in / out or the inverse of a given scale.
enum class SampleCoordinates : uint8_t {
  kHalfPixel,         // (i + 1/2) s - 1/2: elements have widths
  kHalfPixelOrFirst,  // the same; a single element lies at 0
  kAlignCorners,      // i (in - 1) / (out - 1): the ends coincide
  kAsymmetric,        // i s
};

struct Sampling {
  SampleMode mode = SampleMode::kLinear;
  SampleCoordinates coordinates = SampleCoordinates::kHalfPixel;
};

// Of the attributes 'mode' and 'coordinates'; throws what is wrong with them.
Sampling ParseSampling(const OpDef& op, const Attrs& attrs);

// For every element of a result the weights of neighbouring elements: of those from first[i] on,
// weights[begin[i]] to weights[begin[i + 1]].
struct SampleTable {
  int64_t in = 0;
  std::vector<int64_t> first, begin{0};
  std::vector<double> weights;

  int64_t out() const { return static_cast<int64_t>(first.size()); }
  int64_t Count(int64_t i) const {
    auto at = static_cast<size_t>(i);
    return begin[at + 1] - begin[at];
  }
};

// `scale` is zero where s is the quotient of the sizes.
SampleTable MakeSampleTable(const Sampling& sampling, int64_t in, int64_t out, double scale);
// What the gradient samples by: for every element of the input the results that it is part of.
SampleTable Transposed(const SampleTable& table);

}  // namespace ms
