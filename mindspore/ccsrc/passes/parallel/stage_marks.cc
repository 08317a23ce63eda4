#include "passes/parallel/stage_marks.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/control.h"
#include "ir/span.h"

namespace ms::parallel {
namespace {

int64_t BytesOf(const Node& node) {
  int64_t bytes = 0;
  for (const Type& type : node.outputs) {
    if (type.is_tensor()) bytes += static_cast<int64_t>(type.bytes());
  }
  return bytes;
}

// "2" of "2.weight": what the cell is called that has the Parameter.
std::string CellOf(const std::string& name) {
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

// The function that a Call of main applies, where it is the gradient of a known one.
const Node* DifferentiatedBy(const Node& call) {
  const Node* f = call.inputs[0].node;
  bool transformed = false;
  while (f->kind == NodeKind::kApply && !PartialGraph(f)) {
    bool through = IsTransform(*f) || f->op == Control().custom_grad;
    if (!through) return nullptr;
    transformed |= IsTransform(*f);
    f = f->inputs[0].node;
  }
  return transformed && PartialGraph(f) ? f : nullptr;
}

// Which inputs of main a site's inputs are; -1: something that was computed, or data.
std::vector<int> ParametersOf(const Site& site, const Graph& main,
                              const std::vector<bool>& parameters) {
  std::unordered_map<const Node*, int> number;
  int next = 0;
  for (const Var& v : main.inputs()) number[v.node] = next++;
  std::vector<int> found;
  for (const Var& v : site.bound) {
    auto it = number.find(v.node);
    bool parameter = it != number.end() && parameters[static_cast<size_t>(it->second)];
    found.push_back(parameter ? it->second : -1);
  }
  return found;
}

// Cuts a row of cells into stages so that the slowest one is as quick as can be.
class OwnCut {
 public:
  OwnCut(const Site& site, const Graph& main, const std::vector<bool>& parameters,
         const StageWork& work)
      : inputs_(ParametersOf(site, main, parameters)) {
    const Graph& graph = *site.graph;
    std::unordered_map<const Node*, size_t> place;
    for (const Var& v : graph.inputs()) place.emplace(v.node, place.size());
    std::map<std::string, int64_t> cells;
    Marks cell_of(inputs_.size(), kAllStages);
    Vars main_inputs = main.inputs();
    for (const Node* node : graph.nodes()) {
      for (const Var& v : node->inputs) {
        auto at = place.find(v.node);
        if (at == place.end() || inputs_[at->second] < 0) continue;
        const Node& parameter = *main_inputs[static_cast<size_t>(inputs_[at->second])].node;
        auto number = static_cast<int64_t>(cells.size());
        cell_of[at->second] = cells.try_emplace(CellOf(parameter.name), number).first->second;
      }
    }
    cells_ = std::move(cell_of);
    Measure(graph, static_cast<int64_t>(cells.size()), work);
  }

  int64_t cells() const { return static_cast<int64_t>(seconds_.size()); }

  // For each input of the site its stage; nothing where those that are marked already are not in
  // order. `all`: each stage gets a cell.
  std::optional<Marks> Cut(const PipelineOptions& options, const Marks& main_marks,
                           bool all) const {
    int64_t stages = options.stages;
    auto n = static_cast<size_t>(cells());
    Marks known(n, kAllStages);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (cells_[i] < 0 || inputs_[i] < 0) continue;
      int64_t& of_cell = known[static_cast<size_t>(cells_[i])];
      of_cell = std::max(of_cell, main_marks[static_cast<size_t>(inputs_[i])]);
    }
    std::vector<double> before(n + 1, 0);
    for (size_t i = 0; i < n; ++i) before[i + 1] = before[i] + seconds_[i];
    // Of the first i cells, in as many stages as were added so far: what the slowest one computes
    // or sends, and, where sending decides, how even the stages are.
    using Score = std::pair<double, double>;
    constexpr Score kNone{1e300, 1e300};
    std::vector<Score> best(n + 1, kNone);
    std::vector<std::vector<size_t>> begin(static_cast<size_t>(stages), std::vector<size_t>(n + 1));
    best[0] = {0, 0};
    for (int64_t s = 0; s < stages; ++s) {
      std::vector<Score> next(n + 1, kNone);
      std::vector<size_t>& from = begin[static_cast<size_t>(s)];
      for (size_t end = all ? 1 : 0; end <= n; ++end) {
        double sends = end > 0 && end < n ? options.alpha + bytes_[end - 1] * options.beta : 0;
        for (size_t i = end + (all ? 0 : 1); i-- > 0;) {
          if (i < end && known[i] >= 0 && known[i] != s) break;  // that one is elsewhere
          double computes = before[end] - before[i];
          Score whole{std::max({best[i].first, computes, sends}),
                      best[i].second + computes * computes};
          if (whole <= next[end]) next[end] = whole, from[end] = i;
        }
      }
      best = std::move(next);
    }
    if (best[n] == kNone) return std::nullopt;
    std::vector<int64_t> stage_of(n);
    size_t end = n;
    for (int64_t s = stages; s-- > 0;) {
      size_t first = begin[static_cast<size_t>(s)][end];
      std::fill(stage_of.begin() + static_cast<std::ptrdiff_t>(first),
                stage_of.begin() + static_cast<std::ptrdiff_t>(end), s);
      end = first;
    }
    Marks marks(inputs_.size(), kAllStages);
    for (size_t i = 0; i < marks.size(); ++i) {
      if (cells_[i] >= 0) marks[i] = stage_of[static_cast<size_t>(cells_[i])];
    }
    return marks;
  }

 private:
  // Each node counts for the last cell that it depends on; what is read behind a later cell goes
  // through all cuts in between.
  void Measure(const Graph& graph, int64_t cells, const StageWork& work) {
    seconds_.assign(static_cast<size_t>(cells), 0);
    bytes_.assign(static_cast<size_t>(cells), 0);
    if (cells == 0) return;
    Marks last = StagesOf(graph, cells_);
    std::vector<int64_t> read(graph.nodes().size(), -1);
    for (const Node* node : graph.nodes()) {
      int64_t mine = std::max<int64_t>(last[node->id], 0);
      if (last[node->id] >= 0) seconds_[static_cast<size_t>(mine)] += work.Of(*node).all();
      for (const Var& v : node->inputs) read[v.node->id] = std::max(read[v.node->id], mine);
    }
    for (const Node* node : graph.nodes()) {
      if (node->kind != NodeKind::kApply || last[node->id] < 0) continue;
      auto bytes = static_cast<double>(BytesOf(*node));
      for (int64_t i = last[node->id]; i < read[node->id]; ++i)
        bytes_[static_cast<size_t>(i)] += bytes;
    }
  }

  std::vector<int> inputs_;  // of the site
  Marks cells_;
  std::vector<double> seconds_, bytes_;  // by cell: what it takes, what goes on behind it
};

// A mark must not fall along the way: some stage would have to wait for one behind it.
class OrderCheck {
 public:
  OrderCheck(const Graph& graph, const Marks& inputs, std::vector<int> parameters)
      : stages_(StagesOf(graph, inputs)), readers_(graph.nodes().size()), data_(readers_.size()) {
    size_t i = 0;
    for (const Var& v : graph.inputs()) data_[v.node->id] = parameters[i++] < 0;
    for (const Node* node : graph.nodes()) {
      for (const Var& v : node->inputs) {
        readers_[v.node->id].push_back(node);
        data_[node->id] = data_[node->id] || data_[v.node->id];
      }
    }
  }
  // Whether data meets the value in its own stage, or nothing reads it.
  bool Fits(const Node* value) const {
    if (readers_[value->id].empty()) return true;
    return std::any_of(
        readers_[value->id].begin(), readers_[value->id].end(), [&](const Node* reader) {
          return stages_[reader->id] == stages_[value->id] && (data_[reader->id] || Fits(reader));
        });
  }
  // What reads it in a later stage, and the stage.
  std::pair<const Node*, int64_t> Reader(const Node* value) const {
    for (const Node* reader : readers_[value->id]) {
      if (stages_[reader->id] != stages_[value->id]) return {reader, stages_[reader->id]};
      if (auto found = Reader(reader); found.first) return found;
    }
    return {nullptr, kAllStages};
  }

