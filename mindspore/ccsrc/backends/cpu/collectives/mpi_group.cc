#include "backends/cpu/collectives/mpi_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/cpu/collectives/agreement.h"
#include "backends/cpu/collectives/patience.h"
#include "backends/cpu/collectives/sums.h"
#include "base/error.h"

namespace ms::cpu {
namespace {

// MPI counts in ints. What may be longer goes in pieces of so many bytes.
constexpr int64_t kPiece = int64_t{1} << 24;
constexpr int64_t kMost = int64_t{1} << 30;
// What fits goes in one message with its head.
constexpr int64_t kWithHead = 4096;

// What a message to one member says of what it brings.
struct Head {
  int64_t bytes;
  DType dtype;
  uint32_t life;  // an older one is of a group that is no more
};

void CheckMost(int64_t bytes) {
  if (bytes <= kMost) return;
  Throw(ErrorKind::kValue,
        "what processes of several hosts exchange in one call must be {} bytes at most, but got "
        "{}: divide the tensor",
        kMost, bytes);
}

Parts InParts(Counts counts) {
  Parts parts;
  for (int64_t n : counts) {
    parts.sizes.push_back(static_cast<int>(n));
    parts.starts.push_back(static_cast<int>(parts.total));
    parts.total += n;
  }
  return parts;
}

std::vector<int64_t> Times(Counts counts, int64_t factor) {
  std::vector<int64_t> result;
  for (int64_t n : counts) result.push_back(n * factor);
  return result;
}

int64_t Sum(Counts counts) { return std::accumulate(counts.begin(), counts.end(), int64_t{0}); }

// n elements in as many parts as there are members, as equal as may be.
std::vector<int64_t> Even(int64_t n, int members) {
  std::vector<int64_t> parts;
  for (int r = 0; r < members; ++r) parts.push_back(n * (r + 1) / members - n * r / members);
  return parts;
}

std::unique_ptr<char[]> Room(int64_t bytes) {
  return std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
}

void CopyTo(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

std::unique_ptr<char[]> Copy(const void* from, int64_t bytes) {
  std::unique_ptr<char[]> copy = Room(bytes);
  CopyTo(copy.get(), from, bytes);
  return copy;
}

}  // namespace

// Calls of one line go one after the other, whichever threads make them. Who waits holds no lock:
// the program may fork meanwhile.
class MpiGroup::Turn {
 public:
  Turn(MpiGroup& group, Line line) : group_(group), line_(line) {
    Patience patience(group.crowded_);
    while (!Take()) patience.Pause();
  }
  ~Turn() {
    std::lock_guard lock(group_.mutex_);
    group_.busy_.erase(line_);
  }

 private:
  bool Take() {
    std::lock_guard lock(group_.mutex_);
    return group_.busy_.insert(line_).second;
  }

