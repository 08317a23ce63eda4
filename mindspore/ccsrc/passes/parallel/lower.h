// The program of one process of a planned one: a module whose types are those of the pieces that
// the process has, with what the processes do between its ops (ops/sharded.cc). Gradients are made
// of it afterwards, as of any program: those of the whole come out, in pieces.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "passes/parallel/plan.h"

namespace ms::parallel {

// Processes that communicate, by their ranks in the world.
struct ProcessGroup {
  std::string name;
  std::vector<int> ranks;
};

// Of all devices of a mesh.
ProcessGroup GroupOfAll(const Mesh& mesh);

// What is to be known of a lowered program from outside.
struct Lowered {
  Mesh mesh;
  int64_t rank = 0;
  std::vector<Layout> inputs, outputs;  // of main
  Types whole_inputs, whole_outputs;    // their types on one device
  std::vector<ProcessGroup> groups;     // in the order in which all processes make them
  Plan plan;                            // its nodes are gone: the figures alone
};

// How a program is to be cut, and for which process it is compiled.
struct ParallelOptions {
  PlanOptions plan;
  int64_t rank = 0;
  std::string group_prefix;  // of the names of groups: processes of a test share a memory
  // Makes the plan; null: MakePlan.
  std::function<Plan(const Module&, const PlanOptions&)> planner;
  std::string Key() const;  // equal for equal options, the planner aside
};

// Replaces the module by that of one rank.
std::shared_ptr<const Lowered> LowerPlan(Module& module, const Plan& plan, int64_t rank,
                                         const std::string& group_prefix = "");
// What ops/sharded.cc declares becomes communication, once all gradients are made.
bool ExpandShards(Module& module);

}  // namespace ms::parallel
