// See record_rows.h.
#include "dataset/mindrecord/record_rows.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "dataset/text.h"

namespace ms {
namespace {

using dataset::Element;
using dataset::MakeDims;
using dataset::Value;

DType TypeOf(RecordType type) {
  switch (type) {
    case RecordType::kInt32:
      return DType::kInt32;
    case RecordType::kInt64:
      return DType::kInt64;
    case RecordType::kFloat32:
      return DType::kFloat32;
    default:
      return DType::kFloat64;
  }
}

Value ArrayOf(const RecordField& field, const RecordValue& value) {
  Value array = Value::Make(Element::Of(TypeOf(field.type)), MakeDims(value.dims));
  if (value.bytes.size() != array.bytes()) {
    Throw(ErrorKind::kValue, "The field '{}' of a MindRecord file must have {} bytes, but has {}.",
          field.name, array.bytes(), value.bytes.size());
  }
  if (array.bytes() > 0) std::memcpy(array.memory(), value.bytes.data(), array.bytes());
  return array;
}

// Bytes have one dimension, in which is one of them; empty ones are a zero.
Value BytesOf(const std::string& bytes) {
  auto size = static_cast<uint32_t>(std::max<size_t>(bytes.size(), 1));
  Value value = Value::Make({dataset::Kind::kBytes, DType::kUInt8, size}, MakeDims({1}));
  // With the zero behind them, which the string has.
  std::memcpy(value.memory(), bytes.c_str(), size);
  return value;
}

Value ColumnOf(const RecordField& field, const RecordValue& value) {
  if (field.shape) return ArrayOf(field, value);
  switch (field.type) {
    case RecordType::kString:
      return dataset::TextOf(dataset::MendedText(value.bytes), field.name);
    case RecordType::kBytes:
      return BytesOf(value.bytes);
    case RecordType::kInt32:
      return Value::Scalar(static_cast<int32_t>(value.integer));
    case RecordType::kInt64:
      return Value::Scalar(value.integer);
    case RecordType::kFloat32:
      return Value::Scalar(static_cast<float>(value.real));
    default:
      return Value::Scalar(value.real);
  }
}

class RecordStep : public dataset::Step {
 public:
  RecordStep(std::shared_ptr<RecordSet> set, ChosenRecords chosen)
      : set_(std::move(set)),
        chosen_(std::move(chosen)),
        count_(chosen_.rows ? chosen_.rows->size() : set_->rows()),
        wanted_(set_->schema().fields.size(), false) {
    for (size_t field : chosen_.fields) wanted_.at(field) = true;
    for (Value& value : chosen_.padding) value.borrowed = true;
  }

  void Run(std::span<dataset::Row> rows, size_t depth) const override {
    std::vector<int64_t> numbers;
    for (const dataset::Row& row : rows) {
      auto position = static_cast<size_t>(row.pending[depth].number);
      if (position >= count_) continue;
      numbers.push_back(chosen_.rows ? (*chosen_.rows)[position] : row.pending[depth].number);
    }
    std::vector<RecordRow> read = set_->Read(numbers, wanted_);
    auto next = read.begin();
    for (dataset::Row& row : rows) {
      if (static_cast<size_t>(row.pending[depth].number) >= count_) {
        row.values = chosen_.padding;
        continue;
      }
      row.values.reserve(chosen_.fields.size());
      for (size_t field : chosen_.fields)
        row.values.push_back(ColumnOf(set_->schema().fields[field], (*next)[field]));
      ++next;
    }
  }

 private:
  std::shared_ptr<RecordSet> set_;
  ChosenRecords chosen_;
  size_t count_;
  std::vector<bool> wanted_;
};

}  // namespace

std::shared_ptr<const dataset::Step> MakeRecordStep(std::shared_ptr<RecordSet> set,
                                                    ChosenRecords chosen) {
  return std::make_shared<RecordStep>(std::move(set), std::move(chosen));
}

}  // namespace ms
