// See resize_bytes.h.
#include "dataset/transforms/resize_bytes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "dataset/transforms/taps.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {
namespace {

constexpr int kWeightBits = 14;                    // of a weight: 1 is 2^14, which 16 bits hold
constexpr int kDropped = 8;                        // bits, between the passes
constexpr int kLeft = 2 * kWeightBits - kDropped;  // bits behind the point in the end
constexpr int kMostTaps = 16;                      // whose roundings add up to little
constexpr int64_t kMargin = 64;                    // numbers that vectors read beyond a row

int32_t Paired(int16_t low, int16_t high) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint16_t>(low)) |
                              static_cast<uint32_t>(static_cast<uint16_t>(high)) << 16);
}

int16_t Part(int32_t pair, int which) {
  return static_cast<int16_t>(static_cast<uint32_t>(pair) >> (which * 16));
}

// Taps in pairs, as one instruction multiplies them: [pairs][target], each the weights of two
// neighbours. All weights of a target add up to 1.
struct PairedTaps {
  int64_t count = 0;  // of pairs
  std::vector<int32_t> first, weights;

  PairedTaps(int64_t source, int64_t target, Interpolation interpolation) {
    Taps taps = MakeTaps(source, target, interpolation);
    first.assign(taps.first.begin(), taps.first.end());
    count = (taps.count + 1) / 2;
    weights.resize(static_cast<size_t>(count * target));
    std::vector<int16_t> whole(static_cast<size_t>(count) * 2);
    for (int64_t x = 0; x < target; ++x) {
      int rest = 1 << kWeightBits;
      size_t largest = 0;
      for (size_t k = 0; k < static_cast<size_t>(taps.count); ++k) {
        double weight = taps.weights[static_cast<size_t>(x * taps.count) + k];
        whole[k] = static_cast<int16_t>(std::lrint(weight * (1 << kWeightBits)));
        rest -= whole[k];
        if (whole[k] > whole[largest]) largest = k;
      }
      whole[largest] = static_cast<int16_t>(whole[largest] + rest);
      for (int64_t k = 0; k < count; ++k) {
        auto at = static_cast<size_t>(2 * k);
        weights[static_cast<size_t>(k * target + x)] = Paired(whole[at], whole[at + 1]);
      }
    }
  }
};

uint8_t Clipped(int32_t sum) {
  return static_cast<uint8_t>(std::clamp((sum + (1 << (kLeft - 1))) >> kLeft, 0, 255));
}

// Rows of bytes, two for each pair of weights, as one row of 16 bits.
using Rows = std::vector<const uint8_t*>;

void JoinRows(const Rows& rows, const int32_t* weights, int64_t stride, int64_t from, int64_t size,
              int16_t* out) {
  for (int64_t i = from; i < size; ++i) {
    int32_t sum = 1 << (kDropped - 1);
    for (size_t k = 0; k < rows.size(); k += 2) {
      int32_t pair = weights[static_cast<int64_t>(k / 2) * stride];
      sum += rows[k][i] * Part(pair, 0) + rows[k + 1][i] * Part(pair, 1);
    }
    out[i] = static_cast<int16_t>(sum >> kDropped);
  }
}

// Pixels of a row of 16 bits, from target `x` on.
void JoinColumns(const int16_t* row, const PairedTaps& taps, int64_t channels, int64_t x,
                 int64_t width, uint8_t* out) {
  for (; x < width; ++x) {
    const int16_t* pixel = row + taps.first[static_cast<size_t>(x)] * channels;
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (int64_t k = 0; k < taps.count; ++k) {
        int32_t pair = taps.weights[static_cast<size_t>(k * width + x)];
        sum += pixel[2 * k * channels + c] * Part(pair, 0) +
               pixel[(2 * k + 1) * channels + c] * Part(pair, 1);
      }
      out[x * channels + c] = Clipped(sum);
    }
  }
}

// For processors that permute 64 numbers of 16 bits: of each 16 bytes of the result, where their
// pairs are among 64 neighbours of the row, and their weights.
struct Numbered {
  struct Block {
    int64_t begin;
    alignas(64) int16_t places[32];
  };
  std::vector<Block> blocks;
  std::vector<int32_t> weights;  // [block][pair][16]
  int64_t pairs, step;           // from a pair to the next, in the row

