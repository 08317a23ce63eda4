// See columns.h.
#include "dataset/columns.h"

#include "dataset/files.h"
#include "dataset/text.h"
#include "dataset/transforms/chain.h"
#include "dataset/wave.h"

namespace ms::dataset {
namespace {

class ArrayColumn : public Column {
 public:
  explicit ArrayColumn(Value array) : array_(std::move(array)) {
    array_.dims = MakeDims(Dims(array_.dims->begin() + 1, array_.dims->end()));
    array_.borrowed = true;
  }
  void Read(size_t row, std::vector<Value>* values) const override {
    values->push_back(array_);
    values->back().data += array_.bytes() * row;
  }

 private:
  Value array_;
};

class ListColumn : public Column {
 public:
  explicit ListColumn(std::vector<Value> values) : values_(std::move(values)) {
    for (Value& value : values_) value.borrowed = true;
  }
  void Read(size_t row, std::vector<Value>* values) const override {
    values->push_back(values_[row]);
  }

 private:
  std::vector<Value> values_;
};

class FileColumn : public Column {
 public:
  FileColumn(std::vector<std::string> paths, FileForm form, bool unsigned_rate)
      : paths_(std::move(paths)), form_(form), unsigned_rate_(unsigned_rate) {}
  void Read(size_t row, std::vector<Value>* values) const override {
    const std::string& path = paths_[row];
    Value bytes = ReadWhole(path);
    switch (form_) {
      case FileForm::kBytes:
        values->push_back(std::move(bytes));
        return;
      case FileForm::kPicture:
        values->push_back(Decoded(path, bytes));
        return;
      case FileForm::kText:
        values->push_back(TextOf(WithoutMark({bytes.as<char>(), bytes.bytes()}), path));
        return;
      case FileForm::kSound: {
        Wave wave = DecodeWave({bytes.as<char>(), bytes.bytes()}, path);
        values->push_back(std::move(wave.samples));
        values->push_back(unsigned_rate_ ? Value::Scalar(wave.rate)
                                         : Value::Scalar(static_cast<int32_t>(wave.rate)));
        return;
      }
    }
  }
  std::string File(size_t row) const override { return paths_.at(row); }

 private:
  static Value Decoded(const std::string& path, const Value& bytes) {
    try {
      return DecodePicture(bytes);
    } catch (const Error& error) {
      Throw(ErrorKind::kRuntime, "The image '{}' cannot be decoded: {}", path, error.message());
    }
  }

  std::vector<std::string> paths_;
  FileForm form_;
  bool unsigned_rate_;
};

class ColumnStep : public Step {
 public:
  explicit ColumnStep(std::vector<ColumnRef> columns) : columns_(std::move(columns)) {}
  void Run(std::span<Row> rows, size_t depth) const override {
    for (Row& row : rows) {
      auto number = static_cast<size_t>(row.pending[depth].number);
      for (const ColumnRef& column : columns_) column->Read(number, &row.values);
    }
  }

 private:
  std::vector<ColumnRef> columns_;
};

}  // namespace

ColumnRef MakeArrayColumn(Value array) { return std::make_shared<ArrayColumn>(std::move(array)); }

ColumnRef MakeListColumn(std::vector<Value> values) {
  return std::make_shared<ListColumn>(std::move(values));
}

ColumnRef MakeFileColumn(std::vector<std::string> paths, FileForm form, bool unsigned_rate) {
  return std::make_shared<FileColumn>(std::move(paths), form, unsigned_rate);
}

std::shared_ptr<const Step> MakeColumnStep(std::vector<ColumnRef> columns) {
  return std::make_shared<ColumnStep>(std::move(columns));
}

}  // namespace ms::dataset
