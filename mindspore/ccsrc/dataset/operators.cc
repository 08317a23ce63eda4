// See operators.h.
#include "dataset/operators.h"

#include <algorithm>
#include <limits>

#include "dataset/filter.h"
#include "dataset/prefetch.h"

namespace ms::dataset {
namespace {

// Map and project: a step on every row.

class SteppedCursor : public Cursor {
 public:
  SteppedCursor(CursorRef rows, std::shared_ptr<const Step> step, uint64_t key)
      : rows_(std::move(rows)), step_(std::move(step)), key_(key) {}
  bool Next(Row* row) override {
    if (!rows_->Next(row)) return false;
    row->pending.push_back({step_, key_, number_++});
    return true;
  }
  int64_t Skip(int64_t count) override {
    int64_t skipped = rows_->Skip(count);
    number_ += skipped;
    return skipped;
  }

 private:
  CursorRef rows_;
  std::shared_ptr<const Step> step_;
  uint64_t key_;
  int64_t number_ = 0;
};

class SteppedView : public View {
 public:
  SteppedView(ViewRef rows, std::shared_ptr<const Step> step, uint64_t key)
      : rows_(std::move(rows)), step_(std::move(step)), key_(key) {}
  int64_t size() const override { return rows_->size(); }
  Row At(int64_t position) override {
    Row row = rows_->At(position);
    row.pending.push_back({step_, key_, position});
    return row;
  }

 private:
  ViewRef rows_;
  std::shared_ptr<const Step> step_;
  uint64_t key_;
};

class Stepped : public Node {
 public:
  Stepped(NodeRef child, std::shared_ptr<const Step> step, bool parallel, bool coarse)
      : Node({std::move(child)}), step_(std::move(step)), parallel_(parallel), coarse_(coarse) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    return std::make_unique<SteppedCursor>(children()[0]->Open(run, epoch), step_,
                                           run->Key(*this, epoch));
  }
  ViewRef OpenView(const RunRef& run, int64_t epoch) const override {
    ViewRef rows = children()[0]->OpenView(run, epoch);
    if (!rows) return nullptr;
    return std::make_unique<SteppedView>(std::move(rows), step_, run->Key(*this, epoch));
  }
  CursorRef OpenMixed(const RunRef& run, int64_t epoch, int64_t most, uint64_t key) const override {
    if (Size()) return Node::OpenMixed(run, epoch, most, key);
    CursorRef rows = children()[0]->OpenMixed(run, epoch, most, key);
    if (!rows) return nullptr;
    return std::make_unique<SteppedCursor>(std::move(rows), step_, run->Key(*this, epoch));
  }
  bool Parallel() const override { return parallel_ || Node::Parallel(); }
  bool Coarse() const override { return coarse_ || Node::Coarse(); }
  bool Interpreted() const override { return step_->interpreted() && Node::Interpreted(); }
  const Spent* spent() const override { return &step_->spent; }

 private:
  std::shared_ptr<const Step> step_;
  bool parallel_, coarse_;
};

class ProjectStep : public Step {
 public:
  explicit ProjectStep(std::vector<size_t> columns) : columns_(std::move(columns)) {}
  void Run(std::span<Row> rows, size_t) const override {
    for (Row& row : rows) {
      std::vector<Value> values;
      values.reserve(columns_.size());
      for (size_t column : columns_) values.push_back(row.values[column]);
      row.values = std::move(values);
    }
  }
  bool interpreted() const override { return true; }

 private:
  std::vector<size_t> columns_;
};

// Shuffle

class ShuffleCursor : public Cursor {
 public:
  ShuffleCursor(CursorRef rows, int64_t size, uint64_t key)
      : rows_(std::move(rows)), size_(static_cast<size_t>(size)), random_(key) {}
  bool Next(Row* row) override {
    Row next;
    while (!drained_ && buffer_.size() < size_) {
      if (rows_->Next(&next)) {
        buffer_.push_back(std::move(next));
      } else {
        drained_ = true;
      }
    }
    if (buffer_.empty()) return false;
    auto slot = static_cast<size_t>(random_.Below(static_cast<int64_t>(buffer_.size())));
    *row = std::move(buffer_[slot]);
    buffer_[slot] = std::move(buffer_.back());
    buffer_.pop_back();
    return true;
  }