  Numbered(const PairedTaps& taps, int64_t channels, int64_t width)
      : pairs(taps.count), step(2 * channels) {
    if (!HasPermutes()) return;
    auto first = [&](int64_t number) { return taps.first[static_cast<size_t>(number / channels)]; };
    for (int64_t n = 0; n + 16 <= width * channels; n += 16) {
      Block block{first(n) * channels, {}};
      int64_t end = (first(n + 15) + 2 * pairs) * channels;
      if (end - block.begin > 64) {  // too far apart: shrunk by much
        blocks.clear();
        return;
      }
      for (int64_t i = 0; i < 16; ++i) {
        int64_t place = first(n + i) * channels + (n + i) % channels - block.begin;
        block.places[2 * i] = static_cast<int16_t>(place);
        block.places[2 * i + 1] = static_cast<int16_t>(place + channels);
      }
      blocks.push_back(block);
      for (int64_t k = 0; k < pairs; ++k) {
        for (int64_t i = 0; i < 16; ++i) {
          weights.push_back(taps.weights[static_cast<size_t>(k * width + (n + i) / channels)]);
        }
      }
    }
  }
};

#if MS_X86

// 64 numbers at once; says how many it has done.
MS_PERMUTES int64_t JoinRowsWider(const Rows& rows, const int32_t* weights, int64_t stride,
                                  int64_t size, int16_t* out) {
  const __m512i zero = _mm512_setzero_si512(), half = _mm512_set1_epi32(1 << (kDropped - 1));
  const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  int64_t i = 0;
  for (; i + 64 <= size; i += 64) {
    __m512i sums[4] = {half, half, half, half};
    for (size_t k = 0; k < rows.size(); k += 2) {
      __m512i pair = _mm512_set1_epi32(weights[static_cast<int64_t>(k / 2) * stride]);
      __m512i a = _mm512_loadu_si512(rows[k] + i), b = _mm512_loadu_si512(rows[k + 1] + i);
      __m512i low = _mm512_unpacklo_epi8(a, b), high = _mm512_unpackhi_epi8(a, b);
      __m512i parts[4] = {_mm512_unpacklo_epi8(low, zero), _mm512_unpackhi_epi8(low, zero),
                          _mm512_unpacklo_epi8(high, zero), _mm512_unpackhi_epi8(high, zero)};
      for (int p = 0; p < 4; ++p) {
        sums[p] = _mm512_add_epi32(sums[p], _mm512_madd_epi16(parts[p], pair));
      }
    }
    for (__m512i& sum : sums) sum = _mm512_srai_epi32(sum, kDropped);
    __m512i first = _mm512_packs_epi32(sums[0], sums[1]);
    __m512i second = _mm512_packs_epi32(sums[2], sums[3]);
    _mm512_storeu_si512(out + i, _mm512_permutex2var_epi64(first, lower, second));
    _mm512_storeu_si512(out + i + 32, _mm512_permutex2var_epi64(first, upper, second));
  }
  return i;
}

// Says how many bytes it has done.
MS_PERMUTES int64_t JoinBlocksWider(const int16_t* row, const Numbered& numbered, uint8_t* out) {
  const __m512i half = _mm512_set1_epi32(1 << (kLeft - 1)), zero = _mm512_setzero_si512();
  const __m512i step = _mm512_set1_epi16(static_cast<int16_t>(numbered.step));
  const int32_t* weights = numbered.weights.data();
  uint8_t* to = out;
  for (const Numbered::Block& block : numbered.blocks) {
    __m512i low = _mm512_loadu_si512(row + block.begin);
    __m512i high = _mm512_loadu_si512(row + block.begin + 32);
    __m512i places = _mm512_loadu_si512(block.places), sum = half;
    for (int64_t k = 0; k < numbered.pairs; ++k, weights += 16) {
      __m512i pairs = _mm512_permutex2var_epi16(low, places, high);
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_loadu_si512(weights)));
      places = _mm512_add_epi16(places, step);
    }
    sum = _mm512_max_epi32(_mm512_srai_epi32(sum, kLeft), zero);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtusepi32_epi8(sum));
    to += 16;
  }
  return to - out;
}

