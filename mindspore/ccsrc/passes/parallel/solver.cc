#include "passes/parallel/solver.h"

namespace ms::parallel {
namespace {

constexpr size_t kEntries = size_t{1} << 20;  // of a table
// Entries of tables that are looked at for variables with many neighbours, ...
constexpr size_t kWorkAtOnce = size_t{1} << 30;
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

double HeldByAll(const std::vector<StageMemory>& memory, const InStages& stages) {
  double held = 0;
  for (size_t s = 0; s < memory.size(); ++s)
    held += memory[s].lasting + memory[s].once + stages.most_parts[s] * memory[s].part;
  return held;
}

}  // namespace

Solver::Solver(const Problem& problem, const PlanOptions& options)
    : problem_(problem), options_(options), tables_(problem, options.mesh) {
  for (int axis = 0; axis < options.mesh.count(); ++axis) {
    if (options.mesh.size(axis) > 1) axes_.push_back(axis);
  }
  for (const Variable& v : problem.variables) {
    std::vector<StageMemory> one(static_cast<size_t>(options.stages.count()));
    AddHeld(v.keeping, 1, options.stages.parts, &one);
    held_.push_back(HeldByAll(one, options.stages));
  }
}

std::vector<Choice> Solver::Start() const {
  std::vector<Choice> choices;
  for (const Variable& v : problem_.variables) choices.push_back(v.kind->start());
  return choices;
}

// An axis on which a node does not compute parts of the batch, for goals without seconds.
float Solver::Deviation(const Kind& kind, const Choice& choice) const {
  const auto* node = dynamic_cast<const ComputeKind*>(&kind);
  if (!node) return 0;
  double cost = 0;
  for (int axis : axes_) {
    int8_t c = choice[static_cast<size_t>(axis)];
    bool alike = c < 0;
    if (alike && node->data()) cost += kIdle;
    if (!alike && !(node->data() && node->CutsBatch(c))) cost += kDeviation;
  }
  return static_cast<float>(cost);
}

int Solver::OwnCosts(const Goal& goal, size_t variable, const States& states) {
  const Variable& v = problem_.variables[variable];
  double share = static_cast<double>(variable) / static_cast<double>(held_.size());
  double held = held_[variable] * (1 + goal.tilt * share);
  auto [place, fresh] = own_.try_emplace({goal.follow, goal.price, states.id, v.times, held}, 0);
  if (!fresh) return place->second;
  auto price = static_cast<float>(goal.price * held);
  std::vector<float> costs;
  for (size_t s = 0; s < states.choices.size(); ++s) {
    costs.push_back(goal.follow ? Deviation(*v.kind, states.choices[s])
                                : states.seconds[s] + price * states.bytes[s]);
    costs.back() *= v.times;
  }
  return place->second = pool_.Add(states.size(), 1, std::move(costs));
}

Solution Solver::Along(const Goal& goal, uint32_t axes, std::vector<Choice>* choices,
                       const std::vector<uint32_t>& tied) {
  std::vector<const States*> states;
  for (size_t v = 0; v < choices->size(); ++v)
    states.push_back(&tables_.Of(*problem_.variables[v].kind, (*choices)[v], axes, tied));
  return Among(goal, states, choices);
}

Solution Solver::Among(const Goal& goal, const std::vector<const States*>& states,
                       std::vector<Choice>* choices) {
  CostModel model;
  for (size_t v = 0; v < states.size(); ++v) model.own.push_back(OwnCosts(goal, v, *states[v]));
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

Choices Solver::Measured(std::vector<Choice> choices) {
  Choices result;
  result.stages.resize(static_cast<size_t>(options_.stages.count()));
  std::vector<const States*> states;
  for (size_t v = 0; v < choices.size(); ++v) {
    const Variable& variable = problem_.variables[v];
    states.push_back(&tables_.Of(*variable.kind, choices[v]));
    auto times = static_cast<double>(variable.times);
    result.seconds += times * states.back()->seconds[0];
    AddHeld(variable.keeping, times * states.back()->bytes[0], options_.stages.parts,
            &result.stages);
  }
  for (const Link& link : problem_.links)
    result.seconds += tables_.Seconds(link, *states[static_cast<size_t>(link.from)], 0,
                                      *states[static_cast<size_t>(link.to)], 0);
  result.held = HeldByAll(result.stages, options_.stages);
  result.of = std::move(choices);
  result.bound = std::min(result.seconds, Least());
  return result;
}

// What all of it takes where everything that can be cut is shared by all devices, and nothing is
// sent.
double Solver::Least() const {
  double seconds = 0;
  for (const Variable& v : problem_.variables)
    seconds += static_cast<double>(v.times) * v.kind->Least(options_.mesh);
  return seconds;
}

}  // namespace ms::parallel
