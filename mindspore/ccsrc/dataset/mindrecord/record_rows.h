// Rows of MindRecord files as a source of the data pipeline.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dataset/mindrecord/record_set.h"
#include "dataset/row.h"

namespace ms {

struct ChosenRecords {
  std::vector<size_t> fields;                // the columns, by their places in the schema
  std::optional<std::vector<int64_t>> rows;  // numbers in the files; none: all of them
  std::vector<dataset::Value> padding;       // the row of all numbers behind these
};
std::shared_ptr<const dataset::Step> MakeRecordStep(std::shared_ptr<RecordSet> set,
                                                    ChosenRecords chosen);

}  // namespace ms
