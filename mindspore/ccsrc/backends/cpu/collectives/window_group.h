// A group whose members are on one host: they read each other's memory, in a window that MPI gives.
// Each has two slots. In a round all fill one of theirs, wait until all have, and read what they
// need; the next round takes the other slots. So nobody fills a slot that is still read: who fills
// it again has waited for the round between, which all begin after they have read.
#pragma once

#include <atomic>

#include "backends/cpu/collectives/mpi_group.h"

namespace ms::cpu {

class WindowGroup : public Group {
 public:
  // What each member needs of the window.
  static int64_t Bytes();
  // `segments[r]` is that of member r, all zeros. Whoever sends to one member does it by `mpi`.
  WindowGroup(std::unique_ptr<MpiGroup> mpi, std::vector<char*> segments, bool crowded);

  void AllReduce(const Exchange& call, const void* in, void* out, int64_t count, DType dtype,
                 Reduction reduction) override;
  void AllReduceEach(const Exchange& call, std::span<const Stretch> tensors, DType dtype,
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
  struct Flags;
  Flags& flags(int rank) const;
  char* slot(int rank) const;  // of the round that is under way
  void NextCall();
  void Begin(const Exchange& call);
  // The slot is full; waits for the others'.
  void Meet(const Exchange& call);
  [[noreturn]] void Differ(const Exchange& call, int other);
  // What is reduced in one go, of one tensor: where it is in a slot.
  struct Piece {
    const char* in;
    char* out;
    int64_t at, bytes;
  };
  // `bytes` of all the pieces together.
  using Pieces = std::span<const Piece>;
  void Reduce(const Exchange& call, Pieces pieces, int64_t bytes, DType dtype, Reduction reduction);
  void ReduceWhole(const Exchange& call, Pieces pieces, DType dtype, Reduction reduction);
  void ReduceInParts(const Exchange& call, Pieces pieces, int64_t bytes, DType dtype,
                     Reduction reduction);
  // The part of `out` from byte `first` of the piece on, from what all have in the slots `from`.
  void Combine(const Piece& piece, int64_t first, int64_t bytes, std::span<const char* const> slots,
               DType dtype, Reduction reduction) const;
  std::vector<const char*> Slots() const;  // of all, in the round that is under way

  std::unique_ptr<MpiGroup> mpi_;
  std::vector<char*> segments_;
  bool crowded_;
  Mutex mutex_;  // of calls
  uint64_t calls_ = 0;
  uint64_t round_ = 0;  // the last one that began
  uint64_t signature_ = 0;
};

}  // namespace ms::cpu
