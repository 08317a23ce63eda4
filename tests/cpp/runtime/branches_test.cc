// Which launches may run beside each other.
#include "runtime/branches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ms {
namespace {

using Launches = std::vector<uint32_t>;

char memory[256];
Bytes At(size_t begin, size_t size) { return {memory + begin, size}; }

TEST(Branches, FollowWhatTheyTouch) {
  Branches branches;
  EXPECT_EQ(branches.Add({}, std::vector{At(0, 16)}), Launches{});
  EXPECT_EQ(branches.Add({}, std::vector{At(16, 16)}), Launches{});
  EXPECT_EQ(branches.Add(std::vector{At(0, 16)}, std::vector{At(32, 16)}), Launches{0});
  EXPECT_EQ(branches.Add(std::vector{At(8, 16)}, std::vector{At(48, 4)}), (Launches{1, 0}));
  EXPECT_EQ(branches.Add({}, std::vector{At(0, 8)}), Launches{2});           // 0 comes before that
  EXPECT_EQ(branches.Add({}, std::vector{At(24, 2)}), Launches{1});          // nobody read these
  EXPECT_EQ(branches.Add(std::vector{At(0, 64)}, {}), (Launches{5, 4, 3}));  // 2 comes before 4
  EXPECT_EQ(branches.Add({}, std::vector{At(63, 1)}), Launches{6});
  EXPECT_EQ(branches.Add(std::vector{At(100, 0)}, std::vector{At(4, 0)}), Launches{});
}

TEST(Branches, UpdatesInPlaceFollowEachOther) {
  Branches branches;
  EXPECT_EQ(branches.Add(std::vector{At(0, 8)}, std::vector{At(0, 8)}), Launches{});
  EXPECT_EQ(branches.Add(std::vector{At(0, 8)}, std::vector{At(0, 8)}), Launches{0});
  EXPECT_EQ(branches.Add(std::vector{At(0, 8)}, std::vector{At(8, 8)}), Launches{1});
}

// Random launches: in each order that the answers allow, each byte read was written by the same
// launch as before.
TEST(Branches, EachOrderReadsTheSame) {
  std::mt19937 numbers(7);
  auto draw = [&](size_t most) { return numbers() % most; };
  for (int round = 0; round < 200; ++round) {
    constexpr size_t kLaunches = 40;
    struct Launch {
      std::vector<Bytes> reads, writes;
      Launches after;
      std::vector<int> seen;
    };
    std::vector<Launch> launches(kLaunches);
    Branches branches;
    for (Launch& launch : launches) {
      for (size_t i = draw(3); i-- > 0;) launch.reads.push_back(At(draw(60), draw(9)));
      for (size_t i = 1 + draw(2); i-- > 0;) launch.writes.push_back(At(draw(60), draw(9)));
      launch.after = branches.Add(launch.reads, launch.writes);
    }
    std::vector<int> writer(sizeof(memory), -1);
    auto run = [&](size_t number) {
      const Launch& launch = launches[number];
      std::vector<int> seen;
      auto each = [&](const std::vector<Bytes>& all, auto action) {
        for (Bytes bytes : all) {
          auto begin = static_cast<size_t>(static_cast<const char*>(bytes.begin) - memory);
          for (size_t i = begin; i < begin + bytes.size; ++i) action(writer[i]);
        }
      };
      each(launch.reads, [&](int by) { seen.push_back(by); });
      each(launch.writes, [&](int& by) { by = static_cast<int>(number); });
      return seen;
    };
    for (size_t i = 0; i < kLaunches; ++i) launches[i].seen = run(i);
    std::vector<int> last = writer;
    std::fill(writer.begin(), writer.end(), -1);
    std::vector<bool> done(kLaunches);
    for (size_t count = 0; count < kLaunches; ++count) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < kLaunches; ++i) {
        const Launches& after = launches[i].after;
        if (!done[i] && std::all_of(after.begin(), after.end(), [&](auto j) { return done[j]; }))
          ready.push_back(i);
      }
      size_t next = round % 2 ? ready.back() : ready[draw(ready.size())];
      EXPECT_EQ(run(next), launches[next].seen) << round << ": " << next;
      done[next] = true;
    }
    EXPECT_EQ(writer, last) << round;
  }
}

}  // namespace
}  // namespace ms
