// The plan of a module on a mesh: for each node, along which factor of its sharding rule every axis
// of the mesh cuts it, and the layouts of what it reads and makes. Between the layout in which a
// value is made and that in which it is read lies the path of a Redistributor.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "ir/graph.h"
#include "passes/parallel/redistribute.h"
#include "passes/parallel/schedule.h"

namespace ms::parallel {

// A rejected way to compute a node, and what the step would take more with it, all else as it is.
struct Alternative {
  std::vector<int> factor_of_axis;
  double more_seconds = 0;
};

struct NodePlan {
  // For each axis of the mesh: the number of a factor of the node's rule, or -1: along the axis all
  // devices compute the same.
  std::vector<int> factor_of_axis;
  std::vector<Layout> inputs;   // in which it needs them; functions have rank 0 and nothing cut
  std::vector<Layout> outputs;  // in which it makes them, partial ones included
  // Of the gradients, as the node makes those of its inputs and needs those of its outputs. They
  // differ from the above along axes where a value is alike: there the gradient of an input may be
  // a partial sum. The way back along a link is the path from the reader's to the maker's.
  std::vector<Layout> input_gradients, output_gradients;
  double compute_seconds = 0;        // forward and backward
  double communication_seconds = 0;  // of its inputs, there and back
  // The best few, where they were asked for, and what keeps it from being cut where nothing is.
  std::vector<Alternative> alternatives;
  std::string whole;
};

enum class Mode : uint8_t {
  kDataParallel,  // the batch is cut along all axes, Parameters lie whole
  kSemiAuto,      // from what is pinned to its neighbours, at the least redistribution
  kSearch,        // exact
  kRecursive,     // axis by axis
  kPropagation,   // as kSemiAuto; nothing needs to be pinned
};

// How a program lies in the stages of a pipeline: a device has what belongs to its own alone.
struct InStages {
  // Nodes and parameters of what is cut, and Parameters of main; the others: all stages.
  std::unordered_map<const Node*, int64_t> of;
  std::unordered_map<const Graph*, std::vector<double>> calls;  // of called graphs, by stage
  int parts = 1;                                                // of the batch
  std::vector<int> most_parts{1};                               // that each stage keeps at once

  int count() const { return static_cast<int>(most_parts.size()); }
  int64_t Of(const Node* node) const {
    auto found = of.find(node);
    return found == of.end() ? kAllStages : found->second;
  }
  // By stage, the share that it has of what is there once: of a node, or of what calls of a graph
  // make.
  std::vector<double> SharesOf(const Node* node) const;
  std::vector<double> SharesOf(const Graph* graph) const;
};

struct CostModel;  // passes/parallel/eliminate.h
class TablePool;

struct PlanOptions {
  Mesh mesh;
  Device device;
  Mode mode = Mode::kSearch;
  // Of main, by the place in inputs() and outputs(); a short list says nothing of the others.
  std::vector<std::optional<Layout>> inputs;
  std::vector<std::optional<Layout>> outputs;
  std::vector<bool> parameters;  // inputs that are Parameters: what a device holds of them lasts
  InStages stages;               // whose mesh this is
  int64_t memory_limit = 0;      // bytes for each device; 0: none
  bool lightest = false;         // any plan within the limit will do, however long it takes
  bool alternatives = false;     // find the rejected ones too
  int together = 3;              // so many axes are chosen at once, which is exact
  // Shown what is minimised, and the cost of what was found; for tests.
  std::function<void(const CostModel&, const TablePool&, double)> shown;
};

// What lies on a device of the fullest stage, by kind.
struct MemoryUse {
  int64_t parameters = 0;   // and states of the optimizer
  int64_t activations = 0;  // kept for the backward pass
  int64_t largest = 0;      // value while it is moved
};

// Of a step, all that is alike: "computing", "all-reduce" along "dp".
struct Part {
  std::string what, axes;
  bool back = false;  // of the backward pass
  double seconds = 0;
  int64_t bytes = 0;  // that a device sends
  int64_t count = 0;
};

// The step if every collective began as soon as what it moves is there, beside the computing: what
// waits for what, from the end back to the beginning.
struct CriticalPath {
  struct Stage {
    const Node* node;  // that computes, or reads what is moved
    bool moves, back;
    double seconds;
  };
  double seconds = 0, compute_seconds = 0, communication_seconds = 0;
  std::vector<Stage> longest;  // the few that take the most of it
};

struct Plan {
  Mesh mesh;
  std::unordered_map<const Node*, NodePlan> nodes;     // all applications
  std::unordered_map<const Node*, Layout> parameters;  // of every graph, captures among them
  std::unordered_map<const Graph*, std::vector<Layout>> results;
  double seconds = 0;    // of a step, as modelled
  double bound = 0;      // no plan takes less; that of `seconds` where the search was exact
  bool limited = false;  // the search ended at its limit of work, or planned one part for all
  MemoryUse memory;
  std::vector<StageMemory> stages;
  std::vector<Part> parts;
  CriticalPath critical;  // where alternatives were asked for
  std::vector<std::string> warnings;

  const NodePlan& of(const Node* node) const { return nodes.at(node); }
  // The layout in which a value is made: of a constant, replicated.
  Layout LayoutOf(const Var& value) const;
};

// Throws what is said, and known by (compile/versions/again.py), where a device has no room for a
// plan: the least that it needs, and why no less would do.
[[noreturn]] void LackOfMemory(int64_t least, int64_t devices, int64_t limit,
                               const std::string& why);

// Plans the module, whose types are those of the whole. ValueError where pins contradict each other
// or do not fit, with the line of the node.
Plan MakePlan(const Module& module, const PlanOptions& options);

}  // namespace ms::parallel
