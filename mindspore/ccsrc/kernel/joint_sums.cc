#include "kernel/joint_sums.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/mutex.h"
#include "cluster/monitor.h"
#include "cluster/watch.h"
#include "kernel/bucket_cuts.h"

namespace ms {
namespace {

// After so many runs the members agree again: the first ones know little, and are slow.
constexpr int64_t kAgreeAfter[] = {0, 2, 10};
// To tell what a call takes, and what a byte.
constexpr int64_t kProbe = 64 << 10;
constexpr int kProbes = 3;
// A group's thread ends when it has had nothing to do for so long.
constexpr std::chrono::seconds kIdle{2};
// What was given up while others may still come to it is waited for so long.
constexpr std::chrono::seconds kGrace{1};

double Now() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Who is in which bucket: tensors in the order in which they go, and where each bucket ends.
struct Order {
  std::vector<int64_t> tensors, ends;
};

struct Agreement {
  Order order;
  int64_t runs = 0;
  std::vector<double>
      ready;  // after the first one, in the quickest of the runs since the last time
};

using Key = std::pair<std::vector<int64_t>, std::vector<DType>>;

int64_t BytesOf(const JointSum& sum, size_t i) {
  return sum.counts[i] * static_cast<int64_t>(ItemSize(sum.dtypes[i]));
}

}  // namespace

// One sum that is under way.
struct SumRun {
  std::shared_ptr<const JointSum> sum;
  std::shared_ptr<Group> group;
  pthread_t thread;
  SpanId place;         // of the first one that began
  bool hidden = false;  // the thread for sums makes it
  std::vector<void*> data;
  std::vector<SpanId> places;
  std::vector<double> ready;  // 0: not begun
  size_t begun = 0;
  const Order* order = nullptr;  // from when its turn has come
  size_t next = 0;               // bucket
  bool ended = false;            // behind the last one; the order may be another one by then
  bool busy = false, abandoned = false, done = false;
  std::atomic<bool> unwanted{false};  // the thread is to leave the call it is in
  std::exception_ptr error;
  std::vector<std::pair<double, double>> times;  // of buckets: begin, end

  bool has_begun(size_t i) const { return ready[i] != 0; }
  bool all_begun() const { return begun == data.size(); }
};

namespace {

std::string What(const JointSum& sum, std::span<const int64_t> tensors) {
  int64_t elements = 0;
  for (int64_t i : tensors) elements += sum.counts[static_cast<size_t>(i)];
  if (tensors.size() == 1) {
    return fmt::format("AllReduce sum {}[{}]", Name(sum.dtypes[static_cast<size_t>(tensors[0])]),
                       elements);
  }
  return fmt::format("AllReduce sum of {} tensors with {} elements", tensors.size(), elements);
}

void SumAll(Group& group, const Exchange& call, const SumRun& run,
            std::span<const int64_t> tensors) {
  std::map<DType, std::vector<Stretch>> by_dtype;
  for (int64_t i : tensors) {
    auto tensor = static_cast<size_t>(i);
    if (run.sum->counts[tensor] == 0) continue;
    by_dtype[run.sum->dtypes[tensor]].push_back(
        {static_cast<char*>(run.data[tensor]), BytesOf(*run.sum, tensor)});
  }
  for (const auto& [dtype, members] : by_dtype)
    group.AllReduceEach(call, members, dtype, Reduction::kSum);
}

void SumBucket(const SumRun& run, std::span<const int64_t> tensors) {
  std::string what = What(*run.sum, tensors);
  size_t first = static_cast<size_t>(*std::min_element(tensors.begin(), tensors.end()));
  Exchange call{what, run.places[first]};
  try {
    Announced announced(*run.group, call);
    SumAll(*run.group, call, run, tensors);
  } catch (const Error& error) {
    throw error.Of("AllReduce").WithSpan(call.place).Late();
  }
}

std::vector<int64_t> InOrderOfProgram(size_t count) {
  std::vector<int64_t> tensors(count);
  std::iota(tensors.begin(), tensors.end(), int64_t{0});
  return tensors;
}

thread_local bool in_background = false;
thread_local const SumRun* in_work = nullptr;  // of a thread for sums

}  // namespace

// Of one group: what its transport takes, and what its members have agreed upon.
struct SumHistory {
  double call = 1, probe = 1;  // seconds of the quickest call so far, of one element and of kProbe
  LinkTime link;
  std::map<Key, Agreement> agreed;
};

namespace {

// One thread for each group: what is summed in one group waits for nothing in another one.
class Background {
 public:
  static Background& Get() {
    static auto* background = new Background;  // its threads outlive the program's last object
    return *background;
  }

