// The libraries whose regions go to the team.
#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/mutex.h"
#include "kernel/team.h"

namespace ms::team {
namespace {

// Where code of a library lies. Such libraries stay open.
struct Segment {
  uintptr_t begin = 0, end = 0;
  bool Has(uintptr_t code) const { return code >= begin && code < end; }
};

// Those that are there are read without a lock.
std::array<Segment, 16> known;
constinit std::atomic<size_t> count{0};

Segment SegmentOf(uintptr_t code) {
  struct Search {
    uintptr_t code;
    Segment found;
  } search{code, {}};
  auto look = [](dl_phdr_info* library, size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      uintptr_t begin = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
      Segment segment{begin, begin + library->dlpi_phdr[i].p_memsz};
      if (library->dlpi_phdr[i].p_type != PT_LOAD || !segment.Has(search.code)) continue;
      search.found = segment;
      return 1;
    }
    return 0;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace

void Serve(const void* code) {
  static Mutex mutex;
  std::lock_guard lock(mutex);
  size_t n = count.load(std::memory_order_relaxed);
  Segment segment = SegmentOf(reinterpret_cast<uintptr_t>(code));
  if (n == known.size() || !segment.end || IsKnown(reinterpret_cast<Body>(const_cast<void*>(code))))
    return;
  known[n] = segment;
  count.store(n + 1, std::memory_order_release);
}

bool IsKnown(Body body) {
  auto code = reinterpret_cast<uintptr_t>(body);
  for (size_t i = 0, n = count.load(std::memory_order_acquire); i < n; ++i) {
    if (known[i].Has(code)) return true;
  }
  return false;
}

}  // namespace ms::team
