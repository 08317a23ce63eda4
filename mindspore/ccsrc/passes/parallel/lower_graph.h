// One graph of a planned program becomes that of one process. Internal to the lowering.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/shard_rule.h"
#include "ir/var_map.h"
#include "passes/parallel/lower_moves.h"
#include "passes/passes.h"

namespace ms::parallel {

// The graphs of a program: lowered ones are declared when they are first named, and filled one
// after the other.
class ProgramLowering {
 public:
  ProgramLowering(Module& module, const Plan& plan, int64_t rank, const std::string& group_prefix,
                  int64_t first);

  void Run();
  Graph* Lowered(Graph* graph);
  Places ParameterPlaces(const Graph* graph) const;  // captures among them
  Places ResultPlaces(const Graph* graph) const;
  Place FunctionPlace(const Graph* graph) const;  // of a Partial of it
  bool Differentiated(const Graph* graph) const { return differentiated_.contains(graph); }
  const Plan& plan() const { return plan_; }
  Processes& processes() { return processes_; }

 private:
  Place Of(const Type& type, const Layout* layout) const;

  Module& module_;
  const Plan& plan_;
  Processes processes_;
  GraphSet differentiated_;
  std::unordered_map<const Graph*, const Graph*> loop_of_;  // the parts of loops
  std::unordered_map<const Graph*, Graph*> lowered_;
  std::deque<Graph*> pending_;
};

// A factor that axes cut: the piece of this process.
struct Cut {
  AxisList axes;
  int64_t offset = 0, size = 0;
};

class GraphLowering {
 public:
  GraphLowering(ProgramLowering& program, Graph* from, Graph* to);
  void Run();

 private:
  friend class NodeLowering;
  struct Value {
    Var var;
    Place place;
  };

  void Add(const Node& node);
  void AddStructural(const Node& node);
  void AddCall(const Node& node);
  void AddFunction(const Node& node);
  Value Get(const Var& v) const { return values_.Get(v); }
  // The value at a place, made once for each.
  Var At(const Var& v, const Place& place, AxisMask entered = 0);
  Vars AllAt(const Vars& vars, size_t first, const Places& places);
  void Set(const Node& node, const Vars& vars, const Places& places);
  // Computed by all processes alike, from whole operands.
  void AddWhole(const Node& node);
  void AddWaiting(const Node& node);

  ProgramLowering& program_;
  Graph* from_;
  Graph* to_;
  GraphEmitter emitter_;
  Mover mover_;
  bool differentiated_;
  VarMap<Value> values_;
  // What the op of a node made, where more was done with it: if it may fail, it is that which does.
  VarMap<Var> made_;
  struct Moved {
    Layout layout;
    AxisMask entered;
    Var var;
  };
  VarMap<std::vector<Moved>> moved_;
};

// A node in pieces, as its plan and its rule say.
class NodeLowering {
 public:
  NodeLowering(GraphLowering& graph, const Node& node, const NodePlan& plan, ShardRule rule);
  // False, and nothing is made, where it cannot be computed in pieces.
  bool Run();

 private:
  void Drop();
  AxisList Passed() const;
  bool FindCuts();
  AxisList OrderOf(int factor) const;
  bool CanBeCut() const;
  bool CanBeCut(const ShardFactor& factor, int f) const;
  bool Contracted(int factor) const;  // a result lacks it
  bool FactorsFit(const std::vector<ShardOperand>& operands) const;
  bool HasEmptyPiece(int factor) const;
  Layout LayoutOf(const ShardOperand& operand) const;
  int64_t SizeOf(const ShardDim& dim) const;
  bool IsCut(const ShardDim& dim) const;
  Shape LocalShape(size_t result) const;
  AxisMask Entered(const Var& input, const Layout& layout) const;
  Vars Inputs();
  AttrsRef LocalAttrs() const;
  // Indexed factors: positions of the piece, and where they are inside.
  bool MaskFits(int factor) const;
  void LocalPositions(Vars* inputs);
  Term Number(int64_t value, DType dtype) const;
  Vars Emit(const Vars& inputs);
  Var Finish(size_t result, Var value, const Vars& results);

  GraphLowering& graph_;
  const Node& node_;
  const NodePlan& plan_;
  ShardRule rule_;
  std::vector<Cut> cuts_;  // by factor
  struct Inside {
    int factor;
    Term mask;
  };
  std::vector<Inside> inside_;
};

}  // namespace ms::parallel
