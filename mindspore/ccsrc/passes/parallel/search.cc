#include "passes/parallel/search.h"

#include <algorithm>
#include <cmath>

#include "passes/parallel/neighbours.h"
#include "passes/parallel/parts.h"

namespace ms::parallel {
namespace {

constexpr int kRounds = 6;                    // over all axes, one by one
constexpr int kPolishings = 12;               // at most
constexpr size_t kMostTies = 4;               // ways to tie axes that are tried; of many axes, one
constexpr size_t kMany = 6;                   // of more axes single ones are changed alone
constexpr size_t kPlans = 8;                  // whose choices are looked at together
constexpr int kPrices = 10;                   // of memory that are tried, between ...
constexpr double kCheapest = 1e-15;           // ... seconds for a byte that hardly count, ...
constexpr double kDearest = 1;                // ... and that nothing else counts beside, ...
constexpr double kClose = 1.02;               // ... until they are as close as this
constexpr double kBetter = 1e-6;              // relative
constexpr int kFarWays = 10000;               // that are looked for near the best plan
constexpr size_t kEntries = size_t{1} << 20;  // of a table
// Work, in entries of tables that are looked at: a second has about a thousand million.
constexpr size_t kWork = size_t{1} << 31;           // for one goal
constexpr size_t kWorkAtOnce = size_t{1} << 30;     // for variables with many neighbours, ...
constexpr size_t kWorkAmongMany = size_t{1} << 26;  // ... where this is done many times
// Seconds that stand for an axis along which all devices compute the same, and for one that cuts
// something else than the batch, where seconds are not asked for.
constexpr double kIdle = 1e-3;
constexpr double kDeviation = 1e-8;

// Adds what a variable keeps, of all parts of the batch together, to the stages that hold it.
void AddHeld(const Keeping& keeping, double bytes, int parts, std::vector<StageMemory>* stages) {
  for (size_t s = 0; s < keeping.shares.size(); ++s) {
    StageMemory& stage = (*stages)[s];
    double here = bytes * keeping.shares[s];
    if (keeping.how == Keeping::kLasting) stage.lasting += here;
    if (keeping.how == Keeping::kPart) stage.part += here / parts;
    if (keeping.how == Keeping::kOnce) stage.once += here;
  }
}

}  // namespace

Search::Search(const Problem& problem, const PlanOptions& options)
    : problem_(problem), options_(options), tables_(problem, options.mesh) {
  for (int axis = 0; axis < options.mesh.count(); ++axis) {
    if (options.mesh.size(axis) > 1) axes_.push_back(axis);
  }
}

bool Search::Follows() const {
  return options_.mode == Mode::kSemiAuto || options_.mode == Mode::kPropagation ||
         options_.mode == Mode::kDataParallel;
}

bool Search::together() const {
  return axes_.size() <= static_cast<size_t>(options_.together) &&
         options_.mode != Mode::kRecursive;
}

Choices Search::Run() {
  if (Follows()) return Followed();
  if (options_.lightest && options_.memory_limit > 0) return Lightest();
  Choices best = Solve({});
  return Fits(best) ? best : Fitting(best);
}

bool Search::Fits(const Choices& choices) const {
  return options_.memory_limit <= 0 || MostHeld(choices) <= options_.memory_limit;
}

Choices Search::Followed() {
  Choices only = Solve({0, true});
  if (Fits(only)) return only;
  LackOfMemory(MostHeld(only), devices(), options_.memory_limit,
               "as the program is cut in this mode (pin more, or let the search choose)");
}

// What a variable keeps is its own affair, so what holds the least is found from anywhere.
Choices Search::Lightest() {
  Choices lightest = Solve({kDearest});
  if (Fits(lightest)) return lightest;
  LackOfMemory(MostHeld(lightest), devices(), options_.memory_limit,
               "for the lightest plan of the program");
}

// Of a byte that a variable keeps, how many the devices of all stages hold together.
double Search::Held(const Variable& variable) const {
  const InStages& stages = options_.stages;
  double held = 0;
  for (size_t s = 0; s < variable.keeping.shares.size(); ++s) {
    double parts = static_cast<double>(stages.most_parts[s]) / stages.parts;
    held += variable.keeping.shares[s] * (variable.keeping.how == Keeping::kPart ? parts : 1);
  }
  return held;
}

double Search::HeldByAll(const Choices& choices) const {
  double held = 0;
  for (size_t s = 0; s < choices.stages.size(); ++s) {
    const StageMemory& stage = choices.stages[s];
    held += stage.lasting + stage.once + options_.stages.most_parts[s] * stage.part;
  }
  return held;
}

int64_t Search::MostHeld(const Choices& choices) const {
  int64_t most = 0;
  for (size_t s = 0; s < choices.stages.size(); ++s)
    most = std::max(most, choices.stages[s].Whole(options_.stages.most_parts[s]));
  return most;
}

// The least price of memory at which it fits, by bisection between the plan without a price, which
// does not, and the lightest one.
Choices Search::Fitting(const Choices& free) {
  double limits = static_cast<double>(options_.memory_limit) * options_.stages.count();
  double low = kCheapest, high = kDearest, bound = free.bound;
  Choices best = Lightest();
  for (int i = 0; i < kPrices && high > low * kClose; ++i) {
    double price = std::sqrt(low * high);
    Choices next = Solve({price});
    // Lagrange: no plan that fits takes less than this.
    bound = std::max(bound, next.bound - price * limits);
    (Fits(next) ? high : low) = price;
    if (Fits(next) && next.seconds < best.seconds) best = std::move(next);
  }
  best.bound = std::min(best.seconds, bound);
  return best;
}

Choices Search::Solve(const Goal& goal) {
  own_.clear();
  tables_.LookForFarWays(together() ? StateTables::kAllWays : 0);
  most_ = pool_.work() + (goal.price > 0 ? kWork / 8 : kWork);  // prices are many
  return together() ? Together(goal) : AxisByAxis(goal);
}

// An axis on which a node does not compute parts of the batch, for goals without seconds.
float Search::Deviation(const Kind& kind, const States& states, int state) const {
  const auto* node = dynamic_cast<const ComputeKind*>(&kind);
  if (!node) return 0;
  double cost = 0;
  for (int axis : axes_) {
    int8_t c = states.choices[static_cast<size_t>(state)][static_cast<size_t>(axis)];
    bool alike = c < 0;
    if (alike && node->data()) cost += kIdle;
    if (c >= 0 && !(node->data() && node->CutsBatch(c))) cost += kDeviation;
  }
  return static_cast<float>(cost);
}

int Search::Own(const Variable& variable, const States& states, const Goal& goal) {
  double held = Held(variable);
  auto [place, fresh] = own_.try_emplace({states.id, variable.times, held}, 0);
  if (!fresh) return place->second;
  std::vector<float> values;
  for (int i = 0; i < states.size(); ++i) {
    auto s = static_cast<size_t>(i);
    if (goal.follow)
      values.push_back(Deviation(*variable.kind, states, i));
    else
      values.push_back(states.seconds[s] + static_cast<float>(goal.price * held) * states.bytes[s]);
    values.back() *= variable.times;
  }
  return place->second = pool_.Add(states.size(), 1, std::move(values));
}

Solution Search::SolveAlong(const Goal& goal, uint32_t axes, std::vector<Choice>* choices,
                            const std::vector<uint32_t>& tied) {
  std::vector<const States*> states;
  for (size_t v = 0; v < problem_.variables.size(); ++v)
    states.push_back(&tables_.Of(*problem_.variables[v].kind, (*choices)[v], axes, tied));
  return SolveOver(goal, states, choices);
}

Solution Search::SolveOver(const Goal& goal, const std::vector<const States*>& states,
                           std::vector<Choice>* choices) {
  CostModel model;
  for (size_t v = 0; v < problem_.variables.size(); ++v)
    model.own.push_back(Own(problem_.variables[v], *states[v], goal));
  for (Link link : problem_.links) {
    link.back &= !goal.follow;
    const States &from = *states[static_cast<size_t>(link.from)],
                 &to = *states[static_cast<size_t>(link.to)];
    model.pairs.push_back({link.from, link.to, tables_.Table(link, from, to, &pool_)});
  }
  Solution solution = Minimise(model, &pool_, kEntries, together() ? kWorkAtOnce : kWorkAmongMany);
  if (options_.shown) options_.shown(model, pool_, solution.cost);
  for (size_t v = 0; v < states.size(); ++v)
    (*choices)[v] = states[v]->choices[static_cast<size_t>(solution.states[v])];
  return solution;
}

std::vector<Choice> Search::Start() const {
  std::vector<Choice> choices;
  for (const Variable& v : problem_.variables) choices.push_back(v.kind->start());
  return choices;
}

Choices Search::Together(const Goal& goal) {
  uint32_t axes = 0;
  for (int axis : axes_) axes |= 1u << axis;
  std::vector<Choice> choices = Start();
  Solution solution = SolveAlong(goal, axes, &choices);
  Choices result = Measured(std::move(choices));
  result.limited = solution.bound < solution.cost * (1 - kBetter);
  if (!goal.follow) result.bound = std::max(result.bound, solution.bound);
  return result;
}

// Chooses along each of the masks in turn, until nothing changes.
void Search::Improve(const Goal& goal, const std::vector<uint32_t>& masks, int rounds,
                     Found* found) {
  size_t unchanged = 0;
  for (int round = 0; round < rounds; ++round) {
    for (uint32_t mask : masks) {
      if (round > 0 && Spent()) return;
      std::vector<Choice> next = found->choices;
      double cost = SolveAlong(goal, mask, &next).cost;
      bool first = found->cost == 0;  // it may be worse where the solution is not exact
      unchanged = first || cost < found->cost * (1 - kBetter) ? 0 : unchanged + 1;
      if (first || cost < found->cost) *found = {std::move(next), cost};
      if (unchanged >= masks.size()) return;
    }
  }
}

// Ways to tie the axes to as few as are chosen together: the row of axes in parts, those with more
// of equal links together first. Ways that differ in the order of equal links alone are one.
std::vector<std::vector<uint32_t>> Search::Ties() const {
  std::vector<int> links;
  for (int axis : axes_) {
    const MeshAxis& a = options_.mesh.axes[static_cast<size_t>(axis)];
    auto same = std::find_if(axes_.begin(), axes_.end(), [&](int other) {
      const MeshAxis& b = options_.mesh.axes[static_cast<size_t>(other)];
      return a.alpha == b.alpha && a.beta == b.beta && a.size == b.size;
    });
    links.push_back(static_cast<int>(same - axes_.begin()));
  }
  // By (parts with several kinds of links, the largest part), the kinds in each part.
  std::map<std::tuple<size_t, size_t, std::vector<std::vector<int>>>, std::vector<uint32_t>> ways;
  size_t n = axes_.size();
  for (size_t first = 1; first < n; ++first) {
    for (size_t second = first + 1; second < n; ++second) {
      std::vector<std::vector<int>> kinds;
      std::vector<uint32_t> way;
      size_t mixed = 0, largest = 0, ends[] = {0, first, second, n};
      for (size_t part = 0; part < 3; ++part) {
        kinds.emplace_back(links.begin() + static_cast<long>(ends[part]),
                           links.begin() + static_cast<long>(ends[part + 1]));
        mixed += kinds.back().front() != kinds.back().back();
        largest = std::max(largest, kinds.back().size());
        uint32_t mask = 0;
        for (size_t i = ends[part]; i < ends[part + 1]; ++i) mask |= 1u << axes_[i];
        way.push_back(mask);
      }
      std::sort(kinds.begin(), kinds.end());
      ways.try_emplace({mixed, largest, std::move(kinds)}, std::move(way));
    }
  }
  std::vector<std::vector<uint32_t>> ties;
  for (auto& [key, way] : ways) {
    if (ties.size() < (n > kMany ? 1 : kMostTies)) ties.push_back(std::move(way));
  }
  return ties;
}

void Search::AddPlans(const Goal& goal, std::vector<Found>* found) {
  std::vector<uint32_t> quickest_first, slowest_first;
  for (int axis : axes_) slowest_first.push_back(1u << axis);
  quickest_first.assign(slowest_first.rbegin(), slowest_first.rend());
  auto add = [&](std::vector<Choice> start, const std::vector<uint32_t>& order) {
    if (!found->empty() && Spent()) return;
    found->push_back({std::move(start), 0});
    Improve(goal, order, kRounds, &found->back());
  };
  if (!known_.empty() && goal.price < kDearest) {
    auto dearer = known_.lower_bound(goal.price);
    if (dearer != known_.end()) add(dearer->second, quickest_first);
    if (dearer != known_.begin()) add(std::prev(dearer)->second, quickest_first);
    return;
  }
  add(Start(), quickest_first);
  if (goal.follow || goal.price >= kDearest) return;
  add(Start(), slowest_first);
  std::vector<Choice> batch = Start();
  if (Spent()) return;
  own_.clear();
  for (uint32_t axis : quickest_first) SolveAlong({0, true}, axis, &batch);
  own_.clear();
  add(std::move(batch), quickest_first);
  bool many = axes_.size() > static_cast<size_t>(options_.together);
  for (const auto& tied : many ? Ties() : std::vector<std::vector<uint32_t>>{}) {
    if (Spent()) return;
    std::vector<Choice> choices = Start();
    uint32_t all = 0;
    for (uint32_t mask : tied) all |= mask;
    SolveAlong(goal, all, &choices, tied);
    add(std::move(choices), quickest_first);
  }
}

// The best of all that some plans choose, and that is a few steps from the best of them.
void Search::Polish(const Goal& goal, std::vector<Found> found, Found* best) {
  found.resize(std::min(found.size(), kPlans));
  tables_.LookForFarWays(kFarWays);
  bool pairs = false;
  for (int round = 0; round < kPolishings; ++round) {
    std::vector<const States*> states;
    for (size_t v = 0; v < problem_.variables.size(); ++v) {
      const Kind& kind = *problem_.variables[v].kind;
      std::vector<Choice> choices = Neighbours(kind, best->choices[v], axes_, pairs);
      for (const Found& plan : found) choices.push_back(plan.choices[v]);
      states.push_back(&tables_.Among(kind, best->choices[v], std::move(choices)));
    }
    Found next{best->choices, 0};
    SolveOver(goal, states, &next.choices);
    next.cost = CostOf(goal, next.choices);
    bool better = next.cost < best->cost * (1 - kBetter);
    if (better) *best = std::move(next);
    if (Spent()) return;
    if (!better && (pairs || axes_.size() > kMany)) return;
    pairs |= !better;
  }
}

Choices Search::AxisByAxis(const Goal& goal) {
  std::vector<Found> found;
  AddPlans(goal, &found);
  if (!goal.follow) {
    for (Found& plan : found) plan.cost = CostOf(goal, plan.choices);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.cost < b.cost; });
  Found best = found[0];
  if (!goal.follow &&
      goal.price < kDearest) {  // of one variable, a byte less is had along one axis
    Polish(goal, std::move(found), &best);
    known_[goal.price] = best.choices;
  }
  Choices result = Measured(std::move(best.choices));
  result.limited = Spent();
  return result;
}

