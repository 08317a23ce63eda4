#include "passes/graph_rules.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace ms {
namespace {

constexpr std::string_view kIgnored = "_";

// Which statement defines the name, and as which of its results; (-1, 0) where none does.
std::pair<int, uint32_t> DefinitionOf(const std::vector<Statement>& statements,
                                      std::string_view name) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const auto& results = statements[i].results;
    auto at = std::find(results.begin(), results.end(), name);
    if (name != kIgnored && at != results.end())
      return {static_cast<int>(i), static_cast<uint32_t>(at - results.begin())};
  }
  return {-1, 0};
}

bool Defines(const std::vector<Statement>& statements, std::string_view name) {
  return DefinitionOf(statements, name).first >= 0;
}

// Names of values that a pattern reads, in order.
void NamesIn(const Pattern& pattern, std::vector<std::string_view>* names) {
  if (pattern.kind == Pattern::Kind::kVar) names->push_back(pattern.name);
  for (const Pattern& argument : pattern.arguments) NamesIn(argument, names);
}

// Whether there is a number among the values: nothing says of which type to make it.
bool HasNumber(const Pattern& pattern) {
  bool number = pattern.kind == Pattern::Kind::kNumber || pattern.kind == Pattern::Kind::kText;
  return number || std::any_of(pattern.arguments.begin(), pattern.arguments.end(), HasNumber);
}

std::vector<std::string_view> ReadBy(const Statement& statement) {
  std::vector<std::string_view> names;
  NamesIn(statement.value, &names);
  return names;
}

std::vector<GraphRule> OrdersOf(const GraphRule& rule) {
  std::vector<GraphRule> orders{rule};
  for (size_t i = 0; i < rule.from.size(); ++i) {
    std::vector<GraphRule> more;
    for (const GraphRule& order : orders) {
      for (Pattern& value : OrdersOf(rule.from[i].value)) {
        more.push_back(order);
        more.back().from[i].value = std::move(value);
      }
    }
    orders = std::move(more);
  }
  return orders;
}

}  // namespace

// An application of a rule.
struct GraphRules::Found {
  const GraphRule* rule;
  Match match;
  std::vector<const Node*> nodes;   // of the statements of `from`
  std::vector<const Node*> gone;    // those that go, and what they are nested in
  std::vector<uint32_t> positions;  // of the statements of `to`: ids of nodes
  std::map<std::string_view, Var> made;
};

// What applications have found so far: nodes that go, and those that must stay.
struct GraphRules::Taken {
  std::set<const Node*> gone, kept;
};

// Looks for one rule at one node.
class GraphRules::Search {
 public:
  Search(const GraphRules& rules, const GraphRule& rule, const Readers& readers, const Taken& taken)
      : rules_(rules), readers_(readers), taken_(taken) {
    found_.rule = &rule;
    found_.nodes.resize(rule.from.size());
  }

  bool At(const Node& root) {
    found_.match.root_ = &root;
    const GraphRule& rule = *found_.rule;
    if (!MatchStatement(rule.from.size() - 1, root) || !MatchReaders()) return false;
    if (rule.condition && !rule.condition(found_.match)) return false;
    return MayGo() && Place() && KeepsTypes();
  }
  Found& found() { return found_; }

 private:
  bool MatchNode(const Pattern& pattern, const Node& node) {
    if (!node.op || node.op->name != pattern.name || taken_.gone.contains(&node)) return false;
    if (pattern.arguments.size() != node.inputs.size()) return false;
    if (!RuleAttributes::Match(pattern, node, found_.match)) return false;
    for (size_t i = 0; i < pattern.arguments.size(); ++i) {
      if (!MatchValue(pattern.arguments[i], node.inputs[i])) return false;
    }
    return true;
  }

