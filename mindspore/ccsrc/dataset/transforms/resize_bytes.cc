// See resize_bytes.h.
#include "dataset/transforms/resize_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "dataset/transforms/taps.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {
namespace {

constexpr int kMostTaps = 16;    // whose roundings add up to little
constexpr int64_t kMargin = 64;  // numbers that vectors read beyond a row

void JoinRows(const WeighedRows& from, int64_t begin, int16_t* out) {
  for (int64_t i = begin; i < from.size; ++i) out[i] = static_cast<int16_t>(from.Joined(i));
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
        sum += pixel[2 * k * channels + c] * PairedTaps::Part(pair, 0) +
               pixel[(2 * k + 1) * channels + c] * PairedTaps::Part(pair, 1);
      }
      out[x * channels + c] = ByteOf(sum);
    }
  }
}

// For processors that permute 64 numbers of 16 bits: of each 16 bytes of the result, where their
// pairs are among 64 neighbours of the row, and their weights.
struct Numbered {
  struct Block {
    int64_t target, begin;  // in the result, and in the row
    alignas(64) int16_t places[32];
  };
  std::vector<Block> blocks;
  std::vector<int32_t> weights;  // [block][pair][16]
  int64_t pairs, step;           // from a pair to the next, in the row
  bool near = true;              // 32 neighbours are enough

  Numbered(const PairedTaps& taps, int64_t channels, int64_t width)
      : pairs(taps.count), step(2 * channels) {
    int64_t all = width * channels;
    if (!HasPermutes() || all < 16) return;
    blocks.reserve(static_cast<size_t>(all / 16 + 1));
    weights.reserve(static_cast<size_t>((all + 15) * pairs));
    const RowPlaces places(taps.first, channels, width);
    for (int64_t at = 0; at < all; at += 16) {
      int64_t n = std::min(at, all - 16);  // the last ones, some of them again
      Block block{n, places[places.Target(n) * channels], {}};
      int64_t end = places[n + 15] + (2 * pairs - 1) * channels + 1;
      if (end - block.begin > 64) {  // too far apart: shrunk by much
        blocks.clear();
        return;
      }
      near = near && end - block.begin <= 32;
      for (int64_t i = 0; i < 16; ++i) {
        int64_t place = places[n + i] - block.begin;
        block.places[2 * i] = static_cast<int16_t>(place);
        block.places[2 * i + 1] = static_cast<int16_t>(place + channels);
      }
      blocks.push_back(block);
      for (int64_t k = 0; k < pairs; ++k) {
        const int32_t* shares = &taps.weights[static_cast<size_t>(k * width)];
        for (int64_t i = 0; i < 16; ++i) weights.push_back(shares[places.Target(n + i)]);
      }
    }
  }
};

#if MS_X86

// 64 numbers at once, the last of them again; says how many it has done.
MS_PERMUTES int64_t JoinRowsWider(const WeighedRows& from, int16_t* out) {
  const __m512i zero = _mm512_setzero_si512(), half = _mm512_set1_epi32(1 << (kDropped - 1));
  const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  if (from.size < 64) return 0;
  for (int64_t at = 0; at < from.size; at += 64) {
    int64_t i = std::min(at, from.size - 64);
    __m512i sums[4] = {half, half, half, half};
    for (size_t k = 0; k < from.rows.size(); k += 2) {
      __m512i pair = _mm512_set1_epi32(from.weights[static_cast<int64_t>(k / 2) * from.stride]);
      __m512i a = _mm512_loadu_si512(from.rows[k] + i);
      __m512i b = _mm512_loadu_si512(from.rows[k + 1] + i);
      __m512i low = _mm512_unpacklo_epi8(a, b), high = _mm512_unpackhi_epi8(a, b);
      sums[0] = _mm512_dpwssd_epi32(sums[0], _mm512_unpacklo_epi8(low, zero), pair);
      sums[1] = _mm512_dpwssd_epi32(sums[1], _mm512_unpackhi_epi8(low, zero), pair);
      sums[2] = _mm512_dpwssd_epi32(sums[2], _mm512_unpacklo_epi8(high, zero), pair);
      sums[3] = _mm512_dpwssd_epi32(sums[3], _mm512_unpackhi_epi8(high, zero), pair);
    }
    for (__m512i& sum : sums) sum = _mm512_srai_epi32(sum, kDropped);
    __m512i first = _mm512_packs_epi32(sums[0], sums[1]);
    __m512i second = _mm512_packs_epi32(sums[2], sums[3]);
    _mm512_storeu_si512(out + i, _mm512_permutex2var_epi64(first, lower, second));
    _mm512_storeu_si512(out + i + 32, _mm512_permutex2var_epi64(first, upper, second));
  }
  return from.size;
}

