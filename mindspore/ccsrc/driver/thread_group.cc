#include "driver/thread_group.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "kernel/joint_sums.h"

namespace ms {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kLook{100};

}  // namespace

const std::vector<Meeting::Call>& Meeting::Come(int member, Call call) {
  std::unique_lock<Mutex> lock(mutex_);
  calls_[static_cast<size_t>(member)] = std::move(call);
  Wait(lock);
  for (const Call& other : calls_) {
    if (other.what == calls_[0].what) continue;
    failed_ = true;
    changed_.notify_all();
    Throw(ErrorKind::kRuntime, "members of a group call '{}' and '{}'", calls_[0].what, other.what);
  }
  return calls_;
}

void Meeting::Leave() {
  std::unique_lock<Mutex> lock(mutex_);
  Wait(lock);
}

void Meeting::Send(int from, int to, int tag, std::string bytes) {
  std::lock_guard lock(mutex_);
  sent_[{from, to, tag}].push_back(std::move(bytes));
  changed_.notify_all();
}

std::string Meeting::Receive(int from, int to, int tag) {
  std::unique_lock<Mutex> lock(mutex_);
  auto& queue = sent_[{from, to, tag}];
  bool came = changed_.wait_for(lock, kPatience, [&] { return failed_ || !queue.empty(); });
  if (failed_) Throw(ErrorKind::kRuntime, "another member of the group failed");
  if (!came) {
    failed_ = true;
    changed_.notify_all();
    Throw(ErrorKind::kRuntime, "member {} of the group does not send what has tag {}", from, tag);
  }
  std::string bytes = std::move(queue.front());
  queue.pop_front();
  return bytes;
}

void Meeting::Fail() {
  std::lock_guard lock(mutex_);
  failed_ = true;
  changed_.notify_all();
}

void Meeting::Reset() {
  std::lock_guard lock(mutex_);
  failed_ = false;
  arrived_ = 0;
  sent_.clear();
}

void Meeting::Wait(std::unique_lock<Mutex>& lock) {
  uint64_t round = round_;
  if (++arrived_ == calls_.size()) {
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
  } else {
    auto until = std::chrono::steady_clock::now() + kPatience;
    bool came = false;
    while (!came && std::chrono::steady_clock::now() < until) {
      came = changed_.wait_for(lock, kLook, [&] { return failed_ || round_ != round; });
      CheckStillWanted();
    }
    if (!came) {
      failed_ = true;
      changed_.notify_all();
      Throw(ErrorKind::kRuntime, "another member of the group does not come");
    }
  }
  if (round_ == round && failed_) Throw(ErrorKind::kRuntime, "{}", kAnotherFailed);
}

namespace {

template <class T>
T Joined(T a, T b, Reduction how) {
  if constexpr (std::is_same_v<T, bool>) {
    return how == Reduction::kSum || how == Reduction::kMax ? a || b : a && b;
  } else if constexpr (IsComplex(kDTypeOf<T>)) {
    return how == Reduction::kProd ? a * b : a + b;
  } else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    return T(Joined(static_cast<float>(a), static_cast<float>(b), how));
  } else {
    switch (how) {
      case Reduction::kSum:
        return static_cast<T>(a + b);
      case Reduction::kProd:
        return static_cast<T>(a * b);
      case Reduction::kMax:
        return a < b ? b : a;
      case Reduction::kMin:
        return b < a ? b : a;
    }
    return a;
  }
}

// Elements [first, first + count) of all members' rows, joined in the order of ranks.
void Join(const std::vector<Meeting::Call>& calls, int64_t first, int64_t count, DType dtype,
          Reduction how, void* out) {
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    T* to = static_cast<T*>(out);
    for (int64_t i = 0; i < count; ++i) {
      T value = static_cast<const T*>(calls[0].in)[first + i];
      for (size_t k = 1; k < calls.size(); ++k)
        value = Joined<T>(value, static_cast<const T*>(calls[k].in)[first + i], how);
      to[i] = value;
    }
  });
}

