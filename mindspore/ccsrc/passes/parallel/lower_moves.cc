#include "passes/parallel/lower_moves.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ir/op.h"

namespace ms::parallel {

Processes::Processes(Module* module, const Mesh& mesh, int64_t rank, std::string group_prefix,
                     int64_t first)
    : module_(module),
      mesh_(mesh),
      rank_(rank),
      prefix_(std::move(group_prefix)),
      first_(first),
      redistributor_(mesh) {}

namespace {

std::string GroupName(const std::string& prefix, const std::vector<int>& ranks) {
  constexpr size_t kShown = 32;
  if (ranks.size() <= kShown) return fmt::format("{}ranks {}", prefix, fmt::join(ranks, ","));
  size_t hash = 0;
  for (int rank : ranks) hash = HashCombine(hash, static_cast<size_t>(rank));
  return fmt::format("{}ranks {}...{} #{:x}", prefix, ranks.front(), ranks.back(), hash);
}

}  // namespace

ProcessGroup GroupOfAll(const Mesh& mesh) {
  std::vector<int> ranks(static_cast<size_t>(mesh.devices()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return {GroupName("", ranks), ranks};
}

Processes::Members Processes::Along(const AxisList& axes) {
  Members members;
  members.ranks = mesh_.Members(rank_, axes);
  auto here = std::find(members.ranks.begin(), members.ranks.end(), rank_);
  members.here = here - members.ranks.begin();
  ProcessGroup& group = groups_[std::vector<int>(axes.begin(), axes.end())];
  if (group.name.empty()) {
    for (int64_t member : members.ranks) group.ranks.push_back(static_cast<int>(first_ + member));
    group.name = GroupName(prefix_, group.ranks);
  }
  members.attrs = {{"group", group.name},
                   {"members", static_cast<int64_t>(members.ranks.size())},
                   {"rank", members.here},
                   {"number", ++number_}};
  return members;
}

std::vector<ProcessGroup> Processes::groups() const {
  std::vector<ProcessGroup> result;
  std::set<std::string> seen;
  for (const auto& [axes, group] : groups_) {
    if (seen.insert(group.name).second) result.push_back(group);
  }
  return result;
}

AxisList ChangedAxes(const Layout& a, const Layout& b) {
  std::set<int> changed;
  for (int dim = 0; dim < a.rank(); ++dim) {
    AxisList before = a.axes_of(dim), after = b.axes_of(dim);
    int same = 0;
    while (same < before.size() && same < after.size() && before[same] == after[same]) ++same;
    for (int i = same; i < before.size(); ++i) changed.insert(before[i]);
    for (int i = same; i < after.size(); ++i) changed.insert(after[i]);
  }
  AxisList axes;
  for (int axis : changed) axes.push_back(axis);
  return axes;
}

Var Mover::Bring(Var value, const Type& whole, const Place& from, const Place& to,
                 AxisMask entered) {
  if (whole.is_tensor()) return MoveTensor(value, whole, from.layout, to.layout, entered);
  if (!whole.is_function() || SamePlaces(whole, from, to)) return value;
  return Around(value, whole, from, to);
}

namespace {

// Of the moves that gather, those after which nothing else moves along their axes, all of which are
// entered: one op does both.
std::vector<bool> Entering(const std::vector<Move>& moves, AxisMask* entered) {
  std::vector<bool> result(moves.size(), false);
  AxisMask later = 0;
  for (size_t i = moves.size(); i-- > 0;) {
    AxisMask mask = 0;
    for (int axis : moves[i].axes) mask |= AxisMask{1} << axis;
    bool fits = moves[i].kind == Move::kAllGather && (mask & ~*entered) == 0 && !(mask & later);
    if (fits) {
      result[i] = true;
      *entered &= ~mask;
    }
    later |= mask;
  }
  return result;
}

}  // namespace

Var Mover::MoveTensor(Var value, const Type& whole, const Layout& from, const Layout& to,
                      AxisMask entered) {
  Term x = emitter_.Wrap(value);
  if (!(from == to)) {
    const Path& path = processes_.redistributor().Find(whole, from, to);
    std::vector<bool> entering = Entering(path.moves, &entered);
    Layout at = from;
    for (size_t i = 0; i < path.moves.size(); ++i) {
      x = Apply(x, whole.shape(), at, path.moves[i], entering[i]);
      at = path.moves[i].after;
    }
    MS_ASSERT(at == to);
  }
  AxisList axes;
  for (int axis = 0; axis < processes_.mesh().count(); ++axis) {
    if ((entered >> axis) & 1 && processes_.mesh().size(axis) > 1) axes.push_back(axis);
  }
  if (!axes.empty()) x = emitter_.Call("ShardEnter", {x}, processes_.Along(axes).attrs);
  return x.var;
}

Term Mover::Sum(const Term& x, const parallel::Move& move) {
  NamedAttrs attrs = processes_.Along(move.axes).attrs;
  Partial how = move.reduction == Partial::kNone ? Partial::kSum : move.reduction;
  attrs.emplace_back("op", std::string(Name(how)));
  return emitter_.Call("ShardSum", {x}, attrs);
}

Term Mover::Apply(const Term& x, const Shape& whole, const Layout& before,
                  const parallel::Move& move, bool entered) {
  int64_t members = 1;
  for (int axis : move.axes) members *= processes_.mesh().size(axis);
  if (members == 1) return x;
  switch (move.kind) {
    case Move::kSlice:
      return AlongDim("ShardSlice", x, whole, move.axes, move.after, move.to_dim);
    case Move::kAllGather:
      return AlongDim("ShardGather", x, whole, move.axes, before, move.from_dim, entered);
    case Move::kReduceScatter:
      if (move.reduction == Partial::kSum || move.reduction == Partial::kNone)
        return AlongDim("ShardScatter", x, whole, move.axes, move.after, move.to_dim);
      // Extremes are found whole.
      return AlongDim("ShardSlice", Sum(x, move), whole, move.axes, move.after, move.to_dim);
    case Move::kAllReduce:
      return Sum(x, move);
    case Move::kAllToAll:
    case Move::kPermute:
      return Exchange(x, whole, before, move.after);
  }
  Throw(ErrorKind::kInternal, "there is no such move");
}

// `cut`: the layout in which the dimension is in pieces.
Term Mover::AlongDim(const char* op, const Term& x, const Shape& whole, const AxisList& axes,
                     const Layout& cut, int dim, bool entered) {
  Processes::Members members = processes_.Along(axes);
  Ints counts;
  for (int64_t rank : members.ranks)
    counts.push_back(cut.BoxOf(whole, processes_.mesh(), rank)[static_cast<size_t>(dim)].size);
  NamedAttrs attrs = members.attrs;
  attrs.emplace_back("dim", int64_t{dim});
  attrs.emplace_back("counts", counts);
  if (entered) attrs.emplace_back("entered", true);
  return emitter_.Call(op, {x}, attrs);
}

namespace {

// What two boxes share, by its offset in the first; nothing where they do not trade.
void AppendShared(const Box& of, const Box& other, bool trade, Ints* code) {
  bool empty = !trade;
  Ints found;
  for (size_t i = 0; i < of.size(); ++i) {
    int64_t first = std::max(of[i].offset, other[i].offset);
    int64_t last = std::min(of[i].offset + of[i].size, other[i].offset + other[i].size);
    empty |= last <= first;
    found.push_back(first - of[i].offset);
    found.push_back(last - first);
  }
  if (empty) std::fill(found.begin(), found.end(), 0);
  code->insert(code->end(), found.begin(), found.end());
}

}  // namespace

// Of what several processes have alike, each takes its part from the one that stands where it does.
Mover::Trade Mover::TradeOf(const Shape& whole, const Layout& before, const Layout& after,
                            const AxisList& axes, const std::vector<int64_t>& ranks) const {
  const Mesh& mesh = processes_.mesh();
  int64_t here = processes_.rank();
  Box mine = before.BoxOf(whole, mesh, here), result = after.BoxOf(whole, mesh, here);
  Trade trade;
  for (int64_t rank : ranks) {
    bool trades = std::all_of(axes.begin(), axes.end(), [&](int axis) {
      return !before.replicated(axis) || mesh.Coordinate(rank, axis) == mesh.Coordinate(here, axis);
    });
    AppendShared(mine, after.BoxOf(whole, mesh, rank), trades, &trade.sends);
    AppendShared(result, before.BoxOf(whole, mesh, rank), trades, &trade.receives);
  }
  for (const Extent& extent : result) trade.shape.push_back(extent.size);
  return trade;
}

Term Mover::Exchange(const Term& x, const Shape& whole, const Layout& before, const Layout& after) {
  AxisList axes = ChangedAxes(before, after);
  Processes::Members members = processes_.Along(axes);
  Trade there = TradeOf(whole, before, after, axes, members.ranks);
  Trade back = TradeOf(whole, after, before, axes, members.ranks);
  NamedAttrs attrs = members.attrs;
  attrs.emplace_back("sends", there.sends);
  attrs.emplace_back("receives", there.receives);
  attrs.emplace_back("shape", there.shape);
  attrs.emplace_back("back_sends", back.sends);
  attrs.emplace_back("back_receives", back.receives);
  return emitter_.Call("ShardExchange", {x}, attrs);
}

// A function that brings its arguments to where the given one takes them, and its results back.
Var Mover::Around(Var function, const Type& whole, const Place& from, const Place& to) {
  Graph* graph = processes_.module()->NewGraph("moved");
  GraphEmitter inside(graph);
  Mover mover(processes_, inside);
  Var f{graph->AddParameter(function.type(), "f", true), 0};
  const FunctionType& type = whole.function();
  Vars arguments;
  for (size_t i = 0; i < type.parameters.size(); ++i) {
    const Place &given = to.function->parameters[i], &wanted = from.function->parameters[i];
    Type local = processes_.Local(type.parameters[i], given);
    Var x{graph->AddParameter(local, fmt::format("x{}", i)), 0};
    arguments.push_back(mover.Bring(x, type.parameters[i], given, wanted));
  }
  Vars results = inside.CallFunction(f, arguments);
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = mover.Bring(results[i], type.results[i], from.function->results[i],
                             to.function->results[i]);
  }
  graph->SetOutputs(std::move(results));
  return emitter_.Partial(graph, {function});
}

}  // namespace ms::parallel
