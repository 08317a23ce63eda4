// Images of bytes made much smaller: of most pixels nothing is seen, and the passes over whole rows
// in resize_bytes.cc would read them in vain. Here both passes see only what they take, with the
// same sums.
#include <algorithm>

#include "dataset/transforms/resize_bytes.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {
namespace {

constexpr int64_t kNumbers = 16;  // of a block
constexpr int64_t kReach = 128;   // bytes of a row that one permutation sees

// Where the two bytes of a number are put, so that they come out in order in the end: each step of
// the way exchanges eights and fours within 16 bytes.
constexpr int64_t Slot(int64_t number) {
  return number / 8 * 16 + (number & 2) * 4 + (number & 4) + (number & 1) * 2;
}

}  // namespace

FarTaps::FarTaps(const PairedTaps& down, const PairedTaps& across, const PlannedSizes& sizes,
                 bool only)
    : pairs(across.count), step(2 * sizes.channels) {
  int64_t channels = sizes.channels;
  int64_t size = sizes.columns * channels, all = sizes.width * channels;
  if (!HasPermutes() || size < kReach || all < kNumbers) return;
  // What was measured for a block, in quarters of a nanosecond, and of whole rows for a number, in
  // twentieths of that.
  int64_t taken = 4 + pairs * (12 + 7 * down.count), seen = 4 + pairs;
  if (!only && 20 * (taken - seen) * (all / kNumbers) > (4 + 3 * down.count) * size) return;
  const RowPlaces places(across.first, channels, sizes.width);
  for (int64_t n = 0; n < all; n += kNumbers) {
    int64_t begin = std::min(n, all - kNumbers);  // the last ones, some of them again
    Block block{begin, std::min(places[places.Target(begin) * channels], size - kReach), {}};
    int64_t end = places[begin + kNumbers - 1] + (2 * pairs - 1) * channels + 1;
    if (std::min(end, size) - block.begin > kReach) {
      blocks.clear();
      return;
    }
    for (int64_t i = 0; i < kNumbers; ++i) {
      int64_t place = places[begin + i] - block.begin;
      // What lies beyond the border has the weight 0, and may be any byte.
      block.places[Slot(i)] = static_cast<uint8_t>(place);
      block.places[Slot(i) + 1] = static_cast<uint8_t>(place + channels);
    }
    blocks.push_back(block);
    for (int64_t k = 0; k < pairs; ++k) {
      const int32_t* shares = &across.weights[static_cast<size_t>(k * sizes.width)];
      for (int64_t i = 0; i < kNumbers; ++i) weights.push_back(shares[places.Target(begin + i)]);
    }
  }
}

#if MS_X86

namespace {

MS_PERMUTES void JoinWide(const WeighedRows& from, const FarTaps& across, uint8_t* out) {
  const __m512i zero = _mm512_setzero_si512(), dropped = _mm512_set1_epi32(1 << (kDropped - 1));
  const __m512i half = _mm512_set1_epi32(1 << (kLeft - 1));
  const __m512i step = _mm512_set1_epi8(static_cast<int8_t>(across.step));
  const int32_t* weights = across.weights.data();
  for (const FarTaps::Block& block : across.blocks) {
    __m512i places = _mm512_loadu_si512(block.places), sum = half;
    for (int64_t k = 0; k < across.pairs; ++k, weights += kNumbers) {
      __m512i low = dropped, high = dropped;
      for (size_t d = 0; d < from.rows.size(); d += 2) {
        __m512i pair = _mm512_set1_epi32(from.weights[static_cast<int64_t>(d / 2) * from.stride]);
        const uint8_t* one = from.rows[d] + block.begin;
        const uint8_t* two = from.rows[d + 1] + block.begin;
        __m256i a = _mm512_castsi512_si256(_mm512_permutex2var_epi8(_mm512_loadu_si512(one), places,
                                                                    _mm512_loadu_si512(one + 64)));
        __m256i b = _mm512_castsi512_si256(_mm512_permutex2var_epi8(_mm512_loadu_si512(two), places,
                                                                    _mm512_loadu_si512(two + 64)));
        __m512i first = _mm512_cvtepu8_epi16(_mm256_unpacklo_epi8(a, b));
        __m512i second = _mm512_cvtepu8_epi16(_mm256_unpackhi_epi8(a, b));
        low = _mm512_dpwssd_epi32(low, first, pair);
        high = _mm512_dpwssd_epi32(high, second, pair);
      }
      __m512i joined =
          _mm512_packs_epi32(_mm512_srai_epi32(low, kDropped), _mm512_srai_epi32(high, kDropped));
      sum = _mm512_dpwssd_epi32(sum, joined, _mm512_loadu_si512(weights));
      places = _mm512_add_epi8(places, step);
    }
    sum = _mm512_max_epi32(_mm512_srai_epi32(sum, kLeft), zero);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + block.target), _mm512_cvtusepi32_epi8(sum));
  }
}

}  // namespace

#endif

void JoinFarRow(const WeighedRows& from, const FarTaps& across, uint8_t* out) {
#if MS_X86
  JoinWide(from, across, out);
#else
  (void)from, (void)across, (void)out;
#endif
}

}  // namespace ms::dataset
