// Comparing modules up to renaming; see text.h. Two graphs are walked at once from their outputs
// and effects; each node of one is tied to one node of the other, so that sharing and copies are
// told apart. No recursion.
#include <algorithm>
#include <unordered_map>

#include "ir/op.h"
#include "ir/text.h"

namespace ms {
namespace {

class Comparison {
 public:
  std::string Run(const Module& a, const Module& b) {
    if (!a.main() || !b.main())
      return a.main() == b.main() ? "" : "only one module has a main graph";
    Tie(a.main(), b.main());
    while (reason_.empty() && !graphs_.empty()) {
      auto [x, y] = graphs_.back();
      graphs_.pop_back();
      CompareGraphs(*x, *y);
    }
    return reason_;
  }

 private:
  template <class... Args>
  void Differ(fmt::format_string<Args...> format, Args&&... args) {
    if (reason_.empty()) reason_ = fmt::format(format, std::forward<Args>(args)...);
  }

  void Tie(const Graph* a, const Graph* b) {
    if (!a || !b) return a == b ? void() : Differ("a reference to a graph is missing");
    auto [forth, fresh] = graph_of_.try_emplace(a, b);
    auto [back, fresh_back] = graph_of_back_.try_emplace(b, a);
    if (forth->second != b || back->second != a) {
      Differ("'{}' corresponds to two graphs, '{}' among them", a->name(), b->name());
    } else if (fresh) {
      graphs_.emplace_back(a, b);
    }
  }

  void Tie(const Var& a, const Var& b) {
    if (a.index != b.index) return Differ("other outputs of {} are used", Describe(*a.node));
    TieNodes(a.node, b.node);
  }

  void TieNodes(const Node* a, const Node* b) {
    const Node*& forth = tied_[a->id];
    const Node*& back = tied_back_[b->id];
    if (forth == b && back == a) return;
    if (forth || back)
      return Differ("{} corresponds to two nodes, {} among them", Describe(*a), Describe(*b));
    forth = b;
    back = a;
    ++count_;
    nodes_.emplace_back(a, b);
  }

  static std::string Describe(const Node& node) {
    switch (node.kind) {
      case NodeKind::kParameter:
        return fmt::format("parameter '{}' of '{}'", node.name, node.graph->name());
      case NodeKind::kConstant:
        return fmt::format("constant %{} of '{}'", node.id, node.graph->name());
      case NodeKind::kApply:
        break;
    }
    return fmt::format("{} (node {} of '{}')", node.op->name, node.id, node.graph->name());
  }

  void CompareGraphs(const Graph& a, const Graph& b) {
    tied_.assign(a.nodes().size(), nullptr);
    tied_back_.assign(b.nodes().size(), nullptr);
    nodes_.clear();
    count_ = 0;
    if (a.captures().size() != b.captures().size() ||
        a.parameters().size() != b.parameters().size()) {
      return Differ("'{}' and '{}' take different numbers of captures or parameters", a.name(),
                    b.name());
    }
    if (a.outputs().size() != b.outputs().size() || a.finished() != b.finished()) {
      return Differ("'{}' and '{}' return different numbers of values", a.name(), b.name());
    }
    if (a.updates != b.updates)
      return Differ("'{}' and '{}' update different inputs", a.name(), b.name());
    if (a.loop.trip_count != b.loop.trip_count)
      return Differ("'{}' and '{}' differ in trip count", a.name(), b.name());
    Tie(a.loop.body, b.loop.body);
    Tie(a.loop.done, b.loop.done);
    Vars inputs_a = a.inputs(), inputs_b = b.inputs();
    for (size_t i = 0; i < inputs_a.size(); ++i) Tie(inputs_a[i], inputs_b[i]);
    for (size_t i = 0; i < a.outputs().size(); ++i) Tie(a.outputs()[i], b.outputs()[i]);
    TieEffects(a, b);
    CompareNodes();
    CompareDeadNodes(a, b);
  }

  static std::vector<const Node*> Effects(const Graph& graph) {
    std::vector<const Node*> effects;
    for (const Node* n : graph.nodes()) {
      if (n->kind == NodeKind::kApply && n->op->effect != Effect::kNone) effects.push_back(n);
    }
    return effects;
  }

  void TieEffects(const Graph& a, const Graph& b) {
    auto effects_a = Effects(a), effects_b = Effects(b);
    if (effects_a.size() != effects_b.size()) {
      return Differ("'{}' has {} effects, '{}' has {}", a.name(), effects_a.size(), b.name(),
                    effects_b.size());
    }
    for (size_t i = 0; i < effects_a.size(); ++i) TieNodes(effects_a[i], effects_b[i]);
  }

  void CompareNodes() {
    while (reason_.empty() && !nodes_.empty()) {
      auto [a, b] = nodes_.back();
      nodes_.pop_back();
      CompareNode(*a, *b);
    }
  }

  void CompareNode(const Node& a, const Node& b) {
    if (a.kind != b.kind || a.op != b.op || a.inputs.size() != b.inputs.size()) {
      return Differ("{} is not {}", Describe(a), Describe(b));
    }
    if (!(a.outputs == b.outputs)) {
      return Differ("{} has the types {} and {}", Describe(a), ToString(a.outputs),
                    ToString(b.outputs));
    }
    if (a.kind == NodeKind::kConstant && !Equal(Attr(a.value), Attr(b.value))) {
      return Differ("the values of {} and {} differ", Describe(a), Describe(b));
    }
    size_t attrs = a.attrs ? a.attrs->size() : 0;
    if (attrs != (b.attrs ? b.attrs->size() : 0))
      return Differ("{} has other attributes", Describe(a));
    for (size_t i = 0; i < attrs; ++i) {
      const Attr &x = (*a.attrs)[i], &y = (*b.attrs)[i];
      if (std::holds_alternative<Graph*>(x) && std::holds_alternative<Graph*>(y)) {
        Tie(std::get<Graph*>(x), std::get<Graph*>(y));
      } else if (!Equal(x, y)) {
        return Differ("{} has {}={} and {}", Describe(a), a.op->attributes[i].name, ToString(x),
                      ToString(y));
      }
    }
    for (size_t i = 0; i < a.inputs.size(); ++i) Tie(a.inputs[i], b.inputs[i]);
  }

  // What no output needs must be the same too: last ones first, they pull in what they use.
  void CompareDeadNodes(const Graph& a, const Graph& b) {
    size_t j = b.nodes().size();
    for (size_t i = a.nodes().size(); i-- > 0 && reason_.empty();) {
      if (tied_[i]) continue;
      while (j > 0 && tied_back_[j - 1]) --j;
      if (j == 0) return Differ("'{}' has more nodes than '{}'", a.name(), b.name());
      TieNodes(a.nodes()[i], b.nodes()[j - 1]);
      CompareNodes();
    }
    if (count_ < b.nodes().size()) Differ("'{}' has more nodes than '{}'", b.name(), a.name());
  }

  std::string reason_;
  std::unordered_map<const Graph*, const Graph*> graph_of_, graph_of_back_;
  std::vector<std::pair<const Graph*, const Graph*>> graphs_;
  // Of the graphs being compared, by node id.
  std::vector<const Node*> tied_, tied_back_;
  std::vector<std::pair<const Node*, const Node*>> nodes_;
  size_t count_ = 0;
};

}  // namespace

std::string Difference(const Module& a, const Module& b) { return Comparison().Run(a, b); }

}  // namespace ms
