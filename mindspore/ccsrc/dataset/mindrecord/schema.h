// What the rows of a MindRecord file are made of: fields of six types, kept in the order of their
// names as the format has it. Fields with a shape, and bytes, lie in blob pages; the rest in raw
// pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ms {

enum class RecordType { kInt32, kInt64, kFloat32, kFloat64, kString, kBytes };

std::string_view RecordTypeName(RecordType type);
bool RecordTypeFromName(std::string_view name, RecordType* type);
size_t RecordItemSize(RecordType type);  // of an element of an array

struct RecordField {
  std::string name;
  RecordType type;
  std::optional<std::vector<int64_t>> shape;  // at most one dimension is -1

  bool blob() const { return shape.has_value() || type == RecordType::kBytes; }
  bool integer() const { return type == RecordType::kInt32 || type == RecordType::kInt64; }
  std::string Describe() const;  // "int32", "float64[2, -1]"
  friend bool operator==(const RecordField&, const RecordField&) = default;
};

struct RecordSchema {
  std::string description;
  std::vector<RecordField> fields;

  // The place of a field; fields.size() where there is none of this name.
  size_t Find(std::string_view name) const;
  size_t blob_count() const;
};

// One value of a row. Of a string or bytes the text; of an array its elements, little-endian.
struct RecordValue {
  int64_t integer = 0;
  double real = 0;
  std::string bytes;
  std::vector<int64_t> dims;
  // In a row that was read: where `bytes` would be, unless they are there.
  std::string_view content;

  std::string_view view() const { return content.data() ? content : bytes; }
};

// One for each field of the schema.
using RecordRow = std::vector<RecordValue>;

}  // namespace ms
