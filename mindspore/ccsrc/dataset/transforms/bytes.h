// Loops over many bytes: through a table, and over pixels of three of them.
#pragma once

#include <array>
#include <cstdint>

namespace ms::dataset {

using ByteTable = std::array<uint8_t, 256>;

void MapBytes(const ByteTable& table, const uint8_t* in, uint8_t* out, int64_t count);
// Pixels of three bytes to three planes, and back.
void SplitPixels(const uint8_t* in, int64_t pixels, uint8_t* const planes[3]);
void JoinPixels(const uint8_t* const planes[3], int64_t pixels, uint8_t* out);
// The last pixel first.
void ReversePixels(const uint8_t* in, uint8_t* out, int64_t pixels);

}  // namespace ms::dataset
