#include "backends/cuda/communicator.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <thread>

#include "backends/cuda/device.h"
#include "backends/cuda/libraries.h"
#include "backends/cuda/memory.h"
#include "base/error.h"
#include "cluster/watch.h"

namespace ms::cuda {
namespace {

constexpr auto kAwake = std::chrono::milliseconds(2);  // a waiting thread yields, and then it naps
constexpr auto kNap = std::chrono::microseconds(50);
constexpr auto kForAName = std::chrono::seconds(3);  // until the watch names who is lost
constexpr size_t kShown = 32;                        // calls under way that the watch is told

class Pauses {
 public:
  void Pause() const {
    if (std::chrono::steady_clock::now() - began_ < kAwake)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void HearOfOthers() {
  if (auto* watch = cluster::Watch::Current()) watch->Check();
}

// A call that was given, and may not be done.
struct Given {
  std::shared_ptr<Communicator> comm;
  int group;
  uint64_t number;
  LaunchPlace place;
  StreamHandle stream;
};

struct Calls {
  Mutex mutex;
  std::deque<Given> given;         // the newest of them, which say enough
  std::set<Communicator*> living;  // communicators
  std::vector<CommHandle> parked;  // of those that are no more
  std::exception_ptr loss;
  uint64_t losses = 0;
};
Calls& All() {
  static auto* calls = new Calls;  // threads may still run when others end
  return *calls;
}

std::vector<Given> GivenTo(StreamHandle stream) {
  Calls& all = All();
  std::lock_guard lock(all.mutex);
  std::vector<Given> result;
  std::copy_if(all.given.rbegin(), all.given.rend(), std::back_inserter(result),
               [stream](const Given& given) { return !stream || given.stream == stream; });
  return result;  // the newest one first: who has not come to it is who is waited for
}

void Forget(const std::vector<Given>& done) {
  std::vector<Given> last;  // ends without the lock
  Calls& all = All();
  std::lock_guard lock(all.mutex);
  for (const Given& given : done) {
    auto same = std::ranges::find_if(all.given, [&](const Given& other) {
      return other.comm == given.comm && other.number == given.number;
    });
    if (same == all.given.end()) continue;
    last.push_back(std::move(*same));
    all.given.erase(same);
  }
}

void GiveUpAll(const std::string& why) {
  Calls& all = All();
  std::lock_guard lock(all.mutex);
  for (Communicator* comm : all.living) comm->GiveUp(why);
}

// Tells the watch which calls this thread waits for.
class Resumed {
 public:
  explicit Resumed(const std::vector<Given>& calls) : watch_(cluster::Watch::Current()) {
    if (!watch_) return;
    for (const Given& given : calls) watch_->Resume(given.group, given.number);
    count_ = calls.size();
  }
  ~Resumed() {
    if (cluster::Watch::Current() != watch_) return;
    for (size_t i = 0; i < count_; ++i) watch_->Exit();
  }
  Resumed(const Resumed&) = delete;

 private:
  cluster::Watch* watch_;
  size_t count_ = 0;
};

void LookAfter(const std::vector<Given>& calls) {
  HearOfOthers();
  for (const Given& given : calls) given.comm->Look();
}

Error OfCall(const Error& error, const LaunchPlace& place) {
  Error named = place.op ? error.Of(place.op->name) : error;
  return std::move(named).WithSpan(place.span).Late();
}

}  // namespace

// ---- making and ending one

std::shared_ptr<Communicator> Communicator::Of(const std::shared_ptr<Group>& group, SpanId place) {
  static auto& mutex = *new Mutex;
  {
    std::lock_guard lock(mutex);
    if (group->on_device) return std::static_pointer_cast<Communicator>(group->on_device);
  }
  RefuseCapture("the first call of a group");
  auto made = std::make_shared<Communicator>(group);
  {
    Exchange call{"the making of NCCL's communicator", place};
    TheComm();  // what is missing is said before anybody waits
    Announced announced(*group, call);
    made->Connect(*group);
  }
  std::lock_guard lock(mutex);
  group->on_device = made;
  return made;
}

Communicator::Communicator(const std::shared_ptr<Group>& group)
    : group_(group), name_(group->name()) {
  std::lock_guard lock(All().mutex);
  All().living.insert(this);
}

void Communicator::Connect(Group& group) {
  const Comm& nccl = TheComm();
  Enter();
  CommId id{};
  std::lock_guard lock(mutex_);
  if (group.rank() == 0) {
    if (int result = nccl.GetUniqueId(&id)) Fail(result, "ncclGetUniqueId");
  }
  group.Broadcast({"the address of NCCL's communicator"}, &id, sizeof(id), 0);
  CommConfig config;
  int result = nccl.CommInit(&handle_, group.size(), id, group.rank(), &config);
  if (result != comm::kDone && result != comm::kInProgress) Fail(result, "ncclCommInitRankConfig");
  Settle("ncclCommInitRankConfig");
}

Communicator::~Communicator() {
  std::lock_guard lock(All().mutex);
  All().living.erase(this);
  if (handle_) All().parked.push_back(handle_);
}

void Communicator::GiveUp(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (given_up_.empty()) given_up_ = why;
  if (CommHandle handle = std::exchange(handle_, nullptr)) TheComm().CommAbort(handle);
}

// ---- calls

void Communicator::CheckAlive() {
  if (handle_) return;
  Throw(ErrorKind::kRuntime, "the group '{}' has been given up: {}", name_, given_up_);
}

void Communicator::Settle(const char* what) {
  Pauses pauses;
  for (int result = comm::kInProgress; result == comm::kInProgress; pauses.Pause()) {
    CheckAlive();
    if (int failed = TheComm().CommGetAsyncError(handle_, &result)) Fail(failed, what);
    if (result == comm::kDone) return;
    if (result != comm::kInProgress) Fail(result, what);
    HearOfOthers();
  }
}

// Where a rank is lost NCCL may be the first to fail; the watch has its name a moment later.
void Communicator::Fail(int result, const char* what) {
  auto end = std::chrono::steady_clock::now() + kForAName;
  while (cluster::Watch::Current() && std::chrono::steady_clock::now() < end) {
    HearOfOthers();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const char *text = TheComm().GetErrorString(result), *more = TheComm().GetLastError(handle_);
  std::string why = fmt::format("NCCL refuses {} in the group '{}': {} (result {}){}{}", what,
                                name_, text ? text : "unknown error", result,
                                more && *more ? ": " : "", more ? more : "");
  given_up_ = why;
  if (CommHandle handle = std::exchange(handle_, nullptr)) TheComm().CommAbort(handle);
  Throw(ErrorKind::kRuntime, "{}", why);
}

void Communicator::Look() {
  std::lock_guard lock(mutex_);
  CheckAlive();
  int result = comm::kDone;
  if (int failed = TheComm().CommGetAsyncError(handle_, &result)) Fail(failed, "its calls");
  if (result != comm::kDone && result != comm::kInProgress) Fail(result, "its calls");
}

Communicator::Batch::Batch(Communicator& comm, bool several) : comm_(comm), several_(several) {
  Enter();
  comm_.mutex_.lock();
  try {
    comm_.CheckAlive();
  } catch (...) {
    comm_.mutex_.unlock();
    throw;
  }
  if (several_) Add(TheComm().GroupStart(), "ncclGroupStart");
}

Communicator::Batch::~Batch() {
  if (open_ && several_) TheComm().GroupEnd();
  comm_.mutex_.unlock();
}

void Communicator::Batch::Add(int result, const char* what) {
  if (failed_) return;
  what_ = what;
  if (result != comm::kDone && result != comm::kInProgress) failed_ = result;
}

void Communicator::Batch::End() {
  open_ = false;
  if (several_) Add(TheComm().GroupEnd(), "ncclGroupEnd");
  if (failed_) comm_.Fail(failed_, what_);
  comm_.Settle(what_);
}

void GiveJointly(JointCall call, StreamHandle stream, const std::function<void()>& give) {
  RefuseCapture("a call with other processes");
  std::shared_ptr<Group> group = call.comm->group();
  if (!group) Throw(ErrorKind::kRuntime, "a group that was destroyed is called");
  Announced announced(*group, {call.what, call.place.span}, true);
  try {
    give();
  } catch (const std::exception& error) {  // it may be on the stream, where it waits for others
    call.comm->GiveUp(error.what());
    throw;
  }
  std::vector<Given> last;
  Calls& all = All();
  std::lock_guard lock(all.mutex);
  all.given.push_back({std::move(call.comm), group->id(), announced.number(), call.place, stream});
  if (all.given.size() <= kShown) return;
  last.push_back(std::move(all.given.front()));  // ends without the lock
  all.given.pop_front();
}

// ---- waiting

void AwaitWork(StreamHandle stream, bool whole, const std::function<int()>& query,
               const std::function<int()>& wait, const char* what) {
  std::vector<Given> calls = GivenTo(stream);
  if (calls.empty()) return Check(wait(), what);
  try {
    Resumed resumed(calls);
    Pauses pauses;
    int result = query();
    for (; result == kNotReady; result = query()) {
      LookAfter(calls);
      pauses.Pause();
    }
    Check(result, what);
    if (!whole) return;
    // What NCCL found wrong ends its kernels.
    for (const Given& given : calls) given.comm->Look();
  } catch (const Error& error) {
    Error named = OfCall(error, calls.front().place);
    GiveUpAll(error.message());
    Forget(calls);
    wait();
    std::lock_guard lock(All().mutex);
    All().loss = std::make_exception_ptr(std::move(named));
    ++All().losses;
    return;
  }
  Forget(calls);
}

std::exception_ptr LossBeyond(uint64_t* seen) {
  std::lock_guard lock(All().mutex);
  return std::exchange(*seen, All().losses) < All().losses ? All().loss : nullptr;
}

void AbandonCalls() {
  GiveUpAll("the process ends");
  std::lock_guard lock(All().mutex);
  for (CommHandle handle : std::exchange(All().parked, {})) TheComm().CommAbort(handle);
}

}  // namespace ms::cuda
