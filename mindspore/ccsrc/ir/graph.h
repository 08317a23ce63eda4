// The functional IR: a Module is a set of closed, typed graphs. Functions are values: Partial makes
// one from a graph and captures, Switch picks one, Call applies one; nothing else carries control
// flow.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/attr.h"
#include "ir/span.h"
#include "ir/type.h"

namespace ms {

struct OpDef;
struct Node;
class Graph;
class Module;

// One output of a node. A null Var means "none" (a tangent that is zero, say).
struct Var {
  Node* node = nullptr;
  uint32_t index = 0;

  explicit operator bool() const { return node != nullptr; }
  const Type& type() const;
  bool operator==(const Var&) const = default;
};
using Vars = std::vector<Var>;

struct VarHash {
  size_t operator()(const Var& v) const {
    return HashCombine(std::hash<const void*>()(v.node), v.index);
  }
};

enum class NodeKind : uint8_t { kParameter, kConstant, kApply };

// Made only by Graph, on behalf of an Emitter: always typed.
struct Node {
  NodeKind kind;
  uint32_t id = 0;  // position in Graph::nodes() of its graph
  SpanId span = 0;
  Graph* graph = nullptr;
  const OpDef* op = nullptr;  // kApply
  Vars inputs;                // kApply: outputs of earlier nodes of the same graph
  AttrsRef attrs;             // kApply
  Types outputs;
  Tensor value;      // kConstant
  std::string name;  // kParameter

  template <class T>
  const T& attr(std::string_view name) const;  // defined in ir/op.h
};

// How a graph that is a loop is built; set by the front end, checked by Verify, kept by passes that
// keep the loop. The graph's inputs are `carried` values followed by invariants (captures come
// first in inputs()).
struct LoopTag {
  Graph* body = nullptr;  // called when the condition holds; ends in a tail call of the loop itself
  Graph* done = nullptr;  // called when it does not; returns the results
  int64_t trip_count = -1;  // when known
};

class Graph {
 public:
  explicit Graph(Module* module, std::string name) : module_(module), name_(std::move(name)) {}
  Graph(const Graph&) = delete;

  Module* module() const { return module_; }
  const std::string& name() const { return name_; }

  // All nodes in program order: inputs come before users. Effects run in this order.
  const std::vector<Node*>& nodes() const { return nodes_; }
  // Parameters: captures first, then what a caller passes.
  const std::vector<Node*>& captures() const { return captures_; }
  const std::vector<Node*>& parameters() const { return parameters_; }
  Vars inputs() const;  // captures, then parameters
  const Vars& outputs() const { return outputs_; }
  Types InputTypes() const;
  Types OutputTypes() const;
  // Known before the outputs are, where a graph calls itself.
  void DeclareOutputTypes(Types types) { declared_ = std::move(types); }
  void SetOutputs(Vars outputs) {
    outputs_ = std::move(outputs);
    finished_ = true;
  }
  bool finished() const { return finished_; }

  Node* AddParameter(const Type& type, std::string name, bool capture = false);
  Node* AddConstant(Tensor value, bool weak = false);
  Node* AddApply(const OpDef& op, Vars inputs, AttrsRef attrs, Types outputs, SpanId span);
  // Drops nodes for which keep[id] is false, inputs among them, and renumbers. What kept nodes read
  // must be kept.
  void Sweep(const std::vector<bool>& keep);
  // After this nodes() is `order`, a permutation of itself that respects inputs.
  void Reorder(std::vector<Node*> order);

  // Of the main graph: (output, input) pairs where the output is the new value of a Parameter,
  // whose memory the runtime may write.
  std::vector<std::pair<int, int>> updates;
  LoopTag loop;  // loop.body is null when this graph is not a loop
  // While a graph is under construction inside another one: where free variables are looked up.
  Graph* parent = nullptr;
  Vars captured;  // for each capture, the Var of the parent it stands for
  // The parameter that stands for `outer`, a Var of the parent; made at the first use.
  Node* Capture(const Var& outer);

 private:
  Node* NewNode(NodeKind kind);

  Module* module_;
  std::string name_;
  std::deque<Node> storage_;
  std::vector<Node*> nodes_;
  std::vector<Node*> captures_;
  std::vector<Node*> parameters_;
  std::unordered_map<Var, Node*, VarHash> capture_of_;  // Capture's memory
  Vars outputs_;
  Types declared_;
  bool finished_ = false;
};

class Module {
 public:
  Graph* NewGraph(std::string name);  // the name is made unique in the module
  const std::vector<std::unique_ptr<Graph>>& graphs() const { return graphs_; }
  Graph* main() const { return main_; }
  void set_main(Graph* graph) { main_ = graph; }
  // Drops graphs that main does not reach.
  void SweepGraphs();

 private:
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::unordered_map<std::string, int> names_;
  Graph* main_ = nullptr;
};

// Graphs named by attributes of the nodes of `graph`.
std::vector<Graph*> ReferencedGraphs(const Graph& graph);

inline const Type& Var::type() const { return node->outputs[index]; }

}  // namespace ms
