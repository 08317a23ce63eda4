#include "passes/parallel/search.h"

#include <algorithm>
#include <cmath>

namespace ms::parallel {
namespace {

constexpr size_t kTogether = 3;  // so many axes are chosen at once
constexpr int kRounds = 6;       // over all axes, one by one
constexpr int kPrices = 14;      // of memory that are tried
// Seconds that stand for an axis along which all devices compute the same, and for one that cuts
// something else than the batch, where seconds are not asked for.
constexpr double kIdle = 1e-3;
constexpr double kDeviation = 1e-8;

}  // namespace

Search::Search(const Problem& problem, const PlanOptions& options)
    : problem_(problem), options_(options), tables_(problem, options.mesh) {
  for (int axis = 0; axis < options.mesh.count(); ++axis) {
    if (options.mesh.size(axis) > 1) axes_.push_back(axis);
  }
}

Choices Search::Run() {
  bool follow = options_.mode == Mode::kSemiAuto || options_.mode == Mode::kPropagation ||
                options_.mode == Mode::kDataParallel;
  Choices best = Solve({0, follow});
  bool fits =
      options_.memory_limit <= 0 || best.bytes <= static_cast<double>(options_.memory_limit);
  if (fits) return best;
  if (!follow) return Fitting();
  Throw(ErrorKind::kValue,
        "the memory limit must be at least {} bytes for each of {} devices as the program is cut "
        "in this mode, but got {}: pin more, or let the search choose",
        static_cast<int64_t>(std::ceil(best.bytes)), options_.mesh.devices(),
        options_.memory_limit);
}

// The least price of memory at which it fits, by bisection.
Choices Search::Fitting() {
  auto limit = static_cast<double>(options_.memory_limit);
  Choices best;
  double low = 0, high = 1e-12;
  bool found = false;
  double bound = 0;
  for (int i = 0; i < kPrices; ++i) {
    double price = found ? (low + high) / 2 : high;
    Choices next = Solve({price, false});
    // Lagrange: no plan that fits takes less than this.
    bound = std::max(bound, next.bound - price * limit);
    bool fits = next.bytes <= limit;
    bool better = fits ? !found || next.seconds < best.seconds : !found;
    if (better) best = next;
    found |= fits;
    if (fits)
      high = price;
    else if (found)
      low = price;
    else
      low = high, high *= 100;
    if (!found && high > 1) break;
  }
  if (!found) {
    Throw(ErrorKind::kValue,
          "the memory limit must be at least {} bytes for each of {} devices, which the lightest "
          "plan of the program takes, but got {}",
          static_cast<int64_t>(std::ceil(best.bytes)), options_.mesh.devices(),
          options_.memory_limit);
  }
  best.bound = std::min(best.seconds, std::max(0.0, bound));
  return best;
}

Choices Search::Solve(const Goal& goal) {
  own_.clear();
  bool together = axes_.size() <= kTogether && options_.mode != Mode::kRecursive;
  return together ? Together(goal) : AxisByAxis(goal);
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
  auto [place, fresh] = own_.try_emplace(states.id, 0);
  if (!fresh) return place->second;
  std::vector<float> values;
  for (int i = 0; i < states.size(); ++i) {
    auto s = static_cast<size_t>(i);
    if (goal.follow)
      values.push_back(Deviation(*variable.kind, states, i));
    else
      values.push_back(states.seconds[s] + static_cast<float>(goal.price) * states.bytes[s]);
  }
  return place->second = pool_.Add(states.size(), 1, std::move(values));
}

Solution Search::SolveAlong(const Goal& goal, uint32_t axes, std::vector<Choice>* choices) {
  CostModel model;
  std::vector<const States*> states;
  for (size_t v = 0; v < problem_.variables.size(); ++v) {
    const Variable& variable = problem_.variables[v];
    states.push_back(&tables_.Of(*variable.kind, (*choices)[v], axes));
    model.own.push_back(Own(variable, *states.back(), goal));
  }
  for (Link link : problem_.links) {
    link.back &= !goal.follow;
    const States &from = *states[static_cast<size_t>(link.from)],
                 &to = *states[static_cast<size_t>(link.to)];
    model.pairs.push_back({link.from, link.to, tables_.Table(link, from, to, &pool_)});
  }
  Solution solution = Minimise(model, &pool_);
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
  result.bound = goal.follow ? Least() : solution.bound;
  return result;
}

Choices Search::AxisByAxis(const Goal& goal) {
  std::vector<Choice> best;
  double least = 0;
  // All free, the quickest axis first; then the slowest; then from the batch cut along all.
  for (int start = 0; start < 3; ++start) {
    std::vector<Choice> choices = Start();
    std::vector<int> order = axes_;
    if (start != 1) std::reverse(order.begin(), order.end());
    if (start == 2 && !goal.follow) {
      own_.clear();
      for (int axis : order) SolveAlong({0, true}, 1u << axis, &choices);
      own_.clear();
    }
    double cost = 0;
    for (int round = 0; round < kRounds; ++round) {
      double before = cost;
      for (int axis : order) cost = SolveAlong(goal, 1u << axis, &choices).cost;
      if (round && cost >= before * (1 - 1e-6)) break;
    }
    if (best.empty() || cost < least) best = choices, least = cost;
    if (goal.follow) break;
  }
  Choices result = Measured(std::move(best));
  result.bound = Least();
  return result;
}

// What all of it takes where everything that can be cut is shared by all devices, and nothing is
// sent.
double Search::Least() const {
  double seconds = 0;
  for (const Variable& v : problem_.variables) seconds += v.kind->Least(options_.mesh);
  return seconds;
}

Choices Search::Measured(std::vector<Choice> choices) {
  Choices result;
  std::vector<const States*> states;
  for (size_t v = 0; v < choices.size(); ++v) {
    states.push_back(&tables_.Of(*problem_.variables[v].kind, choices[v], 0));
    result.seconds += states.back()->seconds[0];
    result.bytes += states.back()->bytes[0];
  }
  for (const Link& link : problem_.links)
    result.seconds += tables_.Seconds(link, *states[static_cast<size_t>(link.from)], 0,
                                      *states[static_cast<size_t>(link.to)], 0);
  result.of = std::move(choices);
  return result;
}

}  // namespace ms::parallel
