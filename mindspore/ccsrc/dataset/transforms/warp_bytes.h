// Rows of turned images of three bytes a pixel, where all that a pixel needs lies in the source.
#pragma once

#include <cstdint>

namespace ms::dataset {

// Where the pixels of a row come from, in 1024ths of a pixel: start + steps[i] of each direction.
struct Line {
  int64_t x, y;
  const int32_t *across, *down;
};

// The pixels from first to last by lines between the four around their places; says up to which one
// it has got, first at least. Its places must lie two pixels off the right border and one off the
// lower one.
int64_t BlendColorBytes(const uint8_t* pixels, int64_t width, const Line& line, int64_t first,
                        int64_t last, int64_t columns, uint8_t* out);

// The nearest pixels from first to last.
void NearestColorBytes(const uint8_t* pixels, int64_t width, int64_t height, const Line& line,
                       int64_t first, int64_t last, uint8_t* out);

}  // namespace ms::dataset
