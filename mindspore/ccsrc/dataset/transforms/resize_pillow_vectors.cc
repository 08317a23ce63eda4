// See resize_pillow.h. A product of pairs of 16 bits sums up two taps; of each weight there are two
// parts, so that the sums are those of whole weights, bit for bit.
#include <algorithm>
#include <cstring>

#include "dataset/transforms/resize_pillow.h"
#include "dataset/transforms/wide.h"

namespace ms::dataset {

SplitTaps::SplitTaps(const WholeTaps& taps) : groups((taps.count + kGroup - 1) / kGroup) {
  weights.resize(taps.first.size() * static_cast<size_t>(groups * 2 * kGroup));
  for (size_t i = 0; i < taps.weights.size(); ++i) {
    auto target = static_cast<int64_t>(i) / taps.count, k = static_cast<int64_t>(i) % taps.count;
    auto at = static_cast<size_t>((target * groups + k / kGroup) * 2 * kGroup + k % kGroup);
    weights[at] = static_cast<int16_t>(taps.weights[i] & ((1 << kLower) - 1));
    weights[at + kGroup] = static_cast<int16_t>(taps.weights[i] >> kLower);
  }
}

#if MS_X86
namespace {

constexpr int kHalf = 1 << (kWholeBits - 1);

MS_VECTORS inline __m256i Loaded(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// 16 bytes, twice.
MS_VECTORS inline __m256i Twice(const void* from) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(from)));
}

// Adds the products of pairs with both parts of their weights.
MS_VECTORS inline void AddProducts(__m256i pairs, __m256i lower, __m256i upper, __m256i sums[2]) {
  sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(pairs, lower));
  sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(pairs, upper));
}

MS_VECTORS inline __m256i Joined(const __m256i sums[2]) {
  return _mm256_add_epi32(_mm256_slli_epi32(sums[1], SplitTaps::kLower), sums[0]);
}

// Of four neighbours, the first two in the lower half and the others in the upper one, each channel
// of a pixel beside that of the next.
template <int kChannels>
MS_VECTORS inline __m256i NeighboursBeside() {
  alignas(32) int8_t places[32];
  for (int i = 0; i < 32; ++i) {
    int channel = i % 16 / 4, pixel = i / 16 * 2 + i % 4 / 2;
    bool none = i % 2 == 1 || channel >= kChannels;
    places[i] = static_cast<int8_t>(none ? -1 : pixel * kChannels + channel);
  }
  return Loaded(places);
}

template <int kChannels>
MS_VECTORS void AcrossRows(const uint8_t* rows, int64_t line, uint8_t* out, const WholeTaps& taps,
                           const SplitTaps& split, int64_t width) {
  const __m256i beside = NeighboursBeside<kChannels>();
  const __m256i lower_of = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m256i upper_of = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
  const __m128i half = _mm_set1_epi32(kHalf);
  const int16_t* weights = split.weights.data();
  for (int64_t x = 0; x < width; ++x) {
    const uint8_t* at = rows + int64_t{taps.first[static_cast<size_t>(x)]} * kChannels;
    __m256i sums[kRowsAcross][2] = {};
    for (int64_t g = 0; g < split.groups; ++g) {
      __m256i both = Twice(weights);
      __m256i lower = _mm256_permutevar8x32_epi32(both, lower_of);
      __m256i upper = _mm256_permutevar8x32_epi32(both, upper_of);
      for (int r = 0; r < kRowsAcross; ++r) {
        __m256i pairs = _mm256_shuffle_epi8(Twice(at + r * line), beside);
        AddProducts(pairs, lower, upper, sums[r]);
      }
      at += SplitTaps::kGroup * kChannels;
      weights += SplitTaps::kGroup * 2;
    }
    __m128i whole[kRowsAcross];
    for (int r = 0; r < kRowsAcross; ++r) {
      __m256i sum = Joined(sums[r]);
      __m128i all = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
      whole[r] = _mm_srai_epi32(_mm_add_epi32(all, half), kWholeBits);
    }
    alignas(16) uint8_t pixels[kRowsAcross][4];
    _mm_store_si128(
        reinterpret_cast<__m128i*>(pixels),
        _mm_packus_epi16(_mm_packs_epi32(whole[0], whole[1]), _mm_packs_epi32(whole[2], whole[3])));
    for (int r = 0; r < kRowsAcross; ++r) {
      std::memcpy(out + (r * width + x) * kChannels, pixels[r], kChannels);
    }
  }
}

}  // namespace

void AcrossVectors(const uint8_t* rows, int64_t line, uint8_t* out, const WholeTaps& taps,
                   const SplitTaps& split, int64_t channels, int64_t width) {
  auto across = channels == 3 ? AcrossRows<3> : AcrossRows<4>;
  across(rows, line, out, taps, split, width);
}

// 32 numbers at once, the last of them again.
MS_VECTORS bool DownVectors(const uint8_t* in, uint8_t* out, int64_t size, const int16_t* weights,
                            int64_t count) {
  if (size < 32) return false;
  const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(kHalf);
  for (int64_t begin = 0; begin < size; begin += 32) {
    int64_t i = std::min(begin, size - 32);
    __m256i sums[4][2] = {};
    for (int64_t k = 0; k < count; k += 2) {
      const int16_t* at =
          weights + k / SplitTaps::kGroup * 2 * SplitTaps::kGroup + k % SplitTaps::kGroup;
      int32_t pair[2];
      std::memcpy(&pair[0], at, sizeof(int32_t));
      std::memcpy(&pair[1], at + SplitTaps::kGroup, sizeof(int32_t));
      __m256i lower = _mm256_set1_epi32(pair[0]), upper = _mm256_set1_epi32(pair[1]);
      __m256i a = Loaded(in + k * size + i);
      __m256i b = k + 1 < count ? Loaded(in + (k + 1) * size + i) : zero;
      __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
      AddProducts(_mm256_unpacklo_epi8(low, zero), lower, upper, sums[0]);
      AddProducts(_mm256_unpackhi_epi8(low, zero), lower, upper, sums[1]);
      AddProducts(_mm256_unpacklo_epi8(high, zero), lower, upper, sums[2]);
      AddProducts(_mm256_unpackhi_epi8(high, zero), lower, upper, sums[3]);
    }
    __m256i whole[4];
    for (int p = 0; p < 4; ++p) {
      whole[p] = _mm256_srai_epi32(_mm256_add_epi32(Joined(sums[p]), half), kWholeBits);
    }
    __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(whole[0], whole[1]),
                                        _mm256_packs_epi32(whole[2], whole[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), bytes);
  }
  return true;
}

#else

void AcrossVectors(const uint8_t*, int64_t, uint8_t*, const WholeTaps&, const SplitTaps&, int64_t,
                   int64_t) {}
bool DownVectors(const uint8_t*, uint8_t*, int64_t, const int16_t*, int64_t) { return false; }

#endif

}  // namespace ms::dataset
