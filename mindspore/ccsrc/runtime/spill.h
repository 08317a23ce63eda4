// The launches that move a value out of the device's memory, and back.
#pragma once

#include "kernel/kernel.h"

namespace ms {

std::shared_ptr<const Kernel> MakeMove(Memory& memory, size_t bytes, bool back);
// What stands for them in profiles and messages.
const OpDef& MoveOp(bool back);

}  // namespace ms
