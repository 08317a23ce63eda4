// Sums over processes of many tensors that are ready one after the other, as gradients are. Where
// the transport takes time in which this process could compute, a thread for the group makes the
// sums meanwhile, in buckets; elsewhere they are made at the end, all at once.
//
// What goes in one bucket, and in which order buckets go, all members must hold alike. The first
// one decides: from the moments at which its tensors were ready, what the transport takes for a
// call and for a byte (kernel/bucket_cuts.h), and what the user asks for. The others are told.
#pragma once

#include <memory>
#include <vector>

#include "kernel/collectives.h"

namespace ms {

// What is summed, alike in all members.
struct JointSum {
  std::string group;
  std::vector<int64_t> counts;  // elements of each tensor, in the order of the program
  std::vector<DType> dtypes;
  // Whether the thread makes calls of other groups between the first tensor and AwaitSums, in which
  // it waits for others: then nothing that waits may be taken for the thread's own.
  bool beside = false;
};

struct SumRun;  // one that is under way

// What one run of a program begins on its thread. A run inside of it, of a graph that Python code
// calls on the way, has a scope of its own. Kernels that a device runs on a thread of its own later
// are in none: their sums are made where they are awaited, and nothing is under way before.
class SumScope {
 public:
  SumScope();
  ~SumScope();
  SumScope(const SumScope&) = delete;

 private:
  friend struct OpenSum;
  std::vector<std::shared_ptr<SumRun>> open_;  // one of a group
  SumScope* outer_;
};

// Begins the sum of tensor `index`, in place: nobody may touch it until AwaitSums. The first one
// in a scope opens the sum, AwaitSums in the same scope closes it; between them the thread makes no
// other call of the group. Several groups may have a sum open, which go on independently.
void StartSum(const std::shared_ptr<const JointSum>& sum, size_t index, void* data, SpanId place);
// Waits for all of the group. Errors name the line of the tensor that they are about.
void AwaitSums(const std::string& group);
// Gives up what was begun in the innermost scope, if anything; nothing is written afterwards.
void AbandonSums();

// How the user wants gradients joined: `ends[i]` is how many, in the order of readiness, the first
// i + 1 buckets have; else buckets of so many bytes; with neither the cuts are chosen.
struct BucketWish {
  std::vector<int64_t> ends;
  int64_t bytes = 0;
};
void SetBucketWish(BucketWish wish);

// Whether this is a thread that makes sums while others compute: it should wait asleep.
bool InBackground();
// Called by it while it waits for others: throws where nobody wants the sum any more.
void CheckStillWanted();

// What this process has done so far by the thread for sums, in seconds.
struct SumTimes {
  int64_t runs = 0, buckets = 0;
  double sums = 0;      // of making sums
  double hideable = 0;  // of that, what might have passed before the last tensor was ready
  double hidden = 0;    // of that, what did
  double tail = 0;      // waiting for sums after the last tensor was ready
};
SumTimes TimesOfSums();

}  // namespace ms
