#include "passes/parallel/eliminate.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "base/shape.h"
#include "passes/parallel/core.h"

namespace ms::parallel {
namespace {

constexpr size_t kWorkOfMaking = 16;  // that of an entry or a variable, in entries looked at

}  // namespace

// ---- tables ---------------------------------------------------------------------------------
size_t TablePool::KeyHash::operator()(const Key& k) const {
  size_t hash = static_cast<size_t>(k.what);
  for (int n : {k.a, k.b, k.c}) hash = HashCombine(hash, static_cast<size_t>(n));
  return hash;
}

int TablePool::Add(int rows, int columns, std::vector<float> values) {
  MS_ASSERT(values.size() == static_cast<size_t>(rows) * static_cast<size_t>(columns));
  work_ += values.size() * kWorkOfMaking;
  tables_.push_back({rows, columns, std::move(values)});
  return static_cast<int>(tables_.size()) - 1;
}

template <class F>
int TablePool::Once(const Key& key, F make) {
  auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  int table = make();
  made_.emplace(key, table);
  return table;
}

int TablePool::Transposed(int table) {
  int result = Once({0, table, 0, 0}, [&] {
    Table t = (*this)[table];
    std::vector<float> values;
    values.reserve(t.values.size());
    for (int c = 0; c < t.columns; ++c) {
      for (int r = 0; r < t.rows; ++r) values.push_back(t.at(r, c));
    }
    return Add(t.columns, t.rows, std::move(values));
  });
  made_.try_emplace({0, result, 0, 0}, table);
  return result;
}

int TablePool::Sum(int a, int b) {
  if (a > b) std::swap(a, b);
  return Once({1, a, b, 0}, [&] {
    const Table &x = (*this)[a], &y = (*this)[b];
    std::vector<float> values(x.values.size());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::min(kNever, x.values[i] + y.values[i]);
    return Add(x.rows, x.columns, std::move(values));
  });
}

int TablePool::Best(int table, int own) {
  return Once({2, table, own, 0}, [&] {
    const Table &t = (*this)[table], &o = (*this)[own];
    std::vector<float> values;
    for (int r = 0; r < t.rows; ++r) {
      float best = kNever;
      for (int c = 0; c < t.columns; ++c)
        best = std::min(best, t.at(r, c) + o.values[static_cast<size_t>(c)]);
      values.push_back(best);
    }
    return Add(t.rows, 1, std::move(values));
  });
}

int TablePool::Best(int left, int own, int right) {
  return Once({3, left, own, right}, [&] {
    const Table &x = (*this)[left], &o = (*this)[own], &y = (*this)[right];
    auto width = static_cast<size_t>(y.columns);
    AddWork(x.values.size() * width);
    std::vector<float> values(static_cast<size_t>(x.rows) * width, kNever);
    for (int r = 0; r < x.rows; ++r) {
      float* row = values.data() + static_cast<size_t>(r) * width;
      for (int c = 0; c < x.columns; ++c) {
        float here = x.at(r, c) + o.values[static_cast<size_t>(c)];
        if (here >= kNever) continue;
        const float* other = y.values.data() + static_cast<size_t>(c) * width;
        for (size_t b = 0; b < width; ++b) row[b] = std::min(here + other[b], row[b]);
      }
    }
    return Add(x.rows, y.columns, std::move(values));
  });
}

// ---- elimination ----------------------------------------------------------------------------
namespace {

class Eliminator {
 public:
  Eliminator(const CostModel& model, TablePool* pool, size_t limit, size_t work)
      : pool_(*pool),
        limit_(limit),
        work_(work),
        own_(model.own),
        near_(model.own.size()),
        gone_(model.own.size()) {
    for (const Weighted& w : model.pairs) Connect(w.from, w.to, w.table);
    pool->AddWork(kWorkOfMaking * (own_.size() + model.pairs.size()));
  }

  Solution Run() {
    auto n = static_cast<int>(own_.size());
    for (int v = 0; v < n; ++v) Enqueue(v);
    Drain();
    CoreSolution core = SolveCore(Core());
    pool_.AddWork(core.work);
    Solution solution;
    solution.states.assign(own_.size(), 0);
    for (size_t i = 0; i < core_.size(); ++i)
      solution.states[static_cast<size_t>(core_[i])] = core.states[i];
    for (size_t i = steps_.size(); i-- > 0;) Decide(steps_[i], &solution.states);
    solution.cost = core.cost;
    solution.bound = constant_ + core.bound;
    return solution;
  }

 private:
  struct Near {
    int other;
    int table;  // rows: states of this one
  };
  struct Step {
    int variable;
    std::vector<Near> near;  // as it was
    int own;
  };

  int States(int v) const { return pool_[own_[static_cast<size_t>(v)]].rows; }

