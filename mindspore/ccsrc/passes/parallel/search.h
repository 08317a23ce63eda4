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

// Plans as points, by what they hold and take: those that are the best at a price of memory are the
// corners of the lower hull of all. Of the edge in which the limit lies one end is too large, and
// the other fits.
struct Edge {
  Choices large, small;
  double low, high;  // prices at which they are the best

  // That at which both are equal, which finds what lies below. Where solutions are not exact it may
  // have been asked before: then one between those of the ends.
  double Price() const;
  void Take(double price, bool fits, Choices plan);
};

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
  Choices AmongPlans(const Goal& goal, const std::vector<Choices>& plans);
  void Mix(const std::vector<Choices>& plans, Edge edge, Choices* best);
  bool Follows() const;
  int64_t MostHeld(const Choices& choices) const;
  bool Fits(const Choices& choices) const;
  void RequireFits(const Choices& choices, const std::string& why) const;

  const PlanOptions& options_;
  Solver solver_;
  ManyAxes many_;
};

}  // namespace ms::parallel