  bool MatchValue(const Pattern& pattern, const Var& v) {
    if (pattern.kind == Pattern::Kind::kNumber) return IsSplat(v, pattern.number);
    if (pattern.repeat) return MatchBehind(pattern, v);
    if (pattern.kind == Pattern::Kind::kApply) {
      found_.gone.push_back(v.node);
      return v.index == 0 && MatchNode(pattern, *v.node);
    }
    auto [statement, index] = DefinitionOf(found_.rule->from, pattern.name);
    if (statement < 0) return found_.match.Bind(pattern.name, v);
    return v.index == index && MatchStatement(static_cast<size_t>(statement), *v.node);
  }

  bool MatchBehind(const Pattern& pattern, Var v) {
    for (; v.node->op && v.node->op->name == pattern.name; v = v.node->inputs.at(0)) {
      if (taken_.gone.contains(v.node)) return false;
      found_.gone.push_back(v.node);
    }
    return MatchValue(pattern.arguments[0], v);
  }

  bool MatchStatement(size_t i, const Node& node) {
    if (found_.nodes[i]) return found_.nodes[i] == &node;
    const Statement& statement = found_.rule->from[i];
    if (statement.results.size() > node.outputs.size()) return false;
    found_.nodes[i] = &node;
    for (uint32_t k = 0; k < statement.results.size(); ++k) {
      if (statement.results[k] != kIgnored)
        found_.match.Bind(statement.results[k], {const_cast<Node*>(&node), k});
    }
    return MatchNode(statement.value, node);
  }

  // Statements to which nothing leads from the root: they read what is known by now.
  bool MatchReaders() {
    for (size_t i = 0; i < found_.nodes.size(); ++i) {
      if (!found_.nodes[i] && !MatchReader(i)) return false;
    }
    return true;
  }

  bool MatchReader(size_t i) {
    for (std::string_view name : ReadBy(found_.rule->from[i])) {
      const auto& vars = found_.match.vars_;
      auto bound = std::find_if(vars.begin(), vars.end(), [&](auto& v) { return v.first == name; });
      if (bound == vars.end()) continue;
      Found before = found_;
      for (const Node* reader : readers_[bound->second]) {
        if (reader && MatchStatement(i, *reader)) return true;
        found_ = before;
      }
      return false;
    }
    return false;
  }

  // Whether the new nodes read the result, and do not define it.
  bool IsRead(std::string_view name) const {
    const auto& to = found_.rule->to;
    return !Defines(to, name) && std::any_of(to.begin(), to.end(), [&](const Statement& s) {
      auto names = ReadBy(s);
      return std::find(names.begin(), names.end(), name) != names.end();
    });
  }

  // Whether nobody else reads what is not replaced.
  bool MayGo() {
    const GraphRule& rule = *found_.rule;
    for (size_t i = 0; i < rule.from.size(); ++i) {
      const auto& results = rule.from[i].results;
      bool stays = std::any_of(results.begin(), results.end(),
                               [&](const std::string& name) { return IsRead(name); });
      if (!stays) found_.gone.push_back(found_.nodes[i]);
    }
    for (const Node* node : found_.gone) {
      if (taken_.kept.contains(node)) return false;
      for (uint32_t k = 0; k < node->outputs.size(); ++k) {
        Var v{const_cast<Node*>(node), k};
        if (IsReplaced(v)) continue;
        for (const Node* reader : readers_[v]) {
          if (!Goes(reader)) return false;
        }
      }
    }
    return true;
  }

  bool Goes(const Node* node) const {
    return std::find(found_.gone.begin(), found_.gone.end(), node) != found_.gone.end();
  }

  bool IsReplaced(const Var& v) const {
    for (const auto& [name, bound] : found_.match.vars_) {
      if (bound == v && Defines(found_.rule->from, name) && Defines(found_.rule->to, name))
        return true;
    }
    return false;
  }

