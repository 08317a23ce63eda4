// Where things lie in a kernel's workspace.
#pragma once

#include <cstddef>

namespace ms::cuda {

// What begins at such a multiple is aligned for all that is read at once.
constexpr size_t RoundUp(size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace ms::cuda
