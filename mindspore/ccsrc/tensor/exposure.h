// Memory that somebody outside may write to at any time: arrays of NumPy that share it. Who keeps
// results computed from a tensor asks Tensor::exposed() whether it may have changed, and who needs
// its present value for some time takes a snapshot.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "tensor/tensor.h"

namespace ms {

// An array shares the tensor's memory, until Conceal.
void Expose(const Tensor& tensor);
void Conceal(const Tensor& tensor);
// How often memory with a second holder, as somebody is who keeps results, was exposed.
uint64_t Exposures();

// Memory that is written over in place while others may run: another thread, or Python code that a
// graph calls. Whoever asks for its value meanwhile takes a copy, as of other exposed memory; other
// threads wait before they do (WritesTo), or half of the copy would be old.
class BeingWritten {
 public:
  // `ends_alone`: it ends whatever the others wait for.
  explicit BeingWritten(bool ends_alone);
  ~BeingWritten();
  BeingWritten(const BeingWritten&) = delete;

  // The memory of a tensor that outlives this.
  void Add(const Tensor& tensor);

 private:
  friend std::vector<uint64_t> WritesTo(std::span<const Tensor> tensors);
  friend bool AwaitWrites(std::span<const uint64_t> writes, std::chrono::milliseconds at_most);

  std::vector<Buffer*> buffers_;
  std::thread::id thread_;  // none: not to be waited for
  uint64_t number_ = 0;
};

extern std::atomic<int> writes_under_way;
// False nearly always: then WritesTo need not be asked.
inline bool AnyBeingWritten() { return writes_under_way.load(std::memory_order_relaxed) > 0; }
// What other threads write over some of these at the moment. Who holds the tensors until they have
// ended has whole values then: what writes next takes other memory, unless arrays share this.
std::vector<uint64_t> WritesTo(std::span<const Tensor> tensors);
// Whether they have ended, after some time at most.
bool AwaitWrites(std::span<const uint64_t> writes, std::chrono::milliseconds at_most);

// The present value of a tensor, which nobody changes. Our own code writes in place only where no
// other handle is, so the memory is shared where it can be: where it is exposed, this is a copy.
Tensor Snapshot(const Tensor& tensor);

}  // namespace ms
