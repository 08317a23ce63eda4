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

// Of pixels of 3 bytes, five at once: three of them come from 16 bytes, two from 16 others.
struct Fives {
  struct Block {
    int64_t begins[2];
    int8_t places[2][16];  // -1 takes none
  };
  std::vector<Block> blocks;

  Fives(const std::vector<int64_t>& places, int64_t line) {
    // The last pixel is left to the loop: a byte too many is stored.
    for (size_t x = 0; x + 5 < places.size() && line >= 16; x += 5) {
      Block block;
      std::memset(block.places, -1, sizeof block.places);
      for (size_t i = 0; i < 5; ++i) {
        int64_t& begin = block.begins[i / 3];
        if (i % 3 == 0) begin = std::min(places[x + i], line - 16);
        if (places[x + i] + 3 - begin > 16) return;
        for (size_t c = 0; c < 3; ++c) {
          block.places[i / 3][3 * i + c] =
              static_cast<int8_t>(places[x + i] - begin + static_cast<int64_t>(c));
        }
      }
      blocks.push_back(block);
    }
  }
};

MS_VECTORS inline __m128i Load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

MS_VECTORS void PickFives(const std::byte* line, const Fives& all, std::byte* out) {
  for (const Fives::Block& block : all.blocks) {
    __m128i a = _mm_shuffle_epi8(Load(line + block.begins[0]), Load(block.places[0]));
    __m128i b = _mm_shuffle_epi8(Load(line + block.begins[1]), Load(block.places[1]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_or_si128(a, b));
    out += 15;
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
  Fives fives(pixel == 3 && HasVectors() && !wide ? places : std::vector<int64_t>(), line);
  done = blocks.blocks.size() * blocks.pixels + fives.blocks.size() * 5;
#endif
  std::vector<int64_t> rest(places.begin() + static_cast<std::ptrdiff_t>(done), places.end());
  int last = -1;
  for (int row : rows.first) {
    if (row == last) {
      std::memcpy(out, out - size, size);
    } else {
      const std::byte* from_line = image.data + row * line;
#if MS_X86
      if (!blocks.blocks.empty()) PickBlocks(from_line, blocks, pixel, out);
      if (!fives.blocks.empty()) PickFives(from_line, fives, out);
#endif
      PickAny(from_line, rest, pixel, out + done * pixel);
    }
    last = row;
    out += size;
  }
}

}  // namespace ms::dataset
