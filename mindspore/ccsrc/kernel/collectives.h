// What processes that train together do with each other. A device's transport fills these two
// classes: a host's by MPI (backends/cpu/collectives), a GPU's by its own library. Ranks are those
// of the group; addresses are of the device's memory.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "ir/span.h"

namespace ms {

enum class Reduction : uint8_t { kSum, kProd, kMax, kMin };
Reduction ReductionFromName(std::string_view name);  // "sum", ...; InternalError for others

// A call of all members, as they are compared and named when they do not fit together.
struct Exchange {
  std::string_view what;  // "AllReduce sum Float32[1024]"
  SpanId place = 0;
};

// Numbers of elements or bytes, one for each member.
using Counts = std::span<const int64_t>;

// Some memory.
struct Stretch {
  char* data;
  int64_t bytes;
};

// Processes that make the same calls in the same order; a call returns when this one has its part
// of the result. What other members do wrong, or that one of them is gone, is an Error. `out` may
// be `in` where both are as long. Sums are made in the order of the ranks: all get the same bits.
struct SumHistory;  // kernel/joint_sums.cc

class Group {
 public:
  Group(std::string name, std::vector<int> ranks, int rank);
  explicit Group(const Group* inner);  // which does the work of this one
  virtual ~Group() = default;
  const std::string& name() const { return name_; }
  const std::vector<int>& ranks() const { return ranks_; }  // of the world
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  // The same in all members, another one for each group that they make; the world's is 0.
  int id() const { return id_; }
  uint64_t NextNumber() { return number_++; }  // of a call that all members make
  // Whether calls take time in which this process could compute: not where the members share the
  // memory of one host, as moving bytes there is work of the same processors.
  virtual bool takes_time() const { return false; }
  // Tensors of fewer bytes are worth copying together for one call.
  virtual int64_t join_bytes() const { return 0; }
  std::shared_ptr<SumHistory> sums;  // what its joint sums have taken (kernel/joint_sums.h)
  // What a device has made for the group, whose own transport moves what lies in its memory.
  std::shared_ptr<void> on_device;

  virtual void AllReduce(const Exchange& call, const void* in, void* out, int64_t count,
                         DType dtype, Reduction reduction) = 0;
  // Of many tensors of one type, in place.
  virtual void AllReduceEach(const Exchange& call, std::span<const Stretch> tensors, DType dtype,
                             Reduction reduction);
  // The members' parts of the sum; `counts` elements each.
  virtual void ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts,
                             DType dtype, Reduction reduction) = 0;
  // What all have, in the order of ranks; `bytes` of each.
  virtual void AllGather(const Exchange& call, const void* in, void* out, Counts bytes) = 0;
  virtual void AllToAll(const Exchange& call, const void* in, Counts sends, void* out,
                        Counts receives) = 0;
  virtual void Broadcast(const Exchange& call, void* data, int64_t bytes, int root) = 0;
  virtual void Barrier(const Exchange& call) = 0;
  // Between two members alone; what has one tag arrives in the order in which it was sent.
  // ValueError in the one that receives where they do not mean the same bytes and type.
  virtual void Send(const Exchange& call, const void* in, int64_t bytes, DType dtype, int to,
                    int tag) = 0;
  virtual void Receive(const Exchange& call, void* out, int64_t bytes, DType dtype, int from,
                       int tag) = 0;

 private:
  std::string name_;
  std::vector<int> ranks_;
  int rank_;
  int id_ = 0;
  std::atomic<uint64_t> number_{0};
};

// Tells the watch (cluster/watch.h), for as long as it lives, that this thread is in a call that
// all members make: so that who goes astray, or is gone, is named to those who wait. Throws what
// the watch has to say.
class Announced {
 public:
  // `unchecked`: the call does not compare itself with the others'; the watch does, a moment later.
  Announced(Group& group, const Exchange& call, bool unchecked = false);
  ~Announced();
  Announced(const Announced&) = delete;
  uint64_t number() const { return number_; }  // of the call; 0 where nobody watches

 private:
  uint64_t number_ = 0;
  int failures_ = -1;  // exceptions under way at the beginning; -1: nobody watches
};

// The same for a call of two members, `what` this one waits for of the member `other`.
class AnnouncedPair {
 public:
  AnnouncedPair(Group& group, const Exchange& call, int other, int tag, bool sends);
  ~AnnouncedPair();
  AnnouncedPair(const AnnouncedPair&) = delete;

 private:
  bool told_ = false;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string Describe() const = 0;  // library and version
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  // Called by all members, in the same order.
  virtual std::unique_ptr<Group> NewGroup(std::string name, std::vector<int> ranks) = 0;
  // Leaves the others, who end their calls as well; nothing else may be called then.
  virtual void Finish() = 0;
};

// The groups of this process, by name. The world exists from `Join` on, under each of `worlds`.
void Join(std::unique_ptr<Transport> transport, const std::vector<std::string>& worlds);
void LeaveGroups();
std::shared_ptr<Transport> CurrentTransport();  // null: this process is alone
void MakeGroup(const std::string& name, std::vector<int> ranks);
void ForgetGroup(const std::string& name);
bool HasGroup(const std::string& name);
// A group that no transport made: threads that stand for processes (tests).
void AddGroup(const std::string& name, std::shared_ptr<Group> group);
// RuntimeError where there is none. As long as nobody has joined, each is this process alone.
std::shared_ptr<Group> FindGroup(const std::string& name);

}  // namespace ms