// All of so many rows together, which share weights and places. From one row to the next it is
// `line` numbers, and `target` bytes of the result.
template <int kRows, bool kNear>
MS_PERMUTES void JoinBlocksWider(const int16_t* row, int64_t line, const Numbered& numbered,
                                 uint8_t* out, int64_t target) {
  const __m512i half = _mm512_set1_epi32(1 << (kLeft - 1)), zero = _mm512_setzero_si512();
  const __m512i step = _mm512_set1_epi16(static_cast<int16_t>(numbered.step));
  const int32_t* weights = numbered.weights.data();
  for (const Numbered::Block& block : numbered.blocks) {
    __m512i low[kRows], high[kRows], sums[kRows], places = _mm512_loadu_si512(block.places);
    for (int r = 0; r < kRows; ++r) {
      low[r] = _mm512_loadu_si512(row + r * line + block.begin);
      high[r] = kNear ? zero : _mm512_loadu_si512(row + r * line + block.begin + 32);
      sums[r] = half;
    }
    for (int64_t k = 0; k < numbered.pairs; ++k, weights += 16) {
      __m512i shares = _mm512_loadu_si512(weights);
      for (int r = 0; r < kRows; ++r) {
        __m512i pairs = kNear ? _mm512_permutexvar_epi16(places, low[r])
                              : _mm512_permutex2var_epi16(low[r], places, high[r]);
        sums[r] = _mm512_dpwssd_epi32(sums[r], pairs, shares);
      }
      places = _mm512_add_epi16(places, step);
    }
    for (int r = 0; r < kRows; ++r) {
      __m512i sum = _mm512_max_epi32(_mm512_srai_epi32(sums[r], kLeft), zero);
      auto* bytes = reinterpret_cast<__m128i*>(out + r * target + block.target);
      _mm_storeu_si128(bytes, _mm512_cvtusepi32_epi8(sum));
    }
  }
}

// 16 numbers of two rows whose weights add up to 1, as they do of one pair.
MS_VECTORS inline __m256i BetweenTwo(__m256i a, __m256i b, __m256i second) {
  // This product drops 15 bits and rounds.
  __m256i moved = _mm256_slli_epi16(_mm256_sub_epi16(b, a), 15 - kDropped);
  return _mm256_add_epi16(_mm256_slli_epi16(a, PairedTaps::kBits - kDropped),
                          _mm256_mulhrs_epi16(moved, second));
}

MS_VECTORS inline __m256i Widened(const uint8_t* bytes) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}

// 32 numbers at once, the last of them again; says how many it has done.
MS_VECTORS int64_t JoinTwoRowsWide(const WeighedRows& from, int16_t* out) {
  if (from.size < 32) return 0;
  const __m256i second = _mm256_set1_epi16(PairedTaps::Part(*from.weights, 1));
  const uint8_t *one = from.rows[0], *two = from.rows[1];
  const int64_t size = from.size;
  for (int64_t at = 0; at < size; at += 32) {
    int64_t i = std::min(at, size - 32);
    __m256i low = BetweenTwo(Widened(one + i), Widened(two + i), second);
    __m256i high = BetweenTwo(Widened(one + i + 16), Widened(two + i + 16), second);
    auto* to = reinterpret_cast<__m256i*>(out + i);
    _mm256_storeu_si256(to, low);
    _mm256_storeu_si256(to + 1, high);
  }
  return size;
}

