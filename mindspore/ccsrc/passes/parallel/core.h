// What is left of a cost model when all variables with few neighbours are gone: tables of several
// variables, eliminated one by one as long as the tables stay small (bucket elimination). Where
// they do not, the variable with the most neighbours is held, in its best state for the others'
// best; then it and the rest improve each other until nothing changes. So it is where all of it is
// more work than is allowed.
#pragma once

#include <cstddef>
#include <vector>

namespace ms::parallel {

struct Factor {
  std::vector<int> variables;  // the last one changes the quickest
  std::vector<float> values;
};

struct CoreModel {
  std::vector<int> states;  // how many each variable has
  std::vector<Factor> factors;
  size_t limit = 0;  // entries of a table
  size_t work = 0;   // entries that are looked at, of all tables together
};

struct CoreSolution {
  std::vector<int> states;
  double cost = 0;
  double bound = 0;
  size_t work = 0;  // that was done
};

CoreSolution SolveCore(const CoreModel& model);

}  // namespace ms::parallel
