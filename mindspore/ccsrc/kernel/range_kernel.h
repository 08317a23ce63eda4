// Kernels that are one loop over elements which do not depend on each other: threads share the
// loop, and the runtime may cut it where it likes, to run several of them as one.
#pragma once

#include <memory>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/parallel.h"

namespace ms {

// An input as a kernel may make it by itself: (x * before + y * factor) * after, rounded to the
// input's dtype after each step, in place of reading it from memory. x takes the input's place; the
// factors, single elements of a float type, follow the kernel's inputs in this order.
struct Blend {
  size_t input = 0;
  int of = -1;  // y: another input; -1: nothing is added, and there is no `factor`
  bool before = false, after = false;
};

class RangeKernel : public Kernel {
 public:
  void Run(const KernelArgs& args) const override {
    if (cost_ns_ < kWorthThreads) return RunRange(args, 0, size_);
    ParallelFor(size_, ns_per_element_,
                [&](int64_t begin, int64_t end) { RunRange(args, begin, end); });
  }
  // Elements [begin, end) of all outputs. Of inputs of size() elements it reads only these; of
  // smaller ones any. Without workspace.
  virtual void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const = 0;

  // This kernel, making an input by itself; null where it does not know how. `factors`: their
  // dtypes.
  virtual std::shared_ptr<const RangeKernel> With(const Blend&,
                                                  const std::vector<DType>& /*factors*/) const {
    return nullptr;
  }

  // This kernel with one more input after all others, a single Bool: where it is not `value`,
  // outputs are the inputs that they update. Null where it cannot.
  virtual std::shared_ptr<const RangeKernel> When(bool /*value*/) const { return nullptr; }

  int64_t size() const { return size_; }
  double ns_per_element() const { return ns_per_element_; }

 protected:
  void SetWork(int64_t size, double ns_per_element, double fixed_ns = 0) {
    size_ = size;
    ns_per_element_ = ns_per_element;
    cost_ns_ = static_cast<double>(size) * ns_per_element + fixed_ns;
  }

 private:
  int64_t size_ = 0;
  double ns_per_element_ = 0;
};

}  // namespace ms
