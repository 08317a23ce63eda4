// Every so many-th row: what one of several processes takes of rows that all of them go through
// alike. What it leaves out is passed over, and so is not made where that can be told.
#include <algorithm>

#include "dataset/operators.h"

namespace ms::dataset {
namespace {

class StrideCursor : public Cursor {
 public:
  StrideCursor(CursorRef rows, int64_t first, int64_t step)
      : rows_(std::move(rows)), step_(step), before_(first) {}
  bool Next(Row* row) override {
    if (before_ > 0 && rows_->Skip(before_) < before_) return false;
    before_ = step_ - 1;
    return rows_->Next(row);
  }
  int64_t Skip(int64_t count) override {
    if (count == 0) return 0;
    // The rows before the first one that is left out, and those up to the last.
    if (before_ > 0 && rows_->Skip(before_) < before_) return 0;
    before_ = step_ - 1;
    int64_t passed = rows_->Skip((std::min(count, kMost / step_) - 1) * step_ + 1);
    return (passed + step_ - 1) / step_;
  }

 private:
  static constexpr int64_t kMost = int64_t{1} << 60;

  CursorRef rows_;
  int64_t step_, before_;
};

class StrideView : public View {
 public:
  StrideView(ViewRef rows, int64_t first, int64_t step)
      : rows_(std::move(rows)), first_(first), step_(step) {}
  int64_t size() const override {
    return (std::max<int64_t>(rows_->size() - first_, 0) + step_ - 1) / step_;
  }
  Row At(int64_t position) override { return rows_->At(first_ + position * step_); }

 private:
  ViewRef rows_;
  int64_t first_, step_;
};

class Stride : public Node {
 public:
  Stride(NodeRef child, int64_t first, int64_t step)
      : Node({std::move(child)}), first_(first), step_(step) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    return std::make_unique<StrideCursor>(children()[0]->Open(run, epoch), first_, step_);
  }
  ViewRef OpenView(const RunRef& run, int64_t epoch) const override {
    ViewRef rows = children()[0]->OpenView(run, epoch);
    if (!rows) return nullptr;
    return std::make_unique<StrideView>(std::move(rows), first_, step_);
  }
  std::optional<int64_t> Size() const override {
    auto size = children()[0]->Size();
    if (size) size = (std::max<int64_t>(*size - first_, 0) + step_ - 1) / step_;
    return size;
  }

 private:
  int64_t first_, step_;
};

}  // namespace

NodeRef MakeStride(NodeRef child, int64_t first, int64_t step) {
  return std::make_shared<Stride>(std::move(child), first, step);
}

}  // namespace ms::dataset
