// The tree that a dataset stands for. A node is immutable and shared by all iterators; a cursor is
// one epoch of it, and a view its rows by number, where they are known without going through them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dataset/random.h"
#include "dataset/row.h"
#include "dataset/verdicts.h"

namespace ms::dataset {

class Node;
using NodeRef = std::shared_ptr<const Node>;

// One iterator's pass over a tree: the seed, and a number for each node to draw by.
class Run {
 public:
  Run(const Node& root, uint64_t seed, bool seeded);
  uint64_t Key(const Node& node, int64_t epoch) const;
  bool seeded() const { return seeded_; }
  uint64_t seed() const { return seed_; }
  int Number(const Node& node) const { return numbers_.at(&node); }
  Verdicts& verdicts() const { return *verdicts_; }

 private:
  void Enumerate(const Node& node);

  uint64_t seed_;
  bool seeded_;
  std::unordered_map<const Node*, int> numbers_;
  std::unique_ptr<Verdicts> verdicts_ = std::make_unique<Verdicts>();
};
using RunRef = std::shared_ptr<const Run>;

// Used by one thread at a time.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // The next row, with what is pending; false at the end.
  virtual bool Next(Row* row) = 0;
  // Leaves out up to `count` rows without doing what is pending on them; says how many there were.
  virtual int64_t Skip(int64_t count);
};
using CursorRef = std::unique_ptr<Cursor>;

class View {
 public:
  virtual ~View() = default;
  virtual int64_t size() const = 0;
  virtual Row At(int64_t position) = 0;
};
using ViewRef = std::unique_ptr<View>;

class Node : public std::enable_shared_from_this<Node> {
 public:
  explicit Node(std::vector<NodeRef> children) : children_(std::move(children)) {}
  virtual ~Node() = default;

  const std::vector<NodeRef>& children() const { return children_; }
  virtual CursorRef Open(const RunRef& run, int64_t epoch) const;
  // Null: only going through the rows tells.
  virtual ViewRef OpenView(const RunRef&, int64_t) const { return nullptr; }
  // The rows at random, drawn by `key`, if they are chosen among at most `most`; null: they cannot
  // all be mixed before they are made.
  virtual CursorRef OpenMixed(const RunRef& run, int64_t epoch, int64_t most, uint64_t key) const;
  // Rows of an epoch; none: only reading tells.
  virtual std::optional<int64_t> Size() const {
    return children_.empty() ? std::nullopt : children_[0]->Size();
  }
  // Chance decides the order of rows.
  virtual bool Shuffles() const;
  // Several workers help: steps run outside of the interpreter.
  virtual bool Parallel() const;
  // Rows are expensive, or come when they please: workers take them one by one.
  virtual bool Coarse() const;
  // What is pending on its rows may be done twice: it belongs to each row alone, and keeps nothing.
  virtual bool Repeatable() const;
  // All that is done to its rows is plain calls of the interpreter: the thread that takes them may
  // as well make them, if it does little else.
  virtual bool Interpreted() const;
  // What its own work on rows has taken; null: it has none, or none that is measured.
  virtual const Spent* spent() const { return nullptr; }

 private:
  std::vector<NodeRef> children_;
};

CursorRef OverView(ViewRef view);
ViewRef Permuted(ViewRef view, uint64_t key);

}  // namespace ms::dataset
