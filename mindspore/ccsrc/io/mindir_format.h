// The numbers that the writer and the reader of MindIR files share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"
#include "io/mindir.h"
#include "io/wire.h"

namespace ms {

inline constexpr uint32_t kMindIrHeadField = 1000;
inline constexpr uint32_t kMindIrTailField = 1001;
inline constexpr uint64_t kMindIrHeadKey = Key(kMindIrHeadField, Wire::kBytes);
inline constexpr uint64_t kMindIrTailKey = Key(kMindIrTailField, Wire::kBytes);

// Head: magic with a version, then the size of the file (u64). Tail: CRC-32C (u32) of all bytes
// before it except contents of tensors, then that of all these contents in a row.
inline constexpr std::string_view kMindIrMagic("MSMDIR\0\1", 8);
inline constexpr uint64_t kMindIrHeadBytes = 8 + 8;
inline constexpr uint64_t kMindIrTailBytes = 4 + 4;

// On the wire.
Wire WireOf(FieldKind kind);
// The numbers that TensorProto has for types of elements.
std::optional<DType> DTypeOfMindIr(int64_t number);

}  // namespace ms
