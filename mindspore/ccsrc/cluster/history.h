// What a rank remembers of its calls, to tell it when somebody waits.
#pragma once

#include <pthread.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/monitor.h"

namespace ms::cluster {

// Calls that nobody compares one by one, as a sum that says whether those of two ranks were alike.
// Marks of it are told: at each of the first calls, and then now and then.
class Trail {
 public:
  struct Mark {
    uint64_t calls, sum;
  };
  static constexpr uint64_t kFirst = 64, kStride = 64;
  // The number of the first call that a mark says something new of.
  static uint64_t NewIn(uint64_t calls) { return calls <= kFirst ? calls : calls - kStride + 1; }

  void Add(std::string_view what) {
    auto take = [this](unsigned char byte) { sum_ = (sum_ ^ byte) * 0x100000001b3; };  // FNV-1a
    for (char c : what) take(static_cast<unsigned char>(c));
    take(0);
    ++calls_;
    if (calls_ <= kFirst || calls_ % kStride == 0) untold_.push_back({calls_, sum_});
  }
  std::vector<Mark> Take() { return std::exchange(untold_, {}); }

 private:
  uint64_t calls_ = 0, sum_ = 0xcbf29ce484222325;
  std::vector<Mark> untold_;
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
