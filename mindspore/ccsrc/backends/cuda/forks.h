// Branches of a graph of the driver: while a stream is captured, each step follows those alone that
// it must, where the stream would let it follow all that it was given before.
#pragma once

#include <vector>

#include "backends/cuda/driver.h"
#include "kernel/recorder.h"

namespace ms::cuda {

class Forks {
 public:
  Forks(const RecordedOrder& after, StreamHandle stream)
      : after_(after), stream_(stream), ends_(after.size()), followed_(after.size()) {}

  void Begin(size_t step);
  // Before the step gives the stream a kernel that may find something wrong: the step is no branch.
  // Kernels behind it are left out then, each of them whole; of one beside it some threads might
  // see what was found, and others not.
  void MayFind();
  void End();
  int count() const { return count_; }  // steps that do not just follow the one before

 private:
  using Nodes = std::vector<WorkNode>;
  Nodes Pending() const;
  void Follow(Nodes nodes) const;

  const RecordedOrder& after_;
  const StreamHandle stream_;
  std::vector<Nodes> ends_;     // by step: what those that follow it follow
  std::vector<bool> followed_;  // by step
  size_t step_ = 0;
  size_t alone_ = 0;  // the first step behind the latest one that may find something
  int count_ = 0;
  bool finds_ = false;  // this step may
};

}  // namespace ms::cuda
