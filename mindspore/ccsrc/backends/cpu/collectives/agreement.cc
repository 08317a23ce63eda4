#include "backends/cpu/collectives/agreement.h"

#include <numeric>

#include "base/error.h"

namespace ms::cpu {

uint64_t Signature(const Exchange& call, uint64_t number) {
  return std::hash<std::string_view>()(call.what) ^ (number * 0x9e3779b97f4a7c15);
}

std::string Said(const Exchange& call) {
  std::string place = ShortSpan(call.place);
  std::string text =
      place.empty() ? std::string(call.what) : fmt::format("{} at {}", call.what, place);
  return text.substr(0, kLongestSaid - 1);
}

void ThrowUnlike(const Group& group, const std::string& said, int other,
                 const std::string& theirs) {
  Throw(ErrorKind::kRuntime,
        "the ranks of the group '{}' must make the same calls in the same order, but rank {} (this "
        "one) is at {}, rank {} at {}{}",
        group.name(), group.rank(), said, other, theirs,
        said == theirs ? ", which is not its next call: one of them left a call by an error" : "");
}

void CheckParts(const Group& group, Counts rows, int64_t most) {
  auto members = static_cast<size_t>(group.size());
  auto sends = [&](size_t from, size_t to) { return rows[2 * members * from + to]; };
  auto expects = [&](size_t from, size_t to) { return rows[2 * members * to + members + from]; };
  for (size_t r = 0; r < members; ++r) {
    for (size_t to = 0; to < members; ++to) {
      if (sends(r, to) == expects(r, to)) continue;
      Throw(ErrorKind::kValue,
            "in the group '{}', rank {} sends {} bytes to rank {}, which expects {}", group.name(),
            r, sends(r, to), to, expects(r, to));
    }
  }
  for (size_t r = 0; r < 2 * members; ++r) {
    Counts half = rows.subspan(members * r, members);
    int64_t total = std::accumulate(half.begin(), half.end(), int64_t{0});
    if (total <= most) continue;
    Throw(ErrorKind::kValue,
          "what processes of several hosts exchange in one call must be {} bytes at most, but rank "
          "{} has {}: divide the tensor",
          most, r / 2, total);
  }
}

}  // namespace ms::cpu
