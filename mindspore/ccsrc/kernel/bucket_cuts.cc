#include "kernel/bucket_cuts.h"

#include <algorithm>
#include <limits>

namespace ms {
namespace {

// What is expected to take a second is planned to take so many: steps differ.
constexpr double kSlack = 1.25;
// What a bucket more must win, in seconds: its call takes time of the processor, too.
constexpr double kWorthACut = 20e-6;
// How much larger than the time of its call that of a bucket's bytes should be.
constexpr double kBytesToCall = 4;

}  // namespace

// done[j]: when the first j sums are made at the earliest.
std::vector<int64_t> CutBuckets(std::span<const ReadySum> sums, LinkTime link) {
  size_t n = sums.size();
  std::vector<double> done(n + 1, std::numeric_limits<double>::infinity()), before(n + 1, 0);
  std::vector<size_t> from(n + 1, 0);
  for (size_t j = 0; j < n; ++j) before[j + 1] = before[j] + static_cast<double>(sums[j].bytes);
  done[0] = 0;
  for (size_t j = 1; j <= n; ++j) {
    for (size_t i = 0; i < j; ++i) {
      double end = std::max(done[i], sums[j - 1].at) +
                   kSlack * (link.call + link.byte * (before[j] - before[i])) + kWorthACut;
      if (end < done[j]) {
        done[j] = end;
        from[j] = i;
      }
    }
  }
  std::vector<int64_t> ends;
  for (size_t j = n; j > 0; j = from[j]) ends.push_back(static_cast<int64_t>(j));
  std::reverse(ends.begin(), ends.end());
  return ends;
}

std::vector<int64_t> CutUnmeasured(std::span<const ReadySum> sums, LinkTime link) {
  constexpr int64_t kLeast = 64 << 10, kMost = 16 << 20;
  double bytes = link.byte > 0 ? kBytesToCall * link.call / link.byte : 0;
  return CutBySize(sums, std::clamp(static_cast<int64_t>(std::min(bytes, 1e9)), kLeast, kMost));
}

std::vector<int64_t> CutBySize(std::span<const ReadySum> sums, int64_t bytes) {
  std::vector<int64_t> ends;
  int64_t held = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    held += sums[i].bytes;
    if (held < bytes && i + 1 < sums.size()) continue;
    ends.push_back(static_cast<int64_t>(i) + 1);
    held = 0;
  }
  return ends;
}

}  // namespace ms
