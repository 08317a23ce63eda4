// Memory filled with one value, by the widest stores there are.
#include <cstring>

#include "backends/cpu/isa/tables.h"
#include "backends/cpu/strided_copy.h"
#include "kernel/parallel.h"

namespace ms::cpu {

void ParallelFill(void* out, const void* value, int64_t count, size_t item) {
  FillFn fill = Vectors().Fill(item);
  auto size = static_cast<int64_t>(item);
  alignas(16) char one[16];  // the caller's may stand at any address
  std::memcpy(one, value, item);
  ParallelFor(count, 0.1 * static_cast<double>(item), [&](int64_t begin, int64_t end) {
    fill(static_cast<char*>(out) + begin * size, one, end - begin);
  });
}

}  // namespace ms::cpu
