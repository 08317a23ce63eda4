// Which graphs a value of function type may stand for, and how a call of it relates to them: to f
// itself, to f of Vjp(f), or to the closure that goes backwards through f.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace ms::parallel {

struct Callee {
  enum Role : uint8_t { kDirect, kForward, kBackward };
  const Graph* graph = nullptr;
  Role role = kDirect;
  bool operator==(const Callee&) const = default;
};
using CalleeList = std::vector<Callee>;

// Of a CustomGrad of graphs that are known: the function, which is not differentiated, and what is
// called instead of its gradient, with what goes into the function, what comes out, and the
// tangents of that.
struct OwnGradient {
  const Graph* function = nullptr;  // null: another node
  const Graph* backward = nullptr;
};
OwnGradient OwnGradientOf(const Node& node);

// How often the body of a loop runs: of what decides at run time, a guess.
double Trips(const Graph& loop);

class Callees {
 public:
  explicit Callees(const Module& module);
  // Empty where it is not known.
  const CalleeList& Of(const Var& function);
  // Some callers of the graph are not known.
  bool Escapes(const Graph* graph) const { return escaped_.contains(graph); }
  // Gradients go through it.
  bool Differentiated(const Graph* graph) const { return differentiated_.contains(graph); }
  // It computes a block again, or a part of one, in the gradient that the block has of its own.
  bool Again(const Graph* graph) const { return again_.contains(graph); }
  const std::vector<const Graph*>& blocks() const { return blocks_; }
  // How often it runs in a step: once for each call of it, as often as loops go round.
  double Times(const Graph* graph) const;

 private:
  CalleeList Find(const Var& function);
  void Visit(const Graph& graph);
  void Spread(const Graph* from, std::unordered_set<const Graph*>* to) const;
  void FindAgain(const Graph& backward);
  void Count(const Graph* main);
  void CountCalls(const Graph* graph, double here);
  std::vector<const Graph*> CallersFirst(const Graph* main);
  std::vector<const Graph*> Below(const Graph* graph);

  std::unordered_map<Var, CalleeList, VarHash> known_;
  std::unordered_set<const Graph*> escaped_, differentiated_, again_;
  std::vector<const Graph*> blocks_;  // that are computed again
  std::unordered_map<const Graph*, double> times_;
  std::unordered_map<const Graph*, int> order_;  // of those that main reaches: callers first
};

}  // namespace ms::parallel
