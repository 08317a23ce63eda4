// See batching.h.
#include "dataset/batching.h"

#include <algorithm>
#include <utility>

#include "dataset/prefetch.h"
#include "dataset/stacking.h"

namespace ms::dataset {
namespace {

Value Join(const char* op, const std::string& column, BatchColumn values,
           const std::optional<Padding>& padding) {
  if (values.whole) return std::move(*values.whole);
  if (values.rows.empty()) {
    Throw(ErrorKind::kValue, "For '{}', column '{}' of a batch must have rows, but has none.", op,
          column);
  }
  if (padding) {
    auto pad = padding->columns.find(column);
    if (pad != padding->columns.end()) return StackPadded(column, values.rows, pad->second);
    if (padding->all) return StackPadded(column, values.rows, Pad());
  }
  return Stack(op, column, values.rows);
}

std::vector<BatchColumn> Columns(std::vector<Row> rows) {
  std::vector<BatchColumn> columns(rows[0].values.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i].rows.reserve(rows.size());
    for (Row& row : rows) columns[i].rows.push_back(std::move(row.values[i]));
  }
  return columns;
}

// The step of one row, the batch, which holds the rows that it is made of.
class BatchStep : public Step {
 public:
  BatchStep(std::vector<Row> rows, std::shared_ptr<const BatchOptions> options, int64_t epoch)
      : rows_(std::move(rows)), options_(std::move(options)), epoch_(epoch) {}
  void Run(std::span<Row> batch, size_t depth) const override {
    if (options_->function || options_->padding) {
      Resolve(rows_);
    } else if (ResolveJoined(rows_, &batch[0].values)) {
      rows_.clear();
      return;
    }
    Stopwatch watch(options_->spent.get(), rows_.size());
    std::vector<BatchColumn> columns = Columns(std::move(rows_));
    const Pending& at = batch[0].pending[depth];
    if (options_->function) {
      columns = options_->function->Apply(std::move(columns), at.key, epoch_, at.number);
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      batch[0].values.push_back(
          Join("batch", options_->columns[i], std::move(columns[i]), options_->padding));
    }
  }

 private:
  mutable std::vector<Row> rows_;
  std::shared_ptr<const BatchOptions> options_;
  int64_t epoch_;
};

class BatchCursor : public Cursor {
 public:
  BatchCursor(CursorRef rows, std::shared_ptr<const BatchOptions> options, uint64_t key,
              int64_t epoch)
      : rows_(std::move(rows)), options_(std::move(options)), key_(key), epoch_(epoch) {}
  bool Next(Row* row) override {
    int64_t size = Size();
    std::vector<Row> rows;
    rows.reserve(static_cast<size_t>(std::min<int64_t>(size, 1 << 16)));
    Row next;
    while (static_cast<int64_t>(rows.size()) < size && rows_->Next(&next)) {
      rows.push_back(std::move(next));
    }
    if (!Whole(static_cast<int64_t>(rows.size()), size)) return false;
    *row = Row();
    row->pending.push_back(
        {std::make_shared<BatchStep>(std::move(rows), options_, epoch_), key_, number_++});
    return true;
  }
  int64_t Skip(int64_t count) override {
    for (int64_t skipped = 0; skipped < count; ++skipped) {
      int64_t size = Size();
      if (!options_->size_of && count - skipped > 1) {
        // All but the last at once; a child that ends earlier is seen by what it skipped.
        int64_t most = std::min(count - skipped, kMost / size);
        int64_t rows = rows_->Skip(most * size);
        int64_t batches = rows / size + (rows % size != 0 && !options_->drop_remainder ? 1 : 0);
        number_ += batches;
        if (rows < most * size) return skipped + batches;
        skipped += batches - 1;
        continue;
      }
      if (!Whole(rows_->Skip(size), size)) return skipped;
      ++number_;
    }
    return count;
  }

 private:
  static constexpr int64_t kMost = int64_t{1} << 60;

  int64_t Size() const {
    return options_->size_of ? options_->size_of(epoch_, number_) : options_->size;
  }
  bool Whole(int64_t rows, int64_t size) const {
    return rows > 0 && (rows == size || !options_->drop_remainder);
  }

  CursorRef rows_;
  std::shared_ptr<const BatchOptions> options_;
  uint64_t key_;
  int64_t epoch_, number_ = 0;
};

class Batch : public Node {
 public:
  Batch(NodeRef child, BatchOptions options)
      : Node({std::move(child)}),
        options_(std::make_shared<const BatchOptions>(std::move(options))) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    return std::make_unique<BatchCursor>(children()[0]->Open(run, epoch), options_,
                                         run->Key(*this, epoch), epoch);
  }
  std::optional<int64_t> Size() const override {
    auto rows = children()[0]->Size();
    if (!rows || options_->size_of) return std::nullopt;
    int64_t batches = *rows / options_->size;
    return *rows % options_->size != 0 && !options_->drop_remainder ? batches + 1 : batches;
  }
  bool Coarse() const override { return true; }
  bool Repeatable() const override { return false; }
  bool Interpreted() const override {
    return !options_->function && !options_->size_of && Node::Interpreted();
  }
  const Spent* spent() const override { return options_->spent.get(); }

