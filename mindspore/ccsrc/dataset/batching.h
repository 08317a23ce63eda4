// Nodes that join rows into batches: equal shapes, padded, or by length. The rows of a batch are
// made ready by one worker, which copies them into one piece of memory for each column.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dataset/node.h"

namespace ms::dataset {

// How a column is padded: extents, with -1 for the largest of the batch (none: all are), and the
// value of what is added (none: zeros or empty text).
struct Pad {
  std::optional<Dims> shape;
  std::optional<Value> fill;
};

struct Padding {
  bool all = false;  // also the columns that are not named
  std::unordered_map<std::string, Pad> columns;
};

// What a function over batches gives for a column: rows that are still to be joined, or the batch.
struct BatchColumn {
  std::vector<Value> rows;
  std::optional<Value> whole;
};

class BatchFunction {
 public:
  virtual ~BatchFunction() = default;
  virtual std::vector<BatchColumn> Apply(std::vector<BatchColumn> columns, uint64_t key,
                                         int64_t epoch, int64_t number) const = 0;
};

struct BatchOptions {
  int64_t size = 1;
  std::function<int64_t(int64_t epoch, int64_t number)> size_of;  // instead of `size`
  bool drop_remainder = false;
  std::vector<std::string> columns;  // of the batches, for texts of errors and padding
  std::optional<Padding> padding;
  std::shared_ptr<const BatchFunction> function;
  std::shared_ptr<Spent> spent = std::make_shared<Spent>();
};
NodeRef MakeBatch(NodeRef child, BatchOptions options);

struct BucketOptions {
  std::vector<size_t> take;                 // columns that the length is of
  std::shared_ptr<const Operation> length;  // null: the extent of the first axis
  std::vector<int64_t> boundaries, sizes;
  bool pad_to_boundary = false, drop_remainder = false;
  std::vector<std::string> columns;
  std::optional<Padding> padding;
};
NodeRef MakeBucketBatch(NodeRef child, BucketOptions options);

// Joins objects that only the language above knows.
using OpaqueStacker = std::function<Value(const std::string& column, std::vector<Value> rows)>;
void SetOpaqueStacker(OpaqueStacker stacker);

// One array of the values of a column; throws RuntimeError where they differ.
Value Stack(const char* op, const std::string& column, const std::vector<Value>& rows);

}  // namespace ms::dataset
