// NCCL, as the stub has it: what the ranks of a communicator give each other goes through files in
// shared memory, one a rank for each unit of calls (a call, or what stands between ncclGroupStart and
// ncclGroupEnd). Sums are made in the order of ranks, and rounded after each.
#pragma once

#include <memory>
#include <optional>

#include "stub.h"

namespace stub {

enum class Call : int { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce, kSend, kRecv };

struct CommState {
  std::string folder;
  int rank = 0, size = 0;
  uint64_t units = 0;  // that were begun
  bool joined = false, aborted = false;
  bool stuck = false;  // ranks have made calls that do not fit
  int error = 0;
};

struct Given {
  Call call;
  uint64_t in, out;
  uint64_t count;
  int type, reduction;
  int other;  // root, or whom it is with
  size_t bytes() const;
};

// Work of a stream: runs when all ranks have come to it.
Work Exchange(std::shared_ptr<CommState> comm, std::vector<Given> calls);

bool Exists(const std::string& path);
void WriteFile(const std::string& path, const std::string& text);
std::string ReadFile(const std::string& path);
// Has streams go on though nobody waits for them, as other ranks may.
void StartProgress();

}  // namespace stub
