// A group of processes (kernel/collectives.h) as NCCL has it, one GPU a rank: made at the group's
// first call on this device, through the group itself. Calls are given to a stream and kept by
// recordings as kernels are. The host looks after the other ranks where it waits for the stream.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "backends/cuda/comm_entries.h"
#include "base/mutex.h"
#include "kernel/collectives.h"
#include "kernel/kernel.h"

namespace ms::cuda {

class Communicator {
 public:
  // The group's own. The first call of it waits for all members.
  static std::shared_ptr<Communicator> Of(const std::shared_ptr<Group>& group, SpanId place);
  explicit Communicator(const std::shared_ptr<Group>& group);
  // NCCL's own stays until the process ends: members would have to end it together.
  ~Communicator();
  Communicator(const Communicator&) = delete;

  CommHandle handle() const { return handle_; }
  std::shared_ptr<Group> group() const { return group_.lock(); }  // null: it is no more

  // Calls of NCCL between Begin and End go as one, where there are `several`.
  class Batch {
   public:
    Batch(Communicator& comm, bool several);
    ~Batch();
    Batch(const Batch&) = delete;
    CommHandle handle() const { return comm_.handle_; }
    void Add(int result, const char* what);
    void End();  // throws what NCCL refused

   private:
    Communicator& comm_;
    bool several_, open_ = true;
    int failed_ = 0;
    const char* what_ = "";
  };

  // Throws where NCCL has found something wrong since, or what another thread found.
  void Look();
  // Ends what its stream is still in; all of its later calls throw that `why` is so.
  void GiveUp(const std::string& why);

 private:
  void Connect(Group& group);
  // Waits until NCCL has done what it does on threads of its own.
  void Settle(const char* what);
  [[noreturn]] void Fail(int result, const char* what);
  void CheckAlive();

  std::weak_ptr<Group> group_;
  const std::string name_;
  Mutex mutex_;  // of what follows: NCCL takes one call of a communicator at a time
  CommHandle handle_ = nullptr;
  std::string given_up_;
};

// A call that a stream was given.
struct JointCall {
  std::shared_ptr<Communicator> comm;
  std::string what;
  LaunchPlace place;
};

// Tells the watch that this rank has come to the call, and gives it by `give`.
void GiveJointly(JointCall call, StreamHandle stream, const std::function<void()>& give);

// Waits until `query` says something else than kNotReady, which is of what `stream` was given;
// null: of any stream. `wait` does the same at once. While calls with other ranks are under way, it
// is not used: where one of them is gone, all communicators are given up, and what was to be
// computed is lost. `whole`: nothing of the stream's is under way afterwards.
void AwaitWork(StreamHandle stream, bool whole, const std::function<int()>& query,
               const std::function<int()>& wait, const char* what);
// The latest loss, an Error that names the call which waited, where there are more than `seen`.
std::exception_ptr LossBeyond(uint64_t* seen);
// At the end of the process.
void AbandonCalls();

}  // namespace ms::cuda