// 32 numbers at once; says how many it has done.
MS_VECTORS int64_t JoinRowsWide(const Rows& rows, const int32_t* weights, int64_t stride,
                                int64_t size, int16_t* out) {
  const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << (kDropped - 1));
  int64_t i = 0;
  for (; i + 32 <= size; i += 32) {
    __m256i sums[4] = {half, half, half, half};
    for (size_t k = 0; k < rows.size(); k += 2) {
      __m256i pair = _mm256_set1_epi32(weights[static_cast<int64_t>(k / 2) * stride]);
      auto a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[k] + i));
      auto b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[k + 1] + i));
      __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
      __m256i parts[4] = {_mm256_unpacklo_epi8(low, zero), _mm256_unpackhi_epi8(low, zero),
                          _mm256_unpacklo_epi8(high, zero), _mm256_unpackhi_epi8(high, zero)};
      for (int p = 0; p < 4; ++p) {
        sums[p] = _mm256_add_epi32(sums[p], _mm256_madd_epi16(parts[p], pair));
      }
    }
    for (__m256i& sum : sums) sum = _mm256_srai_epi32(sum, kDropped);
    __m256i first = _mm256_packs_epi32(sums[0], sums[1]);
    __m256i second = _mm256_packs_epi32(sums[2], sums[3]);
    auto* to = reinterpret_cast<__m256i*>(out + i);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(first, second, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(first, second, 0x31));
  }
  return i;
}

MS_VECTORS inline __m256i Halves(const int16_t* low, const int16_t* high) {
  __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(low));
  __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(high));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

MS_VECTORS inline __m256i Rounded(__m256i sum) {
  return _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(1 << (kLeft - 1))), kLeft);
}

// Four pixels of three or four channels at once. Of three, each pixel is stored with a byte more,
// which the next one overwrites: the last ones are left.
template <int kChannels>
MS_VECTORS int64_t JoinPixelsWide(const int16_t* row, const PairedTaps& taps, int64_t width,
                                  uint8_t* out) {
  // A number of a pixel beside that of the next.
  const __m128i three = _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1);
  const __m128i four = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  const __m256i beside = _mm256_broadcastsi128_si256(kChannels == 3 ? three : four);
  const int32_t* first = taps.first.data();
  int64_t x = 0;
  for (; x + 5 <= width; x += 4) {
    __m256i a = _mm256_setzero_si256(), b = a;
    for (int64_t k = 0; k < taps.count; ++k) {
      const int32_t* w = taps.weights.data() + k * width + x;
      const int16_t* pixels = row + 2 * k * kChannels;
      __m256i shares = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
      const __m256i low = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
      const __m256i high = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
      __m256i one = Halves(pixels + first[x] * kChannels, pixels + first[x + 1] * kChannels);
      __m256i two = Halves(pixels + first[x + 2] * kChannels, pixels + first[x + 3] * kChannels);
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_shuffle_epi8(one, beside),
                                                _mm256_permutevar8x32_epi32(shares, low)));
      b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_shuffle_epi8(two, beside),
                                                _mm256_permutevar8x32_epi32(shares, high)));
    }
    __m256i words = _mm256_packs_epi32(Rounded(a), Rounded(b));  // pixels 0 2 | 1 3
    __m256i bytes = _mm256_packus_epi16(words, words);
    auto even = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(bytes)));
    auto odd = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm256_extracti128_si256(bytes, 1)));
    uint32_t four_pixels[4] = {static_cast<uint32_t>(even), static_cast<uint32_t>(odd),
                               static_cast<uint32_t>(even >> 32), static_cast<uint32_t>(odd >> 32)};
    for (int p = 0; p < 4; ++p) std::memcpy(out + (x + p) * kChannels, &four_pixels[p], 4);
  }
  return x;
}

// Eight numbers of one channel at once: two neighbours of 16 bits are one of 32.
MS_VECTORS int64_t JoinNumbersWide(const int16_t* row, const PairedTaps& taps, int64_t width,
                                   uint8_t* out) {
  int64_t x = 0;
  for (; x + 8 <= width; x += 8) {
    auto first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(taps.first.data() + x));
    __m256i sum = _mm256_setzero_si256();
    for (int64_t k = 0; k < taps.count; ++k) {
      auto shares =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(taps.weights.data() + k * width + x));
      auto pair = _mm256_i32gather_epi32(reinterpret_cast<const int*>(row + 2 * k), first, 2);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pair, shares));
    }
    __m256i words = _mm256_packs_epi32(Rounded(sum), _mm256_setzero_si256());
    __m256i bytes = _mm256_packus_epi16(words, words);
    int32_t low = _mm_cvtsi128_si32(_mm256_castsi256_si128(bytes));
    int32_t high = _mm_cvtsi128_si32(_mm256_extracti128_si256(bytes, 1));
    std::memcpy(out + x, &low, 4);
    std::memcpy(out + x + 4, &high, 4);
  }
  return x;
}

