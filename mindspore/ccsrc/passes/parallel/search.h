// The search: chooses for every variable of a problem, so that a step takes the least time. Few
// axes are chosen all together, which is exact. Of many, several plans are made: one axis after the
// other, each seeing what the others have chosen, from several starts until nothing changes; and
// with axes tied to few, which are chosen together. Then for every variable at once the best is
// found among what these plans choose for it and what is a few steps from the best of them. Work is
// counted, not time, so that all processes end at the same plan: once all that is allowed is done,
// the best plan so far stands.
#pragma once

#include <map>

#include "passes/parallel/states.h"

namespace ms::parallel {

struct Choices {
  std::vector<Choice> of;  // by variable
  double seconds = 0;
  std::vector<StageMemory> stages;  // of a device of each
  double bound = 0;                 // of seconds
  bool limited = false;             // work that was not allowed might have found a better one
};

class Search;
// Equal parts of the program are planned as one; on few axes then each for itself, as far as that
// goes. `search`, of the problem, has afterwards the tables for what was chosen.
Choices FindChoices(const Problem& problem, const PlanOptions& options, Search* search);

class Search {
 public:
  Search(const Problem& problem, const PlanOptions& options);
  Choices Run();
  // Some choices, with what they take; the bound that needs no search.
  Choices Measured(std::vector<Choice> choices);
  bool together() const;  // all axes at once
  StateTables& tables() { return tables_; }

 private:
  // What is minimised: seconds, with a price for memory, or the least redistribution.
  struct Goal {
    double price = 0;  // seconds for a byte that a device of any stage holds
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
  double Held(const Variable& variable) const;
  double HeldByAll(const Choices& choices) const;
  int64_t MostHeld(const Choices& choices) const;
  int Own(const Variable& variable, const States& states, const Goal& goal);
  float Deviation(const Kind& kind, const States& states, int state) const;
  double CostOf(const Goal& goal, const std::vector<Choice>& choices);
  double Least() const;
  Choices Followed();
  Choices Lightest();
  Choices Fitting(const Choices& free);
  bool Fits(const Choices& choices) const;
  int64_t devices() const { return options_.mesh.devices() * options_.stages.count(); }
  bool Follows() const;
  bool Spent() const { return pool_.work() > most_; }

  const Problem& problem_;
  const PlanOptions& options_;
  StateTables tables_;
  TablePool pool_;
  // Vectors by states, times and what a kept byte counts, for the goal in use.
  std::map<std::tuple<int, float, double>, int> own_;
  std::vector<int> axes_;                        // of more than one device
  std::map<double, std::vector<Choice>> known_;  // plans of other prices
  size_t most_ = 0;                              // work, that of earlier goals included
};

}  // namespace ms::parallel
