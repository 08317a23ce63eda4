// Branches of a graph of the driver: while a stream is captured, each step follows those alone that
// it must, where the stream would let it follow all that it was given before.
#pragma once

#include <vector>

#include "backends/cuda/driver.h"
#include "kernel/recorder.h"

namespace ms::cuda {

class Forks {
 public:
  Forks(const RecordedSteps& steps, StreamHandle stream)
      : steps_(steps), stream_(stream), ends_(steps.size()) {}

  void Begin(size_t step);
  // Before the step gives the stream a kernel that may find something wrong. Kernels behind it are
  // left out then, so that what outlasts the recording must be written before it, or behind it: a
  // kernel beside it might be left out in part.
  void MayFind();
  void End();
  int count() const { return count_; }  // steps that do not just follow the one before

 private:
  using Nodes = std::vector<WorkNode>;
  Nodes Pending() const;
  void Follow(Nodes nodes) const;

  const RecordedSteps& steps_;
  const StreamHandle stream_;
  std::vector<Nodes> ends_;  // by step: what those that follow it follow
  size_t step_ = 0;
  int count_ = 0;
  bool finds_ = false;  // this step does
  Nodes found_;         // the latest that may find something
  Nodes updated_;       // updates since
};

}  // namespace ms::cuda
