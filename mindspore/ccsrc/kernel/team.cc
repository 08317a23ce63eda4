#include "kernel/team.h"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "kernel/libgomp.h"

extern "C" void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned);

namespace ms::team {
namespace {

// How often a waiting thread looks before it sleeps: some milliseconds, and some microseconds.
constexpr int kLong = 300'000;
constexpr int kBrief = 300;

std::atomic<int> looks{kLong};
std::atomic<bool> in_use{false};
std::atomic<unsigned> forks{0};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// Waits until the value is not, or was not, `old`; what it is then.
int AwaitOther(const std::atomic<int>& value, int old) {
  const int most = looks.load(std::memory_order_relaxed);
  for (int i = 0; i < most; ++i) {
    int now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    Pause();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

// The threads that share the regions of one thread, which is number 0 in them.
class Team {
 public:
  ~Team() {
    for (Member& member : members_) {
      member.part.store(kEnd);
      member.part.notify_one();
    }
    for (Member& member : members_) {
      if (member.thread.joinable()) member.thread.join();
    }
  }

  // False where the system has no threads to give: members without one leave their parts to the
  // caller.
  bool Have(int count) {
    while (static_cast<int>(members_.size()) < count - 1) members_.emplace_back();
    while (threads_ < count - 1) {
      Member& member = members_[static_cast<size_t>(threads_)];
      try {
        member.thread = std::thread([this, &member, n = threads_ + 1] { Serve(member, n); });
      } catch (const std::system_error&) {
        return false;
      }
      ++threads_;
    }
    return true;
  }

  void Begin(Body body, void* data, int count) {
    body_ = body;
    data_ = data;
    count_ = count;
    unfinished_.store(count - 1, std::memory_order_relaxed);
    for (int i = 1; i < count; ++i) {
      std::atomic<int>& part = members_[static_cast<size_t>(i - 1)].part;
      part.store(kOpen);
      part.notify_one();
    }
  }

  // The last first: threads are woken from the first on.
  void End();

  void Barrier() {
    int round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < count_) {
      AwaitOther(round_, round);
      return;
    }
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1);
    round_.notify_all();
  }

  int count() const { return count_; }

 private:
  // What is to be done by a thread; whoever makes it kNone of kOpen has to do it.
  enum Part { kNone, kOpen, kEnd };

  struct alignas(64) Member {
    std::atomic<int> part{kNone};
    std::thread thread;
  };

  void Serve(Member& member, int number);
  bool Take(Member& member) {
    int open = kOpen;
    return member.part.compare_exchange_strong(open, kNone, std::memory_order_acq_rel);
  }
  void Finish() {
    if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_one();
  }

  std::deque<Member> members_;  // members stay where they are
  int threads_ = 0;             // so many of the first have one
  Body body_ = nullptr;
  void* data_ = nullptr;
  int count_ = 0;
  alignas(64) std::atomic<int> unfinished_{0};
  alignas(64) std::atomic<int> arrived_{0};
  std::atomic<int> round_{0};
};

// Where the calling thread is.
struct Place {
  Team* team = nullptr;  // null outside
  int number = 0;
  int alone = 0;      // regions inside of that of `team`, of one thread each
  int elsewhere = 0;  // regions of libgomp that it began
};
constinit thread_local Place place;

void Team::Serve(Member& member, int number) {
  int threads = 0;
  place.team = this;
  place.number = number;
  for (;;) {
    if (AwaitOther(member.part, kNone) == kEnd) return;
    if (!Take(member)) continue;
    if (threads != count_) omp_set_num_threads(threads = count_);
    body_(data_);
    Finish();
  }
}

void Team::End() {
  for (int i = count_ - 1; i > 0; --i) {
    if (!Take(members_[static_cast<size_t>(i - 1)])) continue;
    place.number = i;
    body_(data_);
    unfinished_.fetch_sub(1, std::memory_order_acq_rel);
  }
  for (int left; (left = unfinished_.load(std::memory_order_acquire)) != 0;)
    AwaitOther(unfinished_, left);
}

// The team of a thread ends with it.
class Own {
 public:
  ~Own() {
    if (team_ && forks_ != forks) (void)team_.release();  // its threads are not there
  }
  Team& operator*() {
    unsigned now = forks.load(std::memory_order_relaxed);
    if (forks_ != now) (void)team_.release();
    forks_ = now;
    if (!team_) team_ = std::make_unique<Team>();
    return *team_;
  }

