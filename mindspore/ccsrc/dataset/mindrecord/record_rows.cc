// See record_rows.h.
#include "dataset/mindrecord/record_rows.h"

#include <utility>

#include "dataset/mindrecord/record_column.h"

namespace ms {
namespace {

using dataset::Row;
using dataset::Value;

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

  void Run(std::span<Row> rows, size_t depth) const override {
    std::vector<int64_t> numbers;
    std::vector<Row*> real;
    for (Row& row : rows) {
      if (IsPadding(row, depth)) {
        row.values = chosen_.padding;
        continue;
      }
      numbers.push_back(NumberOf(row, depth));
      real.push_back(&row);
    }
    set_->Read(numbers, wanted_, [&](size_t place, const RecordRow& values) {
      real[place]->values.reserve(chosen_.fields.size());
      for (size_t field : chosen_.fields) {
        RecordColumn column(set_->schema().fields[field], std::nullopt);
        column.Add(values[field]);
        real[place]->values.push_back(std::move(column).Take());
      }
    });
  }

  bool RunJoined(std::span<Row> rows, size_t depth, std::vector<Value>* joined) const override {
    std::vector<int64_t> numbers;
    bool alike = true;
    for (const Row& row : rows) {
      alike = alike && !IsPadding(row, depth);
      if (alike) numbers.push_back(NumberOf(row, depth));
    }
    std::vector<RecordColumn> columns;
    for (size_t field : chosen_.fields)
      columns.emplace_back(set_->schema().fields[field], rows.size());
    if (alike) {
      set_->Read(numbers, wanted_, [&](size_t, const RecordRow& values) {
        for (size_t i = 0; alike && i < columns.size(); ++i)
          alike = columns[i].Add(values[chosen_.fields[i]]);
      });
    }
    if (!alike) {
      Run(rows, depth);
      return false;
    }
    for (RecordColumn& column : columns) joined->push_back(std::move(column).Take());
    return true;
  }

 private:
  bool IsPadding(const Row& row, size_t depth) const {
    return static_cast<size_t>(row.pending[depth].number) >= count_;
  }
  int64_t NumberOf(const Row& row, size_t depth) const {
    int64_t position = row.pending[depth].number;
    return chosen_.rows ? (*chosen_.rows)[static_cast<size_t>(position)] : position;
  }

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
