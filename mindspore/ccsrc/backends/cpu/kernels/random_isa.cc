// Random words in groups of 64, and what floats are made of them. Word k * 16 + lane of group g is
// word k of the Philox block with counter g * 16 + lane: sixteen blocks run side by side, and
// element i of a tensor is word i % 64 of group i / 64 on every machine. Multiplications and
// additions must not be fused, so that normals are the same everywhere too.
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/random_words.h"

#pragma GCC optimize("fp-contract=off")

namespace ms::cpu::MS_ISA {
namespace {

constexpr int kLanes = 16;

// log(x) for a normal x > 0: x = m * 2^e with m in [sqrt(1/2), sqrt(2)), log(m) = 2 atanh((m - 1) /
// (m + 1)).
inline float Log(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  uint32_t shifted = bits - 0x3f3504f3u;  // the bits of sqrt(1/2)
  int32_t e = static_cast<int32_t>(shifted) >> 23;
  bits = (shifted & 0x7fffffu) + 0x3f3504f3u;
  float m;
  std::memcpy(&m, &bits, 4);
  float s = (m - 1.0f) / (m + 1.0f), z = s * s;
  float series = 2.0f + z * (2.0f / 3 + z * (2.0f / 5 + z * (2.0f / 7 + z * (2.0f / 9))));
  return s * series + static_cast<float>(e) * 0.69314718f;
}

// Two normals from two words (Box and Muller): a radius from the first, an angle in quarter turns
// from the second.
inline void Normals(uint32_t radius_word, uint32_t angle_word, float* first, float* second) {
  float u = (static_cast<float>(radius_word) + 0.5f) * (1.0f / 4294967296.0f);
  float radius = std::sqrt(std::fabs(-2.0f * Log(u)));
  float turns =
      static_cast<float>(static_cast<int32_t>(angle_word)) * (1.0f / 1073741824.0f);  // [-2, 2]
  int32_t quarter = static_cast<int32_t>(turns + (turns < 0 ? -0.5f : 0.5f));
  float x = (turns - static_cast<float>(quarter)) * 1.57079632679f,
        z = x * x;  // within a quarter turn of pi/2
  float sine =
      x * (1.0f + z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880)))));
  float cosine = 1.0f + z * (-0.5f + z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320))));
  bool swap = (quarter & 1) != 0;
  float s = swap ? cosine : sine, c = swap ? sine : cosine;
  s = (quarter & 2) != 0 ? -s : s;
  c = ((quarter + 1) & 2) != 0 ? -c : c;
  *first = radius * c;
  *second = radius * s;
}

inline void Group(const RandomKey& key, int64_t group, uint32_t* words) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    uint64_t counter = static_cast<uint64_t>(group) * kLanes + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(counter);
    c1[i] = static_cast<uint32_t>(counter >> 32);
    c2[i] = static_cast<uint32_t>(key.offset);
    c3[i] = static_cast<uint32_t>(key.offset >> 32);
  }
  auto k0 = static_cast<uint32_t>(key.seed), k1 = static_cast<uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      uint64_t p0 = uint64_t{0xD2511F53u} * c0[i];
      uint64_t p1 = uint64_t{0xCD9E8D57u} * c2[i];
      c0[i] = static_cast<uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c2[i] = static_cast<uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c1[i] = static_cast<uint32_t>(p1);
      c3[i] = static_cast<uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  std::memcpy(words, c0, sizeof(c0));
  std::memcpy(words + kLanes, c1, sizeof(c1));
  std::memcpy(words + 2 * kLanes, c2, sizeof(c2));
  std::memcpy(words + 3 * kLanes, c3, sizeof(c3));
}

}  // namespace

void RandomWords(const RandomKey& key, int64_t group, uint32_t* words) { Group(key, group, words); }

void UniformGroup(const RandomKey& key, int64_t group, float* out) {
  alignas(64) uint32_t words[kWordsPerGroup];
  Group(key, group, words);
  for (int i = 0; i < kWordsPerGroup; ++i) {
    out[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * (1.0f / 16777216.0f);
  }
}

void NormalGroup(const RandomKey& key, int64_t group, float* out) {
  alignas(64) uint32_t words[kWordsPerGroup];
  Group(key, group, words);
  for (int half = 0; half < kWordsPerGroup; half += 2 * kLanes) {
    for (int i = 0; i < kLanes; ++i) {
      Normals(words[half + i], words[half + kLanes + i], &out[half + i], &out[half + kLanes + i]);
    }
  }
}

void DropoutGroup(const RandomKey& key, int64_t group, uint64_t threshold, float scale,
                  const float* x, float* y, float* mask) {
  alignas(64) uint32_t words[kWordsPerGroup];
  Group(key, group, words);
  auto last = static_cast<uint32_t>(threshold - 1);  // kept: words up to this one
#pragma GCC ivdep
  for (int i = 0; i < kWordsPerGroup; ++i) {
    float kept = words[i] <= last ? 1.0f : 0.0f;
    y[i] = words[i] <= last ? x[i] * scale : 0.0f;
    mask[i] = kept;
  }
}

}  // namespace ms::cpu::MS_ISA
