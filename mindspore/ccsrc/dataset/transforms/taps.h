// Which pixels of a line make those of a shorter or longer one.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/transforms/resize.h"

namespace ms::dataset {

// How much of each source pixel is in a target pixel.
struct Taps {
  int count = 0;                // the same for all, the last ones with weight 0
  std::vector<int> first;       // of each target
  std::vector<double> weights;  // [target, count]
};

Taps MakeTaps(int64_t source, int64_t target, Interpolation interpolation);

// Taps in fixed point and in pairs, as one instruction multiplies them: [pairs][target], each the
// weights of two neighbours. All weights of a target add up to 1, which is 2^kBits.
struct PairedTaps {
  static constexpr int kBits = 14;
  int64_t count = 0;  // of pairs
  std::vector<int32_t> first, weights;

  PairedTaps(int64_t source, int64_t target, Interpolation interpolation);
  // The first or second weight of a pair.
  static int16_t Part(int32_t pair, int which) {
    return static_cast<int16_t>(static_cast<uint32_t>(pair) >> (which * 16));
  }
};

}  // namespace ms::dataset
