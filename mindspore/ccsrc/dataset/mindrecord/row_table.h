// Where each row lies, and what its bytes sum to. A file that we write ends with this table; the
// head says where it is (docs/formats/mindrecord.md). Other readers never look behind the pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/mindrecord/header.h"

namespace ms {

// The half of a row: bytes of a page, from its size on.
struct RecordPiece {
  uint32_t page = 0;
  uint32_t start = 0;
  uint32_t size = 0;
  uint32_t sum = 0;  // CRC-32C
};

struct RecordPlace {
  RecordPiece raw;
  RecordPiece blob;
};

struct RowTable {
  uint64_t commit = 0;  // the same number in all shards that were written at once
  uint64_t index_size = 0;
  uint32_t index_sum = 0;  // of the .db file
  uint32_t head_sum = 0;   // of the size and the JSON at the start
  std::vector<RecordPlace> places;

  static uint64_t Bytes(uint64_t rows);
};

std::string PrintRowTable(const RowTable& table);
RowTable ParseRowTable(std::string_view bytes, const std::string& path);

// Throws unless the rows fill the used bytes of the pages, one behind the other and without gaps:
// then no place can be wrong by itself.
void CheckPlaces(const RecordHeader& header, const std::vector<RecordPlace>& places,
                 const std::string& path);

}  // namespace ms
