// Which nodes run together. Units (single nodes, then groups) stand in an order that respects their
// inputs; two units merge where the result can be one body and no way leads from one to the other
// through a third.
#pragma once

#include <memory>

#include "passes/effects.h"
#include "passes/fuse/structure.h"

namespace ms {

class Groups {
 public:
  Groups(const Graph& graph, const FuseNodes& nodes, GroupTable& table,
         const EffectAnalysis& effects);

  // Merges what pays.
  void Merge();

  struct Unit {
    std::vector<Node*> nodes;  // in program order
    int position = 0;
  };
  // All units, so that each comes after those it reads. Glue, numbers and parameters are in none.
  std::vector<const Unit*> Order() const;

 private:
  int UnitOf(const Node* node) const { return unit_of_[node->id]; }
  void AddEdges(const EffectAnalysis& effects);
  void KeepUpdatesBetweenGuards(const EffectAnalysis& effects, NodeLists::Edges* edges);
  bool Try(int a, int b);
  bool FindBetween(int a, int b, std::vector<bool>* after) const;
  void Join(int a, int b, const std::vector<bool>& after);
  void MergeWithProducers();
  void MergeSiblings();

  const Graph& graph_;
  const FuseNodes& nodes_;
  GroupTable& table_;
  std::vector<Unit> units_;
  std::vector<int> unit_of_;  // by node
  NodeLists users_;           // by node: those that must come after it
  std::vector<int> order_;    // units by position; -1: none
};

}  // namespace ms
