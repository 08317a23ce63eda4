#include "passes/parallel/search.h"

#include <algorithm>
#include <cmath>

#include "passes/parallel/parts.h"

namespace ms::parallel {
namespace {

constexpr int kPrices = 6;           // of memory that are tried, between ...
constexpr double kCheapest = 1e-15;  // ... seconds for a byte that hardly count ...
constexpr double kClose = 1.02;      // ... and the dearest, until they are as close as this, ...
constexpr double kNear = 1e-3;       // ... or no plan that fits takes so much less
constexpr int kMixes = 12;           // prices that are tried of what these have found, ...
constexpr double kTilt = 0.1;        // ... so much higher for the last variable
constexpr double kBetter = 1e-6;     // relative
// Entries of tables that are looked at: a second has about a thousand million.
constexpr size_t kWork = size_t{1} << 31;
constexpr size_t kWorkOfPrice = kWork / 8;

}  // namespace

Search::Search(const Problem& problem, const PlanOptions& options)
    : options_(options), solver_(problem, options), many_(&solver_, options.mesh) {}

bool Search::Follows() const {
  return options_.mode == Mode::kSemiAuto || options_.mode == Mode::kPropagation ||
         options_.mode == Mode::kDataParallel;
}

Choices Search::Run() {
  if (Follows()) {
    Choices only = Solve({.follow = true});
    RequireFits(only, "as the program is cut in this mode (pin more, or let the search choose)");
    return only;
  }
  if (options_.memory_limit <= 0) return Solve({});
  // What a variable keeps is its own affair, so what holds the least is found from anywhere.
  Choices lightest = Solve({.price = Goal::kDearest});
  RequireFits(lightest, "for the lightest plan of the program");
  if (options_.lightest) return lightest;
  Choices free = Solve({});
  return Fits(free) ? free : Fitting(free, lightest);
}

int64_t Search::MostHeld(const Choices& choices) const {
  int64_t most = 0;
  for (size_t s = 0; s < choices.stages.size(); ++s)
    most = std::max(most, choices.stages[s].Whole(options_.stages.most_parts[s]));
  return most;
}

bool Search::Fits(const Choices& choices) const {
  return options_.memory_limit <= 0 || MostHeld(choices) <= options_.memory_limit;
}

void Search::RequireFits(const Choices& choices, const std::string& why) const {
  if (Fits(choices)) return;
  int64_t devices = options_.mesh.devices() * options_.stages.count();
  LackOfMemory(MostHeld(choices), devices, options_.memory_limit, why);
}

double Edge::Price() const {
  double price = (small.seconds - large.seconds) / (large.held - small.held);
  return price > low && price < high ? price : std::sqrt(low * high);
}

void Edge::Take(double price, bool fits, Choices plan) {
  (fits ? high : low) = price;
  (fits ? small : large) = std::move(plan);
}

Choices Search::Fitting(const Choices& free, const Choices& lightest) {
  double limits = static_cast<double>(options_.memory_limit) * options_.stages.count();
  double bound = free.bound, below = 0;
  Edge edge{free, lightest, kCheapest, Goal::kDearest};
  std::vector<Choices> plans{free, lightest};
  Choices best = lightest;
  for (int i = 0; i < kPrices && edge.high > edge.low * kClose; ++i) {
    Goal goal{.price = edge.Price()};
    Choices next = Solve(goal);
    // Lagrange: no plan that fits takes less.
    bound = std::max(bound, next.bound - goal.price * limits);
    bool exact = solver_.together() && !next.limited;
    if (exact) below = std::max(below, goal.Of(next) - goal.price * limits);
    plans.push_back(next);
    if (!exact) {  // what other prices have found may be better, in parts or in all
      Choices mixed = AmongPlans(goal, plans);
      if (goal.Of(mixed) < goal.Of(next)) next = std::move(mixed);
    }
    bool fits = Fits(next), corner = goal.Of(next) < goal.Of(edge.large) * (1 - kBetter);
    if (fits && next.seconds < best.seconds) best = next;
    if (exact && (!corner || below >= best.seconds * (1 - kNear))) break;
    edge.Take(goal.price, fits, std::move(next));
  }
  Mix(plans, std::move(edge), &best);
  best.bound = std::min(best.seconds, bound);
  return best;
}

// The best of what plans choose for each variable.
Choices Search::AmongPlans(const Goal& goal, const std::vector<Choices>& plans) {
  std::vector<const States*> states;
  for (size_t v = 0; v < plans[0].of.size(); ++v) {
    std::vector<Choice> choices;
    for (const Choices& plan : plans) choices.push_back(plan.of[v]);
    states.push_back(&tables().Among(*solver_.problem().variables[v].kind, std::move(choices)));
  }
  std::vector<Choice> found(states.size());
  solver_.Among(goal, states, &found);
  Choices mixed = Measured(std::move(found));
  mixed.limited = true;
  return mixed;
}

// Equal layers all change at one price, where it would do if some of them did. So bytes get a
// little dearer from the first to the last, and the price is looked for at which as few as will do
// are chosen as the end has them that fits.
void Search::Mix(const std::vector<Choices>& plans, Edge edge, Choices* best) {
  edge.low /= 1 + kTilt;
  for (int i = 0; i < kMixes; ++i) {
    Goal goal{.price = edge.Price(), .tilt = kTilt};
    Choices next = AmongPlans(goal, plans);
    bool fits = Fits(next);
    if (fits && next.seconds < best->seconds) *best = next;
    edge.Take(goal.price, fits, std::move(next));
  }
}

Choices Search::Solve(const Goal& goal) {
  solver_.Allow(goal.price > 0 ? kWorkOfPrice : kWork);
  return solver_.together() ? Together(goal) : many_.Find(goal);
}

Choices Search::Together(const Goal& goal) {
  solver_.tables().LookForFarWays(StateTables::kAllWays);
  uint32_t axes = 0;
  for (int axis : solver_.axes()) axes |= 1u << axis;
  std::vector<Choice> choices = solver_.Start();
  Solution solution = solver_.Along(goal, axes, &choices);
  Choices result = solver_.Measured(std::move(choices));
  result.limited = solution.bound < solution.cost * (1 - kBetter);
  if (!goal.follow) result.bound = std::max(result.bound, solution.bound);
  return result;
}

Choices FindChoices(const Problem& problem, const PlanOptions& options, Search* search) {
  std::optional<EqualParts> parts = FindEqualParts(problem);
  if (!parts) return search->Run();
  Search for_one(parts->one, options);
  Choices one = for_one.Run();
  std::vector<Choice> all;
  for (int variable : parts->of) all.push_back(one.of[static_cast<size_t>(variable)]);
  Choices found = search->Measured(std::move(all));
  found.limited = true;
  // Parts may differ, which is little work to try where they are few.
  bool exact = search->together() && !one.limited && options.memory_limit <= 0;
  if (!exact || options.mode != Mode::kSearch) return found;
  Choices whole = search->Run();
  whole.bound = std::min(found.seconds, whole.bound);
  if (whole.seconds <= found.seconds) return whole;
  found.bound = whole.bound;
  return found;
}

}  // namespace ms::parallel
