#include "kernel/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/control_group.h"
#include "base/mutex.h"
#include "kernel/team.h"

namespace ms {

namespace threads_detail {
std::atomic<int> chosen{0};
constinit thread_local int adopted = 0;
std::atomic<int> ended{0};
std::atomic<int64_t> next_look{0};
std::atomic<int64_t> launches{0};
}  // namespace threads_detail

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kLookEvery = 20'000'000;
constexpr int64_t kCostOfLooks = 200;            // their share of the time is one in so many
constexpr int64_t kEnough = 60'000'000;          // nanoseconds of readiness that a verdict takes
constexpr int64_t kBriefAtMost = 2'000'000'000;  // then it is tried without
constexpr double kBusy = 0.1;                    // the share of readiness without a processor
// Of libgomp's threads. Where a launch takes all of them together less, to sleep and wake takes
// longer than it does, and two processes run best that both spin; not so three, which may spin a
// hundred times as long as they work.
constexpr int64_t kWorthSleeping = 1'000'000;
constexpr double kVeryBusy = 0.57;
constexpr int kMostThreads = 256;  // of the helper

// What the scheduler has counted for the threads of this process, in nanoseconds.
struct Readiness {
  int threads = 0;
  int64_t running = 0;
  int64_t waiting = 0;  // ready, without a processor
  int64_t launches = 0;
};

Readiness ReadReadiness() {
  Readiness sum;
  DIR* tasks = opendir("/proc/self/task");
  if (!tasks) return sum;
  while (dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    char path[sizeof(entry->d_name) + 16], text[96];
    std::snprintf(path, sizeof(path), "%s/schedstat", entry->d_name);
    int file = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    long long running = 0, waiting = 0;
    text[std::max<ssize_t>(length, 0)] = 0;
    if (std::sscanf(text, "%lld %lld", &running, &waiting) != 2) continue;
    ++sum.threads;
    sum.running += running;
    sum.waiting += waiting;
  }
  closedir(tasks);
  sum.launches = threads_detail::launches;
  return sum;
}

void WaitForStop(std::stop_token stop) {
  Mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait(lock, stop, [] { return false; });
}

// A thread with idle OpenMP threads of its own. Its end is theirs.
class Helper {
 public:
  ~Helper() { Stop(); }
  bool runs() const { return thread_.joinable(); }

