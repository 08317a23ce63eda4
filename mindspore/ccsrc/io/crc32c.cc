// Two table-driven CRCs (slicing by 8) and the SSE4.2 path, chosen at run time.
#include "io/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ms {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the slicing below reads words as they lie");

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// Tables of the reflected polynomial: row k advances a byte past k further bytes.
constexpr Tables MakeTables(uint32_t polynomial) {
  Tables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? polynomial : 0);
    t[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t k = 1; k < 8; ++k) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xFF];
  }
  return t;
}

constexpr uint32_t kPolynomial = 0x82F63B78U;
constexpr Tables kCastagnoli = MakeTables(kPolynomial);
constexpr Tables kZlib = MakeTables(0xEDB88320U);

uint32_t Sliced(const Tables& t, uint32_t crc, const std::byte* p, size_t n) {
  crc = ~crc;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= t[7 - k][(word >> (8 * k)) & 0xFF];
  }
  for (; n > 0; ++p, --n) crc = (crc >> 8) ^ t[0][(crc ^ static_cast<uint32_t>(*p)) & 0xFF];
  return ~crc;
}

#if defined(__x86_64__)
// The instruction takes eight bytes a cycle, but answers after three: three lanes keep it busy.
constexpr size_t kLanes = 3, kLongLane = 1024, kShortLane = 128;

// x^n modulo the polynomial, reflected.
constexpr uint32_t Power(size_t n) {
  uint32_t power = 0x80000000U;
  for (; n > 0; --n) power = (power >> 1) ^ ((power & 1) != 0 ? kPolynomial : 0);
  return power;
}

__attribute__((target("sse4.2"))) uint64_t Word(uint64_t state, const std::byte* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return _mm_crc32_u64(state, word);
}

// The state after `kBytes` zeros more. The product of two reflected numbers is short of a factor x,
// and the instruction multiplies by x^32.
template <size_t kBytes>
__attribute__((target("sse4.2,pclmul"))) uint64_t Moved(uint64_t state) {
  constexpr uint32_t kPower = Power(8 * kBytes - 33);
  __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(state)),
                                         _mm_cvtsi64_si128(kPower), 0);
  return _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product)));
}

// Goes on from `state` as long as there are bytes for all lanes.
template <size_t kLane>
__attribute__((target("sse4.2,pclmul"))) uint64_t InLanes(uint64_t state, const std::byte*& p,
                                                          size_t& n) {
  for (; n >= kLanes * kLane; n -= kLanes * kLane, p += kLanes * kLane) {
    uint64_t second = 0, third = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      state = Word(state, p + i);
      second = Word(second, p + kLane + i);
      third = Word(third, p + 2 * kLane + i);
    }
    state = Moved<2 * kLane>(state) ^ Moved<kLane>(second) ^ third;
  }
  return state;
}

__attribute__((target("sse4.2"))) uint32_t Hardware(uint32_t crc, const std::byte* p, size_t n) {
  static const bool multiplies = __builtin_cpu_supports("pclmul") != 0;
  uint64_t state = ~crc;
  if (multiplies) {
    state = InLanes<kLongLane>(state, p, n);
    state = InLanes<kShortLane>(state, p, n);
  }
  for (; n >= 8; p += 8, n -= 8) state = Word(state, p);
  auto low = static_cast<uint32_t>(state);
  for (; n > 0; ++p, --n) low = _mm_crc32_u8(low, static_cast<uint8_t>(*p));
  return ~low;
}
#endif

}  // namespace

uint32_t Crc32c(uint32_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return Hardware(crc, bytes.data(), bytes.size());
#endif
  return Sliced(kCastagnoli, crc, bytes.data(), bytes.size());
}

uint32_t Crc32Zlib(uint32_t crc, std::span<const std::byte> bytes) {
  return Sliced(kZlib, crc, bytes.data(), bytes.size());
}

}  // namespace ms
