// A row: values, and steps that are still to be done to it. Operators only put steps on rows, which
// is cheap and in order; workers do them, many rows at once and in any order.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "dataset/value.h"

namespace ms::dataset {

struct Row;

// What the work of one operator has taken, of all workers together.
struct Spent {
  std::atomic<int64_t> nanoseconds = 0, rows = 0;
};

// Adds the time from here to the end of the block.
class Stopwatch {
 public:
  Stopwatch(Spent* spent, size_t rows) : spent_(spent), rows_(rows) {}
  ~Stopwatch() {
    using std::chrono::nanoseconds;
    auto passed = std::chrono::duration_cast<nanoseconds>(Clock::now() - began_).count();
    spent_->nanoseconds.fetch_add(passed, std::memory_order_relaxed);
    spent_->rows.fetch_add(static_cast<int64_t>(rows_), std::memory_order_relaxed);
  }
  Stopwatch(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Spent* spent_;
  size_t rows_;
  Clock::time_point began_ = Clock::now();
};

class Step {
 public:
  virtual ~Step() = default;
  // Does what stands at `depth` of each row, of which this is the step.
  virtual void Run(std::span<Row> rows, size_t depth) const = 0;
  // The same for rows that become one batch, of which nothing else is pending: true where it has
  // put their values into `columns`, joined, rather than into the rows.
  virtual bool RunJoined(std::span<Row> rows, size_t depth, std::vector<Value>* columns) const {
    (void)columns;
    Run(rows, depth);
    return false;
  }
  // Nothing but plain calls of the interpreter, or next to nothing: any thread may do it, but only
  // one at a time.
  virtual bool interpreted() const { return false; }
  // A row is little work, so that several are handed over at once.
  virtual bool brief() const { return false; }
  mutable Spent spent;
};

struct Pending {
  std::shared_ptr<const Step> step;
  uint64_t key = 0;    // of the random draws of the operator in this epoch
  int64_t number = 0;  // of the row among those that the operator sees
};

struct Row {
  std::vector<Value> values;
  std::vector<Pending> pending;
  bool kept = true;  // false: a filter has dropped it

  size_t bytes() const;
};

// Does all that is pending; rows with the same step are handed to it together.
void Resolve(std::span<Row> rows);
// The same for the rows of a batch; true: `columns` are theirs, joined.
bool ResolveJoined(std::span<Row> rows, std::vector<Value>* columns);
inline void Resolve(Row& row) { Resolve(std::span(&row, 1)); }

// Columns of the rows to others, row by row: functions of map, predicates, lengths.
struct Call {
  std::vector<Value> values;  // arguments, then results
  uint64_t key;
  int64_t number;
};
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void Apply(std::span<Call> calls) const = 0;
  // It runs without the interpreter, so that several workers help.
  virtual bool parallel() const = 0;
  virtual bool brief() const { return false; }  // see Step
};

// `take` are the columns that the operations get; `place` says for each column of the result
// whether it is the i-th value of theirs, or the i-th column as it was.
struct Placement {
  bool made;
  size_t index;
};
std::shared_ptr<const Step> MakeMapStep(std::vector<std::shared_ptr<const Operation>> operations,
                                        std::vector<size_t> take, std::vector<Placement> place);
// Keeps the row if the predicate's value is true.
std::shared_ptr<const Step> MakeFilterStep(std::shared_ptr<const Operation> predicate,
                                           std::vector<size_t> take);

}  // namespace ms::dataset