// What all of it takes where everything that can be cut is shared by all devices, and nothing is
// sent.
double Search::Least() const {
  double seconds = 0;
  for (const Variable& v : problem_.variables)
    seconds += static_cast<double>(v.times) * v.kind->Least(options_.mesh);
  return seconds;
}

// What a goal has of it; ways between far layouts were only about known where it was chosen.
double Search::CostOf(const Goal& goal, const std::vector<Choice>& choices) {
  Choices measured = Measured(choices);
  return measured.seconds + goal.price * HeldByAll(measured);
}

Choices Search::Measured(std::vector<Choice> choices) {
  Choices result;
  result.stages.resize(static_cast<size_t>(options_.stages.count()));
  std::vector<const States*> states;
  for (size_t v = 0; v < choices.size(); ++v) {
    states.push_back(&tables_.Of(*problem_.variables[v].kind, choices[v], 0));
    auto times = static_cast<double>(problem_.variables[v].times);
    result.seconds += times * states.back()->seconds[0];
    AddHeld(problem_.variables[v].keeping, times * states.back()->bytes[0], options_.stages.parts,
            &result.stages);
  }
  for (const Link& link : problem_.links)
    result.seconds += tables_.Seconds(link, *states[static_cast<size_t>(link.from)], 0,
                                      *states[static_cast<size_t>(link.to)], 0);
  result.of = std::move(choices);
  result.bound = std::min(result.seconds, Least());
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
