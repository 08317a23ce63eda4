// A set of nodes as one body: its iteration space, found without building anything. The axes of all
// values are unified along the edges inside the set; what is left are the axes of the space.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "passes/fuse/fusable.h"
#include "passes/fuse/index_space.h"

namespace ms {

class Sketch {
 public:
  // `members`: compute nodes in program order.
  Sketch(const FuseNodes& nodes, std::vector<Node*> members);

  // Whether the members can be one body that pays; else why not.
  std::string Solve();

  const std::vector<Node*>& members() const { return members_; }
  bool Has(const Node* node) const { return place_.contains(node); }
  // After Solve: the axes of the space, outermost first.
  const Atoms& space() const { return space_; }
  bool IsReduced(int atom) const;
  Shape SpaceShape() const;
  // Axes of the result of a member; of what a member reads as input i (through glue).
  Atoms AxesOf(const Node* member) const;
  Atoms AxesOfInput(const Node* member, size_t i) const;
  const IndexSpace& index() const { return index_; }
  const FuseNodes& nodes() const { return nodes_; }
  // Results of members that others need.
  const Vars& outputs() const { return outputs_; }

 private:
  std::string AddMember(const Node& node);
  std::string AddUse(const Var& input, AtomAxes* axes, int* stage);
  bool UnifyGlue(const Node& glue, const AtomAxes& in, const AtomAxes& out);
  bool AddElementwise(const Node& node, const std::vector<AtomAxes>& in, AtomAxes* out);
  void AddReduction(const Node& node, const AtomAxes& in, AtomAxes* out);
  void FindOutputs();
  std::string FindSpace();
  std::string CheckReductions();
  std::string CheckValues() const;
  std::string CheckForm() const;
  std::string Order();

  const FuseNodes& nodes_;
  std::vector<Node*> members_;
  std::unordered_map<const Node*, size_t> place_;
  IndexSpace index_;
  std::vector<AtomAxes> axes_;               // by member: of its result
  std::vector<std::vector<AtomAxes>> uses_;  // by member and input
  std::vector<int> stages_;                  // by member: reductions before it
  std::vector<Atoms> reductions_;            // of each reduction: the axes it reduces
  std::vector<Atoms> reduced_whole_;         // of each reduction: all axes of its input
  Atoms space_;
  Vars outputs_;
};

}  // namespace ms
