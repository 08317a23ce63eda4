// Images in another size by their nearest pixels; see resize_bytes.h.
#include <algorithm>
#include <cstring>
#include <vector>

#include "dataset/transforms/resize_bytes.h"
#include "dataset/transforms/taps.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {
namespace {

// The pixels of a line at `places`, in bytes of it.
template <size_t kPixel>
void Pick(const std::byte* line, const std::vector<int64_t>& places, size_t from, std::byte* out) {
  for (size_t x = from; x < places.size(); ++x) {
    std::memcpy(out + x * kPixel, line + places[x], kPixel);
  }
}

void PickAny(const std::byte* line, const std::vector<int64_t>& places, size_t pixel,
             std::byte* out) {
  switch (pixel) {
    case 1:
      return Pick<1>(line, places, 0, out);
    case 2:
      return Pick<2>(line, places, 0, out);
    case 3:
      return Pick<3>(line, places, 0, out);
    case 4:
      return Pick<4>(line, places, 0, out);
    case 8:
      return Pick<8>(line, places, 0, out);
    case 12:
      return Pick<12>(line, places, 0, out);
    default:
      for (int64_t place : places) {
        std::memcpy(out, line + place, pixel);
        out += pixel;
      }
  }
}

#if MS_X86

// Of pixels of 1 or 3 bytes, as many at once as 64 bytes hold, where they come from 128.
struct Blocks {
  size_t pixels = 0;  // of a block
  struct Block {
    int64_t begin;
    uint8_t places[64];
  };
  std::vector<Block> blocks;

  Blocks(const std::vector<int64_t>& places, size_t pixel, int64_t line) {
    pixels = 64 / pixel;
    // The last block is left to the loop: what is stored behind it would be beyond the line.
    for (size_t x = 0; x + pixels < places.size(); x += pixels) {
      Block block{places[x], {}};
      int64_t end = places[x + pixels - 1] + static_cast<int64_t>(pixel);
      if (end - block.begin > 128 || block.begin + 128 > line) break;
      for (size_t i = 0; i < pixels * pixel; ++i) {
        int64_t from = places[x + i / pixel] + static_cast<int64_t>(i % pixel);
        block.places[i] = static_cast<uint8_t>(from - block.begin);
      }
      blocks.push_back(block);
    }
  }
};

MS_PERMUTES void PickBlocks(const std::byte* line, const Blocks& all, size_t pixel,
                            std::byte* out) {
  for (const Blocks::Block& block : all.blocks) {
    __m512i low = _mm512_loadu_si512(line + block.begin);
    __m512i high = _mm512_loadu_si512(line + block.begin + 64);
    __m512i places = _mm512_loadu_si512(block.places);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi8(low, places, high));
    out += all.pixels * pixel;
  }
}

#endif

}  // namespace

void CopyNearest(const Value& image, std::byte* out, const Extents& from, int64_t height,
                 int64_t width, Interpolation interpolation) {
  Taps rows = MakeTaps(from.height, height, interpolation);
  Taps columns = MakeTaps(from.width, width, interpolation);
  size_t pixel = static_cast<size_t>(from.channels) * image.element.size;
  auto line = static_cast<int64_t>(pixel) * from.width;
  std::vector<int64_t> places;
  for (int column : columns.first) places.push_back(column * static_cast<int64_t>(pixel));
  size_t size = pixel * static_cast<size_t>(width), done = 0;
#if MS_X86
  bool wide = (pixel == 1 || pixel == 3) && HasPermutes();
  Blocks blocks(wide ? places : std::vector<int64_t>(), wide ? pixel : 1, line);
  done = blocks.blocks.size() * blocks.pixels;
#endif
  std::vector<int64_t> rest(places.begin() + static_cast<std::ptrdiff_t>(done), places.end());
  int last = -1;
  for (int row : rows.first) {
    if (row == last) {
      std::memcpy(out, out - size, size);
    } else {
      const std::byte* from_line = image.data + row * line;
#if MS_X86
      if (done > 0) PickBlocks(from_line, blocks, pixel, out);
#endif
      PickAny(from_line, rest, pixel, out + done * pixel);
    }
    last = row;
    out += size;
  }
}

}  // namespace ms::dataset
