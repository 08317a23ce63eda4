// What the program itself says of layouts, by ops ShardHint: a value that goes through one lies as
// it says. Those that were written for one op ("MatMul#3": its third pinned call) also say how that
// op is cut: as the layouts of its operands and results want it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "passes/parallel/layout.h"

namespace ms::parallel {

// The layouts of operands and results of one op that something is said of.
struct NodePins {
  std::vector<std::optional<Layout>> inputs, outputs;
  bool strict = true;  // false: another op stands where the pinned one was, and need not obey

  std::string ToString(const Mesh& mesh) const;  // "inputs [a, -] any, outputs any"
};

class Hints {
 public:
  // ValueError, with the line, for layouts that a value cannot have.
  Hints(const Module& module, const Mesh& mesh);
  static bool IsHint(const Node& node);
  // Nothing is computed: the value lies somewhere, from here on, or once something else is done.
  static bool OnlyLies(const Node& node);
  static bool Waits(const Node& node);  // of these: its further inputs may be anywhere
  const std::vector<const Node*>& all() const { return all_; }
  const Layout& of(const Node* hint) const { return layouts_.at(hint); }
  // Null where nothing is said of the op.
  const NodePins* PinsOf(const Node* node) const;
  // The hint is of the op that makes its value.
  bool OfResult(const Node* hint) const;

 private:
  void AddPins(const Node& node);
  void AddResult(const Node& hint);

  const Mesh& mesh_;
  std::vector<const Node*> all_;
  std::unordered_map<const Node*, Layout> layouts_;
  std::unordered_map<const Node*, NodePins> pins_;
};

// "For 'MatMul' at net.py:14", the user's line
std::string ForNode(const Node& node);

}  // namespace ms::parallel
