#include "tensor/exposure.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace ms {
namespace {

std::mutex mutex;
std::atomic<uint64_t> exposures{0};

// How many arrays share a buffer.
std::unordered_map<const Buffer*, int>& Exposed() {
  static auto* exposed = new std::unordered_map<const Buffer*, int>;
  return *exposed;
}

}  // namespace

void Expose(const Tensor& tensor) {
  if (!tensor.buffer()) return;
  std::lock_guard lock(mutex);
  ++Exposed()[tensor.buffer().get()];
  if (!tensor.buffer().unique()) exposures.fetch_add(1);
}

void Conceal(const Tensor& tensor) {
  if (!tensor.buffer()) return;
  std::lock_guard lock(mutex);
  auto it = Exposed().find(tensor.buffer().get());
  if (--it->second == 0) Exposed().erase(it);
}

bool IsExposed(const Tensor& tensor) {
  std::lock_guard lock(mutex);
  return tensor.buffer()->foreign() || Exposed().contains(tensor.buffer().get());
}

uint64_t Exposures() { return exposures.load(); }

}  // namespace ms
