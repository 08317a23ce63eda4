#include "backends/cpu/collectives/patience.h"

#include <sched.h>

#include <thread>

#include "cluster/watch.h"
#include "kernel/joint_sums.h"

namespace ms::cpu {
namespace {

// How long others are let run before this thread sleeps, and how long it sleeps then.
constexpr auto kAwake = std::chrono::milliseconds(2);
constexpr auto kNap = std::chrono::microseconds(100);

inline void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Patience::Patience(bool crowded)
    : looks_(crowded || InBackground() ? kCrowdedLooks : kLooks), asleep_(InBackground()) {}

void Patience::Pause() {
  if (looks_ > 0) {
    --looks_;
    return Relax();
  }
  PauseLong();
}

void Patience::PauseLong() {
  auto now = std::chrono::steady_clock::now();
  if (yields_++ == 0) began_ = now;
  if (!asleep_ && now - began_ < kAwake) {
    sched_yield();
    return;
  }
  if (asleep_) CheckStillWanted();
  if (auto* watch = cluster::Watch::Current()) watch->Check();
  std::this_thread::sleep_for(kNap);
}

}  // namespace ms::cpu
