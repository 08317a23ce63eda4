// Exact minimisation of a sum of tables over variables of few states: variables are eliminated, the
// one with the fewest neighbours first, each time leaving the best of it as a table of those.
// Tables are shared: what was combined once from the same tables is not combined again, so repeated
// blocks of a network cost as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ms::parallel {

inline constexpr float kNever = 1e18f;  // seconds of what must not be

// Tables by number. A vector is a table of one column.
class TablePool {
 public:
  struct Table {
    int rows, columns;
    std::vector<float> values;
    float at(int r, int c) const {
      return values[static_cast<size_t>(r) * static_cast<size_t>(columns) + static_cast<size_t>(c)];
    }
  };

  int Add(int rows, int columns, std::vector<float> values);
  const Table& operator[](int number) const { return tables_[static_cast<size_t>(number)]; }
  int Transposed(int table);
  int Sum(int a, int b);         // of equal sizes
  int Best(int table, int own);  // by row: min over c of table[r, c] + own[c]
  int Best(int left, int own,
           int right);  // [a, b]: min over c of left[a, c] + own[c] + right[c, b]
  // How many entries have been looked at: the same for the same questions, on any machine.
  size_t work() const { return work_; }
  void AddWork(size_t entries) { work_ += entries; }

 private:
  struct Key {
    int what, a, b, c;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const;
  };
  template <class F>
  int Once(const Key& key, F make);

  std::vector<Table> tables_;
  std::unordered_map<Key, int, KeyHash> made_;
  size_t work_ = 0;
};

struct Weighted {
  int from, to;
  int table;  // rows: states of from
};

// Of each variable a vector of costs, of some pairs a table.
struct CostModel {
  std::vector<int> own;
  std::vector<Weighted> pairs;
};

struct Solution {
  std::vector<int> states;
  double cost = 0;
  double bound = 0;  // nothing is cheaper
};

// Tables of more entries than `limit` are not made, and no more entries looked at than `work`,
// where variables have many neighbours: then some are held, and the solution improved step by step.
Solution Minimise(const CostModel& model, TablePool* pool, size_t limit = size_t{1} << 20,
                  size_t work = size_t{1} << 30);

double CostOf(const CostModel& model, const TablePool& pool, const std::vector<int>& states);

}  // namespace ms::parallel
