// A group of launches (runtime/group_plan.h) as one kernel.
#pragma once

#include <vector>

#include "kernel/range_kernel.h"

namespace ms {

// Its inputs and outputs are one stretch of the table of pointers: those of its members, one after
// the other. Both KernelArgs::in and KernelArgs::out point to the first.
class LaunchGroup : public Kernel {
 public:
  struct Member {
    std::shared_ptr<const Kernel> kernel;
    const RangeKernel* range;
    const OpDef* op;
    uint32_t in, out, end;  // places: inputs, outputs, past the last
  };
  // A place that shows a value which only its chain sees: it lives in scratch memory, a chunk at a
  // time.
  struct Scratch {
    uint32_t place;
    uint32_t slot;
    size_t item;  // bytes of an element
  };

  // A place that shows a value of the chain's size in memory.
  struct Stream {
    uint32_t place;
    size_t item;
  };

  void BeginChain() {
    chains_.push_back({members_.size(), members_.size(), {}, {}, 0, 0, 0, 0, {}});
  }
  void AddStream(Stream stream) { chains_.back().streams.push_back(stream); }
  void AddScratch(Scratch scratch) { chains_.back().scratch.push_back(scratch); }
  // `kernel` is a RangeKernel.
  void Add(std::shared_ptr<const Kernel> kernel, const OpDef* op, uint32_t in, uint32_t out,
           uint32_t end);
  void Finish();

  void Run(const KernelArgs& args) const override;

  const std::vector<Member>& members() const { return members_; }
  size_t chains() const { return chains_.size(); }

 private:
  struct Chain {
    size_t begin, end;  // members
    std::vector<Scratch> scratch;
    std::vector<Stream> streams;
    int64_t size;
    int64_t ticks;  // work per element
    int64_t start;  // ticks of the chains before
    int64_t chunk;
    std::vector<size_t> offsets;  // in scratch memory, by slot
  };

  void LayOutScratch(Chain* chain) const;
  static void Prefetch(const Chain& chain, void* const* places, int64_t begin, int64_t end);
  void RunChain(const Chain& chain, void* const* places, int64_t begin, int64_t end) const;

  std::vector<Member> members_;
  std::vector<Chain> chains_;
  int64_t ticks_ = 0;
};

}  // namespace ms