  // Where each new node stands; false where something that it reads comes later, or goes.
  bool Place() {
    const auto& to = found_.rule->to;
    auto& positions = found_.positions;
    positions.assign(to.size(), std::numeric_limits<uint32_t>::max());
    for (size_t i = to.size(); i-- > 0;) {
      for (const std::string& name : to[i].results) {
        if (Defines(found_.rule->from, name))
          positions[i] = std::min(positions[i], found_.match[name].node->id);
      }
      for (std::string_view name : ReadBy(to[i])) {  // made before it is read
        if (auto [made, k] = DefinitionOf(to, name); made >= 0) {
          auto& position = positions[static_cast<size_t>(made)];
          position = std::min(position, positions[i]);
        }
      }
    }
    for (size_t i = 0; i < to.size(); ++i) {
      for (std::string_view name : ReadBy(to[i])) {
        if (Defines(to, name)) continue;
        const Node* node = found_.match[name].node;
        if (node->id >= positions[i] || Goes(node)) return false;
      }
    }
    return true;
  }

  bool KeepsTypes() const {
    std::map<std::string_view, Type> made;
    try {
      for (const Statement& statement : found_.rule->to) {
        if (rules_.values_.contains(statement.value.name)) continue;  // when it has been made
        Types types = TypesOf(statement.value, made);
        for (size_t k = 0; k < statement.results.size(); ++k) {
          const std::string& name = statement.results[k];
          if (name == kIgnored) continue;
          bool replaces = Defines(found_.rule->from, name);
          if (replaces && !(types.at(k) == found_.match[name].type())) return false;
          made[name] = types.at(k);
        }
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInternal) throw;
      return false;  // an op refuses what it would read
    }
    return true;
  }

  Types TypesOf(const Pattern& pattern, const std::map<std::string_view, Type>& made) const {
    if (pattern.kind == Pattern::Kind::kVar) {
      auto at = made.find(pattern.name);
      return {at == made.end() ? found_.match[pattern.name].type() : at->second};
    }
    const OpDef& op = Ops().Get(pattern.name);
    Types in;
    for (const Pattern& argument : pattern.arguments) in.push_back(TypesOf(argument, made).at(0));
    static const Attrs kNone;
    AttrsRef attrs = rules_.attributes_.Make(op, pattern, found_.match);
    return Infer(op, in, attrs ? *attrs : kNone);
  }

  Found found_;
  const GraphRules& rules_;
  const Readers& readers_;
  const Taken& taken_;
};

GraphRules::GraphRules(const std::vector<GraphRule>& rules, AttrFunctions functions,
                       ValueFunctions values)
    : attributes_(std::move(functions)), values_(std::move(values)) {
  for (const GraphRule& rule : rules) {
    Check(rule);
    for (GraphRule& order : OrdersOf(rule)) rules_.push_back(std::move(order));
  }
}

void GraphRules::Check(const GraphRule& rule) {
  auto require = [&](bool ok, std::string_view name, const char* what) {
    if (!ok)
      Throw(ErrorKind::kInternal, "a rule to '{}': '{}' {}",
            rule.to.empty() ? "" : rule.to[0].value.name, name, what);
  };
  std::set<std::string_view> known, made;
  for (const Statement& statement : rule.from) {
    for (std::string_view name : ReadBy(statement)) known.insert(name);
    for (std::string_view name : statement.results) {
      require(name == kIgnored || made.insert(name).second, name, "is defined twice");
      known.insert(name);
    }
  }
  bool replaces = false;
  std::set<std::string_view> local;
  for (const Statement& statement : rule.to) {
    require(!HasNumber(statement.value), statement.value.name, "is given a number");
    for (std::string_view name : ReadBy(statement)) {
      require(local.contains(name) || (known.contains(name) && !Defines(rule.to, name)), name,
              "is read and not there");
    }
    for (std::string_view name : statement.results) {
      require(name == kIgnored || local.insert(name).second, name, "is replaced twice");
      require(!known.contains(name) || made.contains(name), name, "is no result");
      replaces |= made.contains(name);
    }
  }
  require(replaces, rule.from.back().value.name, "has no result that is replaced");
}

void GraphRules::Index() const {
  indexed_.Do([this] {
    MS_ASSERT(UnknownOps().empty());
    for (const GraphRule& rule : rules_) {
      if (const OpDef* op = Ops().Find(rule.from.back().value.name)) by_root_[op].push_back(&rule);
    }
  });
}

