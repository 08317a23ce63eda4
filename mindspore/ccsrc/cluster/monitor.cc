#include "cluster/monitor.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ranges>

#include "base/error.h"

namespace ms::cluster {
namespace {

constexpr int kTick = 250;                // ms between two looks
constexpr int64_t kHandshake = 10'000;    // ms that a guest has to say who it is
constexpr int64_t kLastWords = 1000;      // ms to get rid of what is still to be sent
constexpr int64_t kForLateOnes = 10'000;  // ms that a failed job tells late ranks so
constexpr int64_t kCircle = 5;            // beats that one lasts before it is believed
constexpr size_t kMostGuests = 4096;
constexpr size_t kMostMarks = 4096;  // of a group, that are not told by all
constexpr size_t kMostPast = 64;     // steps of a group and rank that are compared

// All signals wait while it lives, and in threads that are started meanwhile.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

int64_t NowInMilliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::thread StartQuietThread(std::function<void()> work) {
  NoSignals inherited;
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    Throw(ErrorKind::kRuntime,
          "for a group of processes the system must give one more thread, but it has none");
  }
}

Bell::Bell() : socket_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Bell::Ring() {
  uint64_t one = 1;
  (void)!write(fd(), &one, sizeof one);
}

void Bell::Hush() {
  uint64_t count;
  (void)!read(fd(), &count, sizeof count);
}

std::string Step::Text() const {
  return place.empty() ? what : fmt::format("{} at {}", what, place);
}

std::string RankHasLeft(const std::string& name, int waits, const Step& step) {
  return fmt::format("{} has ended its program, and rank {} waits for it in {}", name, waits,
                     step.Text());
}

Monitor::Monitor(Socket listening, Address address, int size, const WatchOptions& options)
    : listening_(std::move(listening)),
      address_(std::move(address)),
      options_(options),
      started_(NowInMilliseconds()),
      looked_(started_),
      members_(size) {
  thread_ = StartQuietThread([this] { Loop(); });
}

Monitor::~Monitor() {
  stop_ = true;
  bell_.Ring();
  thread_.join();
}

bool Monitor::IsNeeded(int64_t now) {
  if (!stop_) return true;
  if (stopped_ == 0) stopped_ = now;
  // Who comes when rank 0 has ended its program already would otherwise wait for it.
  bool some_come = !std::ranges::all_of(members_, &Member::joined);
  int64_t patience = verdict_ ? kForLateOnes : options_.silence.count();
  return some_come && now - stopped_ < patience;
}

void Monitor::Loop() {
  for (int64_t now = started_; IsNeeded(now); now = NowInMilliseconds()) {
    Wait();
    Accept(now);
    HearGuests(now);
    for (int rank = 0; rank < static_cast<int>(members_.size()); ++rank) HearMember(rank, now);
    Judge(now);
    // Rank 0 is told last: its program may end at a verdict, and this thread with it.
    for (Member& m : members_ | std::views::reverse) m.channel.Pump();
  }
  Packer farewell(frame::kFarewell);
  farewell.Number(members_[0].next.size());
  for (auto [group, next] : members_[0].next) farewell.Number(group).Number(next);
  Tell(farewell);
  for (int64_t end = NowInMilliseconds() + kLastWords; NowInMilliseconds() < end;) {
    bool unsent = false;
    for (Member& m : members_) {
      // One that is closed while something unread has come would lose what was sent to it.
      if (m.channel.open() && !m.channel.Pump()) m.channel.Close();
      unsent |= m.channel.open() && m.channel.wants_to_write();
    }
    if (!unsent) break;
    usleep(1000);
  }
}

void Monitor::Wait() {
  std::vector<pollfd> wanted{{listening_.fd(), POLLIN, 0}, {bell_.fd(), POLLIN, 0}};
  auto add = [&wanted](const Channel& c) {
    if (!c.open()) return;
    wanted.push_back({c.fd(), static_cast<short>(POLLIN | (c.wants_to_write() ? POLLOUT : 0)), 0});
  };
  for (const Guest& g : guests_) add(g.channel);
  for (const Member& m : members_) add(m.channel);
  poll(wanted.data(), wanted.size(), kTick);
  bell_.Hush();
}

void Monitor::Accept(int64_t now) {
  while (guests_.size() < kMostGuests) {
    Socket socket(accept4(listening_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    guests_.push_back({Channel(std::move(socket)), now});
  }
}

void Monitor::HearGuests(int64_t now) {
  std::erase_if(guests_, [&](Guest& guest) {
    bool alive = guest.channel.Pump();
    if (!guest.refused) {
      if (std::optional<Unpacker> hello = guest.channel.Next()) {
        if (Admit(guest, *std::move(hello), now)) return true;
        guest.channel.Pump();
      }
    }
    return !alive || now - guest.since > kHandshake;
  });
}

std::string Monitor::WhyNot(Unpacker& hello, uint64_t* rank) {
  bool greets = hello.type() == frame::kHello && hello.Text() == frame::kGreeting;
  std::string word = hello.Text();
  *rank = hello.Number();
  uint64_t size = hello.Number();
  if (!greets || !hello.good()) return "what came is not of a rank of this version";
  if (word != address_.word)
    return "another job uses the port (msrun --master_port chooses another)";
  if (size != members_.size())
    return fmt::format("rank {} counts {} ranks, and rank 0 counts {}", *rank, size,
                       members_.size());
  if (*rank >= size) return fmt::format("there is no rank {} among {}", *rank, size);
  if (members_[*rank].joined) return fmt::format("{} has joined already", Name(*rank));
  return {};
}

bool Monitor::Admit(Guest& guest, Unpacker hello, int64_t now) {
  uint64_t rank = 0;
  if (std::string why = WhyNot(hello, &rank); !why.empty()) {
    guest.channel.Send(std::move(Packer(frame::kRefused).Text(why)));
    guest.refused = true;
    return false;
  }
  Member& member = members_[rank];
  member.joined = true;
  member.process = hello.Number();
  member.host = hello.Text();
  member.heard = now;
  member.channel = std::move(guest.channel);
  member.channel.Send(Packer(frame::kWelcome));
  if (attention_) member.channel.Send(std::move(Packer(frame::kAttention).Number(1)));
  if (verdict_) member.channel.Send(std::move(Packer(frame::kVerdict).Text(*verdict_)));
  return true;
}

void Monitor::HearMember(int rank, int64_t now) {
  Member& member = members_[rank];
  if (!member.channel.open()) return;
  bool alive = member.channel.Pump();
  while (std::optional<Unpacker> frame = member.channel.Next()) {
    member.heard = now;
    Handle(rank, *std::move(frame));
  }
  if (alive && member.channel.open()) return;
  member.channel.Close();
  member.waiting.clear();
  if (member.left) return;
  // It may have ended because this rank was stopped so long.
  int64_t moment = NowInMilliseconds();
  bool slept = WasStopped(moment) || (woke_ && moment - woke_ < options_.silence.count());
  if (slept) GiveVerdict(HasBeenSilent(0));
  GiveVerdict(fmt::format("{} died without a farewell: it was killed, or it crashed{}{}",
                          Name(rank), member.last.empty() ? "" : "; it was last in " + member.last,
                          kWhatNow));
}

void Monitor::Handle(int rank, Unpacker frame) {
  Member& member = members_[rank];
  switch (frame.type()) {
    case frame::kBeat:
      member.last = frame.Text();
      break;
    case frame::kGroup:
      HandleGroup(frame);
      break;
    case frame::kTrail:
      HandleTrail(rank, frame);
      break;
    case frame::kSteps:
      HandleSteps(member, frame);
      break;
    case frame::kRaised:
      GiveVerdict(
          fmt::format("{} ended with an exception: {}{}", Name(rank), frame.Text(), kWhatNow));
      break;
    case frame::kFarewell:
      member.left = true;
      member.waiting.clear();
      for (uint64_t count = frame.Number(); frame.good() && count > 0; --count) {
        int group = static_cast<int>(frame.Number());
        member.next[group] = frame.Number();
      }
      member.channel.Send(Packer(frame::kGone));
      break;
    default:
      break;
  }
}

void Monitor::HandleGroup(Unpacker& frame) {
  int group = static_cast<int>(frame.Number());
  std::vector<int> ranks;
  for (uint64_t count = frame.Number(); frame.good() && count > 0; --count)
    ranks.push_back(static_cast<int>(frame.Number()));
  if (frame.good()) groups_[group] = std::move(ranks);
}

void Monitor::HandleTrail(int rank, Unpacker& frame) {
  int group = static_cast<int>(frame.Number());
  auto ranks = groups_.find(group);
  size_t size = ranks == groups_.end() ? members_.size() : ranks->second.size();
  Trails& trails = trails_[group];
  for (uint64_t count = frame.Number(); count > 0; --count) {
    uint64_t calls = frame.Number(), sum = frame.Number();
    if (!frame.good()) return;
    Trails::Mark& mark = trails.marks.try_emplace(calls, Trails::Mark{sum, rank, 0}).first->second;
    if (mark.sum != sum) {
      uint64_t first = std::min(trails.alike + 1, calls);
      std::string which = first == calls ? fmt::format("call {}", calls)
                                         : fmt::format("one of the calls {} to {}", first, calls);
      return GiveVerdict(fmt::format(
          "rank {} and rank {} have called different collectives: {} of their group was not the "
          "same, and what was computed since is wrong. All ranks of a group must call the same "
          "collectives in the same order, with the same types",
          mark.rank, rank, which));
    }
    if (++mark.heard > 1) trails.alike = std::max(trails.alike, calls);
    if (mark.heard == static_cast<int>(size)) trails.marks.erase(calls);
    if (trails.marks.size() > kMostMarks) trails.marks.erase(trails.marks.begin());
  }
}

void Monitor::HandleSteps(Member& member, Unpacker& frame) {
  member.several_threads = frame.Number() != 0;
  uint64_t groups = frame.Number(), steps = frame.Number(), open = frame.Number();
  for (; frame.good() && groups > 0; --groups) {
    int group = static_cast<int>(frame.Number());
    member.next[group] = frame.Number();
  }
  auto read = [&frame] {
    uint64_t number = frame.Number();
    std::string what = frame.Text();
    return Step{number, std::move(what), frame.Text()};
  };
  for (; frame.good() && steps > 0; --steps) {
    auto& past = member.past[static_cast<int>(frame.Number())];
    Step step = read();
    past[step.number] = std::move(step);
    if (past.size() > kMostPast) past.erase(past.begin());
  }
  member.waiting.clear();
  for (; frame.good() && open > 0; --open) {
    int group = static_cast<int>(frame.Number());
    Step step = read();
    int other = static_cast<int>(frame.Number()) - 1, tag = static_cast<int>(frame.Number());
    member.waiting.push_back({group, std::move(step), {other, tag, frame.Number() != 0}});
  }
}

// For so long that the others may have given it up: they count from its last beat.
bool Monitor::WasStopped(int64_t now) const {
  return now - looked_ > options_.silence.count() - options_.beat.count() - kTick;
}

void Monitor::Judge(int64_t now) {
  // Who was stopped itself knows nothing of the others' silence.
  bool slept = now - looked_ > 2 * options_.beat.count() + kTick;
  if (WasStopped(now)) woke_ = now;
  bool waits = false;
  for (int rank = 0; rank < static_cast<int>(members_.size()); ++rank) {
    Member& member = members_[rank];
    if (slept) member.heard = now;
    bool silent = now - member.heard > options_.silence.count();
    if (member.channel.open() && !member.left && silent) GiveVerdict(HasBeenSilent(rank));
    if (!member.joined && now - started_ > options_.join.count()) {
      GiveVerdict(fmt::format("rank {} has not come within {} s: look into its output", rank,
                              options_.join.count() / 1000.0));
    }
    waits |= !member.waiting.empty();
    for (const Waiting& at : member.waiting) {
      if (at.pair.other < 0) JudgeWait(rank, at.group, at.step);
    }
  }
  JudgePairs(now);
  JudgeCircles(now);
  looked_ = now;
  if (now - beaten_ >= options_.beat.count()) {
    Tell(Packer(frame::kBeat));
    beaten_ = now;
  }
  if (waits == attention_) return;
  attention_ = waits;
  Tell(std::move(Packer(frame::kAttention).Number(waits)));
}

void Monitor::JudgeWait(int rank, int group, const Step& step) {
  for (int other = 0; other < static_cast<int>(members_.size()); ++other) {
    if (verdict_ || other == rank || !IsMember(group, other)) continue;
    const Member& member = members_[other];
    auto next = member.next.find(group);
    if (member.left && (next == member.next.end() || next->second <= step.number)) {
      GiveVerdict(RankHasLeft(Name(other), rank, step));
    }
    auto past = member.past.find(group);
    if (past == member.past.end()) continue;
    auto same = past->second.find(step.number);
    if (same == past->second.end() || same->second.what == step.what) continue;
    GiveVerdict(
        fmt::format("rank {} is in {}, but rank {} in {}: all ranks of a group must call the same "
                    "collectives in the same order, with the same types",
                    rank, step.Text(), other, same->second.Text()));
  }
}

void Monitor::JudgePairs(int64_t now) {
  std::string in_vain;
  for (int rank = 0; rank < static_cast<int>(members_.size()); ++rank) {
    for (const Waiting& at : members_[rank].waiting) {
      bool known = at.pair.other >= 0 && at.pair.other < static_cast<int>(members_.size());
      if (in_vain.empty() && known && members_[at.pair.other].left)
        in_vain = RankHasLeft(Name(at.pair.other), rank, at.step);
    }
  }
  if (in_vain != in_vain_) in_vain_since_ = now;
  in_vain_ = in_vain;
  if (!in_vain.empty() && now - in_vain_since_ > kPairBeats * options_.beat.count())
    GiveVerdict(in_vain);
}

int Monitor::WaitsFor(int rank, int64_t now) const {
  const Member& member = members_[rank];
  // Of what another thread does next nothing is known, nor of one that is not heard.
  bool known = !member.several_threads && !member.waiting.empty() && member.channel.open() &&
               now - member.heard <= 2 * options_.beat.count() + kTick;
  if (!known) return -1;
  const auto& [group, step, pair] = member.waiting.front();
  if (pair.other >= 0) {
    if (pair.other >= static_cast<int>(members_.size())) return -1;
    const Member& other = members_[pair.other];
    if (other.several_threads || other.waiting.empty()) return -1;
    const Waiting& theirs = other.waiting.front();
    return theirs.group == group && pair.Fits(rank, theirs.pair) ? -1 : pair.other;
  }
  for (int other = 0; other < static_cast<int>(members_.size()); ++other) {
    const Member& m = members_[other];
    if (other == rank || !IsMember(group, other) || m.several_threads || m.waiting.empty())
      continue;
    auto next = m.next.find(group);
    if (next == m.next.end() || next->second <= step.number) return other;
  }
  return -1;
}

// Ranks that wait in different groups, each for another that waits itself.
void Monitor::JudgeCircles(int64_t now) {
  std::string circle;
  for (int first = 0; first < static_cast<int>(members_.size()) && circle.empty(); ++first) {
    std::vector<int> path;
    int at = first;
    while (at >= 0 && !std::ranges::count(path, at)) {
      path.push_back(at);
      at = WaitsFor(at, now);
    }
    if (at != first) continue;  // another rank is where the circle begins
    for (int rank : path) {
      circle += fmt::format("{}rank {} waits in {}", circle.empty() ? "" : ", ", rank,
                            members_[rank].waiting.front().step.Text());
    }
  }
  if (circle != circle_) circle_since_ = now;
  circle_ = circle;
  if (!circle.empty() && now - circle_since_ > kCircle * options_.beat.count())
    GiveVerdict(circle + ": each waits for the next, the last for the first");
}

bool Monitor::IsMember(int group, int rank) const {
  if (group == Watch::kWorld) return true;
  auto found = groups_.find(group);
  return found != groups_.end() && std::ranges::count(found->second, rank);
}

void Monitor::GiveVerdict(std::string text) {
  if (verdict_) return;  // what comes later mostly follows from it
  verdict_ = std::move(text);
  Tell(std::move(Packer(frame::kVerdict).Text(*verdict_)));
}

void Monitor::Tell(const Packer& frame) {
  for (Member& m : members_) m.channel.Send(frame);
}

std::string Monitor::HasBeenSilent(int rank) const {
  return fmt::format(
      "{} has been silent for {} s: it is stopped, or its machine or the network is gone "
      "(MS_COMM_TIMEOUT is how long that may last){}",
      Name(rank), options_.silence.count() / 1000.0, kWhatNow);
}

std::string Monitor::Name(int rank) const {
  const Member& m = members_[rank];
  return fmt::format("rank {} (host {}, process {})", rank, m.host, m.process);
}

}  // namespace ms::cluster
