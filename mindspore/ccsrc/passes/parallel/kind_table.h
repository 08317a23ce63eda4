// The kinds of variables that a problem has, one for all that are alike: a network of equal blocks
// has few, and what is known of one is known of all of them. Internal to the problem.
#pragma once

#include <map>

#include "passes/parallel/strategy.h"

namespace ms::parallel {

class KindTable {
 public:
  KindTable(const Mesh& mesh, const Device& device) : mesh_(mesh), device_(device) {}

  const Kind* OfValue(const Type& type, const ValueKind::Facts& facts);
  // `pins`: null where nothing is said of the node.
  const Kind* OfNode(const Node& node, const NodeFacts& facts, const NodePins* pins);
  int NumberOf(const Type& type);

  // What was made of them, by their numbers.
  std::vector<Type> TakeTypes() { return std::move(types_); }
  std::vector<std::unique_ptr<Kind>> TakeKinds() { return std::move(kinds_); }

 private:
  struct NodeKey {
    const OpDef* op;
    const Attrs* attrs;  // null: whatever they are
    std::vector<int> types;
    bool trained, data;
    double times;
    std::string pins;
    bool operator==(const NodeKey& other) const;
  };
  struct KeyHash {
    size_t operator()(const NodeKey& key) const;
  };
  struct TypeHash {
    size_t operator()(const Type& t) const { return t.Hash(); }
  };
  using ValueKey = std::tuple<int, std::string, double, bool, bool>;

  const Kind* KeepAlike(const NodeKey& key, std::unique_ptr<ComputeKind> made);
  const Kind* Keep(std::unique_ptr<Kind> kind);

  const Mesh& mesh_;
  const Device& device_;
  std::vector<Type> types_;
  std::unordered_map<Type, int, TypeHash> numbers_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::map<ValueKey, const Kind*> of_values_;
  std::unordered_map<NodeKey, const Kind*, KeyHash> of_nodes_;
  std::unordered_map<NodeKey, std::vector<const ComputeKind*>, KeyHash> alike_;
};

}  // namespace ms::parallel
