// Loops over many bytes: through a table, and over pixels of three of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ms::dataset {

using ByteTable = std::array<uint8_t, 256>;

// A row to elsewhere: of hundreds or thousands of bytes, sooner than memcpy, which asks more.
void CopyRow(const std::byte* in, std::byte* out, size_t count);
void MapBytes(const ByteTable& table, const uint8_t* in, uint8_t* out, int64_t count);
// Gray of pixels in whole numbers, as MindSpore has it of bytes: shares of 2^15.
constexpr int kRedShare = 9798, kGreenShare = 19235, kBlueShare = 3735;
inline int GrayByte(int red, int green, int blue) {
  return (red * kRedShare + green * kGreenShare + blue * kBlueShare + (1 << 14)) >> 15;
}
void GrayPlane(const uint8_t* const planes[3], uint8_t* gray, int64_t pixels);
// middle + factor * (byte - middle), rounded and clipped, of a whole middle: as numbers and as a
// table, since for some processors the one is faster and for some the other.
struct Scaling {
  float middle, factor;
  ByteTable table;

  Scaling(float given_middle, float given_factor);
};
void ScaleBytes(const Scaling& scaling, const uint8_t* in, uint8_t* out, int64_t count);
// Bytes at the distance from gray that is theirs scaled (from 0), on the same side of it.
void Spread(const Scaling& farther, const uint8_t* gray, uint8_t* bytes, int64_t count);
// A float for each byte; also as four tables of the floats' bytes.
struct FloatTable {
  std::array<float, 256> floats;
  alignas(64) std::array<std::array<uint8_t, 256>, 4> parts;

  explicit FloatTable(const float* given);
};
// `large`: the result is not needed soon, and passes by the caches.
void MapFloats(const FloatTable& table, const uint8_t* in, float* out, int64_t count, bool large);
void JoinFloats(const float* const planes[3], int64_t pixels, float* out);
// Pixels of three bytes to three planes, and back.
void SplitPixels(const uint8_t* in, int64_t pixels, uint8_t* const planes[3]);
void JoinPixels(const uint8_t* const planes[3], int64_t pixels, uint8_t* out);
// The last pixel first.
void ReversePixels(const uint8_t* in, uint8_t* out, int64_t pixels);

}  // namespace ms::dataset
