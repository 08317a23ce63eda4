// What the control groups of this process grant it: version 1 and 2, and nested groups.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace ms {

struct Granted {
  size_t memory = std::numeric_limits<size_t>::max();           // in bytes
  double processors = std::numeric_limits<double>::infinity();  // a share of time, in processors
};

// The least that a group on the way up to the root grants. `root` stands before /proc and /sys.
Granted GrantedByControlGroups(const std::string& root = "");

}  // namespace ms
