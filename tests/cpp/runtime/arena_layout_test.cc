// Offsets in the arena: values that live together never overlap.
#include "runtime/arena_layout.h"

#include <gtest/gtest.h>

#include <random>

namespace ms {
namespace {

void ExpectValid(const std::vector<Lifetime>& values, const ArenaLayout& layout) {
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % kArenaAlignment, 0u);
    EXPECT_LE(layout.offsets[i] + values[i].bytes, layout.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = values[i].first <= values[j].last && values[j].first <= values[i].last;
      bool apart = layout.offsets[i] + values[i].bytes <= layout.offsets[j] ||
                   layout.offsets[j] + values[j].bytes <= layout.offsets[i];
      bool empty = values[i].bytes == 0 || values[j].bytes == 0;
      EXPECT_TRUE(!together || apart || empty) << i << " and " << j;
    }
  }
}

TEST(PlanArena, NothingNeedsNothing) {
  EXPECT_EQ(PlanArena({}).bytes, 0u);
  std::vector<Lifetime> empty{{0, 0, 5}, {0, 1, 2}};
  EXPECT_EQ(PlanArena(empty).bytes, 0u);
}

TEST(PlanArena, DeadValuesGiveTheirPlace) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 100; ++i) chain.push_back({1000, i, i + 1});
  EXPECT_EQ(PlanArena(chain).bytes, 2048u);
  EXPECT_EQ(FindLivePeak(chain).bytes, 2048u);
}

TEST(PlanArena, RandomLifetimesStayApartAndTight) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 150; ++i) {
      int first = static_cast<int>(random() % 100);
      values.push_back({random() % 5000, first, first + static_cast<int>(random() % 20)});
    }
    ArenaLayout layout = PlanArena(values);
    ExpectValid(values, layout);
    size_t peak = FindLivePeak(values).bytes;
    EXPECT_GE(layout.bytes, peak);
    EXPECT_LE(static_cast<double>(layout.bytes), 1.2 * static_cast<double>(peak));
  }
}

TEST(PlanArena, AForwardAndBackwardWalkIsPackedExactly) {
  std::vector<Lifetime> values;
  for (int i = 0; i < 50; ++i)
    values.push_back({static_cast<size_t>(64 * (i + 1)), i, 100 - i});  // kept for backward
  for (int i = 50; i < 100; ++i) values.push_back({4096, i, i + 1});
  ArenaLayout layout = PlanArena(values);
  ExpectValid(values, layout);
  EXPECT_EQ(layout.bytes, FindLivePeak(values).bytes);
}

// Values are compared with those that have a place in blocks of 64.
TEST(PlanArena, BlocksOfAnySizeAreSearchedToTheirEnd) {
  std::mt19937 random(5);
  for (int count : {1, 63, 64, 65, 127, 128, 129, 1000}) {
    std::vector<Lifetime> values;
    for (int i = 0; i < count; ++i) {
      int first = static_cast<int>(random() % 300) - 1;
      values.push_back({random() % 5000, first, first + static_cast<int>(random() % 40)});
    }
    ArenaLayout layout = PlanArena(values);
    ExpectValid(values, layout);
    EXPECT_LE(static_cast<double>(layout.bytes),
              1.2 * static_cast<double>(FindLivePeak(values).bytes));
    // One gap fits, at the very end of what lives together, or none does.
    std::vector<Lifetime> together(static_cast<size_t>(count), {64, 0, 9});
    together.push_back({64, 10, 10});
    EXPECT_EQ(PlanArena(together).bytes, static_cast<size_t>(count) * 64);
  }
}

// What ends makes room for what begins in the next step, in whatever order they are listed.
TEST(PlanArena, ThePeakIsWhereMostLives) {
  std::vector<Lifetime> values{{64, 3, 9}, {640, -1, 2}, {128, 0, 1}, {64, 2, 2}, {640, 3, 5}};
  LivePeak peak = FindLivePeak(values);
  EXPECT_EQ(peak.bytes, 768u);
  EXPECT_EQ(peak.step, 0);
  EXPECT_EQ(FindLivePeak({}).bytes, 0u);
}

TEST(PlanArena, ManyValuesTakeLittleTime) {
  std::vector<Lifetime> values;
  for (int i = 0; i < 200000; ++i)
    values.push_back({static_cast<size_t>(i % 977) * 8, i, i + i % 50});
  ArenaLayout layout = PlanArena(values);
  EXPECT_GE(layout.bytes, FindLivePeak(values).bytes);
}

}  // namespace
}  // namespace ms
