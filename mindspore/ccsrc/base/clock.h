// The time that is cheap to ask for.
#pragma once

#include <time.h>

#include <cstdint>

namespace ms {

// Nanoseconds, in steps of some milliseconds, since some time before this process.
inline int64_t CoarseNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace ms
