// The one order in which all processes of a pipeline walk the ops of its program, and what is known
// of each op for that. Internal to stage_program.cc.
#pragma once

#include <vector>

#include "passes/parallel/stage_program.h"

namespace ms::parallel {

// Ops of main by what they belong to.
class StageOrder {
 public:
  StageOrder(const Graph& main, const std::vector<int64_t>& inputs, const ParallelOptions& options,
             const StagePlan& plan, const std::vector<StageMemory>& memory);

  int64_t stage(const Node* node) const { return stages_[node->id]; }
  // What others need comes before them.
  const std::vector<Node*>& order() const { return order_; }
  PipelineReport& report() { return report_; }

 private:
  static constexpr int64_t kNone = -1, kSeveral = -2;  // in place of the number of a part

  void FindParts();
  void Choose(const ParallelOptions& options, const StageCosts& costs,
              const std::vector<StageMemory>& memory);
  void Schedule();
  void Add(Node* node, std::vector<bool>* done);
  void AddUpInOrder(std::vector<int>* last);
  std::vector<Var> Addends(Node* sum, const std::vector<int>& readers, std::vector<Node*>* sums);

  const Graph& main_;
  std::vector<int64_t> stages_;  // by node id
  std::vector<int64_t> parts_;   // by node id: of the batch
  std::vector<bool> back_;       // by node id
  bool joined_ = false;          // what goes back is made of what all parts have given
  std::vector<Node*> order_;
  PipelineReport report_;
};

}  // namespace ms::parallel
