// Time per op and source line of what plans launch. Off unless MS_PROFILE=1 (then a table is
// printed at exit) or switched on.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/op.h"

namespace ms {

namespace profile_detail {
extern std::atomic<bool> on;
}
inline bool ProfileOn() { return profile_detail::on.load(std::memory_order_relaxed); }
void SetProfile(bool on);
void ResetProfile();

struct ProfileRow {
  std::string op;
  SpanId span = 0;
  uint64_t count = 0;
  uint64_t total_ns = 0;
  uint64_t best_ns = 0;  // of one launch
};

void RecordLaunch(const OpDef& op, SpanId span, uint64_t ns);
// The longest first.
std::vector<ProfileRow> GetProfile();
std::string ProfileTable(size_t rows = 30);

}  // namespace ms