  void Put(int v, int other, int table) {
    for (Near& n : near_[static_cast<size_t>(v)]) {
      if (n.other == other) {
        n.table = pool_.Sum(n.table, table);
        return;
      }
    }
    near_[static_cast<size_t>(v)].push_back({other, table});
  }
  void Connect(int a, int b, int table) {
    if (a == b) {  // a value that goes to itself
      const TablePool::Table t = pool_[table];
      std::vector<float> values;
      for (int i = 0; i < t.rows; ++i) values.push_back(t.at(i, i));
      AddOwn(a, pool_.Add(t.rows, 1, std::move(values)));
      return;
    }
    Put(a, b, table);
    Put(b, a, pool_.Transposed(table));
  }
  void AddOwn(int v, int vector) {
    int& own = own_[static_cast<size_t>(v)];
    own = pool_.Sum(own, vector);
  }
  void Remove(int v, int other) {
    std::erase_if(near_[static_cast<size_t>(v)], [&](const Near& n) { return n.other == other; });
  }

  void Enqueue(int v) {
    size_t degree = near_[static_cast<size_t>(v)].size();
    if (degree <= 1 || States(v) == 1)
      leaves_.push_back(v);
    else if (degree == 2)
      links_.push_back(v);
  }
  void Drain() {
    while (!leaves_.empty() || !links_.empty()) {
      std::deque<int>& queue = leaves_.empty() ? links_ : leaves_;
      int v = queue.front();
      queue.pop_front();
      if (!gone_[static_cast<size_t>(v)]) Eliminate(v);
    }
  }
  void Eliminate(int v) {
    std::vector<Near> near = std::move(near_[static_cast<size_t>(v)]);
    int own = own_[static_cast<size_t>(v)];
    if (States(v) > 1 && near.size() > 2) {  // it has gained neighbours
      near_[static_cast<size_t>(v)] = std::move(near);
      return;
    }
    gone_[static_cast<size_t>(v)] = true;
    for (const Near& n : near) Remove(n.other, v);
    if (near.size() == 2 && States(v) > 1) {
      int table = pool_.Best(pool_.Transposed(near[0].table), own, near[1].table);
      Connect(near[0].other, near[1].other, table);
    } else if (near.empty()) {
      constant_ += *std::min_element(pool_[own].values.begin(), pool_[own].values.end());
    } else {
      // Of one state: what it costs itself counts once.
      for (size_t i = 0; i < near.size(); ++i)
        AddOwn(near[i].other, pool_.Best(pool_.Transposed(near[i].table), i ? Nothing() : own));
    }
    for (const Near& n : near) Enqueue(n.other);
    steps_.push_back({v, std::move(near), own});
  }
  int Nothing() {
    if (nothing_ < 0) nothing_ = pool_.Add(1, 1, {0});
    return nothing_;
  }

  void Decide(const Step& step, std::vector<int>* states) const {
    const TablePool::Table& own = pool_[step.own];
    float best = 0;
    int chosen = -1;
    for (int s = 0; s < own.rows; ++s) {
      float cost = own.values[static_cast<size_t>(s)];
      for (const Near& n : step.near)
        cost += pool_[n.table].at(s, (*states)[static_cast<size_t>(n.other)]);
      if (chosen < 0 || cost < best) best = cost, chosen = s;
    }
    (*states)[static_cast<size_t>(step.variable)] = chosen;
  }

  // What has three neighbours and more.
  CoreModel Core() {
    CoreModel core;
    core.limit = limit_;
    core.work = work_;
    std::vector<int> place(own_.size(), -1);
    for (size_t v = 0; v < own_.size(); ++v) {
      if (gone_[v]) continue;
      place[v] = static_cast<int>(core_.size());
      core_.push_back(static_cast<int>(v));
      core.states.push_back(States(static_cast<int>(v)));
      core.factors.push_back({{place[v]}, pool_[own_[v]].values});
    }
    for (int v : core_) {
      for (const Near& n : near_[static_cast<size_t>(v)]) {
        if (n.other > v)
          core.factors.push_back(
              {{place[static_cast<size_t>(v)], place[static_cast<size_t>(n.other)]},
               pool_[n.table].values});
      }
    }
    return core;
  }

  TablePool& pool_;
  size_t limit_, work_;
  std::vector<int> own_;
  std::vector<std::vector<Near>> near_;
  std::vector<bool> gone_;
  std::deque<int> leaves_, links_;
  std::vector<Step> steps_;
  std::vector<int> core_;
  double constant_ = 0;
  int nothing_ = -1;
};

}  // namespace

double CostOf(const CostModel& model, const TablePool& pool, const std::vector<int>& states) {
  double cost = 0;
  for (size_t v = 0; v < model.own.size(); ++v)
    cost += pool[model.own[v]].values[static_cast<size_t>(states[v])];
  for (const Weighted& w : model.pairs)
    cost +=
        pool[w.table].at(states[static_cast<size_t>(w.from)], states[static_cast<size_t>(w.to)]);
  return cost;
}

Solution Minimise(const CostModel& model, TablePool* pool, size_t limit, size_t work) {
  Solution solution = Eliminator(model, pool, limit, work).Run();
  solution.cost = CostOf(model, *pool, solution.states);
  return solution;
}

}  // namespace ms::parallel
