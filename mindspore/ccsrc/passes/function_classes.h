// Which graphs may stand at the same call: a Switch joins its arms. A class is open when one of its
// functions is passed on, returned, captured or differentiated, so that some callers are not known.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace ms {

class FunctionClasses {
 public:
  static constexpr int kOpen = 0;

  explicit FunctionClasses(const Module& module);

  // The class of a value of function type, or of a graph; kOpen when not all callers are known.
  int Of(const Var& function) const;
  int Of(const Graph* graph) const;

 private:
  int Find(int element) const;
  void Join(int a, int b);
  void Visit(const Graph& graph);

  mutable std::vector<int> parent_{kOpen};
  std::unordered_map<const Graph*, int> graphs_;
  std::unordered_map<const Node*, int> switches_;
};

}  // namespace ms
