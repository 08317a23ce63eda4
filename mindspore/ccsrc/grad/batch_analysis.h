// Which values of a function differ between the items of a batch. Every value has a slot; function
// values that may stand at the same place share the slots of their parameters and results, so that
// they can be called alike after batching.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace ms {

class BatchAnalysis {
 public:
  // `vmap`: the node; its function must come from Partial and Switch nodes of its own graph.
  explicit BatchAnalysis(const Node& vmap);

  // Why it cannot be batched as a whole; empty when it can.
  const std::string& refusal() const { return refusal_; }
  // A condition differs between items somewhere, so that both of its arms run.
  bool chooses() const { return chooses_; }
  // Transforms are reached by the function.
  bool has_transforms() const { return has_transforms_; }
  bool has_vmap() const { return has_vmap_; }
  int64_t size() const { return size_; }
  const Node& node() const { return vmap_; }
  // The nodes of its own graph that make the function, inputs before users.
  const std::vector<const Node*>& sources() const { return sources_; }

  bool Batched(const Var& v) const;
  // What the value is after batching.
  Type TypeOf(const Var& v) const;
  // Of the results of a graph, as its callers see them.
  Types ResultTypes(const Graph* g) const;
  // A loop that goes on while any item does.
  bool MaskedLoop(const Graph* g) const { return masked_.contains(g); }
  const std::unordered_set<const Graph*>& masked_loops() const { return masked_; }

 private:
  struct Slot {
    int parent;
    Type type;
    bool batched = false;
    bool function = false;
    std::vector<int> parameters, results;
  };

  void Run();
  void Seed();
  void FindSources();
  void VisitGraph(const Graph& g);
  void Visit(const Graph& g, const Node& node);
  void VisitPartial(const Node& node);
  void VisitSwitch(const Graph& g, const Node& node);
  void VisitCustom(const Node& node);
  void VisitTransform(const Node& node);
  void VisitOp(const Node& node);
  bool IsLoopHead(const Graph& g, const Node& node) const;
  void CheckLoop(const Graph& g);
  bool Reaches(const Node& function, const Graph& g) const;

  int New(const Type& type);
  int SlotOf(const Var& v);
  int InterfaceOf(const Graph* g);
  int Find(int slot) const;
  void Join(int a, int b);
  void Flow(int from, int to);
  void Mark(int slot);
  void MarkResults(int slot);
  void Refuse(std::string why);
  [[noreturn]] void RefuseItems(size_t result) const;
  Type TypeOfSlot(int slot) const;

  const Node& vmap_;
  int64_t size_;
  std::string refusal_;
  bool chooses_ = false, has_transforms_ = false, has_vmap_ = false, changed_ = false;
  mutable std::vector<Slot> slots_;
  std::unordered_map<Var, int, VarHash> of_var_;
  std::unordered_map<const Graph*, int> of_graph_;
  std::vector<const Graph*> graphs_;
  std::vector<const Node*> sources_;
  std::unordered_set<const Graph*> masked_;
};

}  // namespace ms
