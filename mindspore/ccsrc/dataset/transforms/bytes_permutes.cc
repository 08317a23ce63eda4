// Bytes 64 at a time, which a processor with permutations of bytes does; see bytes_ways.h.
#include "dataset/transforms/bytes_ways.h"

#if MS_X86

namespace ms::dataset::permutes {
namespace {

// A table with 64 entries in each of four registers: two permutations and the upper bit choose.
struct HeldTable {
  __m512i a, b, c, d;

  MS_PERMUTES explicit HeldTable(const ByteTable& table)
      : a(_mm512_loadu_si512(table.data())),
        b(_mm512_loadu_si512(table.data() + 64)),
        c(_mm512_loadu_si512(table.data() + 128)),
        d(_mm512_loadu_si512(table.data() + 192)) {}

  MS_PERMUTES __m512i operator[](__m512i bytes) const {
    __m512i low = _mm512_permutex2var_epi8(a, bytes, b);
    __m512i high = _mm512_permutex2var_epi8(c, bytes, d);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
  }
};

// Which of 192 bytes stand in each third when the 64 pixels are turned around, counted from the
// first byte that a third takes.
struct Turned {
  static constexpr int kFrom[3] = {64, 63, 0};
  alignas(64) uint8_t of[3][64];
};

constexpr Turned Turning() {
  Turned turned{};
  for (int i = 0; i < 192; ++i) {
    int from = 3 * (63 - i / 3) + i % 3;
    turned.of[i / 64][i % 64] = static_cast<uint8_t>(from - Turned::kFrom[i / 64]);
  }
  return turned;
}

constexpr Turned kTurned = Turning();

}  // namespace

MS_PERMUTES int64_t Map(const ByteTable& table, const uint8_t* in, uint8_t* out, int64_t count) {
  const HeldTable held(table);
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    _mm512_storeu_si512(out + i, held[_mm512_loadu_si512(in + i)]);
  }
  return i;
}

// 64 pixels at once.
MS_PERMUTES int64_t Gray(const uint8_t* const planes[3], uint8_t* gray, int64_t pixels) {
  const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi8(1);
  const __m512i warm = _mm512_set1_epi32(kRedShare | kGreenShare << 16);
  const __m512i cold = _mm512_set1_epi32(kBlueShare | 1 << 30);  // blue, and what rounds
  int64_t i = 0;
  for (; i + 64 <= pixels; i += 64) {
    __m512i r = _mm512_loadu_si512(planes[0] + i), g = _mm512_loadu_si512(planes[1] + i);
    __m512i b = _mm512_loadu_si512(planes[2] + i), words[2];
    for (int half = 0; half < 2; ++half) {
      __m512i rg = half ? _mm512_unpackhi_epi8(r, g) : _mm512_unpacklo_epi8(r, g);
      __m512i b1 = half ? _mm512_unpackhi_epi8(b, one) : _mm512_unpacklo_epi8(b, one);
      __m512i low = _mm512_add_epi32(_mm512_madd_epi16(_mm512_unpacklo_epi8(rg, zero), warm),
                                     _mm512_madd_epi16(_mm512_unpacklo_epi8(b1, zero), cold));
      __m512i high = _mm512_add_epi32(_mm512_madd_epi16(_mm512_unpackhi_epi8(rg, zero), warm),
                                      _mm512_madd_epi16(_mm512_unpackhi_epi8(b1, zero), cold));
      words[half] = _mm512_packs_epi32(_mm512_srli_epi32(low, 15), _mm512_srli_epi32(high, 15));
    }
    _mm512_storeu_si512(gray + i, _mm512_packus_epi16(words[0], words[1]));
  }
  return i;
}

MS_PERMUTES int64_t Spread(const Scaling& farther, const uint8_t* gray, uint8_t* bytes,
                           int64_t count) {
  const HeldTable held(farther.table);
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    __m512i middle = _mm512_loadu_si512(gray + i), now = _mm512_loadu_si512(bytes + i);
    __m512i above = _mm512_subs_epu8(now, middle), below = _mm512_subs_epu8(middle, now);
    __m512i far = held[_mm512_or_si512(above, below)];
    __mmask64 under = _mm512_cmpgt_epu8_mask(middle, now);
    __m512i moved = _mm512_mask_subs_epu8(_mm512_adds_epu8(middle, far), under, middle, far);
    _mm512_storeu_si512(bytes + i, moved);
  }
  return i;
}

