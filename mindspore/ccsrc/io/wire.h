// Protobuf's wire format, as far as our own files need it: keys, varints and length-delimited
// fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ms {

enum class Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint64_t Key(uint32_t field, Wire wire) {
  return (uint64_t{field} << 3) | static_cast<uint32_t>(wire);
}

inline void PutVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

inline size_t VarintSize(uint64_t value) {
  size_t n = 1;
  while (value >>= 7) ++n;
  return n;
}

// Little-endian, as the wire wants it; the host is little-endian (checked in crc32c.cc).
template <class T>
void PutFixed(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline void PutBytes(std::string& out, uint32_t field, std::string_view bytes) {
  PutVarint(out, Key(field, Wire::kBytes));
  PutVarint(out, bytes.size());
  out.append(bytes);
}

}  // namespace ms