std::vector<char> Room(int64_t bytes) {
  return std::vector<char>(static_cast<size_t>(std::max<int64_t>(bytes, 1)));
}

}  // namespace

void ThreadGroup::AllReduce(const Exchange& call, const void* in, void* out, int64_t count,
                            DType dtype, Reduction reduction) {
  auto bytes = count * static_cast<int64_t>(ItemSize(dtype));
  std::vector<char> made = Room(bytes);  // `out` may be what others still read
  Join(meeting_->Come(rank(), {std::string(call.what), in, {}}), 0, count, dtype, reduction,
       made.data());
  meeting_->Leave();
  if (bytes > 0) std::memcpy(out, made.data(), static_cast<size_t>(bytes));
}

void ThreadGroup::ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts,
                                DType dtype, Reduction reduction) {
  int64_t first = 0, mine = counts[static_cast<size_t>(rank())];
  for (int i = 0; i < rank(); ++i) first += counts[static_cast<size_t>(i)];
  auto bytes = mine * static_cast<int64_t>(ItemSize(dtype));
  std::vector<char> made = Room(bytes);
  Join(meeting_->Come(rank(), {std::string(call.what), in, {}}), first, mine, dtype, reduction,
       made.data());
  meeting_->Leave();
  if (bytes > 0) std::memcpy(out, made.data(), static_cast<size_t>(bytes));
}

void ThreadGroup::AllGather(const Exchange& call, const void* in, void* out, Counts bytes) {
  const auto& calls = meeting_->Come(rank(), {std::string(call.what), in, {}});
  auto* to = static_cast<char*>(out);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (bytes[i] > 0 && to != calls[i].in)
      std::memcpy(to, calls[i].in, static_cast<size_t>(bytes[i]));
    to += bytes[i];
  }
  meeting_->Leave();
}

void ThreadGroup::AllToAll(const Exchange& call, const void* in, Counts sends, void* out,
                           Counts receives) {
  const auto& calls = meeting_->Come(
      rank(), {std::string(call.what), in, std::vector<int64_t>(sends.begin(), sends.end())});
  auto* to = static_cast<char*>(out);
  for (size_t i = 0; i < calls.size(); ++i) {
    int64_t first = 0;
    auto me = static_cast<size_t>(rank());
    for (size_t k = 0; k < me; ++k) first += calls[i].counts[k];
    if (calls[i].counts[me] != receives[i]) {
      meeting_->Fail();
      Throw(ErrorKind::kRuntime, "a member sends {} bytes where {} are expected",
            calls[i].counts[me], receives[i]);
    }
    if (receives[i] > 0)
      std::memcpy(to, static_cast<const char*>(calls[i].in) + first,
                  static_cast<size_t>(receives[i]));
    to += receives[i];
  }
  meeting_->Leave();
}

void ThreadGroup::Broadcast(const Exchange& call, void* data, int64_t bytes, int root) {
  const auto& calls = meeting_->Come(rank(), {std::string(call.what), data, {}});
  if (root != rank() && bytes > 0)
    std::memcpy(data, calls[static_cast<size_t>(root)].in, static_cast<size_t>(bytes));
  meeting_->Leave();
}

void ThreadGroup::Barrier(const Exchange& call) {
  meeting_->Come(rank(), {std::string(call.what), nullptr, {}});
}

void ThreadGroup::Send(const Exchange&, const void* in, int64_t bytes, DType, int to, int tag) {
  const auto* from = static_cast<const char*>(in);
  meeting_->Send(rank(), to, tag, std::string(from, from + bytes));
}

void ThreadGroup::Receive(const Exchange&, void* out, int64_t bytes, DType, int from, int tag) {
  std::string came = meeting_->Receive(from, rank(), tag);
  if (static_cast<int64_t>(came.size()) != bytes) {
    meeting_->Fail();
    Throw(ErrorKind::kRuntime, "member {} sends {} bytes where {} are expected", from, came.size(),
          bytes);
  }
  std::memcpy(out, came.data(), came.size());
}

}  // namespace ms
