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
constexpr size_t kTooMany = size_t{1} << 40;

size_t Index(const std::vector<int>& sizes, const Factor& factor, const std::vector<int>& states) {
  size_t at = 0;
  for (int v : factor.variables)
    at = at * static_cast<size_t>(sizes[static_cast<size_t>(v)]) +
         static_cast<size_t>(states[static_cast<size_t>(v)]);
  return at;
}

double CostOf(const CoreModel& model, const std::vector<int>& states) {
  double cost = 0;
  for (const Factor& f : model.factors) cost += f.values[Index(model.states, f, states)];
  return cost;
}

// The factor with one variable held.
Factor Hold(const std::vector<int>& sizes, const Factor& factor, int variable, int state) {
  auto place = std::find(factor.variables.begin(), factor.variables.end(), variable);
  size_t inner = 1;
  for (auto i = place + 1; i != factor.variables.end(); ++i)
    inner *= static_cast<size_t>(sizes[static_cast<size_t>(*i)]);
  auto count = static_cast<size_t>(sizes[static_cast<size_t>(variable)]);
  Factor held;
  for (int v : factor.variables) {
    if (v != variable) held.variables.push_back(v);
  }
  for (size_t first = static_cast<size_t>(state) * inner; first < factor.values.size();
       first += count * inner)
    held.values.insert(held.values.end(), factor.values.begin() + static_cast<long>(first),
                       factor.values.begin() + static_cast<long>(first + inner));
  return held;
}

// Each variable knows the factors that read it, so that an elimination costs what is around it.
class Buckets {
 public:
  explicit Buckets(const CoreModel& model)
      : sizes_(model.states),
        limit_(model.limit),
        left_(model.states.size(), true),
        readers_(model.states.size()) {
    for (const Factor& f : model.factors) Add(f);
    for (size_t v = 0; v < sizes_.size(); ++v) works_.push_back(WorkOf(static_cast<int>(v)));
  }

