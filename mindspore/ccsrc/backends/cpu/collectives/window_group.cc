#include "backends/cpu/collectives/window_group.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "backends/cpu/collectives/agreement.h"
#include "backends/cpu/collectives/patience.h"
#include "backends/cpu/collectives/streaming.h"
#include "backends/cpu/collectives/sums.h"
#include "base/error.h"

namespace ms::cpu {
namespace {

// What is put into a slot is still in the second cache when it is added to what the others put.
constexpr int64_t kSlot = 512 * 1024;
// Up to here all members make the whole sum, in one round. Two always do: each reads as much of the
// other's as if they shared the work, and they meet half as often.
constexpr int64_t kSmall = 16 * 1024;
constexpr auto kToSay = std::chrono::seconds(2);

int64_t Start(int64_t n, int part, int parts) { return n * part / parts; }

void CopyTo(char* to, const char* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

// The part of [begin, end) that lies within [from, to), as (first, length).
std::pair<int64_t, int64_t> Overlap(int64_t begin, int64_t end, int64_t from, int64_t to) {
  int64_t first = std::max(begin, from);
  return {first, std::max<int64_t>(0, std::min(end, to) - first)};
}

}  // namespace

// Of one member, read by the others. A round may be one ahead of that of another member, not two.
struct WindowGroup::Flags {
  alignas(64) std::atomic<uint64_t> round;
  std::atomic<uint64_t> signatures[2];     // of the call, by the round's parity
  alignas(64) std::atomic<uint64_t> said;  // the round in which `text` was written
  char text[kLongestSaid];
};

int64_t WindowGroup::Bytes() {
  return (static_cast<int64_t>(sizeof(Flags)) + 4095) / 4096 * 4096 + 2 * kSlot;
}

WindowGroup::WindowGroup(std::unique_ptr<MpiGroup> mpi, std::vector<char*> segments, bool crowded)
    : Group(mpi.get()), mpi_(std::move(mpi)), segments_(std::move(segments)), crowded_(crowded) {}

WindowGroup::Flags& WindowGroup::flags(int rank) const {
  return *reinterpret_cast<Flags*>(segments_[static_cast<size_t>(rank)]);
}

char* WindowGroup::slot(int rank) const {
  int64_t at = Bytes() - 2 * kSlot + static_cast<int64_t>(round_ % 2) * kSlot;
  return segments_[static_cast<size_t>(rank)] + at;
}

void WindowGroup::NextCall() {
  mpi_->CheckAlive();
  ++calls_;
}

void WindowGroup::Begin(const Exchange& call) {
  ++round_;
  signature_ = Signature(call, calls_);
}

void WindowGroup::Meet(const Exchange& call) {
  Flags& mine = flags(rank());
  mine.signatures[round_ % 2].store(signature_, std::memory_order_relaxed);
  mine.round.store(round_, std::memory_order_release);
  for (int r = 0; r < size(); ++r) {
    if (r == rank()) continue;
    const Flags& other = flags(r);
    Patience patience(crowded_);
    while (other.round.load(std::memory_order_acquire) < round_) patience.Pause();
    if (other.signatures[round_ % 2].load(std::memory_order_relaxed) != signature_) Differ(call, r);
  }
}

// Both find it, and both say what they do.
void WindowGroup::Differ(const Exchange& call, int other) {
  Flags& mine = flags(rank());
  std::string said = Said(call);
  std::memcpy(mine.text, said.c_str(), said.size() + 1);
  mine.said.store(round_, std::memory_order_release);
  std::string theirs = "another call";
  auto until = std::chrono::steady_clock::now() + kToSay;
  while (std::chrono::steady_clock::now() < until) {
    if (flags(other).said.load(std::memory_order_acquire) == round_) {
      theirs = flags(other).text;
      break;
    }
    sched_yield();
  }
  ThrowUnlike(*this, said, other, theirs);
}

std::vector<const char*> WindowGroup::Slots() const {
  std::vector<const char*> slots;
  for (int r = 0; r < size(); ++r) slots.push_back(slot(r));
  return slots;
}

void WindowGroup::Combine(const Piece& piece, int64_t first, int64_t bytes,
                          std::span<const char* const> slots, DType dtype,
                          Reduction reduction) const {
  std::vector<const void*> parts;
  for (int r = 0; r < size(); ++r) {
    const char* others = slots[static_cast<size_t>(r)] + piece.at;
    parts.push_back((r == rank() ? piece.in : others) + first);
  }
  cpu::Combine(parts, piece.out + first, bytes / static_cast<int64_t>(ItemSize(dtype)), dtype,
               reduction);
}

void WindowGroup::Reduce(const Exchange& call, Pieces pieces, int64_t bytes, DType dtype,
                         Reduction reduction) {
  if (bytes <= kSmall || size() == 2) return ReduceWhole(call, pieces, dtype, reduction);
  ReduceInParts(call, pieces, bytes, dtype, reduction);
}

void WindowGroup::ReduceWhole(const Exchange& call, Pieces pieces, DType dtype,
                              Reduction reduction) {
  Begin(call);
  for (const Piece& p : pieces) CopyForOthers(slot(rank()) + p.at, p.in, p.bytes);
  Meet(call);
  std::vector<const char*> slots = Slots();
  for (const Piece& p : pieces) Combine(p, 0, p.bytes, slots, dtype, reduction);
}

// Each member makes the sum of its part of the slot, and puts it into the next round's, where the
// others take it from.
void WindowGroup::ReduceInParts(const Exchange& call, Pieces pieces, int64_t bytes, DType dtype,
                                Reduction reduction) {
  auto item = static_cast<int64_t>(ItemSize(dtype));
  auto begin = [&](int r) { return Start(bytes / item, r, size()) * item; };
  auto part = [&](const Piece& p, int64_t from, int64_t to) {
    auto [first, length] = Overlap(p.at, p.at + p.bytes, from, to);
    return std::pair(first - p.at, length);
  };
  Begin(call);
  for (const Piece& p : pieces) {
    for (auto [from, to] : {std::pair(int64_t{0}, begin(rank())), {begin(rank() + 1), bytes}}) {
      auto [first, length] = part(p, from, to);
      CopyForOthers(slot(rank()) + p.at + first, p.in + first, length);
    }
  }
  Meet(call);
  std::vector<const char*> slots = Slots();
  Begin(call);
  for (const Piece& p : pieces) {
    auto [first, length] = part(p, begin(rank()), begin(rank() + 1));
    Combine(p, first, length, slots, dtype, reduction);
    CopyForOthers(slot(rank()) + p.at + first, p.out + first, length);
  }
  Meet(call);
  for (const Piece& p : pieces) {
    for (int r = 0; r < size(); ++r) {
      if (r == rank()) continue;
      auto [first, length] = part(p, begin(r), begin(r + 1));
      CopyTo(p.out + first, slot(r) + p.at + first, length);
    }
  }
}

void WindowGroup::AllReduce(const Exchange& call, const void* in, void* out, int64_t count,
                            DType dtype, Reduction reduction) {
  std::lock_guard lock(mutex_);
  NextCall();
  int64_t bytes = count * static_cast<int64_t>(ItemSize(dtype));
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  for (int64_t at = 0; at == 0 || at < bytes; at += kSlot) {
    Piece piece{from + at, to + at, 0, std::min(kSlot, bytes - at)};
    Reduce(call, std::span(&piece, 1), piece.bytes, dtype, reduction);
  }
}

// As if they were one tensor.
void WindowGroup::AllReduceEach(const Exchange& call, std::span<const Stretch> tensors, DType dtype,
                                Reduction reduction) {
  std::lock_guard lock(mutex_);
  NextCall();
  std::vector<Piece> pieces;
  int64_t filled = 0;
  auto flush = [&] {
    Reduce(call, pieces, filled, dtype, reduction);
    pieces.clear();
    filled = 0;
  };
  for (const Stretch& t : tensors) {
    for (int64_t at = 0; at < t.bytes;) {
      int64_t bytes = std::min(kSlot - filled, t.bytes - at);
      pieces.push_back({t.data + at, t.data + at, filled, bytes});
      at += bytes;
      filled += bytes;
      if (filled == kSlot) flush();
    }
  }
  if (filled > 0 || tensors.empty()) flush();
}

void WindowGroup::ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts,
                                DType dtype, Reduction reduction) {
  std::lock_guard lock(mutex_);
  NextCall();
  auto item = static_cast<int64_t>(ItemSize(dtype));
  int64_t step = kSlot / item / size(), longest = *std::max_element(counts.begin(), counts.end());
  int64_t mine = counts[static_cast<size_t>(rank())];
  for (int64_t at = 0; at == 0 || at < longest; at += step) {
    Begin(call);
    const char* part = static_cast<const char*>(in);
    const char* own = nullptr;
    for (int r = 0; r < size(); ++r) {
      int64_t n = counts[static_cast<size_t>(r)];
      auto [first, length] = Overlap(0, n, at, at + step);
      if (r == rank())
        own = part + first * item;
      else
        CopyForOthers(slot(rank()) + r * step * item, part + first * item, length * item);
      part += n * item;
    }
    Meet(call);
    auto [first, length] = Overlap(0, mine, at, at + step);
    std::vector<const void*> parts;
    for (int r = 0; r < size(); ++r)
      parts.push_back(r == rank() ? own : slot(r) + rank() * step * item);
    cpu::Combine(parts, static_cast<char*>(out) + first * item, length, dtype, reduction);
  }
}

void WindowGroup::AllGather(const Exchange& call, const void* in, void* out, Counts bytes) {
  std::lock_guard lock(mutex_);
  NextCall();
  const auto* from = static_cast<const char*>(in);
  int64_t longest = *std::max_element(bytes.begin(), bytes.end());
  for (int64_t at = 0; at == 0 || at < longest; at += kSlot) {
    Begin(call);
    auto [mine, length] = Overlap(0, bytes[static_cast<size_t>(rank())], at, at + kSlot);
    CopyForOthers(slot(rank()), from + mine, length);
    Meet(call);
    auto* to = static_cast<char*>(out);
    for (int r = 0; r < size(); ++r) {
      auto [first, n] = Overlap(0, bytes[static_cast<size_t>(r)], at, at + kSlot);
      CopyTo(to + first, r == rank() ? from + first : slot(r), n);
      to += bytes[static_cast<size_t>(r)];
    }
  }
}

// First all tell how much they have for whom, and what they expect; then what they have passes by,
// and each takes its own.
void WindowGroup::AllToAll(const Exchange& call, const void* in, Counts sends, void* out,
                           Counts receives) {
  std::lock_guard lock(mutex_);
  NextCall();
  auto members = static_cast<size_t>(size());
  std::vector<int64_t> rows(2 * members * members);
  Begin(call);
  auto half = static_cast<int64_t>(members * sizeof(int64_t));
  CopyForOthers(slot(rank()), reinterpret_cast<const char*>(sends.data()), half);
  CopyForOthers(slot(rank()) + half, reinterpret_cast<const char*>(receives.data()), half);
  Meet(call);
  for (size_t r = 0; r < members; ++r)
    std::memcpy(rows.data() + 2 * members * r, slot(static_cast<int>(r)), 2 * members * 8);
  CheckParts(*this, rows, std::numeric_limits<int64_t>::max());
  int64_t longest = 0;
  std::vector<int64_t> begins(members), targets(members);
  for (size_t r = 0; r < members; ++r) {
    const int64_t* row = rows.data() + 2 * members * r;
    begins[r] = std::accumulate(row, row + rank(), int64_t{0});
    longest = std::max(longest, std::accumulate(row, row + members, int64_t{0}));
    if (r > 0) targets[r] = targets[r - 1] + receives[r - 1];
  }
  int64_t total = 0;
  for (int64_t n : sends) total += n;
  for (int64_t at = 0; at < longest; at += kSlot) {
    Begin(call);
    auto [mine, length] = Overlap(0, total, at, at + kSlot);
    CopyForOthers(slot(rank()), static_cast<const char*>(in) + mine, length);
    Meet(call);
    for (size_t r = 0; r < members; ++r) {
      auto [first, n] = Overlap(begins[r], begins[r] + receives[r], at, at + kSlot);
      CopyTo(static_cast<char*>(out) + targets[r] + (first - begins[r]),
             slot(static_cast<int>(r)) + (first - at), n);
    }
  }
}

void WindowGroup::Broadcast(const Exchange& call, void* data, int64_t bytes, int root) {
  std::lock_guard lock(mutex_);
  NextCall();
  for (int64_t at = 0; at == 0 || at < bytes; at += kSlot) {
    int64_t n = std::min(kSlot, bytes - at);
    char* here = static_cast<char*>(data) + at;
    Begin(call);
    if (rank() == root) CopyForOthers(slot(root), here, n);
    Meet(call);
    if (rank() != root) CopyTo(here, slot(root), n);
  }
}

void WindowGroup::Barrier(const Exchange& call) {
  std::lock_guard lock(mutex_);
  NextCall();
  Begin(call);
  Meet(call);
}

void WindowGroup::Send(const Exchange& call, const void* in, int64_t bytes, DType dtype, int to,
                       int tag) {
  mpi_->Send(call, in, bytes, dtype, to, tag);
}

void WindowGroup::Receive(const Exchange& call, void* out, int64_t bytes, DType dtype, int from,
                          int tag) {
  mpi_->Receive(call, out, bytes, dtype, from, tag);
}

}  // namespace ms::cpu
