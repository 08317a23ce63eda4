// The scalar code of elementwise ops put together: what a fused group of nodes computes.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/scalar.h"

namespace ms::loops {

// Scalar code for one element of every output. `input` of a kInput node counts the inputs of the
// loop.
struct LoopBody {
  std::vector<ScalarNode> nodes;  // operands come before users
  std::vector<int> outputs;       // nodes
};

// Builds a LoopBody node by node; every value is rounded to its dtype, as the single ops do.
class BodyBuilder {
 public:
  explicit BodyBuilder(LoopBody* body) : body_(*body) {}

  int AddInput(DType dtype);  // the next one
  int AddConstant(double value, DType dtype);
  int AddApply(const Node& node, const std::vector<int>& args);  // an op with a scalar body
  int Cast(int value, DType dtype);

 private:
  int Intern(const ScalarNode& node);

  LoopBody& body_;
  int inputs_ = 0;
};

// Fills `body`: its inputs are graph.inputs(), its outputs graph.outputs(), every value rounded to
// its dtype as the single ops do. Returns why that cannot be done; empty when it can. The caller
// sees to it that all inputs broadcast to the one shape of all outputs.
std::string BodyOfGraph(const Graph& graph, LoopBody* body);

}  // namespace ms::loops