 private:
  std::unique_ptr<Team> team_;
  unsigned forks_ = 0;
};

Team& OwnTeam() {
  thread_local Own own;
  return *own;
}

// Variables that say how libgomp's threads are to be.
bool LeftToLibgomp() {
  static const bool left = [] {
    constexpr const char* kNames[] = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY",      "GOMP_CPU_AFFINITY",
                                      "OMP_PROC_BIND",  "OMP_PLACES",           "OMP_THREAD_LIMIT",
                                      "OMP_DYNAMIC",    "OMP_STACKSIZE",        "GOMP_STACKSIZE",
                                      "OMP_NESTED",     "OMP_MAX_ACTIVE_LEVELS"};
    return std::any_of(std::begin(kNames), std::end(kNames), [](const char* name) {
      const char* value = std::getenv(name);
      return value && *value;
    });
  }();
  return left;
}

// Whether the entries of team_entries.cc are what the loader finds.
bool ComesFirst() {
  static const bool first = [] {
    void* global = dlsym(RTLD_DEFAULT, "GOMP_parallel");
    return !global || global == reinterpret_cast<void*>(&GOMP_parallel);
  }();
  return first;
}

}  // namespace

void Begin(Body body, void* data, unsigned wanted, bool here) {
  if (place.team) {
    ++place.alone;
    return;
  }
  int count = wanted ? static_cast<int>(wanted) : omp_get_max_threads();
  if (!here || count == 1 || place.elsewhere || LeftToLibgomp() || Libgomp().omp_in_parallel()) {
    ++place.elsewhere;
    Libgomp().GOMP_parallel_start(body, data, wanted);
    return;
  }
  in_use.store(true, std::memory_order_relaxed);
  Team& team = OwnTeam();
  (void)team.Have(count);
  place.team = &team;
  place.number = 0;
  place.team->Begin(body, data, count);
}

void Reserve() {
  int count = omp_get_max_threads();
  if (count == 1 || place.team || place.elsewhere || LeftToLibgomp() || !ComesFirst()) return;
  if (OwnTeam().Have(count)) return;
  Throw(ErrorKind::kMemory,
        "The system has no more threads or no memory for them: {} are to share an operation. "
        "set_context(runtime_num_threads=1), or OMP_NUM_THREADS, takes fewer.",
        count);
}

void End() {
  if (place.alone) {
    --place.alone;
  } else if (place.elsewhere) {
    Libgomp().GOMP_parallel_end();
    --place.elsewhere;
  } else {
    place.team->End();
    place.team = nullptr;
  }
}

void Barrier() {
  if (place.alone) return;
  if (place.team) {
    place.team->Barrier();
  } else {
    Libgomp().GOMP_barrier();
  }
}

int Number() {
  if (place.alone) return 0;
  return place.team ? place.number : Libgomp().omp_get_thread_num();
}

int Count() {
  if (place.alone) return 1;
  return place.team ? place.team->count() : Libgomp().omp_get_num_threads();
}

bool Inside() { return place.team || Libgomp().omp_in_parallel(); }

bool InUse() { return in_use.load(std::memory_order_relaxed); }

void SleepAtOnce(bool yes) { looks.store(yes ? kBrief : kLong, std::memory_order_relaxed); }

bool SleepsAtOnce() { return looks.load(std::memory_order_relaxed) == kBrief; }

void AfterForkInChild() { forks.fetch_add(1, std::memory_order_relaxed); }

void RunInLibgomp(Body body, void* data, unsigned count) {
  Libgomp().GOMP_parallel_start(body, data, count);
  body(data);
  Libgomp().GOMP_parallel_end();
}

}  // namespace ms::team
