// Images of bytes in another size, in fixed point: between the passes are 16 bits for each number.
#pragma once

#include <cstdint>

#include "dataset/transforms/resize.h"

namespace ms::dataset {

struct Extents {
  int64_t height, width, channels;
  int64_t line;  // numbers from a row to the next
};

// Whether ResizeBytes does it, within a hundredth of what floats come to.
bool FitsFixed(Interpolation interpolation, const Extents& from, int64_t height, int64_t width);
void ResizeBytes(const uint8_t* in, uint8_t* out, const Extents& from, int64_t height,
                 int64_t width, Interpolation interpolation);

// Nearest pixels are copied, whatever they are.
void CopyNearest(const Value& image, std::byte* out, const Extents& from, int64_t height,
                 int64_t width, Interpolation interpolation);

}  // namespace ms::dataset
