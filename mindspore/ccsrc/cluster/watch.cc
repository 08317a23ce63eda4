#include "cluster/watch.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <random>
#include <unordered_map>

#include "base/clock.h"
#include "base/error.h"
#include "base/mutex.h"
#include "cluster/history.h"
#include "cluster/meet.h"
#include "cluster/monitor.h"

namespace ms::cluster {
namespace {

constexpr int kTick = 250;                  // ms between two looks
constexpr int64_t kFarewell = 2000;         // ms that a farewell may take
constexpr size_t kLongestText = 1000;       // of what is told of a step or an exception
constexpr size_t kLongestReport = 1 << 19;  // bytes of what is told at once of past steps
constexpr uint64_t kMostOpen = 64;          // calls under way that are told

std::string_view Cut(std::string_view text) { return text.substr(0, kLongestText); }

thread_local std::optional<pthread_t> acts_for;
pthread_t Self() { return acts_for.value_or(pthread_self()); }

}  // namespace

class Watch::Member {
 public:
  Member(int rank, int size, Channel channel, std::unique_ptr<Monitor> monitor,
         const WatchOptions& options)
      : rank_(rank),
        size_(size),
        options_(options),
        monitor_(std::move(monitor)),
        channel_(std::move(channel)),
        heard_(NowInMilliseconds()),
        looked_(heard_),
        thread_(StartQuietThread([this] { Loop(); })) {}
  void End();

  int rank() const { return rank_; }
  int size() const { return size_; }
  void Enter(int group, uint64_t number, std::string_view what, std::string_view place,
             bool unchecked);
  void EnterPair(int group, const Pair& pair, std::string_view what, std::string_view place);
  void Resume(int group, uint64_t number);
  void Exit(bool done);
  void Check() {
    if (failed_.load(std::memory_order_acquire)) ThrowVerdict();
  }
  void SetGroup(int group, std::vector<int> ranks);
  void Raised(std::string_view text) {
    Post(std::move(Packer(frame::kRaised).Text(Cut(text.substr(0, text.find('\n'))))));
  }

 private:
  void Loop();
  bool Talk();  // whether rank 0 is there
  void Handle(Unpacker frame);
  void Report(int64_t now);
  void TellTrails();
  void NoteThread();
  const Step* StepOf(const Open& open);
  void JudgeWithoutRoot();
  void Fail(std::string text);
  void Post(Packer frame);
  [[noreturn]] void ThrowVerdict();
  std::string LastStep();

  const int rank_, size_;
  const WatchOptions options_;
  std::unique_ptr<Monitor> monitor_;  // in rank 0

  // Of the thread.
  Channel channel_;
  int64_t heard_, looked_, beaten_ = 0;
  bool attention_ = false, told_of_waiting_ = false;
  uint64_t told_changes_ = 0;

  Bell bell_;
  std::atomic<bool> stop_{false}, failed_{false}, heard_farewell_{false};

  Mutex mutex_;  // of what follows
  std::unordered_map<int, History> histories_;
  std::unordered_map<int, std::vector<int>> groups_;
  std::vector<Open> open_;
  const Step* last_ = nullptr;
  std::optional<pthread_t> first_thread_;  // that entered one
  bool several_threads_ = false;
  uint64_t changes_ = 0;
  std::vector<Packer> posted_;
  std::string verdict_;
  int64_t root_left_ = 0;  // when
  std::unordered_map<int, uint64_t> next_of_root_;

