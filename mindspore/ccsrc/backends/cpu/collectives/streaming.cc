#include "backends/cpu/collectives/streaming.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ms::cpu {

#if defined(__SSE2__)
namespace {

constexpr int64_t kLine = 64;
// Shorter ones are over before the first line would be in memory.
constexpr int64_t kWorthIt = 2048;

}  // namespace

void CopyForOthers(char* to, const char* from, int64_t bytes) {
  if (bytes <= 0) return;
  if (bytes < kWorthIt) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  int64_t head = -reinterpret_cast<intptr_t>(to) & (kLine - 1);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    const auto* line = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    __m128i a = _mm_loadu_si128(line), b = _mm_loadu_si128(line + 1), c = _mm_loadu_si128(line + 2),
            d = _mm_loadu_si128(line + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  std::memcpy(to + at, from + at, static_cast<size_t>(bytes - at));
  _mm_sfence();  // stores that pass the caches are in no order with those that do not
}

#else

void CopyForOthers(char* to, const char* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

#endif

}  // namespace ms::cpu
