// See warp_bytes.h.
#include "dataset/transforms/warp_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dataset/transforms/wide.h"

namespace ms::dataset {
namespace {

constexpr int kFine = 32;  // parts of a pixel that weights know

#if MS_X86

// How much of the pixel and of its neighbour there is for each part: beside each other as bytes,
// and as numbers of 16 bits.
struct Shares {
  alignas(16) int8_t bytes[kFine][16];
  alignas(16) int16_t numbers[kFine][8];

  Shares() {
    for (int part = 0; part < kFine; ++part) {
      for (int i = 0; i < 16; ++i) {
        bytes[part][i] = static_cast<int8_t>(i % 2 ? part : kFine - part);
      }
      for (int i = 0; i < 8; ++i) {
        numbers[part][i] = static_cast<int16_t>(i % 2 ? part : kFine - part);
      }
    }
  }
};

MS_VECTORS inline __m128i LoadEight(const uint8_t* from) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
}

MS_VECTORS int64_t BlendWide(const uint8_t* pixels, int64_t width, const Line& line, int64_t first,
                             int64_t last, uint8_t* out) {
  static const Shares shares;
  const __m128i pairs = _mm_setr_epi8(0, 3, 1, 4, 2, 5, -1, -1, 8, 11, 9, 12, 10, 13, -1, -1);
  const __m128i half = _mm_set1_epi32(1 << 9);
  const int64_t row = 3 * width, x0 = line.x, y0 = line.y;
  for (int64_t i = first; i < last; ++i) {
    int64_t x = x0 + line.across[i], y = y0 + line.down[i];
    const uint8_t* at = pixels + (y >> 10) * row + (x >> 10) * 3;
    auto right = static_cast<size_t>(x >> 5 & 31), down = static_cast<size_t>(y >> 5 & 31);
    __m128i four = _mm_unpacklo_epi64(LoadEight(at), LoadEight(at + row));
    __m128i across = _mm_load_si128(reinterpret_cast<const __m128i*>(shares.bytes[right]));
    __m128i joined = _mm_maddubs_epi16(_mm_shuffle_epi8(four, pairs), across);
    __m128i beside = _mm_unpacklo_epi16(joined, _mm_unpackhi_epi64(joined, joined));
    __m128i below = _mm_load_si128(reinterpret_cast<const __m128i*>(shares.numbers[down]));
    __m128i sum = _mm_srai_epi32(_mm_add_epi32(_mm_madd_epi16(beside, below), half), 10);
    sum = _mm_packs_epi32(sum, sum);
    int32_t pixel = _mm_cvtsi128_si32(_mm_packus_epi16(sum, sum));
    std::memcpy(out + 3 * i, &pixel, 4);  // one too many, which the next pixel overwrites
  }
  return last;
}

// Four pixels at once, each with a byte too many; so there must be two more behind them.
MS_VECTORS int64_t PickWide(const uint8_t* pixels, const int32_t* offsets, int64_t count,
                            uint8_t* out) {
  const __m128i dense = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  auto load = [pixels, offsets](int64_t i) {
    int32_t four;
    std::memcpy(&four, pixels + offsets[i], 4);
    return four;
  };
  int64_t i = 0;
  for (; i + 6 <= count; i += 4) {
    __m128i low = _mm_insert_epi32(_mm_cvtsi32_si128(load(i)), load(i + 1), 1);
    __m128i high = _mm_insert_epi32(_mm_cvtsi32_si128(load(i + 2)), load(i + 3), 1);
    __m128i four = _mm_shuffle_epi8(_mm_unpacklo_epi64(low, high), dense);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * i), four);
  }
  return i;
}

#endif

// Where the pixels are in the source, as the compiler finds vectors for them.
MS_WIDE void Offsets(const Line& line, int64_t width, int64_t first, int64_t count,
                     int32_t* offsets) {
  const int32_t *across = line.across + first, *down = line.down + first;
  auto x0 = static_cast<int32_t>(line.x), y0 = static_cast<int32_t>(line.y);
  auto wide = static_cast<int32_t>(width);
  for (int64_t i = 0; i < count; ++i) {
    // Of what lies in an image, nothing is lost.
    int32_t x = across[i] + x0, y = down[i] + y0;
    offsets[i] = ((y >> 10) * wide + (x >> 10)) * 3;
  }
}

// Of a line, which rises or falls, the pixel that is furthest in one direction.
int64_t Furthest(int64_t start, const int32_t* steps, int64_t first, int64_t last) {
  return (start + std::max(steps[first], steps[last - 1])) >> 10;
}

}  // namespace

int64_t BlendColorBytes(const uint8_t* pixels, int64_t width, const Line& line, int64_t first,
                        int64_t last, int64_t columns, uint8_t* out) {
  last = std::min(last, columns - 1);
#if MS_X86
  if (HasVectors() && first < last) return BlendWide(pixels, width, line, first, last, out);
#endif
  (void)pixels, (void)width, (void)line, (void)out;
  return first;
}

void NearestColorBytes(const uint8_t* pixels, int64_t width, int64_t height, const Line& line,
                       int64_t first, int64_t last, uint8_t* out) {
  constexpr int64_t kBlock = 256;
  std::array<int32_t, kBlock> offsets;
  // Four bytes at once where the fourth is somebody's: in the source, and of the next pixel.
  bool at_end = first < last && Furthest(line.x, line.across, first, last) == width - 1 &&
                Furthest(line.y, line.down, first, last) == height - 1;
  for (int64_t i = first; i < last; i += kBlock) {
    int64_t count = std::min<int64_t>(kBlock, last - i), done = 0;
    Offsets(line, width, i, count, offsets.data());
    uint8_t* to = out + 3 * i;
#if MS_X86
    if (HasVectors() && !at_end) done = PickWide(pixels, offsets.data(), count, to);
#endif
    for (int64_t k = done; k < count; ++k) {
      std::memcpy(to + 3 * k, pixels + offsets[static_cast<size_t>(k)], 3);
    }
  }
}

}  // namespace ms::dataset
