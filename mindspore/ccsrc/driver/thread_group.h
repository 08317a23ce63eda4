// Processes that are threads of this one: programs of several processes run where there is but one,
// to see that they are right.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kernel/collectives.h"

namespace ms {

// What is told to those who wait when another one fails: the reason is that one's error.
inline constexpr char kAnotherFailed[] = "another member of the group failed";

// Where the members of one group meet. When one of them fails, nobody waits any longer.
class Meeting {
 public:
  explicit Meeting(int members) : calls_(static_cast<size_t>(members)) {}
  struct Call {
    std::string what;
    const void* in = nullptr;
    std::vector<int64_t> counts;
  };
  // All members' calls, once all are there. RuntimeError where they differ, or one has failed.
  const std::vector<Call>& Come(int member, Call call);
  // Until all have read what they want.
  void Leave();
  // From one member to another: what has one tag arrives in the order in which it was sent.
  void Send(int from, int to, int tag, std::string bytes);
  std::string Receive(int from, int to, int tag);
  void Fail();
  void Reset();  // while nobody is there

 private:
  void Wait(std::unique_lock<Mutex>& lock);
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Call> calls_;
  std::map<std::tuple<int, int, int>, std::deque<std::string>> sent_;
  size_t arrived_ = 0;
  uint64_t round_ = 0;
  bool failed_ = false;
};

class ThreadGroup : public Group {
 public:
  // `beside`: its sums are made by a thread of their own, while the member computes.
  ThreadGroup(std::string name, std::vector<int> ranks, int rank, std::shared_ptr<Meeting> meeting,
              bool beside = false)
      : Group(std::move(name), std::move(ranks), rank),
        meeting_(std::move(meeting)),
        beside_(beside) {}

  bool takes_time() const override { return beside_; }

  void AllReduce(const Exchange& call, const void* in, void* out, int64_t count, DType dtype,
                 Reduction reduction) override;
  void ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts, DType dtype,
                     Reduction reduction) override;
  void AllGather(const Exchange& call, const void* in, void* out, Counts bytes) override;
  void AllToAll(const Exchange& call, const void* in, Counts sends, void* out,
                Counts receives) override;
  void Broadcast(const Exchange& call, void* data, int64_t bytes, int root) override;
  void Barrier(const Exchange& call) override;
  void Send(const Exchange& call, const void* in, int64_t bytes, DType dtype, int to,
            int tag) override;
  void Receive(const Exchange& call, void* out, int64_t bytes, DType dtype, int from,
               int tag) override;

 private:
  std::shared_ptr<Meeting> meeting_;
  bool beside_;
};

}  // namespace ms