  // False where the system has no threads to give: libgomp would end the process.
  bool Start(int threads) {
    try {
      std::vector<std::jthread> trial;
      for (int i = 1; i < threads; ++i)
        trial.emplace_back([](std::stop_token stop) { WaitForStop(stop); });
      thread_ = std::thread([this, threads] { Hold(threads); });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void Stop() {
    if (!runs()) return;
    stopping_ = true;
    stopping_.notify_all();
    thread_.join();
    stopping_ = false;
  }

 private:
  void Hold(int threads) {
    team::RunInLibgomp([](void*) {}, nullptr, static_cast<unsigned>(threads));
    stopping_.wait(false);
  }

  std::thread thread_;
  std::atomic<bool> stopping_{false};
};

struct Watch {
  Mutex mutex;
  Helper helper;
  Waiting waiting = Waiting::kAutomatic;
  Readiness last;
  bool brief = false;
  int64_t brief_since = 0;
  bool forking = false;  // no helper then: it would not be in the child

  void Start(int64_t now) {
    if (forking || brief) return;
    // Who asks for it before the first region has it when the team comes.
    brief = team::InUse() || StartHelper() || waiting == Waiting::kBrief;
    team::SleepAtOnce(brief);
    brief_since = now;
    last = {};
  }

  // More threads of libgomp than processors, with those of the calling thread.
  bool StartHelper() {
    int threads = omp_get_num_procs() - omp_get_max_threads() + 2;
    return threads >= 2 && threads <= kMostThreads && helper.Start(threads);
  }

  void Stop() {
    helper.Stop();
    team::SleepAtOnce(false);
    brief = false;
    last = {};
  }

  void Judge(int64_t now, const Readiness& seen) {
    int64_t running = seen.running - last.running, waiting = seen.waiting - last.waiting;
    int64_t launches = std::max<int64_t>(1, seen.launches - last.launches);
    bool comparable = seen.threads == last.threads && running >= 0 && waiting >= 0;
    if (comparable && running + waiting < kEnough) return;
    last = seen;
    if (!comparable) return;
    bool ours = team::InUse();
    double most = ours || running / launches > kWorthSleeping ? kBusy : kVeryBusy;
    bool busy = static_cast<double>(waiting) > most * static_cast<double>(running + waiting);
    if (busy) Start(now);
    if (brief && ((!busy && !ours) || now > brief_since + kBriefAtMost)) Stop();
  }
};

Watch& TheWatch() {
  static auto* watch = new Watch;  // outlives the threads of the interpreter
  return *watch;
}

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

void BeforeFork() {
  std::lock_guard lock(TheWatch().mutex);
  TheWatch().forking = true;
  TheWatch().Stop();
  omp_pause_resource_all(omp_pause_hard);
  ++threads_detail::ended;
}

void AfterFork() {
  Watch& watch = TheWatch();
  std::lock_guard lock(watch.mutex);
  watch.forking = false;
  if (watch.waiting == Waiting::kBrief) watch.Start(0);
}

void AfterForkInChild() {
  team::AfterForkInChild();
  Watch& watch = TheWatch();
  std::lock_guard lock(watch.mutex);
  watch.forking = false;
  // Without a helper: many children only call exec.
  watch.brief = watch.waiting == Waiting::kBrief;
  team::SleepAtOnce(watch.brief);
}

}  // namespace

namespace threads_detail {

void Adopt(int count) {
  adopted = count;
  if (count > 0) omp_set_num_threads(count);
}

void Look(int64_t now) {
  Watch& watch = TheWatch();
  std::unique_lock lock(watch.mutex, std::try_to_lock);
  if (!lock || watch.waiting != Waiting::kAutomatic || omp_get_max_threads() == 1 ||
      omp_in_parallel())
    return;
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  Readiness seen = ReadReadiness();
  clock_gettime(CLOCK_MONOTONIC, &end);
  int64_t cost = (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec;
  next_look = seen.threads ? now + std::max(kLookEvery, kCostOfLooks * cost) : kNever;
  if (seen.threads) watch.Judge(now, seen);
}

}  // namespace threads_detail

int DefaultThreads(const std::string& root) {
  double granted = std::floor(GrantedByControlGroups(root).processors);
  return static_cast<int>(std::clamp<double>(granted, 1, omp_get_num_procs()));
}

void SetThreads(int count) {
  if (count > 0) threads_detail::chosen = count;
  AdoptThreads();
}

int Threads() {
  AdoptThreads();
  return omp_get_max_threads();
}

void SetWaiting(Waiting waiting) {
  Watch& watch = TheWatch();
  std::lock_guard lock(watch.mutex);
  watch.waiting = waiting;
  threads_detail::next_look = waiting == Waiting::kAutomatic ? 0 : kNever;
  if (waiting == Waiting::kBrief) watch.Start(0);
  if (waiting == Waiting::kLong) watch.Stop();
}

bool WaitsBriefly() {
  std::lock_guard lock(TheWatch().mutex);
  return TheWatch().brief;
}

void SetUpThreads() {
  if (!IsSet("OMP_NUM_THREADS")) {
    int count = DefaultThreads();
    if (count < omp_get_max_threads()) SetThreads(count);
  }
  if (IsSet("GOMP_SPINCOUNT") || IsSet("OMP_WAIT_POLICY")) SetWaiting(Waiting::kLong);
  team::Serve(reinterpret_cast<const void*>(&SetUpThreads));  // regions of this library itself
  pthread_atfork(&BeforeFork, &AfterFork, &AfterForkInChild);
}

}  // namespace ms
