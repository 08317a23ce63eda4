// A field of MindRecord rows as a column of the data pipeline: its value in one row, or those of
// rows that become a batch, each written to its place there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataset/mindrecord/schema.h"
#include "dataset/value.h"

namespace ms {

class RecordColumn {
 public:
  // How many rows the batch has; none: one row, alone.
  RecordColumn(const RecordField& field, std::optional<size_t> rows);

  // The value of the next row. False: it has another shape than those before it.
  bool Add(const RecordValue& value);
  // When all are there.
  dataset::Value Take() &&;

 private:
  bool text() const { return !field_.shape && field_.type == RecordType::kString; }
  bool bytes() const { return !field_.shape && field_.type == RecordType::kBytes; }
  void MakeRoom(const std::vector<int64_t>& extents, size_t size);
  void Widen(size_t size);

  const RecordField& field_;
  std::optional<size_t> rows_;
  size_t added_ = 0;
  size_t size_ = 0;            // bytes of a row
  std::vector<int64_t> dims_;  // of an array
  dataset::Value value_;
  std::vector<std::string> texts_;  // are as wide as the longest
};

}  // namespace ms