  MpiGroup& group_;
  Line line_;
};

int64_t MpiGroup::join_bytes() const { return kPiece; }

void MpiGroup::CheckAlive() const {
  if (mpi_->has_ended()) mpi_->FailAfterTheEnd();
}

void MpiGroup::Await(std::unique_ptr<Flight>& flight) {
  Patience patience(crowded_);
  try {
    for (;;) {
      int done = 0;
      mpi_->Do("wait for others", mpi_->Test, &flight->request, &done, mpi_->no_status);
      if (done) return;
      patience.Pause();
    }
  } catch (...) {
    mpi_->Keep(std::move(flight));
    throw;
  }
}

std::unique_ptr<Flight> MpiGroup::Exchanged(const void* in, Counts sends, Counts receives) {
  auto f = std::make_unique<Flight>();
  f->sends = InParts(sends), f->receives = InParts(receives);
  f->from = Copy(in, f->sends.total), f->to = Room(f->receives.total);
  mpi_->Do("exchange parts", mpi_->Ialltoallv, f->from.get(), f->sends.sizes.data(),
           f->sends.starts.data(), mpi_->byte, f->to.get(), f->receives.sizes.data(),
           f->receives.starts.data(), mpi_->byte, comm_, &f->request);
  Await(f);
  return f;
}

std::unique_ptr<Flight> MpiGroup::Gathered(std::unique_ptr<char[]> in, Counts bytes) {
  auto f = std::make_unique<Flight>();
  f->receives = InParts(bytes);
  f->from = std::move(in), f->to = Room(f->receives.total);
  mpi_->Do("gather parts", mpi_->Iallgatherv, f->from.get(),
           f->receives.sizes[static_cast<size_t>(rank())], mpi_->byte, f->to.get(),
           f->receives.sizes.data(), f->receives.starts.data(), mpi_->byte, comm_, &f->request);
  Await(f);
  return f;
}

void MpiGroup::Agree(const Exchange& call) {
  auto members = static_cast<size_t>(size());
  uint64_t mine = Signature(call, ++calls_);
  std::vector<int64_t> each(members, sizeof mine);
  std::unique_ptr<Flight> all = Gathered(Copy(&mine, sizeof mine), each);
  std::vector<uint64_t> signatures(members);
  std::memcpy(signatures.data(), all->to.get(), members * sizeof mine);
  bool alike = std::count(signatures.begin(), signatures.end(), mine) == size();
  if (alike) return;
  std::string said = Said(call);
  said.resize(kLongestSaid);
  all = Gathered(Copy(said.data(), kLongestSaid),
                 std::vector<int64_t>(members, int64_t{kLongestSaid}));
  auto text = [&](size_t r) { return std::string(all->to.get() + r * kLongestSaid); };
  size_t other = 0;
  while (signatures[other] == mine) ++other;
  ThrowUnlike(*this, text(static_cast<size_t>(rank())), static_cast<int>(other), text(other));
}

// This member's part of the sum.
std::unique_ptr<char[]> MpiGroup::Summed(const void* in, Counts counts, DType dtype,
                                         Reduction reduction) {
  auto item = static_cast<int64_t>(ItemSize(dtype));
  int64_t mine = counts[static_cast<size_t>(rank())], members = size();
  std::vector<int64_t> receives(static_cast<size_t>(members), mine * item);
  std::unique_ptr<Flight> received = Exchanged(in, Times(counts, item), receives);
  std::vector<const void*> parts;
  for (int64_t r = 0; r < members; ++r) parts.push_back(received->to.get() + r * mine * item);
  std::unique_ptr<char[]> sum = Room(mine * item);
  Combine(parts, sum.get(), mine, dtype, reduction);
  return sum;
}

// The sum of each part is made where it belongs, and then all get it.
void MpiGroup::AllReduce(const Exchange& call, const void* in, void* out, int64_t count,
                         DType dtype, Reduction reduction) {
  Turn turn(*this, {});
  Agree(call);
  auto item = static_cast<int64_t>(ItemSize(dtype));
  for (int64_t at = 0; at < count; at += kPiece / item) {
    int64_t n = std::min(kPiece / item, count - at);
    std::vector<int64_t> parts = Even(n, size());
    std::unique_ptr<char[]> sum =
        Summed(static_cast<const char*>(in) + at * item, parts, dtype, reduction);
    std::unique_ptr<Flight> all = Gathered(std::move(sum), Times(parts, item));
    CopyTo(static_cast<char*>(out) + at * item, all->to.get(), n * item);
  }
}

void MpiGroup::ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts,
                             DType dtype, Reduction reduction) {
  Turn turn(*this, {});
  Agree(call);
  auto item = static_cast<int64_t>(ItemSize(dtype));
  int64_t longest = *std::max_element(counts.begin(), counts.end());
  CheckMost(std::max(Sum(counts), longest * size()) * item);
  std::unique_ptr<char[]> sum = Summed(in, counts, dtype, reduction);
  CopyTo(out, sum.get(), counts[static_cast<size_t>(rank())] * item);
}

void MpiGroup::AllGather(const Exchange& call, const void* in, void* out, Counts bytes) {
  Turn turn(*this, {});
  Agree(call);
  CheckMost(Sum(bytes));
  std::unique_ptr<Flight> all = Gathered(Copy(in, bytes[static_cast<size_t>(rank())]), bytes);
  CopyTo(out, all->to.get(), all->receives.total);
}

void MpiGroup::AllToAll(const Exchange& call, const void* in, Counts sends, void* out,
                        Counts receives) {
  Turn turn(*this, {});
  Agree(call);
  auto members = static_cast<size_t>(size());
  std::vector<int64_t> row(sends.begin(), sends.end()), rows(2 * members * members);
  row.insert(row.end(), receives.begin(), receives.end());
  auto bytes = static_cast<int64_t>(row.size() * sizeof(int64_t));
  std::unique_ptr<Flight> all =
      Gathered(Copy(row.data(), bytes), std::vector<int64_t>(members, bytes));
  CopyTo(rows.data(), all->to.get(), all->receives.total);
  CheckParts(*this, rows, kMost);
  all = Exchanged(in, sends, receives);
  CopyTo(out, all->to.get(), all->receives.total);
}

void MpiGroup::Broadcast(const Exchange& call, void* data, int64_t bytes, int root) {
  Turn turn(*this, {});
  Agree(call);
  for (int64_t at = 0; at < bytes; at += kPiece) {
    char* here = static_cast<char*>(data) + at;
    int64_t n = std::min(kPiece, bytes - at);
    auto f = std::make_unique<Flight>();
    f->to = rank() == root ? Copy(here, n) : Room(n);
    mpi_->Do("send to all", mpi_->Ibcast, static_cast<void*>(f->to.get()), static_cast<int>(n),
             mpi_->byte, root, comm_, &f->request);
    Await(f);
    if (rank() != root) CopyTo(here, f->to.get(), n);
  }
}

void MpiGroup::Barrier(const Exchange& call) {
  Turn turn(*this, {});
  Agree(call);
}

void MpiGroup::SendBytes(std::unique_ptr<Flight> f, int64_t bytes, int to, int tag) {
  mpi_->Do("send", mpi_->Isend, static_cast<const void*>(f->from.get()), static_cast<int>(bytes),
           mpi_->byte, to, tag, comm_, &f->request);
  Await(f);
}

std::unique_ptr<char[]> MpiGroup::ReceiveBytes(int64_t bytes, int from, int tag) {
  auto f = std::make_unique<Flight>();
  f->to = Room(bytes);
  mpi_->Do("receive", mpi_->Irecv, static_cast<void*>(f->to.get()), static_cast<int>(bytes),
           mpi_->byte, from, tag, comm_, &f->request);
  Await(f);
  return std::move(f->to);
}

void MpiGroup::Send(const Exchange&, const void* in, int64_t bytes, DType dtype, int to, int tag) {
  Turn turn(*this, {'S', to, tag});
  const Head head{bytes, dtype, life_};
  const auto* data = static_cast<const char*>(in);
  int64_t at = std::min(bytes, kWithHead);
  auto first = std::make_unique<Flight>();
  first->from = Room(static_cast<int64_t>(sizeof head) + at);
  CopyTo(first->from.get(), &head, sizeof head);
  CopyTo(first->from.get() + sizeof head, data, at);
  SendBytes(std::move(first), static_cast<int64_t>(sizeof head) + at, to, tag);
  for (; at < bytes; at += kPiece) {
    int64_t n = std::min(kPiece, bytes - at);
    auto f = std::make_unique<Flight>();
    f->from = Copy(data + at, n);
    SendBytes(std::move(f), n, to, tag);
  }
}

// What does not fit is taken all the same, so that what comes next is not taken for its rest.
void MpiGroup::Receive(const Exchange&, void* out, int64_t bytes, DType dtype, int from, int tag) {
  Turn turn(*this, {'R', from, tag});
  for (;;) {
    Head head;
    std::unique_ptr<char[]> come =
        ReceiveBytes(static_cast<int64_t>(sizeof head) + kWithHead, from, tag);
    std::memcpy(&head, come.get(), sizeof head);
    bool fits = head.bytes == bytes && head.dtype == dtype && head.life == life_;
    int64_t at = std::min(head.bytes, kWithHead);
    if (fits) CopyTo(out, come.get() + sizeof head, at);
    for (; at < head.bytes; at += kPiece) {
      int64_t n = std::min(kPiece, head.bytes - at);
      come = ReceiveBytes(n, from, tag);
      if (fits) CopyTo(static_cast<char*>(out) + at, come.get(), n);
    }
    if (fits) return;
    if (head.life != life_) continue;
    Throw(
        ErrorKind::kValue,
        "in the group '{}', rank {} sends {} bytes of {} to rank {}, which expects {} bytes of {}",
        name(), from, head.bytes, ms::Name(head.dtype), rank(), bytes, ms::Name(dtype));
  }
}

}  // namespace ms::cpu
