// Where a row of sums over processes is cut into buckets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ms {

// What a transport takes for a sum: so long, and so long for each byte; in seconds.
struct LinkTime {
  double call = 0;
  double byte = 0;
};

// What is summed, in the order in which it is ready.
struct ReadySum {
  double at = 0;  // seconds since the first one was
  int64_t bytes = 0;
};

// The cuts with which the last sum is made soonest, one bucket after the other, each when all in
// it are ready; of equally good ones those with few buckets. The result: where each bucket ends.
std::vector<int64_t> CutBuckets(std::span<const ReadySum> sums, LinkTime link);
// Before anybody knows when what is ready: so large that calls cost little beside bytes, and the
// last ones small.
std::vector<int64_t> CutUnmeasured(std::span<const ReadySum> sums, LinkTime link);
// Buckets of so many bytes, but for tensors that have more.
std::vector<int64_t> CutBySize(std::span<const ReadySum> sums, int64_t bytes);

}  // namespace ms
