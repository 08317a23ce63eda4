// Bytes 16 or 32 at a time; see bytes_ways.h.
#include <algorithm>

#include "dataset/transforms/bytes_ways.h"

#if MS_X86

namespace ms::dataset::vectors {
namespace {

MS_VECTORS inline __m128i Load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

MS_VECTORS inline void Store(void* to, __m128i bytes) {
  _mm_storeu_si128(static_cast<__m128i*>(to), bytes);
}

MS_VECTORS inline __m256i Load32(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

MS_VECTORS inline void Store32(void* to, __m256i bytes) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), bytes);
}

// A table as 16 entries and then, for each further 16, by which bits they differ from those before.
// A byte meets the entries up to its own: from each step to the next it sinks by 16, and below zero
// it finds nothing. Halves of the table start anew, since bytes are signed here.
struct HeldTable {
  __m256i steps[2][8];

  MS_VECTORS explicit HeldTable(const ByteTable& table) {
    for (int half = 0; half < 2; ++half) {
      __m128i before = _mm_setzero_si128();
      for (int k = 0; k < 8; ++k) {
        __m128i entries = Load(table.data() + 128 * half + 16 * k);
        steps[half][k] = _mm256_broadcastsi128_si256(_mm_xor_si128(entries, before));
        before = entries;
      }
    }
  }

  // Puts their entries in place of the bytes: two registers of them share what is loaded.
  MS_VECTORS void Find(__m256i& first, __m256i& second) const {
    const __m256i sixteen = _mm256_set1_epi8(16), top = _mm256_set1_epi8(-128);
    __m256i a = first, b = second, all_a = _mm256_setzero_si256(), all_b = all_a;
    for (int half = 0; half < 2; ++half) {
      for (int k = 0; k < 8; ++k) {
        all_a = _mm256_xor_si256(all_a, _mm256_shuffle_epi8(steps[half][k], a));
        all_b = _mm256_xor_si256(all_b, _mm256_shuffle_epi8(steps[half][k], b));
        a = _mm256_subs_epi8(a, sixteen), b = _mm256_subs_epi8(b, sixteen);
      }
      a = _mm256_xor_si256(first, top), b = _mm256_xor_si256(second, top);
    }
    first = all_a, second = all_b;
  }
};

// The middle is a whole number: so any factor above 2^20 moves all other bytes beyond 0 and 255, as
// it does itself, and what no whole number of 32 bits holds is never met.
struct HeldScaling {
  __m256 middle, factor;

  MS_VECTORS explicit HeldScaling(const Scaling& scaling)
      : middle(_mm256_set1_ps(scaling.middle)),
        factor(_mm256_set1_ps(std::min(scaling.factor, 0x1p20f))) {}

  // kMiddle: it is not 0, which would change nothing.
  template <bool kMiddle>
  MS_VECTORS __m256i Of(__m256i bytes) const {
    // Four bytes of each half, as whole numbers.
    const __m256i four = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
    const __m256i upper = _mm256_set1_epi32(static_cast<int>(0x80808000));
    __m256i whole[4];
    for (int q = 0; q < 4; ++q) {
      __m256i places = _mm256_or_si256(_mm256_add_epi32(four, _mm256_set1_epi32(4 * q)), upper);
      __m256 number = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(bytes, places));
      if constexpr (kMiddle) number = _mm256_sub_ps(number, middle);
      number = _mm256_mul_ps(factor, number);
      if constexpr (kMiddle) number = _mm256_add_ps(middle, number);
      whole[q] = _mm256_cvtps_epi32(number);
    }
    // What packs them clips them.
    return _mm256_packus_epi16(_mm256_packs_epi32(whole[0], whole[1]),
                               _mm256_packs_epi32(whole[2], whole[3]));
  }

  template <bool kMiddle>
  MS_VECTORS int64_t All(const uint8_t* in, uint8_t* out, int64_t count) const {
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) Store32(out + i, Of<kMiddle>(Load32(in + i)));
    return i;
  }
};

// For each of three results, which bytes of three times 16 it takes: -1 takes none. Byte i of all
// results together is that at place(i) of all sources.
struct Picks {
  alignas(16) int8_t of[3][3][16];

  template <class Place>
  constexpr explicit Picks(Place place) : of{} {
    for (int result = 0; result < 3; ++result) {
      for (int source = 0; source < 3; ++source) {
        for (int i = 0; i < 16; ++i) {
          int from = place(16 * result + i) - 16 * source;
          of[result][source][i] = static_cast<int8_t>(from >= 0 && from < 16 ? from : -1);
        }
      }
    }
  }
};

// Pixels to planes, and back; and 16 pixels, the last one first.
constexpr Picks kSplitting([](int i) { return 3 * (i % 16) + i / 16; });
constexpr Picks kJoining([](int i) { return 16 * (i % 3) + i / 3; });
constexpr Picks kTurning([](int i) { return 3 * (15 - i / 3) + i % 3; });

// The same for each half of the registers.
struct HeldPicks {
  __m256i of[3][3];