// All four tables stay in registers.
MS_PERMUTES int64_t MapFloats(const FloatTable& table, const uint8_t* in, float* out, int64_t count,
                              bool stream) {
  const HeldTable tables[4] = {HeldTable(table.parts[0]), HeldTable(table.parts[1]),
                               HeldTable(table.parts[2]), HeldTable(table.parts[3])};
  // Each quarter of 128 bits gets every fourth 32 of them: so the floats come out in order.
  const __m512i dealt = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    __m512i bytes = _mm512_permutexvar_epi32(dealt, _mm512_loadu_si512(in + i));
    __m512i found[4] = {tables[0][bytes], tables[1][bytes], tables[2][bytes], tables[3][bytes]};
    __m512i a = _mm512_unpacklo_epi8(found[0], found[1]);
    __m512i b = _mm512_unpackhi_epi8(found[0], found[1]);
    __m512i c = _mm512_unpacklo_epi8(found[2], found[3]);
    __m512i d = _mm512_unpackhi_epi8(found[2], found[3]);
    __m512i floats[4] = {_mm512_unpacklo_epi16(a, c), _mm512_unpackhi_epi16(a, c),
                         _mm512_unpacklo_epi16(b, d), _mm512_unpackhi_epi16(b, d)};
    for (int p = 0; p < 4; ++p) {
      float* to = out + i + 16 * p;
      if (stream) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), floats[p]);
      } else {
        _mm512_storeu_si512(to, floats[p]);
      }
    }
  }
  if (stream) _mm_sfence();
  return i;
}

// 16 pixels at once.
MS_PERMUTES int64_t JoinFloats(const float* const planes[3], int64_t pixels, float* out) {
  // Of each of 48 numbers, from the first two planes, or where the mask says so from the third.
  alignas(64) int32_t places[3][16], thirds[3][16];
  __mmask16 masks[3] = {0, 0, 0};
  for (int i = 0; i < 48; ++i) {
    places[i / 16][i % 16] = i / 3 + (i % 3 == 1 ? 16 : 0);
    thirds[i / 16][i % 16] = i / 3;
    if (i % 3 == 2) masks[i / 16] = static_cast<__mmask16>(masks[i / 16] | 1u << (i % 16));
  }
  int64_t i = 0;
  for (; i + 16 <= pixels; i += 16) {
    __m512 a = _mm512_loadu_ps(planes[0] + i), b = _mm512_loadu_ps(planes[1] + i);
    __m512 c = _mm512_loadu_ps(planes[2] + i);
    for (int part = 0; part < 3; ++part) {
      __m512 two = _mm512_permutex2var_ps(a, _mm512_load_si512(places[part]), b);
      __m512i third = _mm512_load_si512(thirds[part]);
      _mm512_storeu_ps(out + 3 * i + 16 * part,
                       _mm512_mask_permutexvar_ps(two, masks[part], third, c));
    }
  }
  return i;
}

// 64 pixels at once. Those that are left are turned with some that have been already.
MS_PERMUTES int64_t Reverse(const uint8_t* in, uint8_t* out, int64_t pixels) {
  if (pixels < 64) return 0;
  const __m512i first = _mm512_load_si512(kTurned.of[0]);
  const __m512i second = _mm512_load_si512(kTurned.of[1]);
  const __m512i third = _mm512_load_si512(kTurned.of[2]);
  for (int64_t i = 0; i < pixels; i += 64) {
    int64_t at = i + 64 <= pixels ? i : pixels - 64;
    const uint8_t* from = in + 3 * (pixels - at - 64);
    uint8_t* to = out + 3 * at;
    __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 64);
    __m512i c = _mm512_loadu_si512(from + 128);
    __m512i low = _mm512_loadu_si512(from + 63), high = _mm512_loadu_si512(from + 127);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi8(b, first, c));
    _mm512_storeu_si512(to + 64, _mm512_permutex2var_epi8(low, second, high));
    _mm512_storeu_si512(to + 128, _mm512_permutex2var_epi8(a, third, b));
  }
  return pixels;
}

}  // namespace ms::dataset::permutes

#endif