  std::thread thread_;
};

void Watch::Member::End() {
  TellTrails();
  Packer farewell(frame::kFarewell);
  {
    std::lock_guard lock(mutex_);
    for (const Open& at : open_) {
      if (at.pair.other < 0) histories_[at.group].next = at.number;  // will not be done
    }
    farewell.Number(histories_.size());
    for (const auto& [group, history] : histories_) farewell.Number(group).Number(history.next);
  }
  Post(std::move(farewell));
  // Closing before rank 0 has read it might lose it.
  for (int64_t end = NowInMilliseconds() + kFarewell;
       !heard_farewell_ && NowInMilliseconds() < end;)
    usleep(500);
  stop_ = true;
  bell_.Ring();
  thread_.join();
  channel_.Close();
  monitor_.reset();
}

void Watch::Member::Enter(int group, uint64_t number, std::string_view what, std::string_view place,
                          bool unchecked) {
  Check();
  std::lock_guard lock(mutex_);
  History& history = histories_[group];
  if (unchecked) history.trail.Add(what);
  Step& step = history.steps[history.count++ % history.steps.size()];
  step.number = number;
  step.what.assign(Cut(what));
  step.place.assign(Cut(place));
  history.next = number + 1;
  last_ = &step;
  NoteThread();
  open_.push_back({Self(), group, number, CoarseNow()});
  ++changes_;
}

void Watch::Member::EnterPair(int group, const Pair& pair, std::string_view what,
                              std::string_view place) {
  Check();
  std::lock_guard lock(mutex_);
  NoteThread();
  Step step{0, std::string(Cut(what)), std::string(Cut(place))};
  open_.push_back({Self(), group, 0, CoarseNow(), pair, std::move(step)});
  ++changes_;
}

void Watch::Member::Resume(int group, uint64_t number) {
  std::lock_guard lock(mutex_);
  open_.push_back({Self(), group, number, CoarseNow()});
  ++changes_;
}

void Watch::Member::NoteThread() {
  if (!first_thread_) first_thread_ = Self();
  several_threads_ |= !pthread_equal(*first_thread_, Self());
}

const Step* Watch::Member::StepOf(const Open& open) {
  return open.pair.other >= 0 ? &open.with_other : histories_[open.group].Find(open.number);
}

void Watch::Member::Exit(bool done) {
  std::lock_guard lock(mutex_);
  auto mine = std::ranges::find(open_.rbegin(), open_.rend(), Self(), &Open::thread);
  if (mine == open_.rend()) return;
  if (!done && mine->pair.other < 0) histories_[mine->group].next = mine->number;
  open_.erase(std::next(mine).base());
  ++changes_;
}

void Watch::Member::SetGroup(int group, std::vector<int> ranks) {
  Packer frame(frame::kGroup);
  frame.Number(group).Number(ranks.size());
  for (int rank : ranks) frame.Number(rank);
  {
    std::lock_guard lock(mutex_);
    groups_[group] = std::move(ranks);
  }
  Post(std::move(frame));
}

void Watch::Member::Post(Packer frame) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(frame));
  }
  bell_.Ring();
}

void Watch::Member::Loop() {
  while (!stop_) {
    pollfd wanted[] = {{bell_.fd(), POLLIN, 0},
                       {channel_.fd(),  // negative after its end: not looked at
                        static_cast<short>(POLLIN | (channel_.wants_to_write() ? POLLOUT : 0)), 0}};
    poll(wanted, 2, kTick);
    bell_.Hush();
    int64_t now = NowInMilliseconds();
    {
      std::lock_guard lock(mutex_);
      for (Packer& frame : posted_) channel_.Send(std::move(frame));
      posted_.clear();
    }
    if (!channel_.open()) {
      heard_farewell_ = true;  // nobody is there to hear it
      JudgeWithoutRoot();
      continue;
    }
    if (now - beaten_ >= options_.beat.count()) {
      channel_.Send(std::move(Packer(frame::kBeat).Text(LastStep())));
      TellTrails();
      beaten_ = now;
    }
    Report(now);
    if (now - looked_ > 2 * options_.beat.count() + kTick)
      heard_ = now;  // we were stopped ourselves
    looked_ = now;
    if (!Talk()) {
      channel_.Close();
      if (!root_left_)
        Fail(
            fmt::format("rank 0 died without a farewell: it was killed, or it crashed, or the "
                        "network is gone{}",
                        kWhatNow));
    } else if (now - heard_ > options_.silence.count()) {
      Fail(
          fmt::format("rank 0 has been silent for {} s: it is stopped, or its machine or the "
                      "network is gone (MS_COMM_TIMEOUT is how long that may last){}",
                      options_.silence.count() / 1000.0, kWhatNow));
    }
  }
}

bool Watch::Member::Talk() {
  bool alive = channel_.Pump();
  while (std::optional<Unpacker> frame = channel_.Next()) {
    heard_ = NowInMilliseconds();
    Handle(*std::move(frame));
  }
  return alive;
}

