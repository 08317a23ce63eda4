// Two table-driven CRCs (slicing by 8) and the SSE4.2 path, chosen at run time.
#include "io/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
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

constexpr Tables kCastagnoli = MakeTables(0x82F63B78U);
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
__attribute__((target("sse4.2"))) uint32_t Hardware(uint32_t crc, const std::byte* p, size_t n) {
  uint64_t state = ~crc;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    state = _mm_crc32_u64(state, word);
  }
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
