// Checkpoint files: MindSpore's protobuf layout, written and read on the wire by hand, plus our
// checksums.
//
//   Checkpoint  { repeated Value value = 1; bytes head = 1000; bytes tail = 1001 }
//   Value       { string tag = 1; TensorProto tensor = 2 }
//   TensorProto { repeated int64 dims = 1; string tensor_type = 2; bytes tensor_content = 3;
//   fixed32 crc = 15 }
//
// Fields 15, 1000 and 1001 are ours; MindSpore skips them as unknown. docs/formats/checkpoint.md
// has the details.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace ms {

struct CheckpointEntry {
  std::string name;
  std::string dtype;  // "Float32", ...; "str" for text in UTF-32, with dims {0}
  std::vector<int64_t> dims;
  std::span<const std::byte> content;
};

struct CheckpointSaveOptions {
  bool native_crc = false;  // also the trailer that MindSpore's own crc_check=True looks for
  uint64_t slice_bytes =
      512ULL << 20;            // larger tensors become several Values with one tag, as in MindSpore
  std::function<void()> poll;  // called between blocks; may throw
};

// Replaces `path` as a whole or, with an Error, leaves it as it was.
void SaveCheckpoint(const std::string& path, std::span<const CheckpointEntry> entries,
                    const CheckpointSaveOptions& options);

// The bytes of the same file, handed to `take` in blocks of this size; the last one is shorter.
void CheckpointBlocks(std::span<const CheckpointEntry> entries,
                      const CheckpointSaveOptions& options, uint64_t block_bytes,
                      const std::function<void(std::span<const std::byte>)>& take);

struct CheckpointValue {
  std::string name;
  Tensor tensor;                    // where there is no text
  std::optional<std::string> text;  // in UTF-32
};

struct Checkpoint {
  std::vector<CheckpointValue> values;
  bool checked = false;  // a checksum covered every byte
};

struct CheckpointLoadOptions {
  std::function<void()> poll;
  // Whether to keep what has this name (by default everything); called once for each, in the order
  // of the file. The rest is read for its checksum alone, and takes no memory.
  std::function<bool(const std::string&)> choose;
};

// Damage of any kind is an Error(kValue) that names the file, the offset and, once known, the
// tensor.
Checkpoint LoadCheckpoint(const std::string& path, const CheckpointLoadOptions& options);

}  // namespace ms
