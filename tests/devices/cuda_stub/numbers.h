// Numbers in the device's memory, by the codes of their types (CUDA_R_*): 0 float, 1 double, 2
// half, 14 brain.
#pragma once

#include <cmath>
#include <cstring>

#include "emulator.h"

namespace stub {

inline size_t SizeOf(int type) { return type == 1 ? 8 : type == 0 ? 4 : 2; }
inline double Get(const char* at, int type) {
  if (type == 1) return Argument<double>::Get(const_cast<char*>(at));
  if (type == 0) return Argument<float>::Get(const_cast<char*>(at));
  uint16_t bits = Argument<uint16_t>::Get(const_cast<char*>(at));
  return type == 2 ? FromFloat16(bits) : BitsToFloat(static_cast<int32_t>(uint32_t{bits} << 16));
}
inline void Put(char* at, int type, double value) {
  auto f = static_cast<float>(value);
  uint16_t bits = type == 2 ? ToFloat16(f) : 0;
  if (type == 14) {
    auto u = static_cast<uint32_t>(FloatToBits(f));
    bits = static_cast<uint16_t>(std::isnan(f) ? (u >> 16) | 0x40
                                               : (u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
  if (type == 1)
    std::memcpy(at, &value, 8);
  else if (type == 0)
    std::memcpy(at, &f, 4);
  else
    std::memcpy(at, &bits, 2);
}

}  // namespace stub
