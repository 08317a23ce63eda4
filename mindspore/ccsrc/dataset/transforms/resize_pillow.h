// Whole weights, as Pillow has them, and loops over them for processors with vectors of 32 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/transforms/resize.h"

namespace ms::dataset {

constexpr int kWholeBits = 32 - 8 - 2;  // of weights: sums of bytes stay within 32

struct WholeTaps {
  int64_t count = 0;  // of each target; 0: there is no pass
  std::vector<int> first;
  std::vector<int32_t> weights;  // [target][count]

  WholeTaps(int64_t source, int64_t target, Interpolation interpolation);
};

// The same weights in two parts that products of 16 bits take: upper * 2^15 + lower. They stand in
// groups of four, the last filled up by zeros: [target][group][lower, upper][4].
struct SplitTaps {
  static constexpr int kLower = 15;
  static constexpr int64_t kGroup = 4;
  int64_t groups = 0;
  std::vector<int16_t> weights;

  explicit SplitTaps(const WholeTaps& taps);
  const int16_t* Of(int64_t target) const { return &weights[target * groups * 2 * kGroup]; }
};

constexpr int64_t kRowsAcross = 4;
// So many rows of `channels` 3 or 4, `line` bytes apart, each with 16 bytes and a group of pixels
// more than its taps need; the results have nothing between them.
void AcrossVectors(const uint8_t* rows, int64_t line, uint8_t* out, const WholeTaps& taps,
                   const SplitTaps& split, int64_t channels, int64_t width);
// A row of the result from `count` rows of the source; false for rows that are too short.
bool DownVectors(const uint8_t* in, uint8_t* out, int64_t size, const int16_t* weights,
                 int64_t count);

}  // namespace ms::dataset