void Watch::Member::Handle(Unpacker frame) {
  switch (frame.type()) {
    case frame::kAttention:
      attention_ = frame.Number() != 0;
      break;
    case frame::kVerdict:
      Fail(frame.Text());
      break;
    case frame::kGone:
      heard_farewell_ = true;
      break;
    case frame::kFarewell: {
      std::lock_guard lock(mutex_);
      root_left_ = NowInMilliseconds();
      for (uint64_t count = frame.Number(); frame.good() && count > 0; --count) {
        int group = static_cast<int>(frame.Number());
        next_of_root_[group] = frame.Number();
      }
      break;
    }
    default:
      break;
  }
}

void Watch::Member::TellTrails() {
  std::lock_guard lock(mutex_);
  for (auto& [group, history] : histories_) {
    std::vector<Trail::Mark> marks = history.trail.Take();
    if (marks.empty()) continue;
    Packer frame(frame::kTrail);
    frame.Number(group).Number(marks.size());
    for (const Trail::Mark& mark : marks) frame.Number(mark.calls).Number(mark.sum);
    posted_.push_back(std::move(frame));
  }
}

// Tells what was entered where this rank waits long or another does.
void Watch::Member::Report(int64_t) {
  std::lock_guard lock(mutex_);
  int64_t before = CoarseNow() - options_.long_wait.count() * 1'000'000;
  std::vector<const Open*> waiting;
  for (const Open& open : open_) {
    if (open.since <= before) waiting.push_back(&open);
  }
  bool news = changes_ != told_changes_ || waiting.empty() == told_of_waiting_;
  if (!news || (!attention_ && waiting.empty() && !told_of_waiting_)) return;
  told_changes_ = changes_;
  told_of_waiting_ = !waiting.empty();
  Packer steps(frame::kSteps), body(frame::kSteps);
  uint64_t count = 0;
  bool all = true;  // else the rest goes with the next report: a frame has its limit
  auto pack = [&body](int group, const Step& step) {
    body.Number(group).Number(step.number).Text(step.what).Text(step.place);
  };
  for (const auto& [group, history] : histories_) body.Number(group).Number(history.next);
  for (auto& [group, history] : histories_) {
    uint64_t size = history.steps.size();
    for (uint64_t i = std::max(history.told, history.count < size ? 0 : history.count - size);
         i < history.count && (all = body.size() < kLongestReport); ++i, ++count) {
      pack(group, history.steps[i % size]);
      history.told = i + 1;
    }
  }
  if (!all) told_changes_ = changes_ - 1;
  uint64_t open = 0;
  for (const Open* at : waiting) {
    if (open == kMostOpen) break;
    if (const Step* step = StepOf(*at)) {
      pack(at->group, *step);
      body.Number(at->pair.other + 1).Number(at->pair.tag).Number(at->pair.sends);
      ++open;
    }
  }
  channel_.Send(std::move(steps.Number(several_threads_)
                              .Number(histories_.size())
                              .Number(count)
                              .Number(open)
                              .Append(body)));
}

// Rank 0 has left, and the monitor with it: it is not to be waited for.
void Watch::Member::JudgeWithoutRoot() {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    if (!root_left_) return;
    for (const Open& at : open_) {
      if (at.pair.other >= 0) {
        // What it has sent may still be on its way.
        int64_t since =
            std::max(root_left_, NowInMilliseconds() - (CoarseNow() - at.since) / 1'000'000);
        bool in_vain =
            at.pair.other == 0 && NowInMilliseconds() - since > kPairBeats * options_.beat.count();
        if (in_vain) text = RankHasLeft("rank 0", rank_, at.with_other);
        continue;
      }
      auto ranks = groups_.find(at.group);
      if (at.group != kWorld && (ranks == groups_.end() || !std::ranges::count(ranks->second, 0)))
        continue;
      const Step* step = histories_[at.group].Find(at.number);
      auto next = next_of_root_.find(at.group);
      if (step && (next == next_of_root_.end() || next->second <= at.number)) {
        text = RankHasLeft("rank 0", rank_, *step);
      }
    }
  }
  if (!text.empty()) Fail(std::move(text));
}

