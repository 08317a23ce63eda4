// Choices along more axes than can be chosen together. Several plans are made: one axis after the
// other, each seeing what the others have chosen, from several starts until nothing changes; and
// with axes tied to few, which are chosen together. Then for every variable at once the best is
// found among what these plans choose for it and what is a few steps from the best of them.
#pragma once

#include "passes/parallel/solver.h"

namespace ms::parallel {

class ManyAxes {
 public:
  ManyAxes(Solver* solver, const Mesh& mesh) : solver_(*solver), mesh_(mesh) {}
  Choices Find(const Goal& goal);

 private:
  // The best choices from one start, and what they cost.
  struct Candidate {
    std::vector<Choice> choices;
    double cost = 0;
  };
  std::vector<Candidate> Candidates(const Goal& goal);
  Candidate Improved(const Goal& goal, std::vector<Choice> start, const std::vector<int>& order);
  Candidate Polished(const Goal& goal, std::vector<Candidate> found);
  Candidate BestNear(const Goal& goal, const Candidate& best, const std::vector<Candidate>& found,
                     bool pairs);
  double CostOf(const Goal& goal, const std::vector<Choice>& choices) {
    return goal.Of(solver_.Measured(choices));
  }

  Solver& solver_;
  const Mesh& mesh_;
  std::map<double, std::vector<Choice>> of_prices_;  // the best plans
};

}  // namespace ms::parallel