// 32 numbers at once; says how many it has done.
MS_VECTORS int64_t JoinRowsWide(const WeighedRows& from, int16_t* out) {
  const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << (kDropped - 1));
  int64_t i = 0;
  for (; i + 32 <= from.size; i += 32) {
    __m256i sums[4] = {half, half, half, half};
    for (size_t k = 0; k < from.rows.size(); k += 2) {
      __m256i pair = _mm256_set1_epi32(from.weights[static_cast<int64_t>(k / 2) * from.stride]);
      auto a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from.rows[k] + i));
      auto b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from.rows[k + 1] + i));
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

MS_VECTORS inline __m256i Halves(const void* low, const void* high) {
  __m128i first = _mm_loadu_si128(static_cast<const __m128i*>(low));
  __m128i second = _mm_loadu_si128(static_cast<const __m128i*>(high));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

// Where JoinPixelsWide has pixels from, each number beside that of the next pixel: one pixel in
// each half. Here from joined rows, `line` numbers apart.
template <int kChannels>
struct JoinedRows {
  const int16_t* row;
  int64_t line;
  __m256i beside;

  MS_VECTORS JoinedRows(const int16_t* given, int64_t apart) : row(given), line(apart) {
    const __m128i three = _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1);
    const __m128i four = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    beside = _mm256_broadcastsi128_si256(kChannels == 3 ? three : four);
  }

  MS_VECTORS const int16_t* From(int r, int64_t step) const { return row + r * line + step; }
  MS_VECTORS __m256i Pixels(const int16_t* from, int64_t low, int64_t high) const {
    return _mm256_shuffle_epi8(Halves(from + low, from + high), beside);
  }
};

// From two rows of bytes, of which no more is joined than what is asked for. It reads 16 bytes from
// a pixel on.
template <int kChannels>
struct TwoRows {
  const uint8_t *one, *two;
  __m256i second, beside;

  MS_VECTORS explicit TwoRows(const WeighedRows& from)
      : one(from.rows[0]),
        two(from.rows[1]),
        second(_mm256_set1_epi16(PairedTaps::Part(*from.weights, 1))) {
    const __m128i three = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    const __m128i four = _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
    beside = _mm256_broadcastsi128_si256(kChannels == 3 ? three : four);
  }

  MS_VECTORS int64_t From(int, int64_t step) const { return step; }
  MS_VECTORS __m256i Pixels(int64_t from, int64_t low, int64_t high) const {
    const uint8_t *a = one + from, *b = two + from;
    return BetweenTwo(_mm256_shuffle_epi8(Halves(a + low, a + high), beside),
                      _mm256_shuffle_epi8(Halves(b + low, b + high), beside), second);
  }
};

// Stores the sums of eight pixels as bytes, and nothing beyond them: in each register are one of
// the first four and that four further.
template <int kChannels>
MS_VECTORS inline void StorePixels(const __m256i sums[4], uint8_t* to) {
  __m256i whole[4];
  for (int p = 0; p < 4; ++p) whole[p] = _mm256_srai_epi32(sums[p], kLeft);
  __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(whole[0], whole[1]),
                                      _mm256_packs_epi32(whole[2], whole[3]));
  if constexpr (kChannels == 4) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
  const __m128i three = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  bytes = _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(three));
  __m128i later = _mm256_extracti128_si256(bytes, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 12), later);
  _mm_storeu_si32(to + 20, _mm_srli_si128(later, 8));
}

