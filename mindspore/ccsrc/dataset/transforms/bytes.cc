// See bytes.h.
#include "dataset/transforms/bytes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "dataset/transforms/bytes_ways.h"
#include "dataset/transforms/elements.h"

namespace ms::dataset {

void CopyRow(const std::byte* in, std::byte* out, size_t count) {
  int64_t i = 0;
#if MS_X86
  if (HasVectors()) {
    i = vectors::Copy(reinterpret_cast<const uint8_t*>(in), reinterpret_cast<uint8_t*>(out),
                      static_cast<int64_t>(count));
  }
#endif
  if (i == 0) std::memcpy(out, in, count);
}

void MapBytes(const ByteTable& table, const uint8_t* in, uint8_t* out, int64_t count) {
  int64_t i = 0;
#if MS_X86
  if (HasPermutes()) {
    i = permutes::Map(table, in, out, count);
  } else if (HasVectors()) {
    i = vectors::Map(table, in, out, count);
  }
#endif
  for (; i < count; ++i) out[i] = table[in[i]];
}

void GrayPlane(const uint8_t* const planes[3], uint8_t* gray, int64_t pixels) {
  int64_t i = 0;
#if MS_X86
  if (HasPermutes()) {
    i = permutes::Gray(planes, gray, pixels);
  } else if (HasVectors()) {
    i = vectors::Gray(planes, gray, pixels);
  }
#endif
  for (; i < pixels; ++i) {
    gray[i] = static_cast<uint8_t>(GrayByte(planes[0][i], planes[1][i], planes[2][i]));
  }
}

Scaling::Scaling(float given_middle, float given_factor)
    : middle(given_middle), factor(given_factor) {
  for (size_t byte = 0; byte < 256; ++byte) {
    table[byte] = RoundedByte(middle + factor * (static_cast<float>(byte) - middle));
  }
}

void ScaleBytes(const Scaling& scaling, const uint8_t* in, uint8_t* out, int64_t count) {
  int64_t i = 0;
#if MS_X86
  if (!HasPermutes() && HasVectors()) i = vectors::Scale(scaling, in, out, count);
#endif
  MapBytes(scaling.table, in + i, out + i, count - i);
}

void Spread(const Scaling& farther, const uint8_t* gray, uint8_t* bytes, int64_t count) {
  int64_t i = 0;
#if MS_X86
  if (HasPermutes()) {
    i = permutes::Spread(farther, gray, bytes, count);
  } else if (HasVectors()) {
    i = vectors::Spread(farther, gray, bytes, count);
  }
#endif
  for (; i < count; ++i) {
    int distance = bytes[i] - gray[i];
    int far = farther.table[static_cast<size_t>(std::abs(distance))];
    bytes[i] = static_cast<uint8_t>(std::clamp(gray[i] + (distance < 0 ? -far : far), 0, 255));
  }
}

FloatTable::FloatTable(const float* given) {
  for (size_t i = 0; i < 256; ++i) {
    floats[i] = given[i];
    uint32_t bits;
    std::memcpy(&bits, given + i, 4);
    for (size_t p = 0; p < 4; ++p) parts[p][i] = static_cast<uint8_t>(bits >> (8 * p));
  }
}

void JoinFloats(const float* const planes[3], int64_t pixels, float* out) {
  int64_t i = 0;
#if MS_X86
  if (HasPermutes()) {
    i = permutes::JoinFloats(planes, pixels, out);
  } else if (HasVectors()) {
    i = vectors::JoinFloats(planes, pixels, out);
  }
#endif
  for (; i < pixels; ++i) {
    for (int c = 0; c < 3; ++c) out[3 * i + c] = planes[c][i];
  }
}

void MapFloats(const FloatTable& table, const uint8_t* in, float* out, int64_t count, bool large) {
  int64_t i = 0;
#if MS_X86
  bool whole = reinterpret_cast<uintptr_t>(out) % 64 == 0;
  if (HasPermutes() && count >= 256) i = permutes::MapFloats(table, in, out, count, large && whole);
#else
  (void)large;
#endif
  // Eight bytes at once are one load instead of eight.
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, in + i, 8);
    if constexpr (std::endian::native != std::endian::little) eight = __builtin_bswap64(eight);
    for (int k = 0; k < 8; ++k) out[i + k] = table.floats[eight >> (8 * k) & 255];
  }
  for (; i < count; ++i) out[i] = table.floats[in[i]];
}

void SplitPixels(const uint8_t* in, int64_t pixels, uint8_t* const planes[3]) {
  int64_t i = 0;
#if MS_X86
  if (HasVectors()) i = vectors::Split(in, pixels, planes);
#endif
  for (; i < pixels; ++i) {
    for (int c = 0; c < 3; ++c) planes[c][i] = in[3 * i + c];
  }
}

void JoinPixels(const uint8_t* const planes[3], int64_t pixels, uint8_t* out) {
  int64_t i = 0;
#if MS_X86
  if (HasVectors()) i = vectors::Join(planes, pixels, out);
#endif
  for (; i < pixels; ++i) {
    for (int c = 0; c < 3; ++c) out[3 * i + c] = planes[c][i];
  }
}

void ReversePixels(const uint8_t* in, uint8_t* out, int64_t pixels) {
  int64_t i = 0;
#if MS_X86
  if (HasPermutes()) i = permutes::Reverse(in, out, pixels);
  if (i == 0 && HasVectors()) i = vectors::Reverse(in, out, pixels);
#endif
  for (; i < pixels; ++i) std::memcpy(out + 3 * i, in + 3 * (pixels - 1 - i), 3);
}

}  // namespace ms::dataset
