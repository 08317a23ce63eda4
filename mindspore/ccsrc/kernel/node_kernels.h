// Kernels of the nodes of graphs. Networks repeat themselves: a node like an earlier one needs no
// look-up among the kernels of the whole process, which keep none that refer to a graph.
#pragma once

#include <memory>
#include <unordered_map>

#include "ir/graph.h"
#include "kernel/kernel.h"

namespace ms {

class NodeKernels {
 public:
  explicit NodeKernels(const Backend& backend) : backend_(backend) {}

  // Throws what PrepareKernel throws. Nodes that were asked for must outlive this object unchanged.
  std::shared_ptr<const Kernel> Of(const Node& node);

 private:
  struct Known {
    const Node* node;
    std::shared_ptr<const Kernel> kernel;
  };

  const Backend& backend_;
  std::unordered_multimap<size_t, Known> known_;  // by op, types and attributes
};

}  // namespace ms
