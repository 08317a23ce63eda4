// Large arenas, and all on devices, shared by all programs of the process: training and evaluation
// of one network do not each keep one. A run may get a block that work of the run before still
// uses: the device's stream has it in that order.
#pragma once

#include "tensor/buffer.h"

namespace ms {

// At least `bytes` bytes; the block at `preferred` if it is idle and large enough.
BufferRef TakeArena(size_t bytes, void* preferred, Memory& memory);
// Keeps the block for the next run.
void GiveArena(BufferRef arena);
// Frees what no run uses now.
void FreeIdleArenas();

}  // namespace ms
