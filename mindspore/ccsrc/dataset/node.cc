// See node.h.
#include "dataset/node.h"

#include <algorithm>

namespace ms::dataset {
namespace {

class ViewCursor : public Cursor {
 public:
  explicit ViewCursor(ViewRef view) : view_(std::move(view)) {}
  bool Next(Row* row) override {
    if (position_ >= view_->size()) return false;
    *row = view_->At(position_++);
    return true;
  }
  int64_t Skip(int64_t count) override {
    int64_t skipped = std::min(count, view_->size() - position_);
    position_ += skipped;
    return skipped;
  }

 private:
  ViewRef view_;
  int64_t position_ = 0;
};

class PermutedView : public View {
 public:
  PermutedView(ViewRef rows, uint64_t key)
      : rows_(std::move(rows)), permutation_(rows_->size(), key) {}
  int64_t size() const override { return rows_->size(); }
  Row At(int64_t position) override { return rows_->At(permutation_[position]); }

 private:
  ViewRef rows_;
  Permutation permutation_;
};

}  // namespace

Run::Run(const Node& root, uint64_t seed, bool seeded) : seed_(seed), seeded_(seeded) {
  Enumerate(root);
}

void Run::Enumerate(const Node& node) {
  for (const NodeRef& child : node.children()) Enumerate(*child);
  numbers_.try_emplace(&node, static_cast<int>(numbers_.size()));
}

uint64_t Run::Key(const Node& node, int64_t epoch) const {
  return Mix(Mix(seed_, static_cast<uint64_t>(Number(node))), static_cast<uint64_t>(epoch));
}

int64_t Cursor::Skip(int64_t count) {
  int64_t skipped = 0;
  for (; skipped < count; ++skipped) {
    Row row;
    if (!Next(&row)) break;
  }
  return skipped;
}

CursorRef Node::Open(const RunRef& run, int64_t epoch) const {
  ViewRef view = OpenView(run, epoch);
  MS_ASSERT(view != nullptr);
  return OverView(std::move(view));
}

CursorRef Node::OpenMixed(const RunRef& run, int64_t epoch, int64_t most, uint64_t key) const {
  if (auto size = Size(); size && *size > most) return nullptr;
  ViewRef view = OpenView(run, epoch);
  if (!view || view->size() > most) return nullptr;
  return OverView(Permuted(std::move(view), key));
}

bool Node::Shuffles() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const NodeRef& child) { return child->Shuffles(); });
}

bool Node::Parallel() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const NodeRef& child) { return child->Parallel(); });
}

bool Node::Interpreted() const {
  return !children_.empty() &&
         std::all_of(children_.begin(), children_.end(),
                     [](const NodeRef& child) { return child->Interpreted(); });
}

bool Node::Repeatable() const {
  return !children_.empty() &&
         std::all_of(children_.begin(), children_.end(),
                     [](const NodeRef& child) { return child->Repeatable(); });
}

bool Node::Coarse() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const NodeRef& child) { return child->Coarse(); });
}

ViewRef Permuted(ViewRef view, uint64_t key) {
  return std::make_unique<PermutedView>(std::move(view), key);
}

CursorRef OverView(ViewRef view) { return std::make_unique<ViewCursor>(std::move(view)); }

}  // namespace ms::dataset
