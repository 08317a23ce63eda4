#include "runtime/arena.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace ms {
namespace {

struct Idle {
  std::mutex mutex;
  std::vector<BufferRef> blocks;
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

BufferRef TakeArena(size_t bytes, void* preferred) {
  BufferRef outgrown;
  {
    Idle& idle = Arenas();
    std::lock_guard lock(idle.mutex);
    auto it = Choose(idle.blocks, bytes, preferred);
    if (it != idle.blocks.end()) {
      BufferRef block = std::move(*it);
      idle.blocks.erase(it);
      return block;
    }
    // The new block replaces one that was too small, so there are never more than runs at the same
    // time.
    if (!idle.blocks.empty()) {
      outgrown = std::move(idle.blocks.back());
      idle.blocks.pop_back();
    }
  }
  outgrown = BufferRef();
  return Buffer::Allocate(bytes);
}

void GiveArena(BufferRef arena) {
  Idle& idle = Arenas();
  std::lock_guard lock(idle.mutex);
  idle.blocks.push_back(std::move(arena));
}

void FreeIdleArenas() {
  std::vector<BufferRef> blocks;
  Idle& idle = Arenas();
  std::lock_guard lock(idle.mutex);
  blocks.swap(idle.blocks);
}

}  // namespace ms
