// What random ops draw from, while threads set seeds.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/eager.h"

namespace ms {
namespace {

// As an op draws, and a run of a graph.
std::pair<uint64_t, uint64_t> Draw() {
  std::shared_ptr<RandomState> state = DefaultRandom();
  return {state->seed(), state->NextOffset()};
}

TEST(DefaultRandom, SeedAndOffsetBelongTogether) {
  std::atomic<bool> stop{false};
  SetDefaultRandom(NewRandom(0, 0));
  std::thread writer([&] {
    for (uint64_t seed = 1; !stop; ++seed) SetDefaultRandom(NewRandom(seed, seed << 32));
  });
  int mixed = 0;
  for (int i = 0; i < 100000; ++i) {
    auto [seed, offset] = Draw();
    mixed += offset >> 32 != seed;
  }
  stop = true;
  writer.join();
  SetDefaultRandom(NewRandom(0, 0));
  EXPECT_EQ(mixed, 0);
}

TEST(DefaultRandom, IsTheThreadsOwnWhereItHasOne) {
  SetDefaultRandom(NewRandom(1, 0));
  auto own = NewRandom(2, 5);
  EXPECT_EQ(DrawFrom(own), nullptr);
  EXPECT_EQ(Draw(), (std::pair<uint64_t, uint64_t>{2, 5}));
  std::thread([] { EXPECT_EQ(Draw().first, 1u); }).join();
  SetDefaultRandom(NewRandom(3, 0));  // of the thread
  EXPECT_EQ(Draw().first, 3u);
  EXPECT_NE(DrawFrom(nullptr), own);
  EXPECT_EQ(Draw(), (std::pair<uint64_t, uint64_t>{1, 1}));
  EXPECT_EQ(own->offset(), 6u);
  SetDefaultRandom(NewRandom(0, 0));
}

}  // namespace
}  // namespace ms
