// The search: chooses for every variable of a problem, so that a step takes the least time. Few
// axes are chosen all together, which is exact. Of many, several plans are made: one axis after the
// other, each seeing what the others have chosen, from several starts until nothing changes; and
// with axes tied to few, which are chosen together. Then for every variable at once the best is
// found among what these plans choose for it and what is a few steps from the best of them.
#pragma once

#include "passes/parallel/states.h"

namespace ms::parallel {

struct Choices {
  std::vector<Choice> of;  // by variable
  double seconds = 0;
  double bytes = 0;  // that last on a device
  double bound = 0;  // of seconds
};

class Search {
 public:
  Search(const Problem& problem, const PlanOptions& options);
  Choices Run();
  StateTables& tables() { return tables_; }

 private:
  // What is minimised: seconds, with a price for memory, or the least redistribution.
  struct Goal {
    double price = 0;  // seconds for a byte
    bool follow = false;
  };

  std::vector<Choice> Start() const;
  Choices Solve(const Goal& goal);
  Choices Together(const Goal& goal);
  Choices AxisByAxis(const Goal& goal);
  // The best choices so far, and what they cost.
  struct Found {
    std::vector<Choice> choices;
    double cost = 0;
  };
  void Improve(const Goal& goal, const std::vector<uint32_t>& masks, int rounds, Found* found);
  void AddPlans(const Goal& goal, std::vector<Found>* found);
  void Polish(const Goal& goal, std::vector<Found> found, Found* best);
  std::vector<std::vector<uint32_t>> Ties() const;
  Solution SolveOver(const Goal& goal, const std::vector<const States*>& states,
                     std::vector<Choice>* choices);
  Solution SolveAlong(const Goal& goal, uint32_t axes, std::vector<Choice>* choices,
                      const std::vector<uint32_t>& tied = {});
  int Own(const Variable& variable, const States& states, const Goal& goal);
  float Deviation(const Kind& kind, const States& states, int state) const;
  Choices Measured(std::vector<Choice> choices);
  double Least() const;
  Choices Fitting();

  const Problem& problem_;
  const PlanOptions& options_;
  StateTables tables_;
  TablePool pool_;
  std::unordered_map<int, int> own_;        // vectors by states, for the goal in use
  std::vector<int> axes_;                   // of more than one device
  std::vector<std::vector<Choice>> known_;  // plans that other goals had
};

}  // namespace ms::parallel
