// What ops of a network take in a step of a pipeline, with all that is computed where a function is
// called: also again, for a function that has a gradient of its own.
#pragma once

#include "passes/parallel/callees.h"
#include "passes/parallel/strategy.h"

namespace ms::parallel {

class StageWork {
 public:
  struct Seconds {
    double forward = 0, backward = 0;
    double all() const { return forward + backward; }
  };

  // `trains`: there is a way back.
  StageWork(const Module& module, const Device& device, bool trains)
      : callees_(module), device_(device), trains_(trains) {}
  Seconds Of(const Node& node) const;

 private:
  Seconds OfCall(const Node& call) const;
  Seconds OfGraph(const Graph* graph) const;

  mutable Callees callees_;
  Device device_;
  bool trains_;
  mutable std::unordered_map<const Graph*, Seconds> known_;
};

}  // namespace ms::parallel
