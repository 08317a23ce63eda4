// CRC-32C and zlib's CRC against published values, and continued at every cut.
#include "io/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ms {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(0, Bytes("")), 0U);
  EXPECT_EQ(Crc32c(0, Bytes("123456789")), 0xE3069283U);
  EXPECT_EQ(Crc32c(0, Bytes(std::string(32, '\0'))), 0x8A9136AAU);
  EXPECT_EQ(Crc32Zlib(0, Bytes("123456789")), 0xCBF43926U);
}

TEST(Crc32c, ContinuesAtAnyCut) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i * 37));
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    std::string_view whole = text;
    EXPECT_EQ(Crc32c(Crc32c(0, Bytes(whole.substr(0, cut))), Bytes(whole.substr(cut))),
              Crc32c(0, Bytes(whole)));
    EXPECT_EQ(Crc32Zlib(Crc32Zlib(0, Bytes(whole.substr(0, cut))), Bytes(whole.substr(cut))),
              Crc32Zlib(0, Bytes(whole)));
  }
}

// Long sums are made in lanes, whose sizes and rests must all come out.
TEST(Crc32c, IsThatOfSingleBytesAtAnySize) {
  std::string text;
  for (uint32_t i = 0, random = 1; i < 8000; ++i, random = random * 1664525U + 1013904223U)
    text.push_back(static_cast<char>(random >> 24));
  for (uint32_t begin : {0U, 0xDEADBEEFU}) {
    uint32_t known = begin;
    for (size_t size = 0; size < text.size(); ++size) {
      EXPECT_EQ(Crc32c(begin, Bytes(std::string_view(text).substr(0, size))), known) << size;
      known = Crc32c(known, Bytes(std::string_view(text).substr(size, 1)));
    }
  }
}

}  // namespace
}  // namespace ms
