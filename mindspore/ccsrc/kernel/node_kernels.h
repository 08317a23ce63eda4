// Kernels of the nodes of graphs. Networks repeat themselves: a node like one of the last of its op
// needs no look-up among the kernels of the whole process.
#pragma once

#include <array>
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
    const Node* node = nullptr;
    std::shared_ptr<const Kernel> kernel;
  };
  struct Recent {
    std::array<Known, 8> known;
    size_t next = 0;  // the oldest
  };

  const Backend& backend_;
  std::unordered_map<const OpDef*, Recent> recent_;
};

}  // namespace ms