 private:
  std::shared_ptr<const BatchOptions> options_;
};

// The rows of a bucket are done already: its length could not be told otherwise.
class BucketStep : public Step {
 public:
  BucketStep(std::vector<Row> rows, std::shared_ptr<const BucketOptions> options, size_t bucket)
      : rows_(std::move(rows)), options_(std::move(options)), bucket_(bucket) {}
  void Run(std::span<Row> batch, size_t) const override {
    std::optional<Padding> padding = options_->padding;
    if (padding && options_->pad_to_boundary) {
      const auto& boundaries = options_->boundaries;
      int64_t bound = boundaries[std::min(bucket_, boundaries.size() - 1)] - 1;
      for (auto& [name, pad] : padding->columns) {
        if (!pad.shape) pad.shape = Dims{-1};
        for (int64_t& extent : *pad.shape) extent = extent < 0 ? bound : extent;
      }
    }
    std::vector<BatchColumn> columns = Columns(std::move(rows_));
    for (size_t i = 0; i < columns.size(); ++i) {
      batch[0].values.push_back(
          Join("bucket_batch_by_length", options_->columns[i], std::move(columns[i]), padding));
    }
  }

 private:
  mutable std::vector<Row> rows_;
  std::shared_ptr<const BucketOptions> options_;
  size_t bucket_;
};

class BucketCursor : public Cursor {
 public:
  BucketCursor(CursorRef rows, std::shared_ptr<const BucketOptions> options, uint64_t key)
      : rows_(std::move(rows)), options_(std::move(options)), key_(key) {
    buckets_.resize(options_->sizes.size());
  }
  bool Next(Row* batch) override {
    Row row;
    while (!drained_ && rows_->Next(&row)) {
      size_t bucket = BucketOf(row);
      buckets_[bucket].push_back(std::move(row));
      if (static_cast<int64_t>(buckets_[bucket].size()) == options_->sizes[bucket]) {
        Give(bucket, batch);
        return true;
      }
    }
    drained_ = true;
    for (; left_ < buckets_.size() && !options_->drop_remainder; ++left_) {
      if (buckets_[left_].empty()) continue;
      Give(left_, batch);
      return true;
    }
    return false;
  }

 private:
  size_t BucketOf(const Row& row) {
    int64_t length;
    const Value& first = row.values[options_->take[0]];
    if (options_->length) {
      Call call{{}, key_, number_++};
      for (size_t column : options_->take) call.values.push_back(row.values[column]);
      options_->length->Apply(std::span(&call, 1));
      length = IntegerOf(call.values[0], "For 'bucket_batch_by_length', the length");
    } else if (first.dims->empty()) {
      Throw(ErrorKind::kValue,
            "For 'bucket_batch_by_length', a column without axes needs an "
            "element_length_function.");
    } else {
      length = (*first.dims)[0];
    }
    const auto& boundaries = options_->boundaries;
    auto above = std::upper_bound(boundaries.begin(), boundaries.end(), length);
    return static_cast<size_t>(above - boundaries.begin());
  }
  void Give(size_t bucket, Row* batch) {
    *batch = Row();
    auto rows = std::exchange(buckets_[bucket], {});
    batch->pending.push_back(
        {std::make_shared<BucketStep>(std::move(rows), options_, bucket), key_, 0});
  }

  CursorRef rows_;
  std::shared_ptr<const BucketOptions> options_;
  uint64_t key_;
  int64_t number_ = 0;
  std::vector<std::vector<Row>> buckets_;
  bool drained_ = false;
  size_t left_ = 0;
};

class BucketBatch : public Node {
 public:
  BucketBatch(NodeRef child, BucketOptions options)
      : Node({std::move(child)}),
        options_(std::make_shared<const BucketOptions>(std::move(options))) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    return std::make_unique<BucketCursor>(OpenReady(*children()[0], run, epoch), options_,
                                          run->Key(*this, epoch));
  }
  std::optional<int64_t> Size() const override { return std::nullopt; }
  bool Coarse() const override { return true; }
  bool Repeatable() const override { return false; }
  bool Interpreted() const override { return false; }

 private:
  std::shared_ptr<const BucketOptions> options_;
};

}  // namespace

NodeRef MakeBatch(NodeRef child, BatchOptions options) {
  return std::make_shared<Batch>(std::move(child), std::move(options));
}

NodeRef MakeBucketBatch(NodeRef child, BucketOptions options) {
  return std::make_shared<BucketBatch>(std::move(child), std::move(options));
}

}  // namespace ms::dataset
