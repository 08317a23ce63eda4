// The head of a MindRecord file: its JSON, as a structure whose every number was checked. What it
// holds is in docs/formats/mindrecord.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset/mindrecord/schema.h"

namespace ms {

struct RecordPage {
  bool blob = false;
  uint64_t size = 0;     // bytes that are used
  uint64_t type_id = 0;  // of a blob page the number of its row group
  uint64_t start_row = 0;
  uint64_t end_row = 0;
  std::vector<std::pair<uint64_t, uint64_t>> groups;  // row groups of a raw page: number, offset
};

struct RecordHeader {
  static constexpr uint64_t kMinHeader = 16 << 10;
  static constexpr uint64_t kMaxHeader = 128 << 20;
  static constexpr uint64_t kMinPage = 32 << 10;
  static constexpr uint64_t kMaxPage = 256 << 20;

  uint64_t header_size = 16 << 20;
  uint64_t page_size = 32 << 20;
  bool packed = false;      // the content of blob halves is a frame of Zstandard
  int64_t saved_bytes = 0;  // what packed integers take less than plain ones
  RecordSchema schema;
  std::vector<std::string> index_fields;
  std::vector<std::string> shard_names;
  uint64_t shard_id = 0;
  std::vector<RecordPage> pages;
  // Where our row table lies, and how long it is (row_table.h).
  std::optional<std::pair<uint64_t, uint64_t>> table;

  uint64_t PageOffset(uint64_t page) const { return header_size + page * page_size; }
  // Behind the last byte that a page uses.
  uint64_t End() const;
};

// The size of the JSON and the JSON, as they stand at the start of the file.
std::string PrintRecordHeader(const RecordHeader& header);

// `json` without its size; `path` is for messages.
RecordHeader ParseRecordHeader(std::string_view json, const std::string& path);

// {"name": {"type": ..., "shape": [...]}, ...} as JSON, and back; the latter tells what is wrong
// with a ValueError that says `where`.
std::string PrintRecordSchema(const RecordSchema& schema);
RecordSchema ParseRecordSchema(std::string_view json, const std::string& where);

}  // namespace ms
