// Choices for the variables of a problem that cost the least among given ones, and what choices
// take. Work is counted, not time, so that all processes end at the same plan.
#pragma once

#include <map>
#include <tuple>

#include "passes/parallel/states.h"

namespace ms::parallel {

struct Choices {
  std::vector<Choice> of;  // by variable
  double seconds = 0;
  std::vector<StageMemory> stages;  // of a device of each
  double held = 0;                  // bytes, by a device of each stage, all of them together
  double bound = 0;                 // of seconds
  bool limited = false;             // work that was not allowed might have found a better one
};

// What is minimised: seconds with a price for memory, or the least redistribution.
struct Goal {
  double price = 0;  // seconds for a byte that a device of any stage holds
  bool follow = false;
  double tilt = 0;  // the price for the last variable is higher by this share of it

  // So dear that nothing else counts beside.
  static constexpr double kDearest = 1;
  bool lightest() const { return price >= kDearest; }
  double Of(const Choices& choices) const { return choices.seconds + price * choices.held; }
};

class Solver {
 public:
  Solver(const Problem& problem, const PlanOptions& options);

  // What follows is allowed so much work.
  void Allow(size_t work) { most_ = pool_.work() + work; }
  bool Spent() const { return pool_.work() > most_; }

  // What every kind starts from; the best along some axes where along the others all stay.
  std::vector<Choice> Start() const;
  Solution Along(const Goal& goal, uint32_t axes, std::vector<Choice>* choices,
                 const std::vector<uint32_t>& tied = {});
  // The best of the states of each variable.
  Solution Among(const Goal& goal, const std::vector<const States*>& states,
                 std::vector<Choice>* choices);
  // Some choices, with what they take; the bound that needs no search.
  Choices Measured(std::vector<Choice> choices);

  const Problem& problem() const { return problem_; }
  const std::vector<int>& axes() const { return axes_; }  // of more than one device
  bool few() const { return axes_.size() <= static_cast<size_t>(options_.together); }
  bool together() const {
    return few() && options_.mode != Mode::kRecursive;
  }  // all of them at once
  StateTables& tables() { return tables_; }

 private:
  int OwnCosts(const Goal& goal, size_t variable, const States& states);
  float Deviation(const Kind& kind, const Choice& choice) const;
  double Least() const;

  const Problem& problem_;
  const PlanOptions& options_;
  StateTables tables_;
  TablePool pool_;
  std::vector<int> axes_;
  std::vector<double> held_;  // of a byte that a variable keeps, by it: that count in `held`
  std::map<std::tuple<bool, double, int, float, double>, int> own_;  // vectors of the pool
  size_t most_ = 0;
};

}  // namespace ms::parallel
