// The search: chooses for every variable of a problem, so that a step takes the least time, or
// redistribution, and a device holds what it may. Few axes are chosen all together, which is exact;
// of many see many_axes.h. Once all work that is allowed is done, the best plan so far stands.
#pragma once

#include "passes/parallel/many_axes.h"

namespace ms::parallel {

class Search;
// Equal parts of the program are planned as one; on few axes then each for itself, as far as that
// goes. `search`, of the problem, has afterwards the tables for what was chosen.
Choices FindChoices(const Problem& problem, const PlanOptions& options, Search* search);

class Search {
 public:
  Search(const Problem& problem, const PlanOptions& options);
  // ValueError where the memory limit leaves no plan.
  Choices Run();
  Choices Measured(std::vector<Choice> choices) { return solver_.Measured(std::move(choices)); }
  bool together() const { return solver_.together(); }
  StateTables& tables() { return solver_.tables(); }

 private:
  Choices Solve(const Goal& goal);
  Choices Together(const Goal& goal);
  Choices Fitting(const Choices& free, const Choices& lightest);
  bool Follows() const;
  int64_t MostHeld(const Choices& choices) const;
  bool Fits(const Choices& choices) const;
  void RequireFits(const Choices& choices, const std::string& why) const;

  const PlanOptions& options_;
  Solver solver_;
  ManyAxes many_;
};

}  // namespace ms::parallel
