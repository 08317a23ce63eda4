// What a rank remembers of its calls, to tell it when somebody waits.
#pragma once

#include <pthread.h>

#include <array>

#include "cluster/monitor.h"

namespace ms::cluster {

// Of one group, the last collectives that were entered.
struct History {
  std::array<Step, 32> steps;  // in a ring
  uint64_t count = 0, told = 0;
  uint64_t next = 0;  // number

  const Step* Find(uint64_t number) const {
    for (const Step& step : steps) {
      if (!step.what.empty() && step.number == number) return &step;
    }
    return nullptr;
  }
};

// A collective that a thread is in, or a call with one other rank.
struct Open {
  pthread_t thread;
  int group;
  uint64_t number;
  int64_t since;  // CoarseNow
  Pair pair = {};
  Step with_other = {};  // where there is a pair
};

}  // namespace ms::cluster
