#include "passes/parallel/core.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"

namespace ms::parallel {
namespace {

constexpr int kRounds = 8;           // of holding and solving again, ...
constexpr size_t kShareOfWork = 16;  // ... each with so small a part of the work
constexpr double kBetter = 1e-7;     // relative
constexpr size_t kTooMuch = std::numeric_limits<size_t>::max();

using Sizes = std::vector<int>;   // by variable: how many states it has
using Chosen = std::vector<int>;  // by variable: its state
using Held = std::vector<bool>;   // by variable

size_t At(int i) { return static_cast<size_t>(i); }

// ---- factors --------------------------------------------------------------------------------
float ValueOf(const Sizes& sizes, const Factor& factor, const Chosen& states) {
  size_t at = 0;
  for (int v : factor.variables) at = at * At(sizes[At(v)]) + At(states[At(v)]);
  return factor.values[at];
}

double CostOf(const CoreModel& model, const Chosen& states) {
  double cost = 0;
  for (const Factor& f : model.factors) cost += ValueOf(model.states, f, states);
  return cost;
}

// How far the entries for two states of a variable that follow each other are apart; 0: it is none
// of the factor's.
size_t StrideOf(const Sizes& sizes, const Factor& factor, int variable) {
  size_t stride = 1;
  for (auto v = factor.variables.rbegin(); v != factor.variables.rend(); ++v) {
    if (*v == variable) return stride;
    stride *= At(sizes[At(*v)]);
  }
  return 0;
}

Factor Hold(const Sizes& sizes, const Factor& factor, int variable, int state) {
  size_t stride = StrideOf(sizes, factor, variable), step = stride * At(sizes[At(variable)]);
  Factor held{factor.variables, {}};
  std::erase(held.variables, variable);
  for (size_t first = At(state) * stride; first < factor.values.size(); first += step) {
    auto from = factor.values.begin() + static_cast<std::ptrdiff_t>(first);
    held.values.insert(held.values.end(), from, from + static_cast<std::ptrdiff_t>(stride));
  }
  return held;
}

// The least over the states of a variable.
Factor LeastOf(const Sizes& sizes, const Factor& factor, int variable) {
  Factor least = Hold(sizes, factor, variable, 0);
  for (int s = 1; s < sizes[At(variable)]; ++s) {
    Factor other = Hold(sizes, factor, variable, s);
    for (size_t i = 0; i < other.values.size(); ++i)
      least.values[i] = std::min(least.values[i], other.values[i]);
  }
  return least;
}

// The model with what `without` makes of each factor and held variable of it.
template <class F>
CoreModel Without(const CoreModel& model, const Held& held, F without) {
  CoreModel rest = model;
  for (Factor& f : rest.factors) {
    std::vector<int> variables = f.variables;
    for (int v : variables) {
      if (held[At(v)]) f = without(f, v);
    }
  }
  return rest;
}

// By variable, the numbers of the factors that it is in.
std::vector<std::vector<int>> ReadersOf(const CoreModel& model) {
  std::vector<std::vector<int>> readers(model.states.size());
  for (size_t i = 0; i < model.factors.size(); ++i) {
    for (int v : model.factors[i].variables) readers[At(v)].push_back(static_cast<int>(i));
  }
  return readers;
}

// Gives a variable the state for which these factors cost the least, where all others stay.
void Choose(const Sizes& sizes, const std::vector<Factor>& factors, const std::vector<int>& numbers,
            int variable, Chosen* states) {
  double best = std::numeric_limits<double>::infinity();
  int& mine = (*states)[At(variable)];
  int chosen = 0;
  for (mine = 0; mine < sizes[At(variable)]; ++mine) {
    double cost = 0;
    for (int number : numbers) cost += ValueOf(sizes, factors[At(number)], *states);
    if (cost < best) best = cost, chosen = mine;
  }
  mine = chosen;
}

// ---- elimination ----------------------------------------------------------------------------
struct Elimination {
  int variable;
  std::vector<int> around;  // of which the best of the variable becomes a factor
};
struct Order {
  std::vector<Elimination> steps;
  size_t work = 0;
};

// The order in which variables go that are not held: each time the one that is the least work, of
// equal ones the first. It is found without a table, so that none is made for nothing.
class Rehearsal {
 public:
  Rehearsal(const CoreModel& model, const Held& held)
      : sizes_(model.states), limit_(model.limit), near_(sizes_.size()), works_(sizes_.size()) {
    auto free = [&](int v) { return !held[At(v)]; };
    for (const Factor& f : model.factors) {
      for (int v : f.variables) {
        for (int u : f.variables) {
          if (u != v && free(u) && free(v)) near_[At(v)].insert(u);
        }
      }
    }
    for (int v = 0; v < static_cast<int>(sizes_.size()); ++v) {
      if (free(v)) Enqueue(v);
    }
  }

