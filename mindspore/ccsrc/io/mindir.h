// MindIR files: MindSpore's protobuf layout of a graph and its weights, written and read on the
// wire by hand, plus our checksums.
//
//   ModelProto { ...; bytes head = 1000; bytes tail = 1001 }
//
// Fields 1000 and 1001 are ours; MindSpore skips them as unknown. A message is a tree of values
// under the names of its fields; what the names mean is known above (train/_mindir).
// docs/formats/mindir.md has the details.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace ms {

struct MessageKind;

enum class FieldKind : uint8_t {
  kInteger,  // int32, int64, uint64, bool and enums: a varint
  kFloat,
  kDouble,
  kText,  // UTF-8
  kBytes,
  kMessage,
  kContent,  // the elements of a tensor, whose type and sizes came before
};

struct FieldDef {
  uint32_t number;
  std::string_view name;
  FieldKind kind;
  bool repeated = false;
  const MessageKind* message = nullptr;  // kMessage
};

struct MessageKind {
  std::string_view name;
  std::vector<FieldDef> fields;  // by number
};

// The kind of the outermost message of a file.
const MessageKind& MindIrModel();

struct ProtoMessage;
// kContent is a Tensor, which is large beside the others.
using ProtoValue = std::variant<int64_t, double, std::string, std::unique_ptr<Tensor>,
                                std::unique_ptr<ProtoMessage>>;

struct ProtoMessage {
  const MessageKind* kind;
  std::vector<std::pair<const FieldDef*, ProtoValue>> values;  // in the order of the file
  uint64_t seen = 0;  // while it is read: a bit for each field of the kind that may come once
};

// Replaces `path` as a whole or, with an Error, leaves it as it was.
void WriteMindIr(const std::string& path, const ProtoMessage& model,
                 const std::function<void()>& poll);

struct MindIrFile {
  ProtoMessage model;
  bool checked = false;  // a checksum covered every byte
};

// Damage of any kind is an Error(kValue) that names the file, the offset and the message.
MindIrFile ReadMindIr(const std::string& path, const std::function<void()>& poll);

}  // namespace ms
