#include "backends/cpu/collectives/mpi_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/cpu/collectives/patience.h"
#include "backends/cpu/collectives/sums.h"
#include "base/error.h"

namespace ms::cpu {
namespace {

// MPI counts in ints. What may be longer goes in pieces of so many bytes.
constexpr int64_t kPiece = int64_t{1} << 24;
constexpr int64_t kMost = int64_t{1} << 30;

// Numbers as ints, and where each part begins.
struct Parts {
  explicit Parts(Counts counts) {
    int64_t at = 0;
    for (int64_t n : counts) {
      sizes.push_back(static_cast<int>(n));
      starts.push_back(static_cast<int>(at));
      at += n;
    }
    if (at > kMost) {
      Throw(ErrorKind::kValue,
            "what processes of several hosts exchange in one call must be {} bytes at most, but "
            "got {}: divide the tensor",
            kMost, at);
    }
  }
  std::vector<int> sizes, starts;
};

std::vector<int64_t> Times(Counts counts, int64_t factor) {
  std::vector<int64_t> result;
  for (int64_t n : counts) result.push_back(n * factor);
  return result;
}

// n elements in as many parts as there are members, as equal as may be.
std::vector<int64_t> Even(int64_t n, int members) {
  std::vector<int64_t> parts;
  for (int r = 0; r < members; ++r) parts.push_back(n * (r + 1) / members - n * r / members);
  return parts;
}

}  // namespace

int64_t MpiGroup::join_bytes() const { return kPiece; }

void MpiGroup::Await(MpiHandle request) {
  Patience patience(crowded_);
  for (;;) {
    int done = 0;
    mpi_.Do("wait for others", mpi_.Test, &request, &done, mpi_.no_status);
    if (done) return;
    patience.Pause();
  }
}

void MpiGroup::Exchanged(const void* in, Counts sends, void* out, Counts receives) {
  Parts from(sends), to(receives);
  MpiHandle request = 0;
  mpi_.Do("exchange parts", mpi_.Ialltoallv, in, from.sizes.data(), from.starts.data(), mpi_.byte,
          out, to.sizes.data(), to.starts.data(), mpi_.byte, comm_, &request);
  Await(request);
}

void MpiGroup::Gathered(const void* in, void* out, Counts bytes) {
  Parts parts(bytes);
  MpiHandle request = 0;
  mpi_.Do("gather parts", mpi_.Iallgatherv, in, parts.sizes[static_cast<size_t>(rank())], mpi_.byte,
          out, parts.sizes.data(), parts.starts.data(), mpi_.byte, comm_, &request);
  Await(request);
}

// The sum of each part is made where it belongs, and then all get it.
void MpiGroup::AllReduce(const Exchange& call, const void* in, void* out, int64_t count,
                         DType dtype, Reduction reduction) {
  auto item = static_cast<int64_t>(ItemSize(dtype));
  std::vector<char> sum;
  for (int64_t at = 0; at < count; at += kPiece / item) {
    int64_t n = std::min(kPiece / item, count - at);
    std::vector<int64_t> parts = Even(n, size());
    sum.resize(static_cast<size_t>(parts[static_cast<size_t>(rank())] * item));
    ReduceScatter(call, static_cast<const char*>(in) + at * item, sum.data(), parts, dtype,
                  reduction);
    Gathered(sum.data(), static_cast<char*>(out) + at * item, Times(parts, item));
  }
}

void MpiGroup::ReduceScatter(const Exchange&, const void* in, void* out, Counts counts, DType dtype,
                             Reduction reduction) {
  auto item = static_cast<int64_t>(ItemSize(dtype));
  int64_t mine = counts[static_cast<size_t>(rank())], members = size();
  std::vector<char> received(static_cast<size_t>(mine * item * members));
  std::vector<int64_t> receives(static_cast<size_t>(members), mine * item);
  Exchanged(in, Times(counts, item), received.data(), receives);
  std::vector<const void*> parts;
  for (int64_t r = 0; r < members; ++r) parts.push_back(received.data() + r * mine * item);
  Combine(parts, out, mine, dtype, reduction);
}

void MpiGroup::AllGather(const Exchange&, const void* in, void* out, Counts bytes) {
  Gathered(in, out, bytes);
}

void MpiGroup::AllToAll(const Exchange&, const void* in, Counts sends, void* out, Counts receives) {
  Exchanged(in, sends, out, receives);
}

void MpiGroup::Broadcast(const Exchange&, void* data, int64_t bytes, int root) {
  for (int64_t at = 0; at < bytes; at += kPiece) {
    MpiHandle request = 0;
    mpi_.Do("send to all", mpi_.Ibcast, static_cast<void*>(static_cast<char*>(data) + at),
            static_cast<int>(std::min(kPiece, bytes - at)), mpi_.byte, root, comm_, &request);
    Await(request);
  }
}

void MpiGroup::Barrier(const Exchange&) {
  MpiHandle request = 0;
  mpi_.Do("wait for all", mpi_.Ibarrier, comm_, &request);
  Await(request);
}

void MpiGroup::Send(const Exchange&, const void* in, int64_t bytes, int to, int tag) {
  for (int64_t at = 0; at == 0 || at < bytes; at += kPiece) {
    MpiHandle request = 0;
    mpi_.Do("send", mpi_.Isend, static_cast<const void*>(static_cast<const char*>(in) + at),
            static_cast<int>(std::min(kPiece, bytes - at)), mpi_.byte, to, tag, comm_, &request);
    Await(request);
  }
}

void MpiGroup::Receive(const Exchange&, void* out, int64_t bytes, int from, int tag) {
  for (int64_t at = 0; at == 0 || at < bytes; at += kPiece) {
    MpiHandle request = 0;
    mpi_.Do("receive", mpi_.Irecv, static_cast<void*>(static_cast<char*>(out) + at),
            static_cast<int>(std::min(kPiece, bytes - at)), mpi_.byte, from, tag, comm_, &request);
    Await(request);
  }
}

}  // namespace ms::cpu