  std::shared_ptr<SumRun> Open(const std::shared_ptr<const JointSum>& sum,
                               std::shared_ptr<Group> group, SpanId place, bool may_hide) {
    auto run = std::make_shared<SumRun>();
    size_t count = sum->counts.size();
    run->sum = sum;
    run->group = std::move(group);
    run->thread = pthread_self();
    run->place = place;
    run->data.resize(count);
    run->places.resize(count);
    run->ready.resize(count);
    // The child of a fork has no such thread.
    run->hidden = may_hide && run->group->takes_time() && getpid() == process_;
    if (!run->hidden) return run;
    std::lock_guard lock(mutex_);
    Lane& lane = lanes_[sum->group];
    if (!lane.runs) cluster::StartQuietThread([this, name = sum->group] { Work(name); }).detach();
    lane.runs = true;
    lane.queue.push_back(run);
    lane.work.notify_one();
    return run;
  }

  void Begin(SumRun& run, size_t index, void* data, SpanId place) {
    std::lock_guard lock(mutex_);
    run.places[index] = place;
    run.ready[index] = Now();
    run.data[index] = data;
    ++run.begun;
    if (run.hidden && HasWork(run)) lanes_[run.sum->group].work.notify_one();
  }

  void Await(const std::shared_ptr<SumRun>& run) {
    std::unique_lock lock(mutex_);
    if (!run->hidden) {
      lock.unlock();
      return SumBucket(*run, InOrderOfProgram(run->data.size()));
    }
    done_.wait(lock, [&] { return run->done; });
    if (run->error) std::rethrow_exception(run->error);
    Count(*run);
  }

  void Abandon(const std::shared_ptr<SumRun>& run) {
    std::unique_lock lock(mutex_);
    // What the others will end is ended here as well, or the next call would not fit theirs.
    if (run->hidden && !run->sum->beside && run->all_begun())
      return done_.wait(lock, [&] { return run->done; });
    auto idle = [&] { return !run->busy && !HasWork(*run); };
    // The others may be waiting for this thread elsewhere, and never come.
    if (run->sum->beside && !done_.wait_for(lock, kGrace, idle)) run->unwanted = true;
    run->abandoned = true;
    done_.wait(lock, [&] { return !run->busy; });
    if (!run->hidden) return;
    Lane& lane = lanes_[run->sum->group];
    std::erase(lane.queue, run);
    lane.work.notify_one();
  }

  void SetWish(BucketWish wish) {
    std::lock_guard lock(mutex_);
    wish_ = std::move(wish);
  }
  SumTimes times() {
    std::lock_guard lock(mutex_);
    return times_;
  }

 private:
  struct Lane {
    std::deque<std::shared_ptr<SumRun>> queue;  // in the order in which they were opened
    std::condition_variable_any work;
    bool runs = false;
  };

  static std::span<const int64_t> Bucket(const Order& order, size_t i) {
    auto begin = static_cast<size_t>(i ? order.ends[i - 1] : 0);
    return std::span(order.tensors).subspan(begin, static_cast<size_t>(order.ends[i]) - begin);
  }

  // Whether the thread can do something for a run whose turn it is.
  static bool HasWork(const SumRun& run) {
    if (!run.hidden || run.busy || run.abandoned || run.done) return false;
    if (!run.order) return true;
    if (run.next == run.order->ends.size()) return true;  // the end
    for (int64_t i : Bucket(*run.order, run.next)) {
      if (!run.has_begun(static_cast<size_t>(i))) return false;
    }
    return true;
  }

  void Work(const std::string& name) {
    in_background = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      Lane& lane = lanes_[name];
      auto wanted = [&] { return !lane.queue.empty() && HasWork(*lane.queue.front()); };
      if (!lane.work.wait_for(lock, kIdle, wanted)) {
        if (!lane.queue.empty()) continue;
        lanes_.erase(name);
        return;
      }
      std::shared_ptr<SumRun> run = lane.queue.front();
      run->busy = true;
      lock.unlock();
      std::exception_ptr error;
      in_work = run.get();
      try {
        Step(*run);
      } catch (...) {
        error = std::current_exception();
      }
      in_work = nullptr;
      lock.lock();
      run->busy = false;
      if (error) run->error = error;
      if (error || run->ended) {
        run->done = true;
        std::erase(lane.queue, run);
      }
      done_.notify_all();
    }
  }

