// Large arenas, shared by all programs of the process: training and evaluation of one network do
// not each keep one.
#pragma once

#include "tensor/buffer.h"

namespace ms {

// At least `bytes` bytes; the block at `preferred` if it is idle and large enough.
BufferRef TakeArena(size_t bytes, void* preferred);
// Keeps the block for the next run.
void GiveArena(BufferRef arena);
// Frees what no run uses now.
void FreeIdleArenas();

}  // namespace ms