 private:
  CursorRef rows_;
  size_t size_;
  Random random_;
  std::vector<Row> buffer_;
  bool drained_ = false;
};

class ShuffleNode : public Node {
 public:
  ShuffleNode(NodeRef child, int64_t buffer_size) : Node({std::move(child)}), size_(buffer_size) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    uint64_t key = run->Key(*this, epoch);
    if (CursorRef mixed = children()[0]->OpenMixed(run, epoch, size_, key)) return mixed;
    return std::make_unique<ShuffleCursor>(children()[0]->Open(run, epoch), size_, key);
  }
  ViewRef OpenView(const RunRef& run, int64_t epoch) const override {
    ViewRef rows = children()[0]->OpenView(run, epoch);
    if (!rows || rows->size() > size_) return nullptr;
    return Permuted(std::move(rows), run->Key(*this, epoch));
  }
  bool Shuffles() const override { return true; }

 private:
  int64_t size_;
};

// Repeat

class RepeatCursor : public Cursor {
 public:
  RepeatCursor(NodeRef node, RunRef run, int64_t first, int64_t epochs)
      : node_(std::move(node)), run_(std::move(run)), epoch_(first), end_(first + epochs) {}
  bool Next(Row* row) override {
    while (Begin()) {
      if (rows_->Next(row)) {
        empty_ = false;
        return true;
      }
      if (!End()) return false;
    }
    return false;
  }
  int64_t Skip(int64_t count) override {
    int64_t skipped = 0;
    while (skipped < count && Begin()) {
      int64_t part = rows_->Skip(count - skipped);
      skipped += part;
      empty_ = empty_ && part == 0;
      if (skipped < count && !End()) break;
    }
    return skipped;
  }

 private:
  bool Begin() {
    if (rows_) return true;
    if (epoch_ == end_) return false;
    rows_ = node_->Open(run_, epoch_++);
    empty_ = true;
    return true;
  }
  // False: the epoch had no row, so that no further one will.
  bool End() {
    rows_.reset();
    if (empty_) epoch_ = end_;
    return !empty_;
  }

  NodeRef node_;
  RunRef run_;
  int64_t epoch_, end_;
  CursorRef rows_;
  bool empty_ = true;
};

class Repeat : public Node {
 public:
  Repeat(NodeRef child, std::optional<int64_t> count) : Node({std::move(child)}), count_(count) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    // An endless epoch is never followed by another one.
    constexpr int64_t kEndless = std::numeric_limits<int64_t>::max() / 2;
    int64_t first = count_ ? epoch * *count_ : epoch;
    return std::make_unique<RepeatCursor>(children()[0], run, first, count_.value_or(kEndless));
  }
  std::optional<int64_t> Size() const override {
    auto size = children()[0]->Size();
    if (size) *size *= count_.value_or(1);
    return size;
  }

 private:
  std::optional<int64_t> count_;
};

// Windows: take, skip and the parts of a split.

class WindowCursor : public Cursor {
 public:
  WindowCursor(CursorRef rows, int64_t start, int64_t stop)
      : rows_(std::move(rows)), start_(start), left_(std::max<int64_t>(stop - start, 0)) {}
  bool Next(Row* row) override {
    Begin();
    if (left_ == 0 || !rows_->Next(row)) return false;
    --left_;
    return true;
  }
  int64_t Skip(int64_t count) override {
    Begin();
    int64_t skipped = rows_->Skip(std::min(count, left_));
    left_ -= skipped;
    return skipped;
  }

 private:
  void Begin() {
    if (start_ > 0) rows_->Skip(std::exchange(start_, 0));
  }

  CursorRef rows_;
  int64_t start_, left_;
};

