// Waiting for other processes: at first without letting go of the core, in the end asleep.
#pragma once

#include <chrono>
#include <cstdint>

namespace ms::cpu {

class Patience {
 public:
  // Where processes share cores, the one that is waited for needs this one.
  explicit Patience(bool crowded);
  // Between two looks at what is waited for. Throws what the watch has to say of the others.
  void Pause();

 private:
  static constexpr int kLooks = 4000, kCrowdedLooks = 20;
  void PauseLong();

  int looks_;    // left, before others may run
  bool asleep_;  // from then on: while this process computes, whoever yields takes turns with it
  int64_t yields_ = 0;
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace ms::cpu
