// How many threads share the work of a launch, and how they wait for it.
//
// How many: what was set for the process; else OMP_NUM_THREADS; else DefaultThreads().
// OpenMP keeps the number by thread, so that threads adopt it.
//
// How they wait: they spin for milliseconds before they sleep. That is the quickest where each has
// a processor, and keeps other processes' threads (another training, data workers) from theirs
// where it has not. So while threads of this process are found to wait for processors, they sleep
// at once (team.h). Where regions go to libgomp all the same, a helper keeps as many idle OpenMP
// threads as makes libgomp do so: it spins but briefly in a process with more of them than
// processors. How work is split, and with it every bit of a result, does not depend on it. Whoever
// sets GOMP_SPINCOUNT or OMP_WAIT_POLICY decides alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"

namespace ms {

namespace threads_detail {
extern std::atomic<int> chosen;  // 0: as OpenMP has it
extern constinit thread_local int adopted;
extern std::atomic<int> ended;
extern std::atomic<int64_t> next_look;  // nanoseconds of the coarse clock
extern std::atomic<int64_t> launches;   // roughly
void Adopt(int count);
void Look(int64_t now);
}  // namespace threads_detail

// The processors that this process may run on, or that its control group grants time on, where
// those are fewer. `root` is as for GrantedByControlGroups.
int DefaultThreads(const std::string& root = "");

// Sets the number of threads for launches from any thread; 0 leaves it as it is.
void SetThreads(int count);

// The number for launches from the calling thread.
int Threads();

// Called before launches.
inline void AdoptThreads() {
  int count = threads_detail::chosen.load(std::memory_order_relaxed);
  if (count != threads_detail::adopted) threads_detail::Adopt(count);
}

// How often the threads of OpenMP have been ended: those that it uses later are others.
inline int TimesEnded() { return threads_detail::ended.load(std::memory_order_relaxed); }

// Called before launches that may take long: now and then looks whether the processors are shared.
inline void WatchProcessors() {
  auto& launches = threads_detail::launches;  // a lost count does no harm
  launches.store(launches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  int64_t now = CoarseNow();
  if (now >= threads_detail::next_look.load(std::memory_order_relaxed)) threads_detail::Look(now);
}

enum class Waiting { kAutomatic, kBrief, kLong };

void SetWaiting(Waiting waiting);
bool WaitsBriefly();

// To be called once: starts with the default number of threads, and lets a fork end all threads of
// libgomp that the forking thread and the helper have: a child would wait for them for ever. Those
// of the team stay, and the child forgets them.
void SetUpThreads();

}  // namespace ms