class WindowView : public View {
 public:
  WindowView(ViewRef rows, int64_t start, int64_t stop)
      : rows_(std::move(rows)),
        start_(std::min(start, rows_->size())),
        size_(std::max<int64_t>(std::min(stop, rows_->size()) - start_, 0)) {}
  int64_t size() const override { return size_; }
  Row At(int64_t position) override { return rows_->At(start_ + position); }

 private:
  ViewRef rows_;
  int64_t start_, size_;
};

class Window : public Node {
 public:
  Window(NodeRef child, int64_t start, std::optional<int64_t> stop, bool fixed)
      : Node({std::move(child)}),
        start_(start),
        stop_(stop.value_or(std::numeric_limits<int64_t>::max())),
        fixed_(fixed) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    auto [pass, number] = Pass(run, epoch);
    return std::make_unique<WindowCursor>(children()[0]->Open(pass, number), start_, stop_);
  }
  ViewRef OpenView(const RunRef& run, int64_t epoch) const override {
    auto [pass, number] = Pass(run, epoch);
    ViewRef rows = children()[0]->OpenView(pass, number);
    if (!rows) return nullptr;
    return std::make_unique<WindowView>(std::move(rows), start_, stop_);
  }
  std::optional<int64_t> Size() const override {
    auto size = children()[0]->Size();
    if (size) size = std::max<int64_t>(std::min(*size, stop_) - start_, 0);
    return size;
  }

 private:
  std::pair<RunRef, int64_t> Pass(const RunRef& run, int64_t epoch) const {
    if (!fixed_) return {run, epoch};
    uint64_t seed = run->seeded() ? run->seed() : 0;
    return {std::make_shared<Run>(*children()[0], seed, true), 0};
  }

  int64_t start_, stop_;
  bool fixed_;
};

// Zip

class JoinStep : public Step {
 public:
  explicit JoinStep(std::vector<Row> parts) : parts_(std::move(parts)) {}
  // The step of one row alone, which takes the parts with it.
  void Run(std::span<Row> rows, size_t) const override {
    Row& row = rows[0];
    for (Row& part : parts_) {
      Resolve(part);
      std::move(part.values.begin(), part.values.end(), std::back_inserter(row.values));
    }
  }

 private:
  mutable std::vector<Row> parts_;
};

class ZipCursor : public Cursor {
 public:
  explicit ZipCursor(std::vector<CursorRef> parts) : parts_(std::move(parts)) {}
  bool Next(Row* row) override {
    std::vector<Row> rows(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i]->Next(&rows[i])) return false;
    }
    *row = Row();
    row->pending.push_back({std::make_shared<JoinStep>(std::move(rows)), 0, 0});
    return true;
  }
  int64_t Skip(int64_t count) override {
    for (CursorRef& part : parts_) count = std::min(count, part->Skip(count));
    return count;
  }

 private:
  std::vector<CursorRef> parts_;
};

class Zip : public Node {
 public:
  explicit Zip(std::vector<NodeRef> children) : Node(std::move(children)) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    std::vector<CursorRef> parts;
    for (const NodeRef& child : children()) parts.push_back(child->Open(run, epoch));
    return std::make_unique<ZipCursor>(std::move(parts));
  }
  std::optional<int64_t> Size() const override {
    std::optional<int64_t> least;
    for (const NodeRef& child : children()) {
      auto size = child->Size();
      if (!size) return std::nullopt;
      least = std::min(least.value_or(*size), *size);
    }
    return least;
  }
  bool Repeatable() const override { return false; }
};

// Concat

class ConcatCursor : public Cursor {
 public:
  ConcatCursor(std::vector<NodeRef> nodes, RunRef run, int64_t epoch)
      : nodes_(std::move(nodes)), run_(std::move(run)), epoch_(epoch) {}
  bool Next(Row* row) override {
    while (Begin()) {
      if (rows_->Next(row)) return true;
      rows_.reset();
    }
    return false;
  }
  int64_t Skip(int64_t count) override {
    int64_t skipped = 0;
    while (skipped < count && Begin()) {
      skipped += rows_->Skip(count - skipped);
      if (skipped < count) rows_.reset();
    }
    return skipped;
  }

