#include "runtime/arena.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "tensor/memory_limit.h"

namespace ms {
namespace {

struct Idle {
  Mutex mutex;
  std::unordered_map<Memory*, std::vector<BufferRef>> blocks;
};

Idle& Arenas() {
  static auto* idle = new Idle;  // never destroyed: threads may still run
  return *idle;
}

// Of the idle blocks, `preferred`, else the smallest that fits, else end.
std::vector<BufferRef>::iterator Choose(std::vector<BufferRef>& blocks, size_t bytes,
                                        void* preferred) {
  auto best = blocks.end();
  for (auto it = blocks.begin(); it != blocks.end(); ++it) {
    if ((*it)->bytes() < bytes) continue;
    if ((*it)->data() == preferred) return it;
    if (best == blocks.end() || (*it)->bytes() < (*best)->bytes()) best = it;
  }
  return best;
}

}  // namespace

BufferRef TakeArena(size_t bytes, void* preferred, Memory& memory) {
  BufferRef outgrown;
  {
    Idle& idle = Arenas();
    std::lock_guard lock(idle.mutex);
    auto& blocks = idle.blocks[&memory];
    auto it = Choose(blocks, bytes, preferred);
    if (it != blocks.end()) {
      BufferRef block = std::move(*it);
      blocks.erase(it);
      return block;
    }
    // The new block replaces one that was too small, so there are never more than runs at the same
    // time.
    if (!blocks.empty()) {
      outgrown = std::move(blocks.back());
      blocks.pop_back();
    }
  }
  outgrown = BufferRef();
  return Buffer::Allocate(bytes, memory);
}

void GiveArena(BufferRef arena) {
  static const bool told = (SetReserveRelease(FreeIdleArenas), true);
  static_cast<void>(told);
  Idle& idle = Arenas();
  std::lock_guard lock(idle.mutex);
  idle.blocks[&arena->memory()].push_back(std::move(arena));
}

void FreeIdleArenas() {
  std::unordered_map<Memory*, std::vector<BufferRef>> blocks;
  Idle& idle = Arenas();
  std::lock_guard lock(idle.mutex);
  blocks.swap(idle.blocks);
}

}  // namespace ms
