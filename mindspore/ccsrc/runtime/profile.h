// Time per op and source line of what is launched, by plans and by eager code, and the launches
// themselves where they are wanted. Off unless MS_PROFILE=1 (then a table is printed at exit) or
// switched on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel.h"

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
};
struct ProfileEvents {
  std::vector<ProfileEvent> kept;
  uint64_t dropped = 0;
};

void RecordLaunch(const LaunchPlace& place, std::chrono::steady_clock::time_point start,
                  std::chrono::steady_clock::time_point end, const Memory& memory);

// Runs and records a launch, the device's work included.
template <class Run>
void RunRecorded(const LaunchPlace& place, Stream& stream, const Memory& memory, Run&& run) {
  auto start = std::chrono::steady_clock::now();
  run();
  stream.Synchronize();
  RecordLaunch(place, start, std::chrono::steady_clock::now(), memory);
}

ProfileEvents GetProfileEvents();
// The longest first.
std::vector<ProfileRow> GetProfile();
std::string ProfileTable(size_t rows = 30);

}  // namespace ms
