// Memory that somebody outside may write to at any time: arrays of NumPy that share it. Who keeps
// results computed from a tensor asks Tensor::exposed() whether it may have changed, and who needs
// its present value for some time takes a snapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace ms {

// An array shares the tensor's memory, until Conceal.
void Expose(const Tensor& tensor);
void Conceal(const Tensor& tensor);
// How often memory with a second holder, as somebody is who keeps results, was exposed.
uint64_t Exposures();

// Memory that is written over in place while others may run: another thread, or Python code that a
// graph calls. Whoever asks for its value meanwhile takes a copy, as of other exposed memory.
class BeingWritten {
 public:
  BeingWritten() = default;
  ~BeingWritten();
  BeingWritten(const BeingWritten&) = delete;

  // The memory of a tensor that outlives this.
  void Add(const Tensor& tensor);

 private:
  std::vector<Buffer*> buffers_;
};

// The present value of a tensor, which nobody changes. Our own code writes in place only where no
// other handle is, so the memory is shared where it can be: where it is exposed, this is a copy.
Tensor Snapshot(const Tensor& tensor);

}  // namespace ms
