// Regions of threads: every part is done once, whoever does it, and barriers and loops mean what
// OpenMP says.
#include "kernel/team.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

extern "C" bool GOMP_loop_static_start(long, long, long, long, long*, long*);
extern "C" bool GOMP_loop_static_next(long*, long*);
extern "C" void GOMP_loop_end_nowait();

namespace ms {
namespace {

constexpr int kThreads = 3;

template <class F>
void Region(F&& body, unsigned threads = kThreads) {
  auto call = [](void* data) { (*static_cast<std::remove_reference_t<F>*>(data))(); };
  team::Begin(call, &body, threads);
  body();
  team::End();
}

TEST(Team, EachPartIsDoneOnce) {
  for (bool at_once : {false, true}) {
    team::SleepAtOnce(at_once);
    EXPECT_EQ(team::SleepsAtOnce(), at_once);
    for (int round = 0; round < 1000; ++round) {
      std::array<std::atomic<int>, kThreads> done{};
      Region([&] {
        EXPECT_EQ(team::Count(), kThreads);
        EXPECT_TRUE(team::Inside());
        ++done[static_cast<size_t>(team::Number())];
      });
      for (auto& times : done) ASSERT_EQ(times, 1);
    }
  }
  team::SleepAtOnce(false);
  EXPECT_TRUE(team::InUse());
  EXPECT_FALSE(team::Inside());
}

TEST(Team, WhoIsAwakeTakesTheOthersParts) {
  team::SleepAtOnce(true);
  int taken = 0;
  std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 1000; ++round) {
    Region([&] {
      if (team::Number() > 0 && std::this_thread::get_id() == caller) ++taken;
    });
  }
  team::SleepAtOnce(false);
  EXPECT_GT(taken, 0);
}

TEST(Team, ABarrierWaitsForAllThreads) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> before{0};
    std::atomic<bool> early{false};
    std::array<std::thread::id, kThreads> ids;
    Region([&] {
      ids[static_cast<size_t>(team::Number())] = std::this_thread::get_id();
      for (int i = 1; i <= 3; ++i) {
        ++before;
        team::Barrier();
        if (before < i * kThreads) early = true;
        team::Barrier();
      }
    });
    EXPECT_FALSE(early);
    EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), kThreads);
  }
}

TEST(Team, ARegionInsideHasOneThread) {
  std::atomic<int> inner{0};
  Region([&] {
    Region([&] {
      if (team::Count() == 1 && team::Number() == 0 && team::Inside()) ++inner;
      team::Barrier();
    });
    EXPECT_EQ(team::Count(), kThreads);
  });
  EXPECT_EQ(inner, kThreads);
}

TEST(Team, ALoopInsideLeavesTheOuterLoopWhereItIs) {
  std::atomic<int> done{0}, inner{0};
  auto loop = [](long end, long chunk, auto&& body) {
    long from, to;
    for (bool more = GOMP_loop_static_start(0, end, 1, chunk, &from, &to); more;
         more = GOMP_loop_static_next(&from, &to)) {
      for (long i = from; i < to; ++i) body();
    }
    GOMP_loop_end_nowait();
  };
  Region([&] {
    loop(64, 2, [&] {
      ++done;
      Region([&] { loop(5, 2, [&] { ++inner; }); });
    });
  });
  EXPECT_EQ(done, 64);
  EXPECT_EQ(inner, 64 * 5);
}

// Nobody has said that regions of this file take nothing else of OpenMP.
TEST(Team, RegionsOfOthersHaveAllOfOpenMP) {
  std::atomic<int> single{0}, iterations{0};
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp single
    ++single;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; ++i) ++iterations;
  }
  EXPECT_EQ(single, 1);
  EXPECT_EQ(iterations, 100);
}

TEST(Team, ThreadsHaveTeamsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) Region([&] { sum += 1 + team::Number(); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 4 * 200 * 6);
}

TEST(Team, AForkedChildHasATeam) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer lets no child of threads start others";
#endif
  Region([] {});
  if (!team::InUse()) GTEST_SKIP() << "regions go to libgomp, whose team a child lacks";
  pid_t child = fork();
  if (child == 0) {
    team::AfterForkInChild();
    std::atomic<int> done{0};
    Region([&] { ++done; });
    _exit(done == kThreads ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The numbers of a loop by the threads that have them.
std::vector<std::vector<long>> Shared(long begin, long end, long step, long chunk) {
  std::vector<std::vector<long>> result(kThreads);
  Region([&] {
    long from, to;
    auto& mine = result[static_cast<size_t>(team::Number())];
    for (bool more = GOMP_loop_static_start(begin, end, step, chunk, &from, &to); more;
         more = GOMP_loop_static_next(&from, &to)) {
      for (long i = from; step > 0 ? i < to : i > to; i += step) mine.push_back(i);
    }
    GOMP_loop_end_nowait();
  });
  return result;
}

TEST(Team, LoopsAreSharedAsOpenMpSays) {
  using Parts = std::vector<std::vector<long>>;
  EXPECT_EQ(Shared(0, 7, 1, 0), (Parts{{0, 1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(Shared(0, 7, 1, 1), (Parts{{0, 3, 6}, {1, 4}, {2, 5}}));
  EXPECT_EQ(Shared(0, 7, 1, 2), (Parts{{0, 1, 6}, {2, 3}, {4, 5}}));
  EXPECT_EQ(Shared(10, 1, -2, 0), (Parts{{10, 8}, {6, 4}, {2}}));
  EXPECT_EQ(Shared(0, 2, 1, 0), (Parts{{0}, {1}, {}}));
  EXPECT_EQ(Shared(5, 5, 1, 0), (Parts{{}, {}, {}}));
}

}  // namespace
}  // namespace ms
