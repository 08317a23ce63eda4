// Parts of AddArray that live in files of their own.
#pragma once

#include "backends/cpu/strided_copy.h"
#include "kernel/kernel.h"

namespace ms::cpu {

void AddPadding(KernelTable& table);
void AddCreation(KernelTable& table);

// One copy from input 0 to output 0, `in_offset` and `out_offset` elements from their starts.
KernelChoice CopyKernel(StridedCopy copy, size_t item, int64_t in_offset = 0,
                        int64_t out_offset = 0);

inline const char* Byte(const void* p, int64_t elements, size_t item) {
  return static_cast<const char*>(p) + elements * static_cast<int64_t>(item);
}
inline char* Byte(void* p, int64_t elements, size_t item) {
  return static_cast<char*>(p) + elements * static_cast<int64_t>(item);
}

}  // namespace ms::cpu
