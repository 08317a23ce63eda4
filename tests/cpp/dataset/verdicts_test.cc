// What filters decided: taken from states, added to, refused where it can be none.
#include "dataset/verdicts.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ms::dataset {
namespace {

using Judged = Verdicts::Judged;

std::vector<bool> Known(const Verdicts::Pass& pass) {
  std::vector<bool> kept;
  for (int64_t row = 0; row < pass.known(); ++row) kept.push_back(pass.Kept(row));
  return kept;
}

TEST(Verdicts, WhatWasSetIsKnownToThePassOfItsFilterAndEpoch) {
  Verdicts verdicts;
  verdicts.Set({{2, 5, 9, std::string("\x05\x01", 2)}});
  verdicts.Renew();
  EXPECT_EQ(verdicts.Begin(1, 5)->known(), 0);
  EXPECT_EQ(verdicts.Begin(2, 6)->known(), 0);
  std::vector<bool> kept{true, false, true, false, false, false, false, false, true};
  EXPECT_EQ(Known(*verdicts.Begin(2, 5)), kept);
  EXPECT_EQ(verdicts.Begin(2, 5)->known(), 0);  // another one over the same rows
}

TEST(Verdicts, MoreAreAddedBehindThem) {
  Verdicts verdicts;
  verdicts.Set({{0, 0, 7, "\x7F"}});
  auto pass = verdicts.Begin(0, 0);
  pass->Add(false);
  pass->Add(true);
  std::vector<Judged> all = verdicts.All();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].count, 9);
  EXPECT_EQ(all[0].bits, std::string("\x7F\x01"));
}

TEST(Verdicts, SetTakesThePlaceOfAllThereWereAndLastsForOneEpoch) {
  Verdicts verdicts;
  verdicts.Begin(0, 0)->Add(true);
  verdicts.Set({{1, 0, 1, "\x01"}});
  EXPECT_EQ(verdicts.All().size(), 1u);
  EXPECT_EQ(verdicts.All()[0].node, 1);
  verdicts.Renew();
  EXPECT_EQ(verdicts.All().size(), 1u);
  verdicts.Renew();
  EXPECT_TRUE(verdicts.All().empty());
}

TEST(Verdicts, WhatCannotBeVerdictsIsRefusedAndLeavesTheOthers) {
  Verdicts verdicts;
  verdicts.Set({{3, 0, 1, "\x01"}});
  const Judged wrong[] = {
      {4, 0, -1, ""},
      {4, 0, 9, "\x01"},
      {4, 0, 8, std::string(2, '\0')},
      {4, 0, 0, std::string(1, '\0')},
      {4, 0, Verdicts::kMost + 1, ""},
      {4, 0, INT64_MAX, ""},
  };
  for (const Judged& one : wrong) {
    try {
      verdicts.Set({{5, 0, 1, "\x01"}, one});
      ADD_FAILURE() << one.count << " rows were taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      EXPECT_NE(error.message().find("the filter of node 4 must be a bit for each"),
                std::string::npos);
    }
    ASSERT_EQ(verdicts.All().size(), 1u);
    EXPECT_EQ(verdicts.All()[0].node, 3);
  }
}

TEST(Verdicts, WhatHasNoRoomIsLostWhole) {
  Verdicts verdicts;
  int64_t most = Verdicts::kMost;
  verdicts.Set({{0, 0, most, std::string(static_cast<size_t>(most) / 8, '\xFF')}});
  EXPECT_EQ(verdicts.All().size(), 1u);
  verdicts.Begin(0, 0)->Add(true);
  EXPECT_TRUE(verdicts.All().empty());
}

}  // namespace
}  // namespace ms::dataset