  // The thread's own, without the lock.
  void Step(SumRun& run) {
    if (!run.sum->beside) cluster::Watch::ActFor(run.thread);
    if (!run.group->sums) run.group->sums = std::make_shared<SumHistory>();
    SumHistory& history = *run.group->sums;
    Agreement& agreement = history.agreed[{run.sum->counts, run.sum->dtypes}];
    if (!run.order) {
      if (agreement.runs == 0) Agree(run, agreement);
      run.order = &agreement.order;
    } else if (run.next < run.order->ends.size()) {
      double begin = Now();
      SumBucket(run, Bucket(*run.order, run.next++));
      run.times.emplace_back(begin, Now());
    } else {
      run.ended = true;
      ++agreement.runs;
      Note(run, agreement);
      auto again = std::begin(kAgreeAfter) + 1;
      if (std::find(again, std::end(kAgreeAfter), agreement.runs) != std::end(kAgreeAfter))
        Agree(run, agreement);
    }
  }

  static void Note(const SumRun& run, Agreement& agreement) {
    double first = *std::min_element(run.ready.begin(), run.ready.end());
    agreement.ready.resize(run.ready.size(), std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < run.ready.size(); ++i)
      agreement.ready[i] = std::min(agreement.ready[i], run.ready[i] - first);
  }

  // The others take the first one's order.
  void Agree(const SumRun& run, Agreement& agreement) {
    Exchange call{"the buckets of gradients", run.place};
    try {
      Announced announced(*run.group, call);
      Measure(*run.group, call);
      size_t count = run.sum->counts.size();
      std::vector<int64_t> told(2 * count);
      if (run.group->rank() == 0) {
        Order order = Choose(run, agreement.ready);
        agreement.ready.clear();
        std::copy(order.tensors.begin(), order.tensors.end(), told.begin());
        std::copy(order.ends.begin(), order.ends.end(),
                  told.begin() + static_cast<std::ptrdiff_t>(count));
      }
      run.group->Broadcast(call, told.data(), static_cast<int64_t>(told.size() * sizeof(int64_t)),
                           0);
      auto half = told.begin() + static_cast<std::ptrdiff_t>(count);
      agreement.order.tensors.assign(told.begin(), half);
      agreement.order.ends.assign(half, std::find(half, told.end(), 0));
    } catch (const Error& error) {
      throw error.Of("AllReduce").WithSpan(call.place).Late();
    }
  }

  // What is least counts: whatever else runs makes it more.
  static void Measure(Group& group, const Exchange& call) {
    LinkTime& link = group.sums->link;
    std::vector<float> data(kProbe / sizeof(float));
    auto least = [&](int64_t count, double* time) {
      for (int i = 0; i < kProbes; ++i) {
        double begin = Now();
        group.AllReduce(call, data.data(), data.data(), count, DType::kFloat32, Reduction::kSum);
        *time = std::min(*time, Now() - begin);
      }
    };
    least(1, &group.sums->call);
    least(static_cast<int64_t>(data.size()), &group.sums->probe);
    link.call = group.sums->call;
    link.byte = std::max(group.sums->probe - link.call, 0.0) / kProbe;
  }

  // `ready` is empty before the first run.
  Order Choose(const SumRun& run, const std::vector<double>& ready) {
    const JointSum& sum = *run.sum;
    Order order{InOrderOfProgram(sum.counts.size()), {}};
    // Before it is known, the other way round: the last layers' gradients are ready first.
    std::reverse(order.tensors.begin(), order.tensors.end());
    auto at = [&](int64_t i) { return ready.empty() ? 0 : ready[static_cast<size_t>(i)]; };
    if (!ready.empty()) {
      std::stable_sort(order.tensors.begin(), order.tensors.end(),
                       [&](int64_t a, int64_t b) { return at(a) < at(b); });
    }
    std::vector<ReadySum> sums;
    for (int64_t i : order.tensors) {
      sums.push_back({at(i), BytesOf(sum, static_cast<size_t>(i))});
    }
    BucketWish wish;
    {
      std::lock_guard lock(mutex_);
      wish = wish_;
    }
    auto count = static_cast<int64_t>(sums.size());
    const LinkTime& link = run.group->sums->link;
    if (!wish.ends.empty()) {
      for (int64_t end : wish.ends) {
        if (end < count) order.ends.push_back(end);
      }
      order.ends.push_back(count);
    } else if (wish.bytes > 0) {
      order.ends = CutBySize(sums, wish.bytes);
    } else {
      order.ends = ready.empty() ? CutUnmeasured(sums, link) : CutBuckets(sums, link);
    }
    return order;
  }

