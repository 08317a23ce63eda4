// CRC-32C (Castagnoli), the checksum of every file we write. One polynomial everywhere: it has an
// instruction on x86 (SSE4.2), and one table serves the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ms {

// Continues `crc` (0 for a new sum) over `bytes`: Crc32c(Crc32c(0, a), b) == Crc32c(0, a + b).
uint32_t Crc32c(uint32_t crc, std::span<const std::byte> bytes);

// CRC-32 of zip and zlib; only to verify files that MindSpore itself wrote with crc_check=True.
uint32_t Crc32Zlib(uint32_t crc, std::span<const std::byte> bytes);

}  // namespace ms