#endif

void Columns(const int16_t* row, const PairedTaps& taps, const Numbered& numbered, int64_t channels,
             int64_t width, uint8_t* out) {
  int64_t done = 0;
#if MS_X86
  if (!numbered.blocks.empty()) {
    done = JoinBlocksWider(row, numbered, out) / channels;
  } else if (HasVectors()) {
    if (channels == 3) done = JoinPixelsWide<3>(row, taps, width, out);
    if (channels == 4) done = JoinPixelsWide<4>(row, taps, width, out);
    if (channels == 1) done = JoinNumbersWide(row, taps, width, out);
  }
#endif
  JoinColumns(row, taps, channels, done, width, out);
}

}  // namespace

bool FitsFixed(Interpolation interpolation, const Extents& from, int64_t height, int64_t width) {
  if (interpolation == Interpolation::kLinear || interpolation == Interpolation::kCubic)
    return true;
  bool few = from.height / height + 2 <= kMostTaps && from.width / width + 2 <= kMostTaps;
  return interpolation == Interpolation::kArea && few;
}

namespace {

// All that depends on the sizes alone. Each thread keeps some: pictures of a set are often alike.
struct Plan {
  Extents from;
  int64_t height, width;
  Interpolation interpolation;
  PairedTaps down, across;
  Numbered numbered;

  Plan(const Extents& given, int64_t rows, int64_t columns, Interpolation kind)
      : from(given),
        height(rows),
        width(columns),
        interpolation(kind),
        down(given.height, rows, kind),
        across(given.width, columns, kind),
        numbered(across, given.channels, columns) {}

  bool Fits(const Extents& given, int64_t rows, int64_t columns, Interpolation kind) const {
    return from.height == given.height && from.width == given.width &&
           from.channels == given.channels && height == rows && width == columns &&
           interpolation == kind;
  }
};

std::shared_ptr<const Plan> PlanOf(const Extents& from, int64_t height, int64_t width,
                                   Interpolation interpolation) {
  constexpr size_t kKept = 4;
  thread_local std::array<std::shared_ptr<const Plan>, kKept> kept;
  thread_local size_t next = 0;
  for (const auto& plan : kept) {
    if (plan && plan->Fits(from, height, width, interpolation)) return plan;
  }
  auto& place = kept[next++ % kKept];
  place = std::make_shared<const Plan>(from, height, width, interpolation);
  return place;
}

}  // namespace

void ResizeBytes(const uint8_t* in, uint8_t* out, const Extents& from, int64_t height,
                 int64_t width, Interpolation interpolation) {
  std::shared_ptr<const Plan> plan = PlanOf(from, height, width, interpolation);
  const PairedTaps &down = plan->down, &across = plan->across;
  int64_t size = from.width * from.channels;
  // Pairs may reach beyond the right border, with weight 0.
  std::vector<int16_t> joined(
      static_cast<size_t>(size + (2 * across.count + 1) * from.channels + kMargin));
  Rows rows(static_cast<size_t>(down.count) * 2);
  for (int64_t y = 0; y < height; ++y) {
    int64_t first = down.first[static_cast<size_t>(y)];
    for (size_t k = 0; k < rows.size(); ++k) {
      int64_t row = std::min(first + static_cast<int64_t>(k), from.height - 1);
      rows[k] = in + row * from.line;
    }
    const int32_t* weights = &down.weights[static_cast<size_t>(y)];
    int64_t done = 0;
#if MS_X86
    if (HasPermutes()) {
      done = JoinRowsWider(rows, weights, height, size, joined.data());
    } else if (HasVectors()) {
      done = JoinRowsWide(rows, weights, height, size, joined.data());
    }
#endif
    JoinRows(rows, weights, height, done, size, joined.data());
    Columns(joined.data(), across, plan->numbered, from.channels, width,
            out + y * width * from.channels);
  }
}

}  // namespace ms::dataset
