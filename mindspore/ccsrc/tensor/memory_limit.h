// How much memory this process may have.
#pragma once

#include <cstddef>
#include <string>

namespace ms {

// Bytes of memory and swap of the machine, or of the control group where that has less. Read once.
size_t MemoryLimit();
// The same, read now; `root` stands before the folders that tell of control groups.
size_t MemoryLimit(const std::string& root);

// "12.5 MB", as errors about memory have it.
std::string Megabytes(size_t bytes);

// What gives memory back that is held for later, asked before it is said that there is not enough.
// Set once; called without locks.
void SetReserveRelease(void (*release)());
// Has it do so; false where nobody holds anything.
bool ReleaseReserves();

}  // namespace ms