// Eight pixels of three or four channels at once, the last of them again, of all of so many rows.
template <int kChannels, int kRows, class Source>
MS_VECTORS int64_t JoinPixelsWide(const Source source, const PairedTaps& taps, int64_t width,
                                  uint8_t* out) {
  if (width < 8) return 0;
  const __m256i half = _mm256_set1_epi32(1 << (kLeft - 1));
  const int32_t *first = taps.first.data(), *weights = taps.weights.data();
  const int64_t pairs = taps.count;
  for (int64_t at = 0; at < width; at += 8) {
    int64_t x = std::min(at, width - 8);
    int64_t places[8];
    for (int p = 0; p < 8; ++p) places[p] = int64_t{first[x + p]} * kChannels;
    __m256i sums[kRows][4];
    for (auto& sum : sums) std::fill(sum, sum + 4, half);
    for (int64_t k = 0; k < pairs; ++k) {
      const int64_t step = 2 * k * kChannels;
      auto shares = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + k * width + x));
      const __m256i each[4] = {
          _mm256_shuffle_epi32(shares, 0x00), _mm256_shuffle_epi32(shares, 0x55),
          _mm256_shuffle_epi32(shares, 0xAA), _mm256_shuffle_epi32(shares, 0xFF)};
      for (int r = 0; r < kRows; ++r) {
        const auto from = source.From(r, step);
        for (int p = 0; p < 4; ++p) {
          __m256i two = source.Pixels(from, places[p], places[p + 4]);
          sums[r][p] = _mm256_add_epi32(sums[r][p], _mm256_madd_epi16(two, each[p]));
        }
      }
    }
    for (int r = 0; r < kRows; ++r)
      StorePixels<kChannels>(sums[r], out + (r * width + x) * kChannels);
  }
  return width;
}

template <int kChannels>
MS_VECTORS int64_t JoinRowsOfPixels(const int16_t* row, int64_t line, int64_t rows,
                                    const PairedTaps& taps, int64_t width, uint8_t* out) {
  const JoinedRows<kChannels> source(row, line);
  return rows == 2 ? JoinPixelsWide<kChannels, 2>(source, taps, width, out)
                   : JoinPixelsWide<kChannels, 1>(source, taps, width, out);
}

template <int kChannels>
MS_VECTORS void JoinFewPixels(const WeighedRows& from, const PairedTaps& taps, int64_t width,
                              uint8_t* out) {
  JoinPixelsWide<kChannels, 1>(TwoRows<kChannels>(from), taps, width, out);
}

// Eight numbers of one channel at once: two neighbours of 16 bits are one of 32.
MS_VECTORS int64_t JoinNumbersWide(const int16_t* row, const PairedTaps& taps, int64_t width,
                                   uint8_t* out) {
  int64_t x = 0;
  for (; x + 8 <= width; x += 8) {
    auto first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(taps.first.data() + x));
    __m256i sum = _mm256_set1_epi32(1 << (kLeft - 1));
    for (int64_t k = 0; k < taps.count; ++k) {
      auto shares =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(taps.weights.data() + k * width + x));
      auto pair = _mm256_i32gather_epi32(reinterpret_cast<const int*>(row + 2 * k), first, 2);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pair, shares));
    }
    __m256i words = _mm256_packs_epi32(_mm256_srai_epi32(sum, kLeft), _mm256_setzero_si256());
    __m256i bytes = _mm256_packus_epi16(words, words);
    int32_t low = _mm_cvtsi128_si32(_mm256_castsi256_si128(bytes));
    int32_t high = _mm_cvtsi128_si32(_mm256_extracti128_si256(bytes, 1));
    std::memcpy(out + x, &low, 4);
    std::memcpy(out + x + 4, &high, 4);
  }
  return x;
}

#endif

void Rows(const WeighedRows& from, int16_t* out) {
  int64_t done = 0;
#if MS_X86
  if (HasPermutes()) {
    done = JoinRowsWider(from, out);
  } else if (HasVectors()) {
    done = from.rows.size() == 2 ? JoinTwoRowsWide(from, out) : JoinRowsWide(from, out);
  }
#endif
  JoinRows(from, done, out);
}

// Of one row or two, `line` numbers from each other.
void Columns(const int16_t* row, int64_t line, int64_t rows, const PairedTaps& taps,
             const Numbered& numbered, int64_t channels, int64_t width, uint8_t* out) {
  int64_t target = width * channels;
#if MS_X86
  if (!numbered.blocks.empty()) {
    auto join = rows == 2 ? numbered.near ? JoinBlocksWider<2, true> : JoinBlocksWider<2, false>
                : numbered.near ? JoinBlocksWider<1, true>
                                : JoinBlocksWider<1, false>;
    return join(row, line, numbered, out, target);
  }
#endif
  int64_t done = 0;
#if MS_X86
  if (HasVectors() && (channels == 3 || channels == 4)) {
    auto join = channels == 3 ? JoinRowsOfPixels<3> : JoinRowsOfPixels<4>;
    done = join(row, line, rows, taps, width, out);
  }
#endif
  for (int64_t r = 0; r < rows; ++r, row += line, out += target) {
    int64_t from = done;
#if MS_X86
    if (HasVectors() && channels == 1) from = JoinNumbersWide(row, taps, width, out);
#endif
    JoinColumns(row, taps, channels, from, width, out);
  }
}

