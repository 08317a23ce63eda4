// Buckets of gradients: what a simulation of all cuts finds best, and rules for what is unknown.
#include "kernel/bucket_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ms {
namespace {

using Ends = std::vector<int64_t>;

std::vector<ReadySum> Row(std::initializer_list<ReadySum> sums) { return sums; }

// When the last bucket is done.
double Done(const std::vector<ReadySum>& sums, const Ends& ends, LinkTime link) {
  double now = 0;
  int64_t begin = 0;
  for (int64_t end : ends) {
    int64_t bytes = 0;
    for (int64_t i = begin; i < end; ++i) {
      bytes += sums[static_cast<size_t>(i)].bytes;
      now = std::max(now, sums[static_cast<size_t>(i)].at);
    }
    now += link.call + link.byte * static_cast<double>(bytes);
    begin = end;
  }
  return now;
}

TEST(BucketCuts, WhatIsReadyTogetherGoesTogether) {
  EXPECT_EQ(CutBuckets(Row({{0, 100}, {0, 100}, {0, 100}}), {1e-3, 1e-9}), Ends{3});
}

TEST(BucketCuts, TheLastOneIsSmallWhereTimeIsLeft) {
  auto sums = Row({{0, 1 << 20}, {0.01, 1 << 20}, {0.02, 1 << 10}, {0.021, 1 << 10}});
  Ends ends = CutBuckets(sums, {1e-4, 1e-9});
  EXPECT_EQ(ends.back(), 4);
  EXPECT_GE(ends.size(), 2u);
  EXPECT_LE(Done(sums, ends, {1e-4, 1e-9}) - sums.back().at, 5e-4);
}

TEST(BucketCuts, CostlyCallsJoin) {
  std::vector<ReadySum> sums;
  for (int i = 0; i < 50; ++i) sums.push_back({i * 1e-4, 1000});
  EXPECT_LE(CutBuckets(sums, {2e-3, 1e-10}).size(), 4u);
  EXPECT_GT(CutBuckets(sums, {1e-5, 1e-10}).size(), 4u);
}

TEST(BucketCuts, NearlyAsGoodAsTheBestOfAllCuts) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    size_t n = 1 + random() % 9;
    std::vector<ReadySum> sums;
    double at = 0;
    for (size_t i = 0; i < n; ++i) {
      sums.push_back({at, static_cast<int64_t>(random() % (1 << 20))});
      at += static_cast<double>(random() % 1000) * 1e-6;
    }
    LinkTime link{static_cast<double>(random() % 1000) * 1e-6,
                  static_cast<double>(random() % 100) * 1e-11};
    double best = 1e9;
    for (unsigned cuts = 0; cuts < 1u << (n - 1); ++cuts) {
      Ends ends;
      for (size_t i = 0; i + 1 < n; ++i) {
        if (cuts >> i & 1) ends.push_back(static_cast<int64_t>(i) + 1);
      }
      ends.push_back(static_cast<int64_t>(n));
      best = std::min(best, Done(sums, ends, link));
    }
    Ends ends = CutBuckets(sums, link);
    EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    EXPECT_EQ(ends.back(), static_cast<int64_t>(n));
    EXPECT_LE(Done(sums, ends, link), 1.25 * best + static_cast<double>(n) * 20e-6);
  }
}

TEST(BucketCuts, BySize) {
  auto sums = Row({{0, 10}, {0, 10}, {0, 50}, {0, 1}, {0, 0}});
  EXPECT_EQ(CutBySize(sums, 20), (Ends{2, 3, 5}));
  EXPECT_EQ(CutBySize(sums, 1), (Ends{1, 2, 3, 4, 5}));
  EXPECT_EQ(CutUnmeasured(sums, {1e-3, 1e-9}), Ends{5});
}

}  // namespace
}  // namespace ms