  // Nothing where a table would be too large, or all of it more than the work that is allowed.
  std::optional<Order> Run(size_t allowed) {
    Order order;
    while (!queue_.empty()) {
      auto [work, v] = *queue_.begin();
      if (work > allowed - order.work) return std::nullopt;
      order.work += work;
      order.steps.push_back({v, Eliminate(v)});
    }
    return order;
  }

 private:
  void Enqueue(int v) {
    size_t entries = 1;
    for (int u : near_[At(v)]) {
      entries *= At(sizes_[At(u)]);
      if (entries > limit_) break;
    }
    works_[At(v)] = entries > limit_ ? kTooMuch : entries * At(sizes_[At(v)]);
    queue_.insert({works_[At(v)], v});
  }
  std::vector<int> Eliminate(int v) {
    queue_.erase({works_[At(v)], v});
    std::set<int> around = std::move(near_[At(v)]);
    for (int u : around) {
      std::set<int>& near = near_[At(u)];
      near.insert(around.begin(), around.end());
      near.erase(u);
      near.erase(v);
      queue_.erase({works_[At(u)], u});
      Enqueue(u);
    }
    return {around.begin(), around.end()};
  }

  const Sizes& sizes_;
  size_t limit_;
  std::vector<std::set<int>> near_;
  std::vector<size_t> works_;               // by variable, as in the queue
  std::set<std::pair<size_t, int>> queue_;  // the least work first
};

// Each variable knows the factors that it is in, so that an elimination costs what is around it.
class Buckets {
 public:
  explicit Buckets(CoreModel model)
      : sizes_(model.states), readers_(ReadersOf(model)), factors_(std::move(model.factors)) {}

  // What is not in the order has its first state.
  CoreSolution Run(const Order& order) {
    std::vector<std::vector<int>> read;
    for (const Elimination& step : order.steps) {
      read.push_back(std::move(readers_[At(step.variable)]));
      for (int u : step.around) {
        std::erase_if(readers_[At(u)], [&](int number) {
          return std::find(read.back().begin(), read.back().end(), number) != read.back().end();
        });
        readers_[At(u)].push_back(static_cast<int>(factors_.size()));
      }
      factors_.push_back(BestOf(step, read.back()));
    }
    CoreSolution solution;
    for (const Factor& f : factors_) solution.cost += f.variables.empty() ? f.values[0] : 0;
    solution.states.assign(sizes_.size(), 0);
    for (size_t i = read.size(); i-- > 0;)
      Choose(sizes_, factors_, read[i], order.steps[i].variable, &solution.states);
    return solution;
  }

 private:
  // A factor as a part of a table over more variables: how far apart its entries are there.
  struct Spread {
    const float* values;
    size_t own;  // of the variable that goes
    std::vector<size_t> strides;
  };

  Factor BestOf(const Elimination& step, const std::vector<int>& numbers) const {
    std::vector<Spread> spreads;
    for (int number : numbers) {
      const Factor& f = factors_[At(number)];
      spreads.push_back({f.values.data(), StrideOf(sizes_, f, step.variable), {}});
      for (int u : step.around) spreads.back().strides.push_back(StrideOf(sizes_, f, u));
    }
    size_t entries = 1;
    for (int u : step.around) entries *= At(sizes_[At(u)]);
    Factor best{step.around, std::vector<float>(entries, std::numeric_limits<float>::max())};
    std::vector<float> sum(entries);
    for (int s = 0; s < sizes_[At(step.variable)]; ++s) {
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (Spread& spread : spreads) {
        Add(spread, step.around, &sum);
        spread.values += spread.own;
      }
      for (size_t i = 0; i < entries; ++i) best.values[i] = std::min(best.values[i], sum[i]);
    }
    return best;
  }
  void Add(const Spread& spread, const std::vector<int>& around, std::vector<float>* sum) const {
    int last = static_cast<int>(around.size()) - 1;
    if (last < 0) return static_cast<void>((*sum)[0] += *spread.values);
    size_t width = At(sizes_[At(around.back())]), stride = spread.strides.back();
    const float* from = spread.values;
    std::vector<int> at(around.size(), 0);
    for (size_t first = 0; first < sum->size(); first += width) {
      for (size_t i = 0; i < width; ++i) (*sum)[first + i] += from[i * stride];
      for (int d = last - 1; d >= 0; --d) {
        from += spread.strides[At(d)];
        int size = sizes_[At(around[At(d)])];
        if (++at[At(d)] < size) break;
        from -= spread.strides[At(d)] * At(size);
        at[At(d)] = 0;
      }
    }
  }

