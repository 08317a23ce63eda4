#include "dataset/mindrecord/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace ms {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"int32",   "int64",  "float32",
                                                    "float64", "string", "bytes"};

}  // namespace

std::string_view RecordTypeName(RecordType type) { return kNames[static_cast<size_t>(type)]; }

bool RecordTypeFromName(std::string_view name, RecordType* type) {
  auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return false;
  *type = static_cast<RecordType>(found - kNames.begin());
  return true;
}

size_t RecordItemSize(RecordType type) {
  switch (type) {
    case RecordType::kInt32:
    case RecordType::kFloat32:
      return 4;
    case RecordType::kInt64:
    case RecordType::kFloat64:
      return 8;
    default:
      return 1;
  }
}

std::string RecordField::Describe() const {
  if (!shape) return std::string(RecordTypeName(type));
  return fmt::format("{}[{}]", RecordTypeName(type), fmt::join(*shape, ", "));
}

size_t RecordSchema::Find(std::string_view name) const {
  auto named = [name](const RecordField& field) { return field.name == name; };
  return static_cast<size_t>(std::find_if(fields.begin(), fields.end(), named) - fields.begin());
}

size_t RecordSchema::blob_count() const {
  auto blob = [](const RecordField& field) { return field.blob(); };
  return static_cast<size_t>(std::count_if(fields.begin(), fields.end(), blob));
}

}  // namespace ms
