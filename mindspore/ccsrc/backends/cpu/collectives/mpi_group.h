// A group whose members may be on several hosts: all goes through MPI.
#pragma once

#include <set>
#include <tuple>

#include "backends/cpu/collectives/mpi.h"
#include "kernel/collectives.h"

namespace ms::cpu {

class MpiGroup : public Group {
 public:
  MpiGroup(std::shared_ptr<Mpi> mpi, MpiHandle comm, std::string name, std::vector<int> ranks,
           int rank, bool crowded, bool spread = false, uint32_t life = 0)
      : Group(std::move(name), std::move(ranks), rank),
        mpi_(std::move(mpi)),
        comm_(comm),
        crowded_(crowded),
        spread_(spread),
        life_(life) {}

  bool takes_time() const override { return spread_; }
  int64_t join_bytes() const override;
  // What must stay as long as this group.
  void Hold(std::shared_ptr<const void> held) { held_ = std::move(held); }
  // RuntimeError once MPI has ended.
  void CheckAlive() const;

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
  class Turn;
  using Line = std::tuple<char, int, int>;  // what kind, with whom, tag

  // Waits; what is given up stays MPI's.
  void Await(std::unique_ptr<Flight>& flight);
  // Before anything else of a call: that all make the same one.
  void Agree(const Exchange& call);
  // Of bytes, as the collectives: what comes is in the flight's `to`.
  std::unique_ptr<Flight> Exchanged(const void* in, Counts sends, Counts receives);
  std::unique_ptr<Flight> Gathered(std::unique_ptr<char[]> in, Counts bytes);
  std::unique_ptr<char[]> Summed(const void* in, Counts counts, DType dtype, Reduction reduction);
  // One message, of `flight->from` or into `flight->to`.
  void SendBytes(std::unique_ptr<Flight> flight, int64_t bytes, int to, int tag);
  std::unique_ptr<char[]> ReceiveBytes(int64_t bytes, int from, int tag);

  std::shared_ptr<Mpi> mpi_;
  MpiHandle comm_;
  bool crowded_;
  bool spread_;    // over several hosts
  uint32_t life_;  // of the communicator, which had other groups before
  std::shared_ptr<const void> held_;
  Mutex mutex_;  // of those who take turns
  std::set<Line> busy_;
  uint64_t calls_ = 0;
};

}  // namespace ms::cpu
