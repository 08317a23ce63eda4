#include "runtime/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {
thread_local long count = 0;
}

namespace ms::testing {
long AllocationCount() { return count; }
}  // namespace ms::testing

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(size_t bytes) {
  ++count;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  ++count;
  size_t unit = static_cast<size_t>(alignment);
  if (void* p = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
#endif
