// See row.h.
#include "dataset/row.h"

#include <algorithm>

namespace ms::dataset {
namespace {

std::vector<Call> Calls(std::span<Row> rows, size_t depth, const std::vector<size_t>& take) {
  std::vector<Call> calls;
  calls.reserve(rows.size());
  for (const Row& row : rows) {
    Call& call = calls.emplace_back();
    call.key = row.pending[depth].key;
    call.number = row.pending[depth].number;
    call.values.reserve(take.size());
    for (size_t column : take) call.values.push_back(row.values[column]);
  }
  return calls;
}

class MapStep : public Step {
 public:
  MapStep(std::vector<std::shared_ptr<const Operation>> operations, std::vector<size_t> take,
          std::vector<Placement> place)
      : operations_(std::move(operations)), take_(std::move(take)), place_(std::move(place)) {}

  void Run(std::span<Row> rows, size_t depth) const override {
    std::vector<Call> calls = Calls(rows, depth, take_);
    for (const auto& operation : operations_) operation->Apply(calls);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::vector<Value> values;
      values.reserve(place_.size());
      for (const Placement& place : place_) {
        values.push_back(std::move((place.made ? calls[i].values : rows[i].values)[place.index]));
      }
      rows[i].values = std::move(values);
    }
  }
  bool brief() const override {
    return std::all_of(operations_.begin(), operations_.end(),
                       [](const auto& operation) { return operation->brief(); });
  }

 private:
  std::vector<std::shared_ptr<const Operation>> operations_;
  std::vector<size_t> take_;
  std::vector<Placement> place_;
};

class FilterStep : public Step {
 public:
  FilterStep(std::shared_ptr<const Operation> predicate, std::vector<size_t> take)
      : predicate_(std::move(predicate)), take_(std::move(take)) {}

  void Run(std::span<Row> rows, size_t depth) const override {
    std::vector<Call> calls = Calls(rows, depth, take_);
    predicate_->Apply(calls);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].kept = IntegerOf(calls[i].values[0], "the predicate's result") != 0;
    }
  }

 private:
  std::shared_ptr<const Operation> predicate_;
  std::vector<size_t> take_;
};

}  // namespace

size_t Row::bytes() const {
  size_t bytes = sizeof(Row);
  for (const Value& value : values) bytes += value.borrowed ? 0 : value.bytes();
  return bytes;
}

void Resolve(std::span<Row> rows) {
  auto has = [&](size_t row, size_t depth) { return rows[row].pending.size() > depth; };
  bool more = true;
  for (size_t depth = 0; more; ++depth) {
    more = false;
    for (size_t first = 0; first < rows.size();) {
      size_t last = first + 1;
      if (has(first, depth)) {
        const Step* step = rows[first].pending[depth].step.get();
        while (last < rows.size() && has(last, depth) &&
               rows[last].pending[depth].step.get() == step) {
          ++last;
        }
        Stopwatch watch(&step->spent, last - first);
        step->Run(rows.subspan(first, last - first), depth);
        more = true;
      }
      first = last;
    }
  }
  for (Row& row : rows) row.pending.clear();
}

bool ResolveJoined(std::span<Row> rows, std::vector<Value>* columns) {
  auto alone = [&](const Row& row) {
    return row.pending.size() == 1 && row.pending[0].step == rows[0].pending[0].step;
  };
  if (!std::all_of(rows.begin(), rows.end(), alone)) {
    Resolve(rows);
    return false;
  }
  const Step& step = *rows[0].pending[0].step;
  bool joined;
  {
    Stopwatch watch(&step.spent, rows.size());
    joined = step.RunJoined(rows, 0, columns);
  }
  for (Row& row : rows) row.pending.clear();
  return joined;
}

std::shared_ptr<const Step> MakeMapStep(std::vector<std::shared_ptr<const Operation>> operations,
                                        std::vector<size_t> take, std::vector<Placement> place) {
  return std::make_shared<MapStep>(std::move(operations), std::move(take), std::move(place));
}

std::shared_ptr<const Step> MakeFilterStep(std::shared_ptr<const Operation> predicate,
                                           std::vector<size_t> take) {
  return std::make_shared<FilterStep>(std::move(predicate), std::move(take));
}

}  // namespace ms::dataset
