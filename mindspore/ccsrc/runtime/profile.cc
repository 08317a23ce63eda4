#include "runtime/profile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/mutex.h"

namespace ms {
namespace {

struct Totals {
  uint64_t count = 0;
  uint64_t ns = 0;
  uint64_t best_ns = UINT64_MAX;
};

using profile_detail::Anchor;

// A launch whose times the device has, or will have.
struct TimedLaunch {
  ProfileEvent event;
  std::shared_ptr<const Anchor> anchor;
  std::unique_ptr<TimedEvent> begin, end;
};
constexpr size_t kMostTimed = 4096;  // launches whose times are not asked for yet

struct Profile {
  Mutex settling;  // held over waits for the device, and not while `mutex` is
  Mutex mutex;     // of all that follows
  std::map<std::pair<const OpDef*, SpanId>, Totals> totals;
  ProfileEvents events;
  size_t most_events = 0;
  std::vector<TimedLaunch> timed;
  std::shared_ptr<const Anchor> anchor;  // of those that begin now
};

Profile& Data() {
  static auto* profile = new Profile;
  return *profile;
}

uint64_t Nanoseconds(std::chrono::steady_clock::duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

void Add(Profile& profile, const ProfileEvent& event) {
  Totals& t = profile.totals[{event.op, event.span}];
  ++t.count;
  t.ns += event.ns;
  t.best_ns = std::min(t.best_ns, event.ns);
  ProfileEvents& events = profile.events;
  if (events.kept.size() < profile.most_events) {
    events.kept.push_back(event);
  } else if (profile.most_events) {
    ++events.dropped;
  }
}

// Asks the device for the times that it noted. The next launches meet the host's clock anew, as two
// clocks part by and by. Other threads go on launching meanwhile. The device is waited for by its
// events alone: a wait of the stream would have to get the GIL back under the lock.
void Settle() {
  Profile& profile = Data();
  std::lock_guard settling(profile.settling);
  std::vector<TimedLaunch> timed;
  {
    std::lock_guard lock(profile.mutex);
    timed.swap(profile.timed);
    profile.anchor = nullptr;
  }
  try {
    for (TimedLaunch& launch : timed) {
      launch.end->Synchronize();
      launch.event.start_ns =
          launch.anchor->ns + launch.begin->NanosecondsSince(*launch.anchor->event);
      launch.event.ns = launch.end->NanosecondsSince(*launch.begin);
      std::lock_guard lock(profile.mutex);
      Add(profile, launch.event);
    }
  } catch (const std::exception&) {
    // A device that does nothing more, which the program hears at its next wait, or the child of a
    // fork, which has none: what was not asked for is lost.
  }
}

std::shared_ptr<const Anchor> AnchorOf(Timer& timer) {
  // Later than the device was opened, so that this runs before the device goes.
  static const int at_exit = std::atexit(Settle);
  static_cast<void>(at_exit);
  {
    std::lock_guard lock(Data().mutex);
    if (Data().anchor && Data().anchor->timer == &timer) return Data().anchor;
  }
  HostWait wait(true);
  auto anchor = std::make_shared<Anchor>(&timer, timer.RecordTimed());
  anchor->event->Synchronize();
  anchor->ns = Nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
  std::lock_guard lock(Data().mutex);
  return Data().anchor = std::move(anchor);
}

uint32_t ThisThread() {
  static std::atomic<uint32_t> threads{0};
  static thread_local uint32_t thread = threads.fetch_add(1);
  return thread;
}

void PrintAtExit() { std::fputs(ProfileTable().c_str(), stderr); }

bool WantedByEnvironment() {
  const char* value = std::getenv("MS_PROFILE");
  bool wanted = value && *value && std::string_view(value) != "0";
  if (wanted) std::atexit(PrintAtExit);
  return wanted;
}

}  // namespace

namespace profile_detail {

std::atomic<bool> on{WantedByEnvironment()};

LaunchClock::LaunchClock(Stream& stream) : stream_(stream) {
  if (auto* timer = dynamic_cast<Timer*>(&stream)) {
    anchor_ = AnchorOf(*timer);
    begin_ = timer->RecordTimed();
  }
  start_ = std::chrono::steady_clock::now();
}

void LaunchClock::Done(const LaunchPlace& place, const Memory& memory) {
  std::unique_ptr<TimedEvent> end = anchor_ ? anchor_->timer->RecordTimed() : nullptr;
  if (!end) stream_.Synchronize();
  uint64_t start = Nanoseconds(start_.time_since_epoch());
  uint64_t ns = Nanoseconds(std::chrono::steady_clock::now() - start_);
  ProfileEvent event{place.op, place.span, ThisThread(), start, ns, memory.stats().live, {}};
  std::unique_lock lock(Data().mutex);
  if (!end) return Add(Data(), event);
  event.device = memory.device();
  event.given_start_ns = start;
  event.given_ns = ns;
  Data().timed.push_back({event, anchor_, std::move(begin_), std::move(end)});
  bool many = Data().timed.size() >= kMostTimed;
  lock.unlock();
  HostWait wait(many);
  if (many) Settle();
}

}  // namespace profile_detail

void SetProfile(bool on, size_t events) {
  Settle();  // under the settings of those launches
  {
    std::lock_guard lock(Data().mutex);
    Data().most_events = events;
  }
  profile_detail::on.store(on, std::memory_order_relaxed);
}

void ResetProfile() {
  std::lock_guard settling(Data().settling);
  std::lock_guard lock(Data().mutex);
  Data().totals.clear();
  Data().events = {};
  Data().timed.clear();
  Data().anchor = nullptr;
}

ProfileEvents GetProfileEvents() {
  Settle();
  std::lock_guard lock(Data().mutex);
  return Data().events;
}

std::vector<ProfileRow> GetProfile() {
  std::vector<ProfileRow> rows;
  {
    Settle();
    std::lock_guard lock(Data().mutex);
    for (const auto& [key, t] : Data().totals)
      rows.push_back({key.first->name, key.second, t.count, t.ns, t.best_ns});
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return rows;
}

std::string ProfileTable(size_t limit) {
  std::vector<ProfileRow> rows = GetProfile();
  double total = 0;
  for (const ProfileRow& row : rows) total += static_cast<double>(row.total_ns);
  std::string text = fmt::format("{:>10} {:>6} {:>9} {:>11} {:>11}  {:<24} {}\n", "ms", "%",
                                 "calls", "us/call", "best us", "op", "where");
  for (size_t i = 0; i < std::min(limit, rows.size()); ++i) {
    const ProfileRow& row = rows[i];
    double ns = static_cast<double>(row.total_ns);
    text += fmt::format("{:>10.3f} {:>6.1f} {:>9} {:>11.2f} {:>11.2f}  {:<24} {}\n", ns / 1e6,
                        100 * ns / std::max(total, 1.0), row.count,
                        ns / 1e3 / static_cast<double>(row.count),
                        static_cast<double>(row.best_ns) / 1e3, row.op, ShortSpan(row.span));
  }
  text += fmt::format("{:>10.3f} in all\n", total / 1e6);
  return text;
}

}  // namespace ms
