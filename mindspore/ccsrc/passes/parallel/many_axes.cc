#include "passes/parallel/many_axes.h"

#include <algorithm>
#include <limits>

#include "passes/parallel/neighbours.h"

namespace ms::parallel {
namespace {

constexpr int kRounds = 6;        // over all axes, one by one
constexpr int kPolishings = 12;   // at most
constexpr size_t kMostTies = 4;   // ways to tie axes that are tried; of many axes, one
constexpr size_t kMany = 6;       // of more axes single ones are changed alone
constexpr size_t kPlans = 8;      // whose choices are looked at together
constexpr double kBetter = 1e-6;  // relative
constexpr int kFarWays = 2000;    // that are looked for near the best plan
constexpr Goal kFollow{0, true};

// By axis, the first that has equal links.
std::vector<int> EqualLinks(const Mesh& mesh, const std::vector<int>& axes) {
  auto links = [&](int axis) {
    const MeshAxis& a = mesh.axes[static_cast<size_t>(axis)];
    return std::tuple(a.alpha, a.beta, a.size);
  };
  std::vector<int> firsts;
  for (int axis : axes)
    firsts.push_back(*std::find_if(axes.begin(), axes.end(),
                                   [&](int other) { return links(other) == links(axis); }));
  return firsts;
}

// Ways to tie axes to three: masks of those that go the same way.
std::vector<std::vector<uint32_t>> WaysToTie(const Mesh& mesh, const std::vector<int>& axes) {
  // The row of axes is cut in three. Parts of equal links come first, then small ones; ways that
  // differ in the order of equal links alone are one.
  std::vector<int> links = EqualLinks(mesh, axes);
  std::map<std::tuple<size_t, size_t, std::vector<std::vector<int>>>, std::vector<uint32_t>> ways;
  size_t n = axes.size();
  for (size_t first = 1; first < n; ++first) {
    for (size_t second = first + 1; second < n; ++second) {
      std::vector<std::vector<int>> kinds(3);
      std::vector<uint32_t> way(3, 0);
      for (size_t i = 0; i < n; ++i) {
        size_t part = (i >= first) + (i >= second);
        kinds[part].push_back(links[i]);
        way[part] |= 1u << axes[i];
      }
      size_t mixed = 0, largest = 0;
      for (const std::vector<int>& part : kinds) {
        mixed += part.front() != part.back();
        largest = std::max(largest, part.size());
      }
      std::sort(kinds.begin(), kinds.end());
      ways.try_emplace({mixed, largest, std::move(kinds)}, std::move(way));
    }
  }
  std::vector<std::vector<uint32_t>> ties;
  for (auto& [key, way] : ways) ties.push_back(std::move(way));
  ties.resize(std::min(ties.size(), n > kMany ? 1 : kMostTies));
  return ties;
}

}  // namespace

// Chooses along each axis in turn, until nothing changes.
ManyAxes::Candidate ManyAxes::Improved(const Goal& goal, std::vector<Choice> start,
                                       const std::vector<int>& order) {
  Candidate best{std::move(start), std::numeric_limits<double>::infinity()};
  size_t unchanged = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int axis : order) {
      if (round > 0 && solver_.Spent()) return best;
      std::vector<Choice> next = best.choices;
      double cost = solver_.Along(goal, 1u << axis, &next).cost;
      unchanged = cost < best.cost * (1 - kBetter) ? 0 : unchanged + 1;
      if (cost < best.cost) best = {std::move(next), cost};  // else the solution is not exact
      if (unchanged >= order.size()) return best;
    }
  }
  return best;
}

std::vector<ManyAxes::Candidate> ManyAxes::Candidates(const Goal& goal) {
  const std::vector<int>& slowest_first = solver_.axes();
  std::vector<int> quickest_first(slowest_first.rbegin(), slowest_first.rend());
  std::vector<Candidate> found;
  auto begin = [&](std::vector<Choice> start, const std::vector<int>& order) {
    if (found.empty() || !solver_.Spent()) found.push_back(Improved(goal, std::move(start), order));
  };
  if (!of_prices_.empty() && !goal.lightest()) {
    auto dearer = of_prices_.lower_bound(goal.price);
    if (dearer != of_prices_.end()) begin(dearer->second, quickest_first);
    if (dearer != of_prices_.begin()) begin(std::prev(dearer)->second, quickest_first);
    return found;
  }
  begin(solver_.Start(), quickest_first);
  if (goal.follow || goal.lightest()) return found;
  begin(solver_.Start(), slowest_first);
  if (solver_.Spent()) return found;
  std::vector<Choice> batch = solver_.Start();
  for (int axis : quickest_first) solver_.Along(kFollow, 1u << axis, &batch);
  begin(std::move(batch), quickest_first);
  if (solver_.few()) return found;
  for (const std::vector<uint32_t>& tied : WaysToTie(mesh_, slowest_first)) {
    if (solver_.Spent()) return found;
    std::vector<Choice> choices = solver_.Start();
    uint32_t all = 0;
    for (uint32_t mask : tied) all |= mask;
    solver_.Along(goal, all, &choices, tied);
    begin(std::move(choices), quickest_first);
  }
  return found;
}

// The best of all that some plans choose, and that is a few steps from the best of them.
ManyAxes::Candidate ManyAxes::Polished(const Goal& goal, std::vector<Candidate> found) {
  for (Candidate& plan : found) plan.cost = CostOf(goal, plan.choices);
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  found.resize(std::min(found.size(), kPlans));
  Candidate best = found[0];
  solver_.tables().LookForFarWays(kFarWays);
  bool pairs = false;
  for (int round = 0; round < kPolishings; ++round) {
    Candidate next = BestNear(goal, best, found, pairs);
    bool better = next.cost < best.cost * (1 - kBetter);
    if (better) best = std::move(next);
    bool last = !better && (pairs || solver_.axes().size() > kMany);
    if (last || solver_.Spent()) break;
    pairs |= !better;
  }
  return best;
}

ManyAxes::Candidate ManyAxes::BestNear(const Goal& goal, const Candidate& best,
                                       const std::vector<Candidate>& found, bool pairs) {
  std::vector<const States*> states;
  for (size_t v = 0; v < best.choices.size(); ++v) {
    const Kind& kind = *solver_.problem().variables[v].kind;
    std::vector<Choice> choices = Neighbours(kind, best.choices[v], solver_.axes(), pairs);
    for (const Candidate& plan : found) choices.push_back(plan.choices[v]);
    states.push_back(&solver_.tables().Among(kind, std::move(choices)));
  }
  Candidate next{best.choices};
  solver_.Among(goal, states, &next.choices);
  next.cost = CostOf(goal, next.choices);
  return next;
}

Choices ManyAxes::Find(const Goal& goal) {
  solver_.tables().LookForFarWays(0);
  std::vector<Candidate> found = Candidates(goal);
  // Of one variable, a byte less is had along one axis, and so is what follows from a pin.
  Candidate best = found[0];
  if (!goal.follow && !goal.lightest()) {
    best = Polished(goal, std::move(found));
    of_prices_[goal.price] = best.choices;
  }
  Choices result = solver_.Measured(std::move(best.choices));
  result.limited = solver_.Spent();
  return result;
}

}  // namespace ms::parallel
