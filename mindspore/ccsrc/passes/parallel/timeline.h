// A step in time: computing in the order of the program, and beside it, one after the other, the
// collectives, each as soon as what it moves is there. Forward, then backward the other way round,
// then what reads gradients. A graph that is called several times counts as one long call.
#pragma once

#include "passes/parallel/states.h"

namespace ms::parallel {

class Timeline {
 public:
  // What one link and one node take; `times` and all is in it.
  struct Move {
    int link;
    double there, back;
  };
  struct Work {
    int variable;
    double forward, backward;
    bool late;  // after the backward pass
  };

  Timeline(const Problem& problem, std::vector<Work> works, const std::vector<Move>& moves);
  CriticalPath Path() const;

 private:
  struct Task {
    const Node* node;
    bool moves, back;
    double seconds;
    std::vector<int> after;
    double end = 0;
    int because = -1;
  };
  int Add(Task task);
  void Forward(const Work& work);
  void Backward(const Work& work);
  int Moved(const Move& move, bool back, std::vector<int> after);
  void Collect(int variable, std::vector<int>* tasks) const;

  const Problem& problem_;
  std::vector<std::vector<Move>> in_, out_;    // by variable
  std::vector<std::vector<int>> made_, came_;  // tasks: of its value, of its gradient
  std::vector<Task> tasks_;
  int last_[2] = {-1, -1};  // of computing and of moving
};

}  // namespace ms::parallel
