// Columns of sources whose rows lie in files of their own, or in memory: what a row's number gives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataset/row.h"

namespace ms::dataset {

// One or two columns of a source by the number of the row. Used by many threads at once.
class Column {
 public:
  virtual ~Column() = default;
  virtual void Read(size_t row, std::vector<Value>* values) const = 0;
  // The file that a row comes from; empty: from memory.
  virtual std::string File(size_t) const { return {}; }
};
using ColumnRef = std::shared_ptr<const Column>;

// Slices of an array along its first axis; it stays where it is.
ColumnRef MakeArrayColumn(Value array);
// A value for each row.
ColumnRef MakeListColumn(std::vector<Value> values);

enum class FileForm {
  kBytes,    // the bytes of the file
  kPicture,  // decoded
  kText,     // a text in UTF-8, without a byte order mark
  kSound,    // two columns: the samples of a WAV file as Float32[channels, count], and their rate
};
// A file for each row. `unsigned_rate`: the type of the rate of sounds.
ColumnRef MakeFileColumn(std::vector<std::string> paths, FileForm form, bool unsigned_rate);

std::shared_ptr<const Step> MakeColumnStep(std::vector<ColumnRef> columns);

}  // namespace ms::dataset
