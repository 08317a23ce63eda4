#include "kernel/collectives.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "base/mutex.h"
#include "cluster/watch.h"

namespace ms {
namespace {

// This process alone, as long as it has joined no others: what goes in comes out.
class Alone : public Group {
 public:
  Alone() : Group("this process", {0}, 0) {}
  void AllReduce(const Exchange&, const void* in, void* out, int64_t count, DType dtype,
                 Reduction) override {
    Copy(in, out, count * static_cast<int64_t>(ItemSize(dtype)));
  }
  void ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts, DType dtype,
                     Reduction reduction) override {
    AllReduce(call, in, out, counts[0], dtype, reduction);
  }
  void AllGather(const Exchange&, const void* in, void* out, Counts bytes) override {
    Copy(in, out, bytes[0]);
  }
  void AllToAll(const Exchange&, const void* in, Counts sends, void* out, Counts) override {
    Copy(in, out, sends[0]);
  }
  void Broadcast(const Exchange&, void*, int64_t, int) override {}
  void Barrier(const Exchange&) override {}
  void Send(const Exchange&, const void*, int64_t, DType, int, int) override { Refuse(); }
  void Receive(const Exchange&, void*, int64_t, DType, int, int) override { Refuse(); }

 private:
  static void Copy(const void* in, void* out, int64_t bytes) {
    if (bytes > 0 && in != out) std::memcpy(out, in, static_cast<size_t>(bytes));
  }
  [[noreturn]] static void Refuse() {
    Throw(ErrorKind::kValue, "there must be another process, but this one is alone: call init()");
  }
};

struct Groups {
  Mutex mutex;
  std::shared_ptr<Transport> transport;
  std::map<std::string, std::shared_ptr<Group>> by_name;
};

Groups& All() {
  static Groups* groups = new Groups;  // kernels may outlive the program's last object
  return *groups;
}

}  // namespace

Group::Group(std::string name, std::vector<int> ranks, int rank)
    : name_(std::move(name)), ranks_(std::move(ranks)), rank_(rank) {
  auto* watch = cluster::Watch::Current();
  if (!watch) return;  // the world is made before
  // What a group has called is no history of the next one that has its name.
  static auto* made = new std::unordered_map<std::string, int>;
  static auto& mutex = *new Mutex;
  std::string text = fmt::format("{} {}", name_, fmt::join(ranks_, ","));
  {
    std::lock_guard lock(mutex);
    text += fmt::format(" {}", ++(*made)[text]);
  }
  id_ = static_cast<int>(std::hash<std::string>()(text) & 0x7fffffff) | 1;
  watch->SetGroup(id_, ranks_);
}

Group::Group(const Group* inner)
    : name_(inner->name_), ranks_(inner->ranks_), rank_(inner->rank_), id_(inner->id_) {}

// Small tensors are copied together, large ones are reduced where they are.
void Group::AllReduceEach(const Exchange& call, std::span<const Stretch> tensors, DType dtype,
                          Reduction reduction) {
  thread_local std::vector<char> joined;
  auto reduce = [&](char* data, int64_t bytes) {
    AllReduce(call, data, data, bytes / static_cast<int64_t>(ItemSize(dtype)), dtype, reduction);
  };
  for (size_t begin = 0; begin < tensors.size();) {
    size_t end = begin + 1;
    int64_t bytes = tensors[begin].bytes;
    while (end < tensors.size() && bytes + tensors[end].bytes <= join_bytes())
      bytes += tensors[end++].bytes;
    std::span<const Stretch> held = tensors.subspan(begin, end - begin);
    begin = end;
    if (held.size() == 1) {
      reduce(held[0].data, bytes);
      continue;
    }
    joined.resize(static_cast<size_t>(bytes));
    char* at = joined.data();
    for (const Stretch& t : held) at = std::copy_n(t.data, t.bytes, at);
    reduce(joined.data(), bytes);
    at = joined.data();
    for (const Stretch& t : held) {
      std::copy_n(at, t.bytes, t.data);
      at += t.bytes;
    }
  }
}

