// A module as variables with few choices each, and links between them: what the search minimises.
// A variable is a node, or a value that lies somewhere: a parameter or a result of a graph. Values
// that calls hand on are one variable with those that receive them.
#pragma once

#include <unordered_map>

#include "passes/parallel/callees.h"
#include "passes/parallel/plan.h"
#include "passes/parallel/strategy.h"

namespace ms::parallel {

// How what a variable keeps counts in the memory of a device.
struct Keeping {
  // All between steps; each part of a batch from its forward to its backward task; or a share of
  // it, as blocks that are computed again are there one at a time.
  enum How : uint8_t { kLasting, kPart, kOnce };
  How how = kPart;
  std::vector<double> shares;  // of what it keeps, by stage; empty: it keeps nothing
  bool operator==(const Keeping&) const = default;
};

struct Variable {
  const Kind* kind = nullptr;
  const Node* node = nullptr;  // null: a value
  Keeping keeping;
  float times = 1;  // how many it stands for (parts.h)
};

// The value goes from where it is made to where it is read, and its gradient back.
struct Link {
  int from = 0, from_end = 0;  // variables, and which of their outputs and inputs
  int to = 0, to_end = 0;
  int type = 0;  // number of the type
  bool back = false;
  float times = 1;
};

struct Problem {
  std::vector<Variable> variables;
  std::vector<Link> links;
  std::vector<Type> types;
  std::unordered_map<const Node*, int> nodes;       // applications that compute
  std::unordered_map<const Node*, int> parameters;  // of all graphs
  std::unordered_map<const Graph*, std::vector<int>> results;
  std::vector<std::unique_ptr<Kind>> kinds;
  // Of a value where the module has it: its variable, -1: it has none, and which end of it.
  std::pair<int, int> Source(const Var& value) const;
  std::unordered_map<Var, int, VarHash> handed;  // outputs of calls
  // Of nodes that bind values: which input to which variable.
  std::unordered_map<const Node*, std::vector<std::pair<int, int>>> bound;
};

Problem MakeProblem(const Module& module, const PlanOptions& options);

}  // namespace ms::parallel
