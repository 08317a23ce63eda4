// Changing graphs. A Rewriter rebuilds a graph in one walk in program order; a RuleTable holds
// rules written in the IR's own syntax: Rule("Mul{x, 1}").To("x"). Both are linear in the size of
// the graph. Rules that replace several nodes at once are those of passes/graph_rules.h.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "ir/op.h"

namespace ms {

// Visits the nodes of a graph in program order. When a node is visited, its inputs already read the
// replacements of what was replaced; nodes that the visitor emits come before it.
class Rewriter {
 public:
  explicit Rewriter(Graph* graph);

  Graph* graph() const { return graph_; }
  GraphEmitter& emitter() { return emitter_; }
  // visit: void(Node&), applied to the nodes that were there at the start. Ends by setting order
  // and outputs.
  template <class F>
  void Walk(F&& visit) {
    for (at_ = 0; at_ < count_; ++at_) {
      Node* node = graph_->nodes()[at_];
      Enter(*node);
      visit(*node);
      Leave(*node);
    }
    Finish();
  }

  // Later uses of `from` read `to`, which must be final: made by this walk, or already visited.
  void Replace(const Var& from, const Var& to);
  // The node, and its effect, disappears; its outputs must have been replaced or be unused.
  void Drop(const Node& node) {
    Begin();
    dropped_[node.id] = true;
    any_dropped_ = changed_ = true;
  }
  Var Current(const Var& v) const;
  bool changed() const { return changed_; }

 private:
  // Makes the tables, at the first change: most walks change nothing.
  void Begin();
  void Enter(Node& node);
  void Leave(Node& node);
  void Finish();

  Graph* graph_;
  GraphEmitter emitter_;
  size_t count_;                 // nodes at the start
  size_t at_ = 0;                // node that is visited
  std::vector<uint32_t> first_;  // by node id: where its outputs start in replacement_
  std::vector<Var> replacement_;
  std::vector<bool> dropped_;
  std::vector<Node*> order_;
  size_t emitted_;  // nodes of the graph that already have a place in order_
  bool begun_ = false;
  bool changed_ = false;
  bool any_dropped_ = false;
  bool any_replaced_ = false;
};

// What a rule found: values and attributes by the names used in its text.
class Match {
 public:
  const Var& operator[](std::string_view name) const;
  const Attr& attr(std::string_view name) const;
  template <class T>
  const T& attr(std::string_view name) const {
    return std::get<T>(attr(name));
  }
  const Node& root() const { return *root_; }

 private:
  friend class RuleTable;
  friend class GraphRules;
  friend class RuleAttributes;
  // What the name is bound to already, or `v` from now on.
  bool Bind(std::string_view name, const Var& v);

  const Node* root_ = nullptr;
  std::vector<std::pair<std::string_view, Var>> vars_;
  std::vector<std::pair<std::string_view, const Attr*>> attrs_;
};

// Op(arguments, attr=name): lower-case names stand for values; numbers for constants all of whose
// elements are that number. Op{x, y} has its two arguments in either order. An attribute is matched
// against a name (bound, or equal to what it was bound to), a number, a "text", or is not asked
// for.
struct Pattern {
  enum class Kind : uint8_t { kVar, kNumber, kText, kApply };
  Kind kind = Kind::kVar;
  std::string name;  // variable; op; function of attributes; text
  double number = 0;
  bool either = false;  // of two arguments: in either order
  bool repeat = false;  // Op*(x): any number of them, in graph rules
  std::vector<Pattern> arguments;
  struct Attribute;
  std::vector<Attribute> attributes;
};
struct Pattern::Attribute {
  std::string name;
  Pattern value;
};
Pattern ParsePattern(std::string_view text);
// The pattern in each order of arguments that it allows.
std::vector<Pattern> OrdersOf(const Pattern& pattern);

// x, y = Op(...): names of results from the first, `_` for one that does not matter.
struct Statement {
  std::vector<std::string> results;
  Pattern value;
};
// One on each line, or separated by `;`.
std::vector<Statement> ParseStatements(std::string_view text);

// A constant, or Fill, that is `number` in every element.
bool IsSplat(const Var& v, double number);

struct Rule {
  explicit Rule(std::string_view from) : pattern(ParsePattern(from)) {}
  // Attributes may be computed: perm=Compose(p, q), from functions that the table is given.
  Rule& To(std::string_view text) {
    result = ParsePattern(text);
    return *this;
  }
  Rule& When(std::function<bool(const Match&)> test) {
    condition = std::move(test);
    return *this;
  }

  Pattern pattern;
  Pattern result;
  std::function<bool(const Match&)> condition;
};

using AttrFunction = std::function<Attr(const std::vector<Attr>&)>;
using AttrFunctions = std::unordered_map<std::string, AttrFunction>;

// Attributes in rules: what a pattern asks of those of a node, and what it gives to a new one.
class RuleAttributes {
 public:
  explicit RuleAttributes(AttrFunctions functions) : functions_(std::move(functions)) {}
  static bool Match(const Pattern& pattern, const Node& node, ms::Match& match);
  AttrsRef Make(const OpDef& op, const Pattern& pattern, const ms::Match& match) const;

 private:
  Attr Value(const Pattern& pattern, const ms::Match& match) const;
  AttrFunctions functions_;
};

class RuleTable {
 public:
  RuleTable(std::initializer_list<Rule> rules, AttrFunctions functions = {});

  // The replacement of the node's output 0 by the first rule that fits and keeps its type; null
  // when none does.
  Var Apply(const Node& node, Emitter& emitter) const;
  // Names in the rules that are no ops: must be empty (tested).
  std::vector<std::string> UnknownOps() const;

 private:
  void Index() const;
  bool Matches(const Pattern& pattern, const Var& v, Match& match) const;
  bool MatchesNode(const Pattern& pattern, const Node& node, Match& match) const;
  bool KeepsType(const Pattern& pattern, const Match& match) const;
  Type TypeOf(const Pattern& pattern, const Match& match) const;
  Var Build(const Pattern& pattern, const Match& match, Emitter& emitter) const;

  std::vector<Rule> rules_;
  RuleAttributes attributes_;
  mutable std::unordered_map<const OpDef*, std::vector<const Rule*>> by_root_;
  mutable Once indexed_;
};

}  // namespace ms
