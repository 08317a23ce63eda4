#include "late_stream.h"

#include <atomic>
#include <chrono>

#include "kernel/notice.h"
#include "kernel/threads.h"

namespace ms::fenced {
namespace {

// Who gives work beyond this many waits for a while, as on other devices; not for ever, since what
// runs may need a lock that the caller holds.
constexpr size_t kMostWaiting = 512;
constexpr std::chrono::milliseconds kLongestWait(10);

// A number of the calling thread that no later one has, as an id might.
uint64_t ThisThread() {
  static std::atomic<uint64_t> threads{0};
  thread_local const uint64_t number = ++threads;
  return number;
}

class Ticket : public Event {
 public:
  Ticket(LateStream& stream, uint64_t count) : stream_(stream), count_(count) {}
  bool Reached() const override { return stream_.Reached(count_); }
  void Synchronize() const override { stream_.WaitFor(count_); }
  LateStream& stream() const { return stream_; }
  uint64_t count() const { return count_; }

 private:
  LateStream& stream_;
  uint64_t count_;
};

}  // namespace

LateStream::LateStream(Memory& memory, uint64_t seed)
    : Stream(memory), chance_(seed), thread_([this] { Loop(); }) {}

LateStream::~LateStream() { Stop(); }

void LateStream::CheckUsable() const {
  if (!lost_) return;
  Throw(ErrorKind::kRuntime,
        "the device '{}' must be used in the process that opened it, but this is one that was "
        "forked from it. Start it with multiprocessing's 'spawn'",
        memory().device());
}

void LateStream::Give(std::function<void()> run, bool cannot_fail) {
  CheckUsable();
  Work work{std::move(run), cannot_fail};
  std::unique_lock lock(mutex_);
  heard_.try_emplace(ThisThread(), heard_by_some_);
  ++given_;
  if (stopped_) {
    ++done_;
    lock.unlock();
    return Do(work);
  }
  queue_.push_back(std::move(work));
  bool soon = chance_() % 4 == 0;
  bool full = queue_.size() >= kMostWaiting;
  if (!soon && !full) return;
  allowed_ = given_;
  given_more_.notify_one();
  if (full && std::this_thread::get_id() != thread_.get_id())
    done_more_.wait_for(lock, kLongestWait, [&] { return queue_.size() < kMostWaiting; });
}

void LateStream::Do(Work& work) {
  {
    std::lock_guard lock(mutex_);
    if (errors_ > heard_by_some_ && !work.cannot_fail) return;
  }
  try {
    work.run();
  } catch (...) {
    std::lock_guard lock(mutex_);
    error_ = std::current_exception();
    ++errors_;
  }
}

void LateStream::Loop() {
  std::vector<SpanId> noticed;
  CollectNotices(&noticed);
  std::mt19937_64 delays(chance_());
  std::unique_lock lock(mutex_);
  for (;;) {
    given_more_.wait(lock, [&] { return stop_ || done_ < allowed_; });
    if (queue_.empty()) {
      if (stop_) {
        stopped_ = true;
        return;
      }
      continue;
    }
    Work work = std::move(queue_.front());
    queue_.pop_front();
    bool late = delays() % 64 == 0;
    lock.unlock();
    if (late) std::this_thread::sleep_for(std::chrono::microseconds(delays() % 200));
    AdoptThreads();
    Do(work);
    work = {};
    lock.lock();
    zero_divisors_.insert(zero_divisors_.end(), noticed.begin(), noticed.end());
    noticed.clear();
    ++done_;
    done_more_.notify_all();
  }
}

std::unique_ptr<Event> LateStream::Record() {
  std::lock_guard lock(mutex_);
  return std::make_unique<Ticket>(*this, given_);
}

void LateStream::Follow(const Event& event) {
  const auto& ticket = static_cast<const Ticket&>(event);
  Give([&other = ticket.stream(), count = ticket.count()] { other.WaitFor(count); }, true);
}

bool LateStream::Reached(uint64_t count) {
  std::lock_guard lock(mutex_);
  return done_ >= count;
}

void LateStream::WaitFor(uint64_t count) {
  CheckUsable();
  std::unique_lock lock(mutex_);
  if (done_ >= count) return;
  allowed_ = std::max(allowed_, count);
  given_more_.notify_one();
  done_more_.wait(lock, [&] { return done_ >= count; });
}

std::exception_ptr LateStream::Unheard() {
  std::lock_guard lock(mutex_);
  auto [it, fresh] = heard_.try_emplace(ThisThread(), heard_by_some_);
  if (it->second >= errors_) return nullptr;
  it->second = heard_by_some_ = errors_;
  return error_;
}

void LateStream::WaitForAll() {
  uint64_t all;
  {
    std::lock_guard lock(mutex_);
    all = given_;
  }
  WaitFor(all);
}

void LateStream::SynchronizeNow() {
  WaitForAll();
  for (;;) {  // one by one: a notice may throw
    SpanId span;
    {
      std::lock_guard lock(mutex_);
      if (zero_divisors_.empty()) break;
      span = zero_divisors_.back();
      zero_divisors_.pop_back();
    }
    NoteZeroDivisor(span);
  }
  std::exception_ptr error = Unheard();
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (Error& found) {
    throw Error(found).Late();
  }
}

void LateStream::Stop() {
  if (lost_ || !thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    allowed_ = given_;
    given_more_.notify_one();
  }
  thread_.join();
}

}  // namespace ms::fenced
