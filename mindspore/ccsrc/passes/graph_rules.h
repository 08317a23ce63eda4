// Rules that replace several nodes at once, as statements in the IR's own syntax:
//
//   GraphRule("y, mean, var = BatchNorm(x, s, b)\n"
//             "z = ReLU(y)")
//       .To("z, mean, var = BatchNormRelu(x, s, b)")
//
// Results keep their names: what the second text defines (z, mean, var) is replaced. A node of the
// first text goes, and its other results (y) must have no reader outside of what goes; unless the
// second text reads a result of it that it does not define: then the node stays as it is. New nodes
// stand where the first of their results stood, and what they read must be there by then. A rule
// whose result would be of another type does not apply.
//
// Op*(x) in the first text is x behind any number of such ops, which go.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/rewrite.h"
#include "passes/readers.h"

namespace ms {

struct GraphRule {
  explicit GraphRule(std::string_view text) : from(ParseStatements(text)) {}
  GraphRule& To(std::string_view text) {
    to = ParseStatements(text);
    return *this;
  }
  GraphRule& When(std::function<bool(const Match&)> test) {
    condition = std::move(test);
    return *this;
  }

  std::vector<Statement> from;  // the last one is the root
  std::vector<Statement> to;
  std::function<bool(const Match&)> condition;
};

// Makes values of values: what stands in place of an op in the second text of a rule. It answers
// for their types, and no other statement reads them.
using ValueFunction = std::function<Terms(Emitter&, const Terms&, const Match&)>;
using ValueFunctions = std::unordered_map<std::string, ValueFunction>;

class GraphRules {
 public:
  // InternalError where a text uses names that it does not define.
  explicit GraphRules(const std::vector<GraphRule>& rules, AttrFunctions functions = {},
                      ValueFunctions values = {});

  // Applies rules to nodes that no other application has, from the last node of the graph to the
  // first, each time the first rule that fits. Whether there was any.
  bool Apply(Graph* graph) const;
  // Names in the rules that are no ops, or no attributes of theirs: none, which Apply makes sure
  // of.
  std::vector<std::string> UnknownOps() const;

 private:
  struct Found;
  struct Taken;
  class Search;
  static void Check(const GraphRule& rule);
  void Index() const;
  void Build(Rewriter& rewriter, Found& found, size_t statement) const;

  std::vector<GraphRule> rules_;
  RuleAttributes attributes_;
  ValueFunctions values_;
  mutable std::unordered_map<const OpDef*, std::vector<const GraphRule*>> by_root_;
  mutable Once indexed_;
};

}  // namespace ms