  MS_VECTORS explicit HeldPicks(const Picks& picks) {
    for (int result = 0; result < 3; ++result) {
      for (int source = 0; source < 3; ++source) {
        of[result][source] = _mm256_broadcastsi128_si256(Load(picks.of[result][source]));
      }
    }
  }

  MS_VECTORS __m256i operator()(int result, const __m256i sources[3]) const {
    __m256i a = _mm256_shuffle_epi8(sources[0], of[result][0]);
    __m256i b = _mm256_shuffle_epi8(sources[1], of[result][1]);
    __m256i c = _mm256_shuffle_epi8(sources[2], of[result][2]);
    return _mm256_or_si256(_mm256_or_si256(a, b), c);
  }
};

// 48 bytes in the lower halves of three registers, and 48 others in the upper ones.
MS_VECTORS inline void LoadHalves(const uint8_t* low, const uint8_t* high, __m256i halves[3]) {
  for (int k = 0; k < 3; ++k) {
    __m256i half = _mm256_castsi128_si256(Load(low + 16 * k));
    halves[k] = _mm256_inserti128_si256(half, Load(high + 16 * k), 1);
  }
}

MS_VECTORS inline void StoreHalves(uint8_t* low, uint8_t* high, __m256i halves) {
  Store(low, _mm256_castsi256_si128(halves));
  Store(high, _mm256_extracti128_si256(halves, 1));
}

// Five pixels at once, with a byte before them that nobody takes. One byte too many is stored,
// which the next pixel overwrites.
MS_VECTORS int64_t ReverseFew(const uint8_t* in, uint8_t* out, int64_t pixels) {
  const __m128i turned = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, -1);
  int64_t i = 0;
  for (; i + 6 <= pixels; i += 5) {
    __m128i bytes = Load(in + 3 * (pixels - i - 5) - 1);
    Store(out + 3 * i, _mm_shuffle_epi8(bytes, turned));
  }
  return i;
}

}  // namespace

MS_VECTORS int64_t Map(const ByteTable& table, const uint8_t* in, uint8_t* out, int64_t count) {
  const HeldTable held(table);
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    __m256i first = Load32(in + i), second = Load32(in + i + 32);
    held.Find(first, second);
    Store32(out + i, first);
    Store32(out + i + 32, second);
  }
  return i;
}

MS_VECTORS int64_t Gray(const uint8_t* const planes[3], uint8_t* gray, int64_t pixels) {
  const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
  const __m256i warm = _mm256_set1_epi32(kRedShare | kGreenShare << 16);
  const __m256i cold = _mm256_set1_epi32(kBlueShare | 1 << 30);  // blue, and what rounds
  int64_t i = 0;
  for (; i + 32 <= pixels; i += 32) {
    __m256i r = Load32(planes[0] + i), g = Load32(planes[1] + i), b = Load32(planes[2] + i);
    __m256i words[2];
    for (int half = 0; half < 2; ++half) {
      __m256i rg = half ? _mm256_unpackhi_epi8(r, g) : _mm256_unpacklo_epi8(r, g);
      __m256i b1 = half ? _mm256_unpackhi_epi8(b, one) : _mm256_unpacklo_epi8(b, one);
      __m256i low = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpacklo_epi8(rg, zero), warm),
                                     _mm256_madd_epi16(_mm256_unpacklo_epi8(b1, zero), cold));
      __m256i high = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpackhi_epi8(rg, zero), warm),
                                      _mm256_madd_epi16(_mm256_unpackhi_epi8(b1, zero), cold));
      words[half] = _mm256_packs_epi32(_mm256_srli_epi32(low, 15), _mm256_srli_epi32(high, 15));
    }
    Store32(gray + i, _mm256_packus_epi16(words[0], words[1]));
  }
  return i;
}

MS_VECTORS int64_t Copy(const uint8_t* in, uint8_t* out, int64_t count) {
  if (count < 32) return 0;
  __m256i last = Load32(in + count - 32);
  Store32(out, Load32(in));
  int64_t i = 32 - static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % 32);
  for (; i + 128 <= count; i += 128) {
    __m256i part[4];
    for (int k = 0; k < 4; ++k) part[k] = Load32(in + i + 32 * k);
    for (int k = 0; k < 4; ++k) Store32(out + i + 32 * k, part[k]);
  }
  for (; i + 32 <= count; i += 32) Store32(out + i, Load32(in + i));
  Store32(out + count - 32, last);
  return count;
}

MS_VECTORS int64_t Scale(const Scaling& scaling, const uint8_t* in, uint8_t* out, int64_t count) {
  const HeldScaling held(scaling);
  return scaling.middle == 0 ? held.All<false>(in, out, count) : held.All<true>(in, out, count);
}

