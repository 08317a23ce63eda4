// One MindRecord file, opened for reading. Bytes are read, never mapped: a file that gets shorter
// meanwhile is an error, unless what was there is in memory already. Each row is checked against
// its sums where the file has them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/mindrecord/header.h"
#include "dataset/mindrecord/kept_blocks.h"
#include "dataset/mindrecord/record_index.h"
#include "dataset/mindrecord/row_table.h"

namespace ms {

class RecordFile {
 public:
  explicit RecordFile(const std::string& path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;

  const std::string& path() const { return path_; }
  const RecordHeader& header() const { return header_; }
  const std::vector<RecordPlace>& places() const { return table_.places; }
  uint64_t rows() const { return table_.places.size(); }
  // Whether the file has sums; then all shards of one commit have the same number.
  bool summed() const { return header_.table.has_value(); }
  uint64_t commit() const { return table_.commit; }

  // What was read around the last row of each kind: rows in order take few calls of the system.
  struct Window {
    uint64_t offset = 0;
    std::string bytes;
  };
  struct Cursor {
    Window raw;
    Window blob;
    std::string unpacked;  // of the last row
    void Leave();          // to go on in another file
  };
  // Fills the values of the fields that are `wanted`; what they show stays until the next row that
  // is read with the cursor.
  void Read(uint64_t row, const std::vector<bool>& wanted, Cursor& cursor, RecordRow& values) const;

  // The place of a row with its sums; in a file that has none, those of its present bytes.
  RecordPlace SummedPlace(uint64_t row, Cursor& cursor) const;

  // Copies the used bytes of a page.
  void CopyPage(size_t page, const std::function<void(uint64_t, std::string_view)>& put) const;

  // The rows for which a condition over the indexed fields holds. Where the index is missing or is
  // not the one that the file was written with, it is made anew from the rows, in memory;
  // `rebuilt` then tells it.
  std::vector<uint64_t> Select(const std::string& where, const std::function<void()>& poll,
                               bool* rebuilt) const;

 private:
  std::string ReadAt(uint64_t offset, uint64_t size) const;
  // The same into memory that may be there already.
  void ReadInto(std::string& bytes, uint64_t offset, uint64_t size) const;
  void ReadHeader();
  void ReadTable();
  void ReadIndex();
  void ChooseKept();
  std::string_view Half(uint64_t row, bool blob, Cursor& cursor) const;
  bool IndexFits() const;
  RecordIndex MakeIndex(const std::function<void()>& poll) const;
  [[noreturn]] void Damaged(const std::string& what) const;

  std::string path_;
  std::string index_path_;
  int fd_ = -1;
  uint64_t size_ = 0;
  uint32_t head_sum_ = 0;
  RecordHeader header_;
  RowTable table_;
  KeptBlocks kept_;
};

}  // namespace ms
