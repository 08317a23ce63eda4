#include "tensor/exposure.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace ms {
namespace {

std::mutex mutex;
std::atomic<uint64_t> exposures{0};
std::atomic<int> snapshots{0};

// How many share a buffer. Never destroyed: buffers may outlive static destructors.
using Counts = std::unordered_map<const Buffer*, int>;

Counts& Exposed() {
  static auto* exposed = new Counts;
  return *exposed;
}

Counts& InSnapshots() {
  static auto* in_snapshots = new Counts;
  return *in_snapshots;
}

void CountDown(Counts& counts, const Buffer* buffer) {
  auto it = counts.find(buffer);
  if (--it->second == 0) counts.erase(it);
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
  CountDown(Exposed(), tensor.buffer().get());
}

bool IsExposed(const Tensor& tensor) {
  std::lock_guard lock(mutex);
  return tensor.buffer()->foreign() || Exposed().contains(tensor.buffer().get());
}

uint64_t Exposures() { return exposures.load(); }

Tensor Snapshot(const Tensor& tensor) {
  BufferRef shared = tensor.buffer();
  {
    std::lock_guard lock(mutex);
    if (shared->foreign() || Exposed().contains(shared.get())) {
      shared = {};
    } else {
      ++InSnapshots()[shared.get()];
      snapshots.fetch_add(1);
    }
  }
  if (!shared) return tensor.Copy();
  auto release = [shared] {
    std::lock_guard lock(mutex);
    CountDown(InSnapshots(), shared.get());
    snapshots.fetch_sub(1);
  };
  return Tensor(tensor.dtype(), tensor.shape(),
                Buffer::Wrap(tensor.raw(), tensor.bytes(), std::move(release)));
}

bool InSnapshot(const Tensor& tensor) {
  if (snapshots.load() == 0) return false;
  std::lock_guard lock(mutex);
  return InSnapshots().contains(tensor.buffer().get());
}

}  // namespace ms
