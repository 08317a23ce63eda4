#include "passes/parallel/states.h"

#include <algorithm>

namespace ms::parallel {
namespace {

bool MayBecome(const Layout& from, const Layout& to, const Mesh& mesh) {
  for (int axis = 0; axis < mesh.count(); ++axis) {
    if (to.partial(axis) != Partial::kNone && to.partial(axis) != from.partial(axis)) return false;
  }
  return true;
}

}  // namespace

size_t StateTables::KeyHash::operator()(const StatesKey& k) const {
  size_t hash = static_cast<size_t>(k.kind) * 4096 + k.axes;
  for (uint32_t mask : k.tied) hash = HashCombine(hash, mask);
  for (const Choice& choice : k.choices) {
    for (int8_t c : choice) hash = HashCombine(hash, static_cast<uint8_t>(c));
  }
  return hash;
}
size_t StateTables::KeyHash::operator()(const TableKey& k) const {
  size_t hash = static_cast<size_t>(k.type) * 2 + k.back;
  for (int n : {k.from, k.from_end, k.to, k.to_end})
    hash = HashCombine(hash, static_cast<size_t>(n));
  return HashCombine(hash, std::hash<float>()(k.times));
}

void WayTable::Widen() {
  int wider = std::max(16, 2 * width_);
  while (wider < std::min(count_, kSquare)) wider *= 2;
  std::vector<WaySeconds> ways(static_cast<size_t>(wider) * static_cast<size_t>(wider));
  for (int row = 0; row < width_; ++row)
    std::copy_n(ways_.begin() + static_cast<std::ptrdiff_t>(row) * width_, width_,
                ways.begin() + static_cast<std::ptrdiff_t>(row) * wider);
  ways_ = std::move(ways);
  width_ = wider;
}

StateTables::StateTables(const Problem& problem, const Mesh& mesh)
    : problem_(problem), mesh_(mesh), redistributor_(mesh_) {
  ways_.resize(problem.types.size());
}

void StateTables::Add(const Kind& kind, const Choice& choice, States* states) {
  Strategy strategy;
  if (!kind.Build(mesh_, choice, &strategy)) return;
  states->choices.push_back(choice);
  states->seconds.push_back(static_cast<float>(strategy.seconds));
  states->bytes.push_back(static_cast<float>(strategy.bytes));
  auto append = [&](const std::vector<End>& ends, std::vector<std::vector<States::Numbers>>* to) {
    to->resize(ends.size());
    for (size_t i = 0; i < ends.size(); ++i)
      (*to)[i].push_back({layouts_.Number(ends[i].layout), layouts_.Number(ends[i].gradient)});
  };
  append(strategy.inputs, &states->inputs);
  append(strategy.outputs, &states->outputs);
}

// What a kind may choose along all of some axes; nothing: none of them is there.
std::optional<std::vector<int8_t>> StateTables::OptionsOfAll(const Kind& kind,
                                                             uint32_t axes) const {
  std::optional<std::vector<int8_t>> common;
  for (int axis = 0; axis < mesh_.count(); ++axis) {
    if (!(axes >> axis & 1)) continue;
    const std::vector<int8_t>& options = kind.options(axis);
    if (!common) common = options;
    std::erase_if(*common, [&](int8_t c) {
      return std::find(options.begin(), options.end(), c) == options.end();
    });
  }
  return common;
}

std::vector<Choice> StateTables::ChoicesOf(const Kind& kind, const Choice& first, uint32_t axes,
                                           const std::vector<uint32_t>& tied) const {
  std::vector<Choice> choices{first};
  auto choose = [&](uint32_t mask, const std::vector<int8_t>& options) {
    std::vector<Choice> more;
    for (const Choice& c : choices) {
      for (int8_t option : options) {
        more.push_back(c);
        for (int axis = 0; axis < mesh_.count(); ++axis) {
          if (mask >> axis & 1) more.back()[static_cast<size_t>(axis)] = option;
        }
      }
    }
    choices = std::move(more);
  };
  for (uint32_t mask : tied) {
    auto options = OptionsOfAll(kind, mask);
    if (!options || options->empty()) continue;  // each of the axes for itself
    choose(mask, *options);
    axes &= ~mask;
  }
  for (int axis = 0; axis < mesh_.count(); ++axis) {
    if ((axes >> axis & 1) && mesh_.size(axis) > 1) choose(1u << axis, kind.options(axis));
  }
  return choices;
}

template <class F>
const States& StateTables::Once(const Kind& kind, StatesKey key, F choices) {
  std::unique_ptr<States>& states = states_[std::move(key)];
  if (states) return *states;
  states = std::make_unique<States>();
  states->id = made_++;
  for (const Choice& c : choices()) Add(kind, c, states.get());
  return *states;
}

const States& StateTables::Of(const Kind& kind, const Choice& base, uint32_t axes,
                              const std::vector<uint32_t>& tied) {
  if (kind.fixed()) return Of(kind, *kind.fixed());
  Choice first = base;
  for (int axis = 0; axis < mesh_.count(); ++axis) {
    if (axes >> axis & 1) first[static_cast<size_t>(axis)] = kAlike;
  }
  const States& states = Once(kind, {kind.id, axes, tied, {first}},
                              [&] { return ChoicesOf(kind, first, axes, tied); });
  if (states.size() > 0) return states;
  MS_ASSERT(!tied.empty());  // only what is tied need not go together
  return Of(kind, base, axes);
}

const States& StateTables::Among(const Kind& kind, std::vector<Choice> choices) {
  if (kind.fixed()) choices = {*kind.fixed()};
  std::sort(choices.begin(), choices.end());
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  const States& states = Once(kind, {kind.id, 0, {}, choices}, [&] { return choices; });
  MS_ASSERT(states.size() > 0);
  return states;
}

float StateTables::Way(int type, int from, int to) {
  if (from == to) return 0;
  WaySeconds& known = ways_[static_cast<size_t>(type)].at(from, to);
  if (known.exact()) return known.about();
  const Layout &a = layouts_[from], &b = layouts_[to];
  if (!MayBecome(a, b, mesh_)) return known.Exactly(kNever);
  return known.Exactly(
      static_cast<float>(redistributor_.Seconds(problem_.types[static_cast<size_t>(type)], a, b)));
}

float StateTables::AboutWay(int type, int from, int to) {
  if (from == to) return 0;
  WaySeconds& known = ways_[static_cast<size_t>(type)].at(from, to);
  if (!known.asked() && far_ways_ < kAllWays) {
    const Layout &a = layouts_[from], &b = layouts_[to];
    if (!MayBecome(a, b, mesh_)) return known.Exactly(kNever);
    double seconds = 0;
    bool near =
        redistributor_.NearSeconds(problem_.types[static_cast<size_t>(type)], a, b, &seconds);
    if (near) return known.Exactly(static_cast<float>(seconds));
    known.About(static_cast<float>(seconds));
  }
  if (known.exact() || far_ways_ == 0) return known.about();
  if (far_ways_ < kAllWays) --far_ways_;
  return Way(type, from, to);
}

double StateTables::Seconds(const Link& link, const States& from, int i, const States& to, int j) {
  const States::Numbers& a =
      from.outputs[static_cast<size_t>(link.from_end)][static_cast<size_t>(i)];
  const States::Numbers& b = to.inputs[static_cast<size_t>(link.to_end)][static_cast<size_t>(j)];
  double there = Way(link.type, a.layout, b.layout);
  return link.times * (link.back ? there + Way(link.type, b.gradient, a.gradient) : there);
}

int StateTables::Table(const Link& link, const States& from, const States& to, TablePool* pool) {
  if (pool != pool_) tables_.clear(), pool_ = pool;
  TableKey key{link.type, from.id, link.from_end, to.id, link.to_end, link.back, link.times};
  auto [place, fresh] = tables_.try_emplace(key, 0);
  if (!fresh) return place->second;
  const auto& ends = from.outputs[static_cast<size_t>(link.from_end)];
  const auto& starts = to.inputs[static_cast<size_t>(link.to_end)];
  std::vector<float> table;
  table.reserve(static_cast<size_t>(from.size()) * static_cast<size_t>(to.size()));
  for (const States::Numbers& a : ends) {
    for (const States::Numbers& b : starts) {
      float seconds = AboutWay(link.type, a.layout, b.layout);
      if (link.back && seconds < kNever) seconds += AboutWay(link.type, b.gradient, a.gradient);
      table.push_back(std::min(kNever, link.times * seconds));
    }
  }
  return place->second = pool->Add(from.size(), to.size(), std::move(table));
}

}  // namespace ms::parallel
