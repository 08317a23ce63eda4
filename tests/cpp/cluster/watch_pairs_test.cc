// What the watch says of calls of two ranks, and of very many calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/forked_rank.h"

namespace ms::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void WaitPair(const Pair& pair, const char* what, const char* place) {
  Watch::Current()->EnterPair(0, pair, what, place);
  while (true) {
    Watch::Current()->Check();
    usleep(1000);
  }
}

// As long as nobody is told anything, for so many beats.
void StayIn(const Pair& pair, const char* what, int beats) {
  Watch::Current()->EnterPair(0, pair, what, "net.py:1");
  for (int i = 0; i < 100 * beats; ++i, usleep(1000)) Watch::Current()->Check();
  Watch::Current()->Exit();
}

TEST(WatchPairs, WhoWaitsForOneThatHasLeftHears) {
  for (int gone : {0, 1}) {
    std::string at = FreeAddress();
    auto rank = [&](int number) {
      return Start(number, 2, at, [=] {
        if (number != gone) WaitPair({gone, 3, false}, "Receive", "net.py:14");
      });
    };
    Rank zero = rank(0), one = rank(1);
    Rank& waits = gone == 0 ? one : zero;
    EXPECT_THAT(waits.Said(), AllOf(HasSubstr("has ended its program, and rank "),
                                    HasSubstr("waits for it in Receive at net.py:14")));
  }
}

TEST(WatchPairs, WhatOneThatHasLeftHasSentMayStillCome) {
  for (int gone : {0, 1}) {
    std::string at = FreeAddress();
    auto rank = [&](int number) {
      return Start(number, 2, at, [=] {
        if (number != gone) StayIn({gone, 3, false}, "Receive", 3);
      });
    };
    Rank zero = rank(0), one = rank(1);
    EXPECT_EQ(zero.Said(), "");
    EXPECT_EQ(one.Said(), "");
  }
}

TEST(WatchPairs, TwoThatWaitForEachOtherAreNamed) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] { WaitPair({1, 0, false}, "Receive", "net.py:14"); });
  Rank one = Start(1, 2, at, [] { WaitPair({0, 1, true}, "Send", "net.py:20"); });
  for (Rank* each : {&zero, &one}) {
    EXPECT_THAT(each->Said(), AllOf(HasSubstr("rank 0 waits in Receive at net.py:14"),
                                    HasSubstr("rank 1 waits in Send at net.py:20")));
  }
}

TEST(WatchPairs, ALongMessageIsNoCircle) {
  std::string at = FreeAddress();
  Rank zero = Start(0, 2, at, [] { StayIn({1, 4, false}, "Receive", 12); });
  Rank one = Start(1, 2, at, [] { StayIn({0, 4, true}, "Send", 12); });
  EXPECT_EQ(zero.Said(), "");
  EXPECT_EQ(one.Said(), "");
}

TEST(WatchPairs, APairIsNoneOfTheCallsOfAll) {
  std::string at = FreeAddress();
  auto rank = [&](int number) {
    return Start(number, 2, at, [=] {
      Watch::Current()->Enter(0, 0, "Barrier", "net.py:1");
      Watch::Current()->Exit();
      if (number == 0) StayIn({1, 0, true}, "Send", 3);
      Watch::Current()->Enter(0, 1, "Barrier", "net.py:2");
      usleep(500'000);
      Watch::Current()->Check();
      Watch::Current()->Exit();
    });
  };
  Rank zero = rank(0), one = rank(1);
  EXPECT_EQ(zero.Said(), "");
  EXPECT_EQ(one.Said(), "");
}

TEST(WatchPairs, VeryManyCallsAreToldInSeveralFrames) {
  std::string at = FreeAddress();
  auto rank = [&](int number) {
    return Start(number, 2, at, [=] {
      std::string long_text(1000, 'x');
      for (int group = 0; group < 100; ++group) {
        if (group > 0) Watch::Current()->SetGroup(group, {0, 1});
        for (uint64_t i = 0; i < 32; ++i) {
          bool strays = group == 99 && i == 31 && number == 1;
          Watch::Current()->Enter(group, i, strays ? "another" : long_text, long_text);
          Watch::Current()->Exit();
        }
      }
      Wait(99, number == 0 ? 31 : 32, number == 0 ? long_text.c_str() : "next", "net.py:5");
    });
  };
  Rank zero = rank(0), one = rank(1);
  EXPECT_THAT(zero.Said(), HasSubstr("but rank 1 in another at"));
  EXPECT_THAT(one.Said(), HasSubstr("but rank 1 in another at"));
}

}  // namespace
}  // namespace ms::cluster
