// The rows of several MindRecord files as one sequence: those of the first file, then those of the
// next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "dataset/mindrecord/record_file.h"

namespace ms {

class RecordSet {
 public:
  // The files with these paths. With `whole`, and one path, all shards of the set that the file
  // belongs to, which lie beside it.
  RecordSet(const std::vector<std::string>& paths, bool whole);

  const RecordSchema& schema() const { return files_[0].file->header().schema; }
  const std::vector<std::string>& index_fields() const {
    return files_[0].file->header().index_fields;
  }
  const RecordFile& file(size_t i) const { return *files_[i].file; }
  uint64_t rows() const { return rows_; }
  std::vector<std::string> Paths() const;
  std::vector<uint64_t> Counts() const;  // rows of each file

  // Hands over the values of the fields that are `wanted`, of the rows with these numbers, one row
  // after the other with its place among them; what is not taken away is written over by the next
  // one. Several threads may read at once.
  using Take = std::function<void(size_t place, RecordRow& values)>;
  void Read(std::span<const int64_t> rows, const std::vector<bool>& wanted, const Take& take);
  // See RecordFile::Select; `rebuilt` gets the paths of files whose index was made anew.
  std::vector<uint64_t> Select(const std::string& where, const std::function<void()>& poll,
                               std::vector<std::string>* rebuilt) const;

 private:
  struct Part {
    std::unique_ptr<RecordFile> file;
    uint64_t first;  // number of its first row in the sequence
  };
  struct Reading {
    const RecordFile* file = nullptr;  // of the last row
    RecordFile::Cursor cursor;
    RecordRow values;
  };
  void Add(std::unique_ptr<RecordFile> file);
  void CheckTogether(const RecordFile& file) const;
  std::unique_ptr<Reading> TakeReading();

  std::vector<Part> files_;
  uint64_t rows_ = 0;
  Mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<Reading>> idle_;
};

}  // namespace ms
