// What a rank remembers of its calls, to tell it when somebody waits.
#pragma once

#include <pthread.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/monitor.h"

namespace ms::cluster {

// Calls that nobody compares one by one: a sum of those until each, by which those of two ranks are
// compared afterwards.
class Trail {
 public:
  struct Mark {
    uint64_t calls, sum;
  };

  void Add(std::string_view what) {
    auto take = [this](unsigned char byte) { sum_ = (sum_ ^ byte) * 0x100000001b3; };  // FNV-1a
    for (char c : what) take(static_cast<unsigned char>(c));
    take(0);
    marks_.push_back({++calls_, sum_});
    // Where they are many, those are told that others keep, too.
    if (marks_.size() > kMost) std::erase_if(marks_, [](Mark m) { return m.calls % kStride != 0; });
  }
  // Those that have come since the last time.
  std::vector<Mark> Take() { return std::exchange(marks_, {}); }

 private:
  static constexpr size_t kMost = 1024;
  static constexpr uint64_t kStride = 64;

  uint64_t calls_ = 0, sum_ = 0xcbf29ce484222325;
  std::vector<Mark> marks_;
};

// Of one group, the last collectives that were entered.
struct History {
  std::array<Step, 32> steps;  // in a ring
  uint64_t count = 0, told = 0;
  uint64_t next = 0;  // number
  Trail trail;

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