  // False where a table would be too large.
  bool Run(std::vector<int>* states, double* cost) {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      int v = Next();
      if (v < 0) return false;
      Eliminate(v);
    }
    *cost = 0;
    for (const Factor& f : factors_) {
      if (f.variables.empty() && !f.values.empty()) *cost += f.values[0];
    }
    states->assign(sizes_.size(), 0);
    for (size_t i = steps_.size(); i-- > 0;) Decide(steps_[i], states);
    return true;
  }

 private:
  struct Step {
    int variable;
    std::vector<Factor> factors;
  };

  void Add(Factor factor) {
    for (int v : factor.variables)
      readers_[static_cast<size_t>(v)].push_back(static_cast<int>(factors_.size()));
    factors_.push_back(std::move(factor));
  }
  std::vector<int> Neighbours(int v) const {
    std::vector<int> all;
    for (int number : readers_[static_cast<size_t>(v)]) {
      for (int u : factors_[static_cast<size_t>(number)].variables) {
        if (u != v) all.push_back(u);
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  size_t Entries(const std::vector<int>& variables) const {
    size_t entries = 1;
    for (int v : variables) {
      entries *= static_cast<size_t>(sizes_[static_cast<size_t>(v)]);
      if (entries > kTooMany) break;
    }
    return entries;
  }
  // Of an elimination; kTooMany where the table would be too large.
  size_t WorkOf(int v) const {
    size_t entries = Entries(Neighbours(v));
    return entries > limit_ ? kTooMany
                            : entries * static_cast<size_t>(sizes_[static_cast<size_t>(v)]);
  }
  // The one that is the least work; -1 where even that is too much.
  int Next() const {
    int best = -1;
    for (size_t v = 0; v < sizes_.size(); ++v) {
      if (!left_[v] || works_[v] == kTooMany) continue;
      if (best < 0 || works_[v] < works_[static_cast<size_t>(best)]) best = static_cast<int>(v);
    }
    return best;
  }

  void Eliminate(int v) {
    left_[static_cast<size_t>(v)] = false;
    Factor result{Neighbours(v), {}};
    Step step{v, {}};
    std::vector<int> gone = std::move(readers_[static_cast<size_t>(v)]);
    for (int number : gone) {
      step.factors.push_back(std::move(factors_[static_cast<size_t>(number)]));
      factors_[static_cast<size_t>(number)] = {};
    }
    for (int u : result.variables) {
      std::erase_if(readers_[static_cast<size_t>(u)], [&](int number) {
        return std::find(gone.begin(), gone.end(), number) != gone.end();
      });
    }
    result.values.assign(Entries(result.variables), std::numeric_limits<float>::max());
    for (int s = 0; s < sizes_[static_cast<size_t>(v)]; ++s) {
      std::vector<float> sum(result.values.size(), 0);
      for (const Factor& f : step.factors) AddTo(&sum, result.variables, Hold(sizes_, f, v, s));
      for (size_t i = 0; i < sum.size(); ++i) result.values[i] = std::min(result.values[i], sum[i]);
    }
    std::vector<int> around = result.variables;
    Add(std::move(result));
    steps_.push_back(std::move(step));
    for (int u : around) works_[static_cast<size_t>(u)] = WorkOf(u);
  }
  // Spreads a factor over the variables of a wider table.
  void AddTo(std::vector<float>* sum, const std::vector<int>& variables, const Factor& f) const {
    std::vector<size_t> strides(variables.size(), 0);
    for (size_t i = 0; i < variables.size(); ++i) {
      size_t stride = 1;
      for (size_t k = f.variables.size(); k-- > 0;) {
        if (f.variables[k] == variables[i]) strides[i] = stride;
        stride *= static_cast<size_t>(sizes_[static_cast<size_t>(f.variables[k])]);
      }
    }
    if (variables.empty()) {
      (*sum)[0] += f.values[0];
      return;
    }
    std::vector<int> at(variables.size(), 0);
    size_t last = variables.size() - 1, from = 0;
    auto width = static_cast<size_t>(sizes_[static_cast<size_t>(variables[last])]);
    for (size_t first = 0; first < sum->size(); first += width) {
      for (size_t i = 0; i < width; ++i) (*sum)[first + i] += f.values[from + i * strides[last]];
      for (size_t d = last; d-- > 0;) {
        from += strides[d];
        int size = sizes_[static_cast<size_t>(variables[d])];
        if (++at[d] < size) break;
        from -= strides[d] * static_cast<size_t>(size);
        at[d] = 0;
      }
    }
  }

  void Decide(const Step& step, std::vector<int>* states) const {
    int& mine = (*states)[static_cast<size_t>(step.variable)];
    float best = 0;
    int chosen = -1;
    for (int s = 0; s < sizes_[static_cast<size_t>(step.variable)]; ++s) {
      mine = s;
      float cost = 0;
      for (const Factor& f : step.factors) cost += f.values[Index(sizes_, f, *states)];
      if (chosen < 0 || cost < best) best = cost, chosen = s;
    }
    mine = chosen;
  }

  std::vector<int> sizes_;
  size_t limit_;
  std::vector<bool> left_;
  std::vector<Factor> factors_;            // without variables and values: it is in another one
  std::vector<std::vector<int>> readers_;  // by variable: numbers of factors
  std::vector<size_t> works_;              // by variable
  std::vector<Step> steps_;
};

// Whether Buckets gets to its end on what is not held, in the same order and without a table, and
// with how much work: where it does not, its tables would have been made for nothing.
class Rehearsed {
 public:
  Rehearsed(const CoreModel& model, const std::vector<bool>& held, size_t work)
      : sizes_(model.states),
        limit_(model.limit),
        most_(work),
        near_(sizes_.size()),
        works_(sizes_.size()) {
    auto free = [&](int v) { return !held[static_cast<size_t>(v)]; };
    for (const Factor& f : model.factors) {
      for (int v : f.variables) {
        for (int u : f.variables) {
          if (u != v && free(u) && free(v)) near_[static_cast<size_t>(v)].insert(u);
        }
      }
    }
    for (int v = 0; v < static_cast<int>(sizes_.size()); ++v) {
      if (free(v)) Enqueue(v);
    }
  }

  bool Ends() {
    while (!queue_.empty()) {
      auto [work, v] = *queue_.begin();
      if (work == kTooMany || (work_ += work) > most_) return false;
      Eliminate(v);
    }
    return true;
  }
  size_t work() const { return work_; }

 private:
  void Enqueue(int v) {
    size_t entries = 1, states = static_cast<size_t>(sizes_[static_cast<size_t>(v)]);
    for (int u : near_[static_cast<size_t>(v)]) {
      entries *= static_cast<size_t>(sizes_[static_cast<size_t>(u)]);
      if (entries > limit_) break;
    }
    works_[static_cast<size_t>(v)] = entries > limit_ ? kTooMany : entries * states;
    queue_.insert({works_[static_cast<size_t>(v)], v});
  }
  void Eliminate(int v) {
    queue_.erase({works_[static_cast<size_t>(v)], v});
    std::set<int> around = std::move(near_[static_cast<size_t>(v)]);
    for (int u : around) {
      std::set<int>& near = near_[static_cast<size_t>(u)];
      near.insert(around.begin(), around.end());
      near.erase(u);
      near.erase(v);
      queue_.erase({works_[static_cast<size_t>(u)], u});
      Enqueue(u);
    }
  }

  const std::vector<int>& sizes_;
  size_t limit_, most_, work_ = 0;
  std::vector<std::set<int>> near_;
  std::vector<size_t> works_;               // by variable, as in the queue
  std::set<std::pair<size_t, int>> queue_;  // the least first, and of equal ones the first
};

// Holds so many more of those with the most neighbours among what is not held.
void HoldWidest(const CoreModel& model, size_t count, std::vector<bool>* held) {
  std::vector<std::vector<int>> readers(model.states.size());
  std::vector<int> uses(model.states.size(), 0);
  for (size_t i = 0; i < model.factors.size(); ++i) {
    const std::vector<int>& variables = model.factors[i].variables;
    bool free = std::none_of(variables.begin(), variables.end(),
                             [&](int v) { return (*held)[static_cast<size_t>(v)]; });
    if (!free || variables.size() == 1) continue;
    for (int v : variables) {
      readers[static_cast<size_t>(v)].push_back(static_cast<int>(i));
      ++uses[static_cast<size_t>(v)];
    }
  }
  std::vector<bool> gone(model.factors.size(), false);
  for (; count > 0; --count) {
    size_t widest = uses.size();
    for (size_t v = 0; v < uses.size(); ++v) {
      if (!(*held)[v] && (widest == uses.size() || uses[v] > uses[widest])) widest = v;
    }
    if (widest == uses.size()) return;
    (*held)[widest] = true;
    for (int number : readers[widest]) {
      if (gone[static_cast<size_t>(number)]) continue;
      gone[static_cast<size_t>(number)] = true;
      for (int v : model.factors[static_cast<size_t>(number)].variables)
        --uses[static_cast<size_t>(v)];
    }
  }
}

// The model with what `hold` makes of each factor and held variable of it.
template <class F>
CoreModel Without(const CoreModel& model, const std::vector<bool>& held, F hold) {
  CoreModel rest = model;
  for (Factor& f : rest.factors) {
    std::vector<int> variables = f.variables;
    for (int v : variables) {
      if (held[static_cast<size_t>(v)]) f = hold(f, v);
    }
  }
  return rest;
}

// A bound: held variables may choose anew in each of their tables.
Factor Least(const CoreModel& model, const Factor& f, int variable) {
  Factor least = Hold(model.states, f, variable, 0);
  for (int s = 1; s < model.states[static_cast<size_t>(variable)]; ++s) {
    Factor other = Hold(model.states, f, variable, s);
    for (size_t i = 0; i < other.values.size(); ++i)
      least.values[i] = std::min(least.values[i], other.values[i]);
  }
  return least;
}

std::optional<CoreSolution> Solve(const CoreModel& model) {
  CoreSolution solution;
  if (!Buckets(model).Run(&solution.states, &solution.cost)) return std::nullopt;
  return solution;
}

// Improves held variables one by one, all others staying.
class HeldStates {
 public:
  HeldStates(const CoreModel& model, const std::vector<bool>& held)
      : model_(model), held_(held), readers_(held.size()) {
    for (size_t i = 0; i < model.factors.size(); ++i) {
      for (int v : model.factors[i].variables) {
        if (held[static_cast<size_t>(v)]) readers_[static_cast<size_t>(v)].push_back(i);
      }
    }
  }
  void Improve(std::vector<int>* states) const {
    for (size_t v = 0; v < held_.size(); ++v) {
      if (held_[v]) Improve(v, states);
    }
  }

 private:
  void Improve(size_t variable, std::vector<int>* states) const {
    int& mine = (*states)[variable];
    double best = 0;
    int chosen = -1;
    for (int s = 0; s < model_.states[variable]; ++s) {
      mine = s;
      double cost = 0;
      for (size_t i : readers_[variable]) {
        const Factor& f = model_.factors[i];
        cost += f.values[Index(model_.states, f, *states)];
      }
      if (chosen < 0 || cost < best) best = cost, chosen = s;
    }
    mine = chosen;
  }

  const CoreModel& model_;
  const std::vector<bool>& held_;
  std::vector<std::vector<size_t>> readers_;  // by variable: numbers of factors
};

// A bound, and states to begin with: what is held is alone.
CoreSolution Relaxed(const CoreModel& model, const std::vector<bool>& held) {
  CoreModel freed =
      Without(model, held, [&](const Factor& f, int v) { return Least(model, f, v); });
  for (size_t v = 0; v < held.size(); ++v) {
    if (held[v])
      freed.factors.push_back(
          {{static_cast<int>(v)}, std::vector<float>(static_cast<size_t>(model.states[v]), 0.0f)});
  }
  std::optional<CoreSolution> relaxed = Solve(freed);
  MS_ASSERT(relaxed.has_value());
  return *relaxed;
}

}  // namespace

CoreSolution SolveCore(const CoreModel& model) {
  if (model.states.empty()) return {};
  std::vector<bool> held(model.states.size(), false);
  Rehearsed whole(model, held, model.work);
  if (whole.Ends()) {
    std::optional<CoreSolution> exact = Solve(model);
    MS_ASSERT(exact.has_value());
    exact->bound = exact->cost;
    exact->work = whole.work();
    return *exact;
  }
  size_t work = 0;
  for (size_t count = 0;;) {  // a few too many in the end, so that there are few rehearsals
    size_t more = 1 + count / 8;
    HoldWidest(model, more, &held);
    count += more;
    Rehearsed rest(model, held, model.work / kShareOfWork);
    bool ends = rest.Ends();
    work = rest.work();
    if (ends) break;
  }
  // Held where they are best for the others' choice, and again.
  CoreSolution best, relaxed = Relaxed(model, held);
  std::vector<int> states = relaxed.states;
  best.cost = std::numeric_limits<double>::infinity();
  best.work = work;
  HeldStates improved(model, held);
  for (int round = 0; round < kRounds; ++round) {
    improved.Improve(&states);
    CoreModel rest = Without(model, held, [&](const Factor& f, int v) {
      return Hold(model.states, f, v, states[static_cast<size_t>(v)]);
    });
    std::optional<CoreSolution> next = Solve(rest);
    MS_ASSERT(next.has_value());
    best.work += work;
    for (size_t v = 0; v < held.size(); ++v) {
      if (!held[v]) states[v] = next->states[v];
    }
    double cost = CostOf(model, states);
    if (cost >= best.cost * (1 - 1e-7)) break;
    best.cost = cost;
    best.states = states;
  }
  best.bound = relaxed.cost;
  return best;
}

}  // namespace ms::parallel
