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

struct Profile {
  Mutex mutex;
  std::map<std::pair<const OpDef*, SpanId>, Totals> totals;
  ProfileEvents events;
  size_t most_events = 0;
};

Profile& Data() {
  static auto* profile = new Profile;
  return *profile;
}

uint64_t Nanoseconds(std::chrono::steady_clock::duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
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
}

void SetProfile(bool on, size_t events) {
  {
    std::lock_guard lock(Data().mutex);
    Data().most_events = events;
  }
  profile_detail::on.store(on, std::memory_order_relaxed);
}

void ResetProfile() {
  std::lock_guard lock(Data().mutex);
  Data().totals.clear();
  Data().events = {};
}

void RecordLaunch(const LaunchPlace& place, std::chrono::steady_clock::time_point start,
                  std::chrono::steady_clock::time_point end, const Memory& memory) {
  static std::atomic<uint32_t> threads{0};
  static thread_local uint32_t thread = threads.fetch_add(1);
  auto ns = Nanoseconds(end - start);
  std::lock_guard lock(Data().mutex);
  Totals& t = Data().totals[{place.op, place.span}];
  ++t.count;
  t.ns += ns;
  t.best_ns = std::min(t.best_ns, ns);
  ProfileEvents& events = Data().events;
  if (events.kept.size() < Data().most_events) {
    events.kept.push_back({place.op, place.span, thread, Nanoseconds(start.time_since_epoch()), ns,
                           memory.stats().live});
  } else if (Data().most_events) {
    ++events.dropped;
  }
}

ProfileEvents GetProfileEvents() {
  std::lock_guard lock(Data().mutex);
  return Data().events;
}

std::vector<ProfileRow> GetProfile() {
  std::vector<ProfileRow> rows;
  {
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
