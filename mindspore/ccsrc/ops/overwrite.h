// Where kernels may write over what they read.
#pragma once

#include <memory>
#include <unordered_map>

#include "ops/fused.h"

namespace ms {

class Overwriting {
 public:
  // Whether the kernel of a node may write output `out` over input `in`.
  bool May(const Node& node, size_t out, size_t in);

 private:
  // When the values of a group's body are made and read: places among its nodes, and chains.
  struct Reads {
    int chain = -1;               // -1: none; -2: several
    size_t place = 0, times = 0;  // of the last node that reads it, and how often it does
  };
  struct GroupBody {
    std::unordered_map<Var, Reads, VarHash> reads;                 // of parameters
    std::unordered_map<const Node*, std::pair<int, size_t>> made;  // chain, place
  };

  bool MayInGroup(const Node& node, size_t out, size_t in);
  const FusedBody* BodyOf(const Graph& graph);  // null: not legal
  const GroupBody& GroupOf(const Node& node);

  // Nodes share bodies, and are asked about for every pair of an output and an input.
  std::unordered_map<const Graph*, std::unique_ptr<FusedBody>> bodies_;
  std::unordered_map<const Graph*, GroupBody> groups_;
};

}  // namespace ms