MS_VECTORS int64_t Spread(const Scaling& farther, const uint8_t* gray, uint8_t* bytes,
                          int64_t count) {
  const HeldScaling held(farther);
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256i middle = Load32(gray + i), now = Load32(bytes + i);
    __m256i above = _mm256_subs_epu8(now, middle), below = _mm256_subs_epu8(middle, now);
    __m256i far = held.Of<false>(_mm256_or_si256(above, below));
    __m256i up = _mm256_adds_epu8(middle, far), down = _mm256_subs_epu8(middle, far);
    __m256i is_above = _mm256_cmpeq_epi8(below, _mm256_setzero_si256());
    Store32(bytes + i, _mm256_blendv_epi8(down, up, is_above));
  }
  return i;
}

// Eight pixels at once: the numbers of each plane go to every third place.
MS_VECTORS int64_t JoinFloats(const float* const planes[3], int64_t pixels, float* out) {
  const __m256i places[3] = {_mm256_setr_epi32(0, 0, 0, 1, 1, 1, 2, 2),
                             _mm256_setr_epi32(2, 3, 3, 3, 4, 4, 4, 5),
                             _mm256_setr_epi32(5, 5, 6, 6, 6, 7, 7, 7)};
  int64_t i = 0;
  for (; i + 8 <= pixels; i += 8) {
    __m256 a = _mm256_loadu_ps(planes[0] + i), b = _mm256_loadu_ps(planes[1] + i);
    __m256 c = _mm256_loadu_ps(planes[2] + i), spread[3][3];
    for (int part = 0; part < 3; ++part) {
      spread[part][0] = _mm256_permutevar8x32_ps(a, places[part]);
      spread[part][1] = _mm256_permutevar8x32_ps(b, places[part]);
      spread[part][2] = _mm256_permutevar8x32_ps(c, places[part]);
    }
    // The first number of each part is of another plane: every third place is of the second plane,
    // and so on.
    __m256 first = _mm256_blend_ps(spread[0][0], spread[0][1], 0b10010010);
    __m256 second = _mm256_blend_ps(spread[1][2], spread[1][0], 0b10010010);
    __m256 third = _mm256_blend_ps(spread[2][1], spread[2][2], 0b10010010);
    _mm256_storeu_ps(out + 3 * i, _mm256_blend_ps(first, spread[0][2], 0b00100100));
    _mm256_storeu_ps(out + 3 * i + 8, _mm256_blend_ps(second, spread[1][1], 0b00100100));
    _mm256_storeu_ps(out + 3 * i + 16, _mm256_blend_ps(third, spread[2][0], 0b00100100));
  }
  return i;
}

// 32 pixels at once, each 16 of them in one half of the registers: so in all that follow. Those
// that are left are done with some that have been already.
MS_VECTORS int64_t Split(const uint8_t* in, int64_t pixels, uint8_t* const planes[3]) {
  if (pixels < 32) return 0;
  const HeldPicks picked(kSplitting);
  uint8_t* const to[3] = {planes[0], planes[1], planes[2]};
  for (int64_t i = 0; i < pixels; i += 32) {
    int64_t at = std::min(i, pixels - 32);
    __m256i sources[3];
    LoadHalves(in + 3 * at, in + 3 * at + 48, sources);
    for (int plane = 0; plane < 3; ++plane) Store32(to[plane] + at, picked(plane, sources));
  }
  return pixels;
}

MS_VECTORS int64_t Join(const uint8_t* const planes[3], int64_t pixels, uint8_t* out) {
  if (pixels < 32) return 0;
  const HeldPicks picked(kJoining);
  const uint8_t* const from[3] = {planes[0], planes[1], planes[2]};
  for (int64_t i = 0; i < pixels; i += 32) {
    int64_t at = std::min(i, pixels - 32);
    __m256i sources[3] = {Load32(from[0] + at), Load32(from[1] + at), Load32(from[2] + at)};
    uint8_t* to = out + 3 * at;
    for (int k = 0; k < 3; ++k) StoreHalves(to + 16 * k, to + 48 + 16 * k, picked(k, sources));
  }
  return pixels;
}

MS_VECTORS int64_t Reverse(const uint8_t* in, uint8_t* out, int64_t pixels) {
  if (pixels < 32) return ReverseFew(in, out, pixels);
  const HeldPicks picks(kTurning);
  for (int64_t i = 0; i < pixels; i += 32) {
    int64_t at = std::min(i, pixels - 32);
    const uint8_t* later = in + 3 * (pixels - at - 16);
    uint8_t* to = out + 3 * at;
    __m256i sources[3];
    LoadHalves(later, later - 48, sources);
    for (int k = 0; k < 3; ++k) {
      // Nothing of the first comes first, and nothing of the last last.
      __m256i turned = _mm256_shuffle_epi8(sources[1], picks.of[k][1]);
      for (int source : {0, 2}) {
        if (k == source) continue;
        __m256i part = _mm256_shuffle_epi8(sources[source], picks.of[k][source]);
        turned = _mm256_or_si256(turned, part);
      }
      StoreHalves(to + 16 * k, to + 48 + 16 * k, turned);
    }
  }
  return pixels;
}

}  // namespace ms::dataset::vectors

#endif