 private:
  bool Begin() {
    if (!rows_ && part_ < nodes_.size()) rows_ = nodes_[part_++]->Open(run_, epoch_);
    return rows_ != nullptr;
  }

  std::vector<NodeRef> nodes_;
  RunRef run_;
  int64_t epoch_;
  size_t part_ = 0;
  CursorRef rows_;
};

class Concat : public Node {
 public:
  explicit Concat(std::vector<NodeRef> children) : Node(std::move(children)) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    return std::make_unique<ConcatCursor>(children(), run, epoch);
  }
  std::optional<int64_t> Size() const override {
    int64_t sum = 0;
    for (const NodeRef& child : children()) {
      auto size = child->Size();
      if (!size) return std::nullopt;
      sum += *size;
    }
    return sum;
  }
};

// Flat map

class FlatMapCursor : public Cursor {
 public:
  FlatMapCursor(CursorRef rows, std::function<NodeRef(const Row&)> function, uint64_t key,
                int64_t epoch, bool seeded)
      : rows_(std::move(rows)),
        function_(std::move(function)),
        key_(key),
        epoch_(epoch),
        seeded_(seeded) {}
  bool Next(Row* row) override {
    while (true) {
      if (inner_ && inner_->Next(row)) return true;
      Row outer;
      if (!rows_->Next(&outer)) return false;
      node_ = function_(outer);
      auto run = std::make_shared<Run>(*node_, Mix(key_, number_++), seeded_);
      inner_ = node_->Open(run, epoch_);
    }
  }

 private:
  CursorRef rows_;
  std::function<NodeRef(const Row&)> function_;
  uint64_t key_, number_ = 0;
  int64_t epoch_;
  bool seeded_;
  NodeRef node_;
  CursorRef inner_;
};

class FlatMap : public Node {
 public:
  FlatMap(NodeRef child, std::function<NodeRef(const Row&)> function)
      : Node({std::move(child)}), function_(std::move(function)) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    return std::make_unique<FlatMapCursor>(OpenReady(*children()[0], run, epoch), function_,
                                           run->Key(*this, epoch), epoch, run->seeded());
  }
  std::optional<int64_t> Size() const override { return std::nullopt; }
  bool Repeatable() const override { return false; }
  bool Coarse() const override { return true; }
  bool Interpreted() const override { return false; }

 private:
  std::function<NodeRef(const Row&)> function_;
};

}  // namespace

NodeRef MakeMap(NodeRef child, std::shared_ptr<const Step> step, bool parallel) {
  bool coarse = !step->brief();
  return std::make_shared<Stepped>(std::move(child), std::move(step), parallel, coarse);
}

NodeRef MakeProject(NodeRef child, std::vector<size_t> columns) {
  auto step = std::make_shared<ProjectStep>(std::move(columns));
  return std::make_shared<Stepped>(std::move(child), std::move(step), false, false);
}

NodeRef MakeFilter(NodeRef child, std::shared_ptr<const Step> predicate) {
  auto judged = std::make_shared<Stepped>(std::move(child), std::move(predicate), false, false);
  return MakeFilterOf(std::move(judged));
}

NodeRef MakeShuffle(NodeRef child, int64_t buffer_size) {
  return std::make_shared<ShuffleNode>(std::move(child), buffer_size);
}

NodeRef MakeRepeat(NodeRef child, std::optional<int64_t> count) {
  return std::make_shared<Repeat>(std::move(child), count);
}

NodeRef MakeWindow(NodeRef child, int64_t start, std::optional<int64_t> stop, bool fixed) {
  return std::make_shared<Window>(std::move(child), start, stop, fixed);
}

NodeRef MakeZip(std::vector<NodeRef> children) {
  return std::make_shared<Zip>(std::move(children));
}

NodeRef MakeConcat(std::vector<NodeRef> children) {
  return std::make_shared<Concat>(std::move(children));
}

NodeRef MakeFlatMap(NodeRef child, std::function<NodeRef(const Row&)> function) {
  return std::make_shared<FlatMap>(std::move(child), std::move(function));
}

}  // namespace ms::dataset