void Watch::Member::Fail(std::string text) {
  std::lock_guard lock(mutex_);
  if (failed_) return;
  verdict_ = std::move(text);
  failed_.store(true, std::memory_order_release);
}

void Watch::Member::ThrowVerdict() {
  std::lock_guard lock(mutex_);
  std::string here;
  auto mine = std::ranges::find(open_.rbegin(), open_.rend(), Self(), &Open::thread);
  if (mine != open_.rend()) {
    if (const Step* step = StepOf(*mine))
      here = fmt::format(". This is rank {}, in {}", rank_, step->Text());
  }
  Throw(ErrorKind::kRuntime, "{}{}.", verdict_, here);
}

std::string Watch::Member::LastStep() {
  std::lock_guard lock(mutex_);
  return last_ ? last_->Text() : "";
}

// ---- joining

namespace {

struct Process {
  std::unique_ptr<Watch> watch;
  std::vector<std::unique_ptr<Watch>> left;  // a thread may still ask one of these
  Socket listening;                          // before rank 0 joins
  std::string listens_at;
};

// Reached through one pointer, which the child of a fork drops: the threads are not there.
std::atomic<Watch*> current{nullptr};
Process* process = nullptr;

Process& ThisProcess() {
  static Once once;
  once.Do([] {
    pthread_atfork(nullptr, nullptr, [] {
      current = nullptr;
      process = new Process;  // the parent's threads are not here to be joined
    });
    process = new Process;
  });
  return *process;
}

std::string RandomWord() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace

std::string Watch::Listen(const std::string& host) {
  Address address{host, "0", RandomWord()};
  Process& here = ThisProcess();
  here.listening = ms::cluster::Listen(address);
  address.port = std::to_string(PortOf(here.listening));
  here.listens_at = fmt::format("{}/{}", address.Text(), address.word);
  return here.listens_at;
}

void Watch::Join(int rank, int size, const std::string& text, const WatchOptions& options) {
  if (size < 1 || rank < 0 || rank >= size)
    Throw(ErrorKind::kValue, "the rank must be in [0, {}), the ranks of the job, but got {}", size,
          rank);
  Process& here = ThisProcess();
  if (here.watch) Throw(ErrorKind::kRuntime, "this process has joined a watch already");
  Address address = Address::Parse(text);
  std::unique_ptr<Monitor> monitor;
  if (rank == 0) {
    Socket listening = text == here.listens_at ? std::move(here.listening) : Socket();
    if (!listening) listening = ms::cluster::Listen(address);
    monitor = std::make_unique<Monitor>(std::move(listening), address, size, options);
  }
  Channel channel = Meet(rank, size, address, options);
  here.watch.reset(new Watch(
      std::make_unique<Member>(rank, size, std::move(channel), std::move(monitor), options)));
  current = here.watch.get();
}

Watch* Watch::Current() { return current.load(std::memory_order_acquire); }

void Watch::Leave() {
  Process& here = ThisProcess();
  current = nullptr;
  if (!here.watch) return;
  here.watch->member_->End();
  here.left.push_back(std::move(here.watch));
}

Watch::Watch(std::unique_ptr<Member> member) : member_(std::move(member)) {}
Watch::~Watch() = default;
void Watch::SetGroup(int group, std::vector<int> ranks) {
  member_->SetGroup(group, std::move(ranks));
}
void Watch::Enter(int group, uint64_t number, std::string_view what, std::string_view place,
                  bool unchecked) {
  member_->Enter(group, number, what, place, unchecked);
}
void Watch::EnterPair(int group, const Pair& pair, std::string_view what, std::string_view place) {
  member_->EnterPair(group, pair, what, place);
}
void Watch::Resume(int group, uint64_t number) { member_->Resume(group, number); }
void Watch::ActFor(pthread_t thread) { acts_for = thread; }
void Watch::Exit(bool done) { member_->Exit(done); }
void Watch::Check() { member_->Check(); }
void Watch::Raised(std::string_view text) { member_->Raised(text); }
int Watch::rank() const { return member_->rank(); }
int Watch::size() const { return member_->size(); }

}  // namespace ms::cluster
