// Which values are spilled: chains as training has them, and random lifetimes.
#include "runtime/spill_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace ms {
namespace {

constexpr size_t kSize = 8192;

// Bytes by step of what is present.
std::vector<size_t> Present(const std::vector<Resident>& values, const std::vector<Absence>& away,
                            std::vector<size_t> present) {
  for (size_t v = 0; v < values.size(); ++v) {
    for (int t = values[v].steps.front(); t <= values[v].steps.back(); ++t) {
      bool gone = false;
      for (const Absence& a : away) gone |= a.value == v && a.after < t && t < a.before;
      if (!gone) present[static_cast<size_t>(t)] += values[v].bytes;
    }
  }
  return present;
}

// A chain forward, and back over what was kept: as training does.
std::vector<Resident> Chain(int layers) {
  std::vector<Resident> values;
  for (int i = 0; i < layers; ++i) values.push_back({kSize, {i, i + 1, 2 * layers - i}});
  return values;
}

TEST(SpillPlan, NothingGoesWhereAllFits) {
  std::vector<size_t> none(21, 0);
  EXPECT_TRUE(ChooseAbsences(Chain(10), none, 10 * kSize).empty());
}

TEST(SpillPlan, WhatIsNeededLastGoesFirst) {
  std::vector<size_t> none(21, 0);
  auto away = ChooseAbsences(Chain(10), none, 9 * kSize);
  ASSERT_EQ(away.size(), 1u);
  EXPECT_EQ(away[0].value, 0u);
  EXPECT_EQ(away[0].after, 1);
  EXPECT_EQ(away[0].before, 20);
}

TEST(SpillPlan, NoMoreGoesThanMust) {
  std::vector<Resident> values{{64 * kSize, {0, 9}}, {kSize, {1, 8}}, {kSize, {2, 7}}};
  std::vector<size_t> workspaces{0, 0, 0, 0, 2 * kSize, 0, 0, 0, 0, 0};
  auto away = ChooseAbsences(values, workspaces, 66 * kSize);
  ASSERT_EQ(away.size(), 2u);
  EXPECT_EQ(away[0].value, 1u);
  EXPECT_EQ(away[1].value, 2u);
}

TEST(SpillPlan, WorkspacesCount) {
  std::vector<size_t> workspaces(21, 0);
  workspaces[10] = 2 * kSize;
  auto away = ChooseAbsences(Chain(10), workspaces, 10 * kSize);
  EXPECT_EQ(away.size(), 2u);
}

TEST(SpillPlan, SmallValuesStay) {
  std::vector<Resident> values{{64, {0, 5}}, {kSize, {1, 4}}};
  std::vector<size_t> none(6, 0);
  auto away = ChooseAbsences(values, none, 1);
  ASSERT_EQ(away.size(), 1u);
  EXPECT_EQ(away[0].value, 1u);
}

TEST(SpillPlan, RandomLifetimesStayWithinALimitThatCanBe) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    int steps = 5 + static_cast<int>(random() % 40);
    std::vector<Resident> values;
    std::vector<size_t> needed(static_cast<size_t>(steps), 0);  // by the step itself
    for (int v = 0; v < 30; ++v) {
      Resident value{kSize * (1 + random() % 4), {}};
      for (int t = 0; t < steps; ++t) {
        if (random() % 6) continue;
        value.steps.push_back(t);
        needed[static_cast<size_t>(t)] += value.bytes;
      }
      if (!value.steps.empty()) values.push_back(value);
    }
    size_t least = *std::max_element(needed.begin(), needed.end());
    std::vector<size_t> none(static_cast<size_t>(steps), 0);
    auto away = ChooseAbsences(values, none, least);
    for (size_t bytes : Present(values, away, none)) EXPECT_LE(bytes, least);
    for (const Absence& a : away) {  // needed at both ends, and not between
      const auto& s = values[a.value].steps;
      auto it = std::find(s.begin(), s.end(), a.after);
      ASSERT_NE(it, s.end());
      EXPECT_EQ(*std::next(it), a.before);
    }
  }
}

}  // namespace
}  // namespace ms
