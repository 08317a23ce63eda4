// How much memory this process may have.
#pragma once

#include <cstddef>

namespace ms {

// Bytes of memory and swap of the machine, or of the control group where that has less. Read once.
size_t MemoryLimit();

}  // namespace ms
