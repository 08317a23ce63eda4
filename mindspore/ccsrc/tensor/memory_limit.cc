// Linux grants more memory than there is and ends the process that uses it; so what cannot fit is
// refused when it is asked for.
#include "tensor/memory_limit.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace ms {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

size_t OfMachine() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return kNone;
  return (info.totalram + info.totalswap) * info.mem_unit;
}

// The number in a file; "max", or no file, is no limit.
size_t ReadLimit(const std::string& path) {
  std::ifstream file(path);
  size_t value = 0;
  return file >> value ? value : kNone;
}

// The least limit on the way from a control group up to the root.
size_t LeastUpwards(const std::string& root, std::string group, const char* file) {
  size_t least = kNone;
  while (true) {
    least = std::min(least, ReadLimit(root + group + "/" + file));
    size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

// Lines are "0::/group" for version 2, "4:memory:/group" for version 1.
size_t OfControlGroups() {
  std::ifstream groups("/proc/self/cgroup");
  size_t least = kNone;
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':');
    size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (controllers == ",,")
      least = std::min(least, LeastUpwards("/sys/fs/cgroup", group, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      least =
          std::min(least, LeastUpwards("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace

size_t MemoryLimit() {
  static const size_t limit = std::min(OfMachine(), OfControlGroups());
  return limit;
}

}  // namespace ms
