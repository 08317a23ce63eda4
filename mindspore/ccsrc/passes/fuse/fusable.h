// What the nodes of a graph are to the fuse pass.
#pragma once

#include <span>
#include <vector>

#include "ir/op.h"

namespace ms {

enum class FuseKind : uint8_t {
  kOther,    // stays as it is
  kCompute,  // elementwise or a reduction: may be in a group
  kGlue,     // moves elements: a group reads through it
  kNumber,   // a constant of one element, or Fill: repeated in every group that reads it
};

// A list of nodes for each node, all in one array.
class NodeLists {
 public:
  using Edges = std::vector<std::pair<uint32_t, Node*>>;  // id of a node, and one of its list

  NodeLists() = default;
  NodeLists(size_t nodes, const Edges& edges);
  std::span<Node* const> operator[](uint32_t id) const {
    return {items_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }

 private:
  std::vector<uint32_t> begin_;  // by node, and the end
  std::vector<Node*> items_;
};

// Assign, AssignAdd, AssignSub. As parts of a group they are elementwise: the new value is an
// output of the group, which the runtime writes in place.
bool IsAssignment(const OpDef& op);

// Whether element i of the result is made of elements i of the inputs, and of single ones.
bool IsAligned(const Node& node);

// By id: elementwise nodes that only make new values of Parameters. They run with the updates of
// all Parameters as one launch and in place (passes/group_updates.cc), which other groups could
// not.
std::vector<bool> FindAlignedUpdates(const Graph& graph);

// The kinds of all nodes and what follows from them, of one graph that is not changed meanwhile.
class FuseNodes {
 public:
  explicit FuseNodes(const Graph& graph);

  FuseKind kind(const Node* node) const { return kinds_[node->id]; }
  bool IsReduction(const Node* node) const { return reduction_[node->id]; }
  // A compute node that only leads to new values of Parameters. Such nodes form groups among
  // themselves, which run with the updates of all Parameters, when the gradients are there.
  bool IsUpdate(const Node* node) const { return update_[node->id]; }
  // The value that an input shows through glue.
  Var Source(Var v) const;
  // Nodes that read an output of this one as it is.
  std::span<Node* const> users(const Node* node) const { return users_[node->id]; }
  bool IsResult(const Node* node) const { return result_[node->id]; }
  // Whether a node reads the result, perhaps through glue, for which `inside` does not hold.
  template <class F>
  bool IsNeeded(const Node* node, F&& inside) const {
    std::vector<const Node*> pending;  // glue
    while (true) {
      if (IsResult(node)) return true;
      for (const Node* user : users(node)) {
        if (kind(user) == FuseKind::kGlue)
          pending.push_back(user);
        else if (!inside(user))
          return true;
      }
      if (pending.empty()) return false;
      node = pending.back();
      pending.pop_back();
    }
  }

 private:
  FuseKind KindOf(const Node& node) const;
  bool Absorbed(const Node& glue) const;

  std::vector<FuseKind> kinds_;
  std::vector<bool> reduction_;
  std::vector<bool> update_;
  std::vector<bool> result_;  // the graph returns an output of the node
  NodeLists users_;
};

}  // namespace ms
