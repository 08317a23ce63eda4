#include "tensor/memory.h"

#include "base/error.h"

namespace ms {
namespace {

void* (*release_hook)() = nullptr;
void (*regain_hook)(void*) = nullptr;

}  // namespace

HostWait::HostWait(bool waits) : released_(waits && release_hook ? release_hook() : nullptr) {}
HostWait::~HostWait() {
  if (released_) regain_hook(released_);
}
void HostWait::SetHooks(void* (*release)(), void (*regain)(void*)) {
  release_hook = release;
  regain_hook = regain;
}

void* Memory::AllocateFilled(const void* host, size_t bytes) {
  void* data = Allocate(bytes);
  if (data) {
    try {
      Store(data, host, bytes);
    } catch (...) {
      Free(data, bytes);
      throw;
    }
  }
  return data;
}

Memory& Memory::spill() { return HostMemory(); }

void CopyAcross(Memory& to_memory, void* to, Memory& from_memory, const void* from, size_t bytes) {
  if (to_memory.on_host()) return from_memory.Fetch(to, from, bytes);
  MS_ASSERT(from_memory.on_host());
  to_memory.Store(to, from, bytes);
}

}  // namespace ms