void GraphRules::Build(Rewriter& rewriter, Found& found, size_t statement) const {
  const auto& [results, value] = found.rule->to[statement];
  GraphEmitter& emitter = rewriter.emitter();
  auto build = [&](auto& self, const Pattern& pattern) -> Vars {
    if (pattern.kind == Pattern::Kind::kVar) {
      auto made = found.made.find(pattern.name);
      return {made == found.made.end() ? rewriter.Current(found.match[pattern.name])
                                       : made->second};
    }
    Vars inputs, outputs;
    for (const Pattern& argument : pattern.arguments) inputs.push_back(self(self, argument)[0]);
    auto function = values_.find(pattern.name);
    if (function == values_.end()) {
      const OpDef& op = Ops().Get(pattern.name);
      return emitter.Emit(op, inputs, attributes_.Make(op, pattern, found.match));
    }
    Terms terms;
    for (const Var& v : inputs) terms.push_back(emitter.Wrap(v));
    for (const Term& t : function->second(emitter, terms, found.match)) outputs.push_back(t.var);
    return outputs;
  };
  Vars made = build(build, value);
  for (size_t k = 0; k < results.size(); ++k) {
    if (results[k] == kIgnored) continue;
    found.made[results[k]] = made[k];
    if (!Defines(found.rule->from, results[k])) continue;
    MS_ASSERT(made[k].type() == found.match[results[k]].type());
    rewriter.Replace(found.match[results[k]], made[k]);
  }
}

bool GraphRules::Apply(Graph* graph) const {
  Index();
  Readers readers(*graph);
  Taken taken;
  std::vector<Found> all;
  for (size_t i = graph->nodes().size(); i-- > 0;) {
    const Node& node = *graph->nodes()[i];
    auto rules = by_root_.find(node.op);
    if (rules == by_root_.end()) continue;
    for (const GraphRule* rule : rules->second) {
      Search search(*this, *rule, readers, taken);
      if (!search.At(node)) continue;
      Found& found = search.found();
      taken.gone.insert(found.gone.begin(), found.gone.end());
      for (const Node* part : found.nodes) {
        if (!taken.gone.contains(part)) taken.kept.insert(part);
      }
      all.push_back(std::move(found));
      break;
    }
  }
  if (all.empty()) return false;
  std::multimap<uint32_t, std::pair<Found*, size_t>> places;
  for (Found& found : all) {
    for (size_t i = 0; i < found.positions.size(); ++i)
      places.emplace(found.positions[i], std::pair(&found, i));
  }
  Rewriter rewriter(graph);
  rewriter.Walk([&](Node& node) {
    auto [first, last] = places.equal_range(node.id);
    for (auto at = first; at != last; ++at) Build(rewriter, *at->second.first, at->second.second);
    if (taken.gone.contains(&node)) rewriter.Drop(node);
  });
  return true;
}

std::vector<std::string> GraphRules::UnknownOps() const {
  std::vector<std::string> unknown;
  std::vector<const Pattern*> pending;
  for (const GraphRule& rule : rules_) {
    for (const auto* statements : {&rule.from, &rule.to}) {
      for (const Statement& statement : *statements) pending.push_back(&statement.value);
    }
  }
  while (!pending.empty()) {
    const Pattern& pattern = *pending.back();
    pending.pop_back();
    const OpDef* op = pattern.kind == Pattern::Kind::kApply ? Ops().Find(pattern.name) : nullptr;
    if (pattern.kind == Pattern::Kind::kApply && !op && !values_.contains(pattern.name))
      unknown.push_back(pattern.name);
    for (const auto& attribute : pattern.attributes) {
      if (op && op->AttrIndex(attribute.name) < 0)
        unknown.push_back(pattern.name + "." + attribute.name);
    }
    for (const Pattern& argument : pattern.arguments) pending.push_back(&argument);
  }
  return unknown;
}

}  // namespace ms