namespace {

const std::string& PlaceOf(const Exchange& call) {
  thread_local std::unordered_map<SpanId, std::string> places;
  auto [place, is_new] = places.try_emplace(call.place);
  if (is_new) place->second = ShortSpan(call.place);
  return place->second;
}

}  // namespace

Announced::Announced(Group& group, const Exchange& call, bool unchecked) {
  auto* watch = cluster::Watch::Current();
  if (!watch) return;
  number_ = group.NextNumber();
  watch->Enter(group.id(), number_, call.what, PlaceOf(call), unchecked);
  failures_ = std::uncaught_exceptions();
}

Announced::~Announced() {
  if (failures_ < 0) return;
  if (auto* watch = cluster::Watch::Current()) watch->Exit(std::uncaught_exceptions() == failures_);
}

AnnouncedPair::AnnouncedPair(Group& group, const Exchange& call, int other, int tag, bool sends) {
  auto* watch = cluster::Watch::Current();
  if (!watch) return;
  int rank = group.ranks()[static_cast<size_t>(other)];
  watch->EnterPair(group.id(), {rank, tag, sends}, call.what, PlaceOf(call));
  told_ = true;
}

AnnouncedPair::~AnnouncedPair() {
  auto* watch = cluster::Watch::Current();
  if (told_ && watch) watch->Exit();
}

Reduction ReductionFromName(std::string_view name) {
  if (name == "sum") return Reduction::kSum;
  if (name == "prod") return Reduction::kProd;
  if (name == "max") return Reduction::kMax;
  if (name == "min") return Reduction::kMin;
  Throw(ErrorKind::kInternal, "there is no reduction '{}'", name);
}

void Join(std::unique_ptr<Transport> transport, const std::vector<std::string>& worlds) {
  std::vector<int> ranks(static_cast<size_t>(transport->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::shared_ptr<Group> world = transport->NewGroup(worlds.front(), ranks);
  Groups& all = All();
  std::lock_guard lock(all.mutex);
  if (all.transport) Throw(ErrorKind::kRuntime, "For 'init', this process has joined already.");
  all.transport = std::move(transport);
  for (const std::string& name : worlds) all.by_name[name] = world;
}

void LeaveGroups() {
  std::shared_ptr<Transport> last;  // it waits for others: without the lock
  std::map<std::string, std::shared_ptr<Group>> groups;
  {
    Groups& all = All();
    std::lock_guard lock(all.mutex);
    groups.swap(all.by_name);
    last.swap(all.transport);
  }
  groups.clear();
  if (last) last->Finish();
}

std::shared_ptr<Transport> CurrentTransport() {
  Groups& all = All();
  std::lock_guard lock(all.mutex);
  return all.transport;
}

void MakeGroup(const std::string& name, std::vector<int> ranks) {
  std::shared_ptr<Transport> transport = CurrentTransport();
  if (!transport) Throw(ErrorKind::kRuntime, "For 'create_group', init() must be called before.");
  std::shared_ptr<Group> group = transport->NewGroup(name, std::move(ranks));  // waits for others
  Groups& all = All();
  std::lock_guard lock(all.mutex);
  all.by_name[name] = std::move(group);
}

void ForgetGroup(const std::string& name) {
  std::shared_ptr<Group> last;  // ends without the lock
  Groups& all = All();
  std::lock_guard lock(all.mutex);
  auto it = all.by_name.find(name);
  if (it == all.by_name.end()) return;
  last = std::move(it->second);
  all.by_name.erase(it);
}

bool HasGroup(const std::string& name) {
  Groups& all = All();
  std::lock_guard lock(all.mutex);
  return all.by_name.contains(name);
}

void AddGroup(const std::string& name, std::shared_ptr<Group> group) {
  Groups& all = All();
  std::lock_guard lock(all.mutex);
  all.by_name[name] = std::move(group);
}

std::shared_ptr<Group> FindGroup(const std::string& name) {
  Groups& all = All();
  std::lock_guard lock(all.mutex);
  auto it = all.by_name.find(name);
  if (it == all.by_name.end()) {
    if (!all.transport) return std::make_shared<Alone>();
    Throw(ErrorKind::kRuntime,
          "the group '{}' must be one of this process's: call init(), or create_group()", name);
  }
  return it->second;
}

}  // namespace ms
