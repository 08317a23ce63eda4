// Linux grants more memory than there is and ends the process that uses it; so what cannot fit is
// refused when it is asked for.
#include "tensor/memory_limit.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/control_group.h"

namespace ms {
namespace {

size_t OfMachine() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return std::numeric_limits<size_t>::max();
  return (info.totalram + info.totalswap) * info.mem_unit;
}

std::atomic<void (*)()> release_reserves{nullptr};

}  // namespace

void SetReserveRelease(void (*release)()) { release_reserves = release; }

bool ReleaseReserves() {
  auto* release = release_reserves.load();
  if (release) release();
  return release != nullptr;
}

std::string Megabytes(size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / (1 << 20));
}

size_t MemoryLimit() {
  static const size_t limit = MemoryLimit("");
  return limit;
}

size_t MemoryLimit(const std::string& root) {
  return std::min(OfMachine(), GrantedByControlGroups(root).memory);
}

}  // namespace ms
