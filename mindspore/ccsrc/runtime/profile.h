// Time per op and source line of what is launched, by plans and by eager code, and the launches
// themselves where they are wanted. Off unless MS_PROFILE=1 (then a table is printed at exit) or
// switched on. A device whose stream is a Timer notes times itself, and nobody waits for its
// kernels; another one is waited for at each launch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/timer.h"

namespace ms {

namespace profile_detail {
extern std::atomic<bool> on;
}
inline bool ProfileOn() { return profile_detail::on.load(std::memory_order_relaxed); }
// `events`: how many launches are kept one by one, beside the sums; those behind are counted only.
void SetProfile(bool on, size_t events = 0);
void ResetProfile();

struct ProfileRow {
  std::string op;
  SpanId span = 0;
  uint64_t count = 0;
  uint64_t total_ns = 0;
  uint64_t best_ns = 0;  // of one launch
};

struct ProfileEvent {
  const OpDef* op = nullptr;
  SpanId span = 0;
  uint32_t thread = 0;    // threads are counted in the order in which they launch
  uint64_t start_ns = 0;  // of std::chrono::steady_clock
  uint64_t ns = 0;
  uint64_t live_bytes = 0;  // that the device holds when it is done
  // Where the device noted the times: its name, and when the host was busy giving it the work.
  std::string_view device;
  uint64_t given_start_ns = 0, given_ns = 0;
};
struct ProfileEvents {
  std::vector<ProfileEvent> kept;
  uint64_t dropped = 0;
};

namespace profile_detail {

// Where the clocks of a device and of the host meet.
struct Anchor {
  Timer* timer = nullptr;
  std::unique_ptr<TimedEvent> event;
  uint64_t ns = 0;
};

// Measures one launch from its making to Done; without that, it is not recorded.
class LaunchClock {
 public:
  explicit LaunchClock(Stream& stream);
  void Done(const LaunchPlace& place, const Memory& memory);

 private:
  Stream& stream_;
  std::shared_ptr<const Anchor> anchor_;  // null: the host's clock measures
  std::unique_ptr<TimedEvent> begin_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace profile_detail

// Runs and records a launch, the device's work included.
template <class Run>
void RunRecorded(const LaunchPlace& place, Stream& stream, const Memory& memory, Run&& run) {
  profile_detail::LaunchClock clock(stream);
  run();
  clock.Done(place, memory);
}

ProfileEvents GetProfileEvents();
// The longest first.
std::vector<ProfileRow> GetProfile();
std::string ProfileTable(size_t rows = 30);

}  // namespace ms