 private:
  Marks stages_;
  std::vector<std::vector<const Node*>> readers_;
  std::vector<bool> data_;
};

// Some cell of what is differentiated must be in each of the stages.
void CheckAllMarked(const Graph& main, const std::vector<Site>& sites, const Marks& marks,
                    int64_t stages, const std::vector<bool>& parameters) {
  std::vector<bool> has(static_cast<size_t>(stages), false);
  for (const Site& site : sites) {
    for (int number : ParametersOf(site, main, parameters)) {
      int64_t stage = number < 0 ? kAllStages : marks[static_cast<size_t>(number)];
      if (stage >= 0) has[static_cast<size_t>(stage)] = true;
    }
  }
  for (int64_t s = 0; s < stages; ++s) {
    if (has[static_cast<size_t>(s)]) continue;
    Throw(ErrorKind::kValue,
          "For 'pipeline_stage', each of the {} stages must have a cell with trained Parameters, "
          "but none is marked with {}: mark one, set 'pipeline_stages' to as many as there are, "
          "or mark no cell at all, and the compiler cuts the network.",
          stages, s);
  }
}

void CheckOrder(const Graph& main, const Site& site, const Marks& marks,
                const std::vector<bool>& parameters) {
  std::vector<int> numbers = ParametersOf(site, main, parameters);
  Vars names = main.inputs(), inputs = site.graph->inputs();
  Marks of_inputs;
  for (int number : numbers)
    of_inputs.push_back(number < 0 ? kAllStages : marks[static_cast<size_t>(number)]);
  OrderCheck check(*site.graph, of_inputs, numbers);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (of_inputs[i] < 0 || check.Fits(inputs[i].node)) continue;
    auto [reader, stage] = check.Reader(inputs[i].node);
    const std::string& name = names[static_cast<size_t>(numbers[i])].node->name;
    Throw(ErrorKind::kValue,
          "For 'pipeline_stage', marks must not fall on the way through the network, but the cell "
          "'{}' (Parameter '{}') is marked with {} and uses what stage {} has made{}: mark it with "
          "{} or later.",
          CellOf(name), name, of_inputs[i], stage,
          reader && reader->span ? " at " + ShortSpan(reader->span) : "", stage);
  }
}

// Of what is differentiated, each once.
std::vector<Site> EachOnce(const std::vector<Site>& sites) {
  std::vector<Site> each;
  for (const Site& site : sites) {
    bool known = std::any_of(each.begin(), each.end(),
                             [&](const Site& other) { return other.graph == site.graph; });
    if (!known) each.push_back(site);
  }
  return each;
}

void CheckNumbers(const Graph& main, const Marks& marks, int64_t stages) {
  for (size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] < stages) continue;
    const std::string& name = main.inputs()[i].node->name;
    Throw(ErrorKind::kValue,
          "For 'pipeline_stage', a stage must be in [0, {}), as 'pipeline_stages' says, but the "
          "cell '{}' (Parameter '{}') is marked with {}.",
          stages, CellOf(name), name, marks[i]);
  }
}

}  // namespace

