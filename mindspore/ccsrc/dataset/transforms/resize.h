// Images of any size in another one.
#pragma once

#include "dataset/transforms/jpeg.h"
#include "dataset/value.h"

namespace ms::dataset {

// The numbers of vision.Inter; the last ones are what Pillow does under the same names.
enum class Interpolation {
  kNearest = 0,
  kLanczos = 1,  // averages when shrinking, as all of Pillow's do
  kLinear = 2,
  kCubic = 3,
  kArea = 4,
  kPillowCubic = 5,
  kPillowNearest = 6,
  kPillowLinear = 7,
  kPillowBox = 8,
  kAreaOfTwo = 9,  // what kArea is where a side grows
};

// [H, W] or [H, W, C]; pixel centres are at half-pixel offsets. Integers are rounded and clipped.
Value Resize(const Value& image, int64_t height, int64_t width, Interpolation interpolation);
// Of a part that lies in the image.
Value ResizePart(const Value& image, const Window& part, int64_t height, int64_t width,
                 Interpolation interpolation);

}  // namespace ms::dataset