  void Count(const SumRun& run) {
    ++times_.runs;
    times_.buckets += static_cast<int64_t>(run.times.size());
    if (run.times.empty()) return;
    auto [first, last] = std::minmax_element(run.ready.begin(), run.ready.end());
    double sums = 0, hidden = 0;
    for (auto [begin, end] : run.times) {
      sums += end - begin;
      hidden += std::max(0.0, std::min(end, *last) - std::min(begin, *last));
    }
    const LinkTime& link = run.group->sums->link;
    auto last_tensor = static_cast<size_t>(last - run.ready.begin());
    double seen = link.call + link.byte * static_cast<double>(BytesOf(*run.sum, last_tensor));
    times_.sums += sums;
    times_.hideable += std::clamp(sums - seen, 0.0, *last - *first);
    times_.hidden += hidden;
    times_.tail += std::max(0.0, run.times.back().second - *last);
  }

  Mutex mutex_;
  std::condition_variable_any done_;
  std::map<std::string, Lane> lanes_;  // by group
  const pid_t process_ = getpid();
  BucketWish wish_;
  SumTimes times_;
};

}  // namespace

// Where the sums that are open on this thread are kept.
struct OpenSum {
  using Runs = std::vector<std::shared_ptr<SumRun>>;
  static inline thread_local SumScope* scope = nullptr;
  static inline thread_local Runs without_scope;
  static Runs& All() { return scope ? scope->open_ : without_scope; }
  // Null where none is open.
  static std::shared_ptr<SumRun> Take(const std::string& group) {
    Runs& all = All();
    auto it = std::find_if(all.begin(), all.end(),
                           [&](const auto& run) { return run->sum->group == group; });
    if (it == all.end()) return nullptr;
    std::shared_ptr<SumRun> run = std::move(*it);
    all.erase(it);
    return run;
  }
};

SumScope::SumScope() : outer_(std::exchange(OpenSum::scope, this)) {}
SumScope::~SumScope() {
  AbandonSums();
  OpenSum::scope = outer_;
}

void StartSum(const std::shared_ptr<const JointSum>& sum, size_t index, void* data, SpanId place) {
  std::shared_ptr<SumRun> open = OpenSum::Take(sum->group);
  // After an error a device leaves out what follows, AwaitSums as well.
  bool left_over = open && !OpenSum::scope && (open->sum != sum || open->has_begun(index));
  if (left_over) open.reset();
  if (!open) {
    std::shared_ptr<Group> group = FindGroup(sum->group);
    if (group->size() == 1) return;
    open = Background::Get().Open(sum, std::move(group), place, OpenSum::scope != nullptr);
  }
  MS_ASSERT(index < open->data.size() && open->sum->counts == sum->counts && !open->all_begun());
  OpenSum::All().push_back(open);
  Background::Get().Begin(*open, index, data, place);
}

void AwaitSums(const std::string& group) {
  std::shared_ptr<SumRun> run = OpenSum::Take(group);
  if (!run) return;
  MS_ASSERT(run->all_begun());
  Background::Get().Await(run);
}

void AbandonSums() {
  for (const auto& run : std::exchange(OpenSum::All(), {})) Background::Get().Abandon(run);
}

void SetBucketWish(BucketWish wish) { Background::Get().SetWish(std::move(wish)); }
bool InBackground() { return in_background; }
void CheckStillWanted() {
  if (in_work && in_work->unwanted)
    Throw(ErrorKind::kRuntime, "the sum was given up, as an error has ended the step");
}
SumTimes TimesOfSums() { return Background::Get().times(); }

}  // namespace ms