std::vector<Site> FindSites(Module& module) {
  std::vector<Site> sites;
  Graph* main = module.main();
  for (const Node* node : main->nodes()) {
    if (node->op != Control().call) continue;
    const Node* partial = DifferentiatedBy(*node);
    if (!partial) continue;
    Site site{PartialGraph(partial), partial->inputs};
    site.bound.insert(site.bound.end(), node->inputs.begin() + 1, node->inputs.end());
    size_t count = site.graph->inputs().size();
    if (site.bound.size() < count) continue;
    site.bound.resize(count);  // tangents may follow
    sites.push_back(std::move(site));
  }
  if (sites.empty()) sites.push_back({main, main->inputs()});
  return sites;
}

Marks ChooseMarks(const std::vector<Site>& all, const Graph& main, const PipelineOptions& options,
                  const std::vector<bool>& parameters, const StageWork& work,
                  std::vector<std::string>* warnings) {
  std::vector<Site> sites = EachOnce(all);
  Marks marks = options.marks;
  marks.resize(main.inputs().size(), kAllStages);
  CheckNumbers(main, marks, options.stages);
  bool trains = sites[0].graph != &main;
  if (std::any_of(marks.begin(), marks.end(), [](int64_t m) { return m >= 0; })) {
    if (trains) CheckAllMarked(main, sites, marks, options.stages, parameters);
    for (const Site& site : sites) {
      if (trains) CheckOrder(main, site, marks, parameters);
    }
    return marks;
  }
  for (const Site& site : sites) {
    OwnCut cut(site, main, parameters, work);
    bool first = site.graph == sites[0].graph;
    if (first && cut.cells() < options.stages) {
      if (!trains) return marks;
      Throw(ErrorKind::kValue,
            "For 'pipeline_stages', a network must have at least as many cells with Parameters as "
            "stages, {}, but it has {}.",
            options.stages, cut.cells());
    }
    std::vector<int> numbers = ParametersOf(site, main, parameters);
    std::optional<Marks> found = cut.Cut(options, marks, first);
    if (!found) {
      warnings->push_back(fmt::format(
          "For 'pipeline_stages', of the {} networks that the step differentiates '{}' could not "
          "be cut, as it uses cells of the others in another order: what it has alone is held by "
          "all "
          "stages that use it. Mark cells with pipeline_stage.",
          sites.size(), site.graph->name()));
      continue;
    }
    for (size_t i = 0; i < found->size(); ++i) {
      if (numbers[i] >= 0) marks[static_cast<size_t>(numbers[i])] = (*found)[i];
    }
  }
  return marks;
}

}  // namespace ms::parallel
