// What eager code knows of the ops that it has run, by (op, input types, attributes): one look-up
// for each call. Bounded: when full it starts afresh. Graphs ask for their kernels once
// (node_kernels.h).
#pragma once

#include <span>

#include "kernel/kernel.h"

namespace ms {

// What is known of an op applied to given types. What its gradient reads is found when the first
// tape asks (runtime/eager.h: FindSaved); the rest stays as it is made.
struct Prepared {
  const OpDef* op = nullptr;
  Types inputs;
  Attrs attrs;
  Types outputs;
  std::shared_ptr<const Kernel> kernel;  // null: a view, or an op that the device must expand
  // Which inputs and outputs the op's gradient reads, once that is known.
  std::vector<bool> saved_inputs;
  std::vector<bool> saved_outputs;
  bool gradient_known = false;
};

// Thread-local use only (each thread has its own cache, so that a look-up takes no lock).
class KernelCache {
 public:
  explicit KernelCache(const Backend& backend) : backend_(backend) {}

  // Throws what infer or the kernel table throws. The result lives until the next call that misses.
  Prepared& Find(const OpDef& op, std::span<const Tensor* const> inputs, const AttrsRef& attrs);
  const Backend& backend() const { return backend_; }

 private:
  struct Slot {
    size_t hash = 0;
    std::unique_ptr<Prepared> prepared;
  };
  Prepared& Insert(size_t hash, std::unique_ptr<Prepared> prepared);
  void Clear();

  const Backend& backend_;
  uint64_t choices_ = 0;  // of the backend, by which all of it was prepared
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  size_t used_ = 0;
  static constexpr size_t kSlots = 16384;
};

}  // namespace ms
