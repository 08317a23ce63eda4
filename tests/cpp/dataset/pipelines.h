// Pipelines over counted rows, for tests.
#pragma once

#include <vector>

#include "dataset/columns.h"
#include "dataset/operators.h"
#include "dataset/sources.h"

namespace ms::dataset {

// A source of the rows 0, 1, ..., count - 1 as one column of int64.
inline NodeRef Counted(int64_t count, bool shuffled = false) {
  Value array = Value::Make(Element::Of(DType::kInt64), MakeDims({count}));
  for (int64_t i = 0; i < count; ++i) reinterpret_cast<int64_t*>(array.memory())[i] = i;
  return MakeSequence(MakeRegularOrder({count, 0, 1, count, shuffled, false}),
                      MakeColumnStep({MakeArrayColumn(std::move(array))}), true, false);
}

// An epoch under a seed.
inline CursorRef Opened(const NodeRef& node, uint64_t seed = 1, int64_t epoch = 0) {
  return node->Open(std::make_shared<Run>(*node, seed, true), epoch);
}

// The integers of a value.
inline std::vector<int64_t> Numbers(const Value& value) {
  return {value.as<int64_t>(), value.as<int64_t>() + value.count()};
}

}  // namespace ms::dataset
