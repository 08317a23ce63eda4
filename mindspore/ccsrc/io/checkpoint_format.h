// The numbers that the writer and the reader of checkpoints share.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/wire.h"

namespace ms {

inline constexpr uint64_t kValueKey = Key(1, Wire::kBytes);
inline constexpr uint64_t kTagKey = Key(1, Wire::kBytes);
inline constexpr uint64_t kTensorKey = Key(2, Wire::kBytes);
inline constexpr uint64_t kDimKey = Key(1, Wire::kVarint);
inline constexpr uint64_t kPackedDimsKey = Key(1, Wire::kBytes);
inline constexpr uint64_t kTypeKey = Key(2, Wire::kBytes);
inline constexpr uint64_t kContentKey = Key(3, Wire::kBytes);
inline constexpr uint64_t kContentCrcKey = Key(15, Wire::kFixed32);
inline constexpr uint32_t kHeadField = 1000;
inline constexpr uint32_t kTailField = 1001;
inline constexpr uint64_t kHeadKey = Key(kHeadField, Wire::kBytes);
inline constexpr uint64_t kTailKey = Key(kTailField, Wire::kBytes);

// Head: magic with a version, then the size of everything up to and with the tail (u64) and the
// number of Values (u32). Tail: CRC-32C (u32) of all bytes before it except tensor contents, which
// have sums of their own.
inline constexpr std::string_view kHeadMagic("MSCKPT\0\1", 8);
inline constexpr uint64_t kHeadBytes = 8 + 8 + 4;
inline constexpr uint64_t kTailBytes = 4;

// What MindSpore appends with crc_check=True: this word and zlib's CRC as 10 bytes, most
// significant first.
inline constexpr std::string_view kNativeMark = "crc_num";
inline constexpr uint64_t kNativeBytes = 7 + 10;

inline constexpr uint64_t kMaxNameBytes = 1 << 16;
inline constexpr uint64_t kMaxTypeBytes = 32;
inline constexpr std::string_view kTextType = "str";

}  // namespace ms