// Rows of the result, from the first, of which only the columns that they ask for are joined. Says
// how many there are: none where whole rows are better, and not the last of the source's.
int64_t JoinFewColumns(WeighedRows* from, const PairedTaps& across, const PlannedSizes& sizes,
                       const std::function<int64_t(int64_t)>& take, uint8_t* out) {
#if MS_X86
  const bool few = sizes.columns >= 3 * sizes.width && sizes.width >= 8;
  const bool pixels = sizes.channels == 3 || sizes.channels == 4;
  if (!few || !pixels || from->rows.size() != 2 || across.count != 1 || HasPermutes() ||
      !HasVectors())
    return 0;
  auto join = sizes.channels == 3 ? JoinFewPixels<3> : JoinFewPixels<4>;
  int64_t y = 0;
  for (; y < sizes.height && take(y) + 2 < sizes.rows; ++y) {
    join(*from, across, sizes.width, out + y * sizes.width * sizes.channels);
  }
  return y;
#else
  (void)from, (void)across, (void)sizes, (void)take, (void)out;
  return 0;
#endif
}

}  // namespace

bool FitsFixed(Interpolation interpolation, const Extents& from, int64_t height, int64_t width) {
  if (interpolation == Interpolation::kLinear || interpolation == Interpolation::kCubic ||
      interpolation == Interpolation::kAreaOfTwo)
    return true;
  bool few = from.height / height + 2 <= kMostTaps && from.width / width + 2 <= kMostTaps;
  return interpolation == Interpolation::kArea && few;
}

namespace {

struct Plan {
  PlannedSizes sizes;
  PairedTaps down, across;
  Numbered numbered;
  FarTaps far;

  explicit Plan(const PlannedSizes& s)
      : sizes(s),
        down(s.rows, s.height, s.interpolation),
        across(s.columns, s.width, s.interpolation),
        numbered(across, s.channels, s.width),
        far(down, across, s, numbered.blocks.empty()) {}
};

}  // namespace

void ResizeBytes(const uint8_t* in, uint8_t* out, const Extents& from, int64_t height,
                 int64_t width, Interpolation interpolation) {
  std::shared_ptr<const Plan> plan = PlanOf<Plan>(from, height, width, interpolation);
  const PairedTaps &down = plan->down, &across = plan->across;
  WeighedRows weighed{std::vector<const uint8_t*>(static_cast<size_t>(down.count) * 2), nullptr,
                      height, from.width * from.channels};
  auto take = [&](int64_t y) {
    int64_t first = down.first[static_cast<size_t>(y)];
    for (size_t k = 0; k < weighed.rows.size(); ++k) {
      int64_t row = std::min(first + static_cast<int64_t>(k), from.height - 1);
      weighed.rows[k] = in + row * from.line;
    }
    weighed.weights = &down.weights[static_cast<size_t>(y)];
    return first;
  };
  int64_t target = width * from.channels;
  if (!plan->far.blocks.empty()) {
    for (int64_t y = 0; y < height; ++y) {
      take(y);
      JoinFarRow(weighed, plan->far, out + y * target);
    }
    return;
  }
  // Pairs may reach beyond the right border, with weight 0.
  int64_t line = weighed.size + (2 * across.count + 1) * from.channels + kMargin;
  std::vector<int16_t> joined(static_cast<size_t>(2 * line));
  for (int64_t y = JoinFewColumns(&weighed, across, plan->sizes, take, out); y < height; y += 2) {
    int64_t rows = std::min<int64_t>(2, height - y);
    for (int64_t r = 0; r < rows; ++r) {
      take(y + r);
      Rows(weighed, joined.data() + r * line);
    }
    Columns(joined.data(), line, rows, across, plan->numbered, from.channels, width,
            out + y * target);
  }
}

}  // namespace ms::dataset
