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

}  // namespace ms::dataset
