#include "tensor/exposure.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/mutex.h"

namespace ms {
namespace {

std::atomic<uint64_t> exposures{0};

// All that is written over at the moment.
struct Writes {
  Mutex mutex;
  std::condition_variable_any ended;
  std::vector<const BeingWritten*> under_way;
  uint64_t begun = 0;
  // In a child those of other threads, which are not there, never end.
  pid_t process = getpid();

  static Writes& Get() {
    static auto* writes = new Writes;
    return *writes;
  }
};

}  // namespace

std::atomic<int> writes_under_way{0};

void Expose(const Tensor& tensor) {
  if (!tensor.buffer()) return;
  tensor.buffer()->Expose();
  if (!tensor.buffer().unique()) exposures.fetch_add(1);
}

void Conceal(const Tensor& tensor) {
  if (tensor.buffer()) tensor.buffer()->Conceal();
}

BeingWritten::BeingWritten(bool ends_alone) {
  if (ends_alone) thread_ = std::this_thread::get_id();
}

void BeingWritten::Add(const Tensor& tensor) {
  if (!tensor.buffer()) return;
  bool first = buffers_.empty();
  Writes& writes = Writes::Get();
  std::lock_guard lock(writes.mutex);
  buffers_.push_back(tensor.buffer().get());
  buffers_.back()->Expose();
  if (!first) return;
  if (writes.process != getpid()) {
    writes.under_way.clear();
    writes.process = getpid();
  }
  number_ = ++writes.begun;
  writes.under_way.push_back(this);
  writes_under_way.fetch_add(1, std::memory_order_relaxed);
}

BeingWritten::~BeingWritten() {
  if (buffers_.empty()) return;
  for (Buffer* buffer : buffers_) buffer->Conceal();
  Writes& writes = Writes::Get();
  std::lock_guard lock(writes.mutex);
  std::erase(writes.under_way, this);
  writes_under_way.fetch_sub(1, std::memory_order_relaxed);
  writes.ended.notify_all();
}

std::vector<uint64_t> WritesTo(std::span<const Tensor> tensors) {
  Writes& writes = Writes::Get();
  std::lock_guard lock(writes.mutex);
  std::vector<uint64_t> found;
  if (writes.process != getpid()) return found;
  for (const BeingWritten* write : writes.under_way) {
    if (write->thread_ == std::thread::id{} || write->thread_ == std::this_thread::get_id())
      continue;
    bool hit = std::ranges::any_of(tensors, [&](const Tensor& tensor) {
      return tensor.exposed() &&
             std::ranges::find(write->buffers_, tensor.buffer().get()) != write->buffers_.end();
    });
    if (hit) found.push_back(write->number_);
  }
  return found;
}

bool AwaitWrites(std::span<const uint64_t> awaited, std::chrono::milliseconds at_most) {
  Writes& writes = Writes::Get();
  std::unique_lock lock(writes.mutex);
  return writes.ended.wait_for(lock, at_most, [&] {
    return std::ranges::none_of(writes.under_way, [&](const BeingWritten* write) {
      return std::ranges::find(awaited, write->number_) != awaited.end();
    });
  });
}

uint64_t Exposures() { return exposures.load(); }

Tensor Snapshot(const Tensor& tensor) { return tensor.exposed() ? tensor.Copy() : tensor; }

}  // namespace ms