  Sizes sizes_;
  std::vector<std::vector<int>> readers_;  // by variable that is there
  std::vector<Factor> factors_;
};

// ---- what is too much work ------------------------------------------------------------------
// Holds so many more of those with the most neighbours among what is not held.
void HoldWidest(const CoreModel& model, size_t count, Held* held) {
  std::vector<std::vector<int>> readers = ReadersOf(model);
  std::vector<bool> gone;  // factors that join no two free variables
  std::vector<int> uses(model.states.size(), 0);
  for (const Factor& f : model.factors) {
    gone.push_back(f.variables.size() == 1 || std::any_of(f.variables.begin(), f.variables.end(),
                                                          [&](int v) { return (*held)[At(v)]; }));
    for (int v : f.variables) uses[At(v)] += !gone.back();
  }
  for (; count > 0; --count) {
    size_t widest = uses.size();
    for (size_t v = 0; v < uses.size(); ++v) {
      if (!(*held)[v] && (widest == uses.size() || uses[v] > uses[widest])) widest = v;
    }
    if (widest == uses.size()) return;
    (*held)[widest] = true;
    for (int number : readers[widest]) {
      if (gone[At(number)]) continue;
      gone[At(number)] = true;
      for (int v : model.factors[At(number)].variables) --uses[At(v)];
    }
  }
}

// Holds as many as it takes for the others to be little work; a few too many in the end, so that
// there are few rehearsals.
Order HoldSome(const CoreModel& model, Held* held) {
  for (size_t count = 0;;) {
    size_t more = 1 + count / 8;
    HoldWidest(model, more, held);
    count += more;
    if (auto order = Rehearsal(model, *held).Run(model.work / kShareOfWork)) return *order;
  }
}

// What is held is chosen for the others one by one, and these for what is held, in turns.
CoreSolution InTurns(const CoreModel& model, const Held& held, const Order& order) {
  // Held variables may choose anew in each of their factors: a bound, and states to begin with.
  CoreSolution best = Buckets(Without(model, held, [&](const Factor& f, int v) {
                        return LeastOf(model.states, f, v);
                      })).Run(order);
  best.bound = std::exchange(best.cost, std::numeric_limits<double>::infinity());
  best.work = order.work;
  Chosen states = best.states;
  std::vector<std::vector<int>> readers = ReadersOf(model);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t v = 0; v < held.size(); ++v) {
      if (held[v]) Choose(model.states, model.factors, readers[v], static_cast<int>(v), &states);
    }
    CoreSolution others = Buckets(Without(model, held, [&](const Factor& f, int v) {
                            return Hold(model.states, f, v, states[At(v)]);
                          })).Run(order);
    best.work += order.work;
    for (const Elimination& step : order.steps)
      states[At(step.variable)] = others.states[At(step.variable)];
    double cost = CostOf(model, states);
    if (cost >= best.cost * (1 - kBetter)) break;
    best.cost = cost;
    best.states = states;
  }
  return best;
}

}  // namespace

CoreSolution SolveCore(const CoreModel& model) {
  if (model.states.empty()) return {};
  Held held(model.states.size(), false);
  if (auto order = Rehearsal(model, held).Run(model.work)) {
    CoreSolution exact = Buckets(model).Run(*order);
    exact.bound = exact.cost;
    exact.work = order->work;
    return exact;
  }
  Order order = HoldSome(model, &held);
  return InTurns(model, held, order);
}

}  // namespace ms::parallel
