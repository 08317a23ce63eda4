// A group whose members may be on several hosts: all goes through MPI.
#pragma once

#include "backends/cpu/collectives/mpi.h"
#include "kernel/collectives.h"

namespace ms::cpu {

class MpiGroup : public Group {
 public:
  MpiGroup(Mpi& mpi, MpiHandle comm, std::string name, std::vector<int> ranks, int rank,
           bool crowded, bool spread = false)
      : Group(std::move(name), std::move(ranks), rank),
        mpi_(mpi),
        comm_(comm),
        crowded_(crowded),
        spread_(spread) {}

  bool takes_time() const override { return spread_; }
  int64_t join_bytes() const override;

  void AllReduce(const Exchange& call, const void* in, void* out, int64_t count, DType dtype,
                 Reduction reduction) override;
  void ReduceScatter(const Exchange& call, const void* in, void* out, Counts counts, DType dtype,
                     Reduction reduction) override;
  void AllGather(const Exchange& call, const void* in, void* out, Counts bytes) override;
  void AllToAll(const Exchange& call, const void* in, Counts sends, void* out,
                Counts receives) override;
  void Broadcast(const Exchange& call, void* data, int64_t bytes, int root) override;
  void Barrier(const Exchange& call) override;
  void Send(const Exchange& call, const void* in, int64_t bytes, int to, int tag) override;
  void Receive(const Exchange& call, void* out, int64_t bytes, int from, int tag) override;

 private:
  void Await(MpiHandle request);
  // As the collectives without `call`, in bytes, within MPI's limits.
  void Exchanged(const void* in, Counts sends, void* out, Counts receives);
  void Gathered(const void* in, void* out, Counts bytes);

  Mpi& mpi_;
  MpiHandle comm_;
  bool crowded_;
  bool spread_;  // over several hosts
};

}  // namespace ms::cpu
