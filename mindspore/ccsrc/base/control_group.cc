#include "base/control_group.h"

#include <algorithm>
#include <fstream>

namespace ms {
namespace {

void LowerMemory(const std::string& path, Granted* granted) {
  size_t bytes = 0;
  if (std::ifstream(path) >> bytes) granted->memory = std::min(granted->memory, bytes);
}

// Numbers that are not above zero ("-1"), words ("max") and missing files are no limit.
void LowerProcessors(std::istream& quota, std::istream& period, Granted* granted) {
  double time = 0, whole = 0;
  if (quota >> time && period >> whole && time > 0 && whole > 0)
    granted->processors = std::min(granted->processors, time / whole);
}

// Calls visit with the folder of a group and of all above it.
template <class F>
void Upwards(const std::string& hierarchy, std::string group, F&& visit) {
  while (true) {
    visit(hierarchy + group + "/");
    size_t slash = group.rfind('/');
    if (slash == std::string::npos) return;
    group.resize(slash);
  }
}

}  // namespace

// Lines are "0::/group" for version 2, "4:cpu,cpuacct:/group" for version 1.
Granted GrantedByControlGroups(const std::string& root) {
  Granted granted;
  std::string hierarchies = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      Upwards(hierarchies, group, [&](const std::string& folder) {
        LowerMemory(folder + "memory.max", &granted);
        std::ifstream file(folder + "cpu.max");  // "150000 100000", or "max 100000"
        LowerProcessors(file, file, &granted);
      });
    }
    if (controllers.find(",memory,") != std::string::npos) {
      Upwards(hierarchies + "/memory", group, [&](const std::string& folder) {
        LowerMemory(folder + "memory.limit_in_bytes", &granted);
      });
    }
    if (controllers.find(",cpu,") != std::string::npos) {
      Upwards(hierarchies + "/cpu", group, [&](const std::string& folder) {
        std::ifstream quota(folder + "cpu.cfs_quota_us"), period(folder + "cpu.cfs_period_us");
        LowerProcessors(quota, period, &granted);
      });
    }
  }
  return granted;
}

}  // namespace ms
