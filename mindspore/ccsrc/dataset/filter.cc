// See filter.h. What the predicate said is noted, so that a position is taken up again without
// asking it; and where all rows are to mix, they do so before they are made.
#include "dataset/filter.h"

#include <optional>

#include "dataset/prefetch.h"

namespace ms::dataset {
namespace {

class FilterCursor : public Cursor {
 public:
  FilterCursor(CursorRef judged, PrefetchOptions options, std::shared_ptr<Verdicts::Pass> pass)
      : judged_(std::move(judged)), options_(options), pass_(std::move(pass)) {}

  bool Next(Row* row) override {
    while (again_ < pass_->known()) {
      if (!judged_->Next(row)) return false;
      row->pending.pop_back();  // the predicate
      if (pass_->Kept(again_++)) return true;
    }
    if (judged_) ready_.emplace(std::move(judged_), options_);
    while (ready_->Next(row)) {
      pass_->Add(row->kept);
      if (row->kept) return true;
    }
    return false;
  }

  int64_t Skip(int64_t count) override {
    int64_t skipped = 0, passed = 0;
    for (; skipped < count && again_ < pass_->known(); ++passed) skipped += pass_->Kept(again_++);
    // Where there are fewer rows than there were, nobody knows which these are.
    if (passed > 0 && judged_->Skip(passed) < passed) return 0;
    return skipped + Cursor::Skip(count - skipped);
  }

 private:
  CursorRef judged_;  // until the predicate is asked
  PrefetchOptions options_;
  std::shared_ptr<Verdicts::Pass> pass_;
  int64_t again_ = 0;  // rows that were judged before, and were passed once more
  std::optional<Prefetcher> ready_;
};

class Filter : public Node {
 public:
  explicit Filter(NodeRef judged) : Node({std::move(judged)}) {}
  CursorRef Open(const RunRef& run, int64_t epoch) const override {
    return Kept(children()[0]->Open(run, epoch), *run, epoch);
  }
  CursorRef OpenMixed(const RunRef& run, int64_t epoch, int64_t most, uint64_t key) const override {
    CursorRef judged = children()[0]->OpenMixed(run, epoch, most, key);
    return judged ? Kept(std::move(judged), *run, epoch) : nullptr;
  }
  std::optional<int64_t> Size() const override { return std::nullopt; }
  const Spent* spent() const override { return children()[0]->spent(); }

 private:
  CursorRef Kept(CursorRef judged, const Run& run, int64_t epoch) const {
    auto pass = run.verdicts().Begin(run.Number(*this), epoch);
    PrefetchOptions options = InnerOptions(*children()[0]);
    options.together = children()[0]->Repeatable() && options.grain > 1;
    return std::make_unique<FilterCursor>(std::move(judged), options, std::move(pass));
  }
};

}  // namespace

NodeRef MakeFilterOf(NodeRef judged) { return std::make_shared<Filter>(std::move(judged)); }

}  // namespace ms::dataset
