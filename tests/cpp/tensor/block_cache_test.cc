// What the cache of freed blocks keeps, and what it gives back.
#include "tensor/block_cache.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tensor/buffer.h"

namespace ms {
namespace {

constexpr size_t kMega = size_t{1} << 20;

struct Block {
  void* at;
  size_t granted;
};

Block Take(BlockCache& cache, size_t bytes) {
  Block block{};
  block.at = cache.Take(bytes, &block.granted);
  EXPECT_NE(block.at, nullptr);
  std::memset(block.at, 1, block.granted);
  return block;
}

TEST(BlockCache, AFreedBlockServesTheNextRequestHoweverLarge) {
  BlockCache cache;
  Block inputs = Take(cache, 192 * kMega);
  Block first = Take(cache, 100 * kMega);
  cache.Put(first.at, first.granted);
  EXPECT_EQ(cache.sizes().kept, 100 * kMega);
  Block second = Take(cache, 95 * kMega);  // within an eighth
  EXPECT_EQ(second.at, first.at);
  EXPECT_EQ(second.granted, 100 * kMega);
  EXPECT_EQ(cache.sizes().kept, 0u);
  cache.Put(second.at, second.granted);
  cache.Put(inputs.at, inputs.granted);
  cache.Clear();
  EXPECT_EQ(cache.sizes().kept, 0u);
}

TEST(BlockCache, TheSmallestThatFitsIsTaken) {
  BlockCache cache;
  Block small = Take(cache, 8 * kMega), large = Take(cache, 9 * kMega - 4096);
  cache.Put(large.at, large.granted);
  cache.Put(small.at, small.granted);
  Block again = Take(cache, 8 * kMega);
  EXPECT_EQ(again.at, small.at);
  Block other = Take(cache, 4 * kMega);  // 9 MB would waste too much
  EXPECT_NE(other.at, large.at);
  cache.Put(again.at, again.granted);
  cache.Put(other.at, other.granted);
  cache.Clear();
}

TEST(BlockCache, KeptAndUsedStayWithinThePeakOfUse) {
  BlockCache cache;
  Block a = Take(cache, 200 * kMega);
  cache.Put(a.at, a.granted);
  // Another size: what was kept makes room for it.
  Block b = Take(cache, 150 * kMega);
  EXPECT_EQ(cache.sizes().kept, 0u);
  Block c = Take(cache, 20 * kMega), d = Take(cache, 20 * kMega);
  cache.Put(c.at, c.granted);
  cache.Put(d.at, d.granted);
  EXPECT_EQ(cache.sizes().kept, 40 * kMega);
  Block e = Take(cache, 30 * kMega);  // 150 + 30 + 40 > 200: the one that lay longest goes
  EXPECT_EQ(cache.sizes().kept, 20 * kMega);
  EXPECT_LE(cache.sizes().peak, 200 * kMega);
  cache.Put(e.at, e.granted);
  cache.Put(b.at, b.granted);
  cache.Clear();
}

TEST(BlockCache, ARequestThatCannotBeMetIsNotCounted) {
  BlockCache cache;
  size_t granted = 0;
  void* block = cache.Take(4 * kMega, &granted);
  EXPECT_EQ(cache.Take(size_t{1} << 60, &granted), nullptr);
  EXPECT_EQ(cache.sizes().used, 4 * kMega);
  EXPECT_EQ(cache.sizes().peak, 4 * kMega);
  cache.Put(block, 4 * kMega);
  cache.Clear();
}

TEST(RecentPeak, ForgetsAfterTwoWindows) {
  RecentPeak peak(10);
  EXPECT_EQ(peak.Note(100, 1000), 100u);
  EXPECT_EQ(peak.Note(30, 1005), 100u);
  EXPECT_EQ(peak.Note(40, 1012), 100u);  // the window before this one
  EXPECT_EQ(peak.Note(30, 1023), 40u);
  EXPECT_EQ(peak.Note(20, 1055), 20u);  // nothing for long
}

TEST(BlockCache, ManyThreadsShareIt) {
  BlockCache cache;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, &wrong, t] {
      for (int i = 0; i < 200; ++i) {
        size_t granted = 0;
        size_t bytes = static_cast<size_t>(1 + (i * 7 + t) % 40) * 65536;
        char* block = static_cast<char*>(cache.Take(bytes, &granted));
        block[0] = block[granted - 1] = static_cast<char>(t);
        std::this_thread::yield();
        wrong += block[0] != t || block[granted - 1] != t;
        cache.Put(block, granted);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.sizes().used, 0u);
  EXPECT_LE(cache.sizes().peak, BlockCache::kFloor);
  cache.Clear();
}

TEST(BlockCache, AForkedChildMayUseIt) {
  std::atomic<bool> stop{false};
  std::thread busy([&stop] {
    while (!stop) Buffer::Allocate(kMega);
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      Buffer::Allocate(2 * kMega);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
}

TEST(Buffer, FreedBlocksAreKept) {
  Blocks().Clear();
  size_t live = HostMemory().stats().live;
  Buffer::Allocate(32 * kMega);
  EXPECT_EQ(HostMemory().stats().live, live);
  EXPECT_GE(Blocks().sizes().kept, 32 * kMega);
  Blocks().Clear();
  EXPECT_EQ(Blocks().sizes().kept, 0u);
}

// How many pages from `at` on are in memory; none where nothing is mapped.
size_t Resident(const void* at, size_t bytes) {
  std::vector<unsigned char> pages(bytes / 4096);
  if (mincore(const_cast<void*>(at), bytes, pages.data()) != 0) return 0;
  return static_cast<size_t>(
      std::ranges::count_if(pages, [](unsigned char page) { return page & 1; }));
}

// A process may have so many maps; to unmap the middle of one takes another.
bool UseUpMaps() {
  for (int i = 0; i < 200000; ++i) {
    int protection = i % 2 ? PROT_NONE : PROT_READ;  // neighbours that are alike would be one
    if (mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
      return true;
  }
  return false;
}

TEST(BlockCache, GivesPagesBackWhereAddressesCannotBe) {
  pid_t child = fork();
  if (child == 0) {
    BlockCache cache;
    std::vector<Block> blocks;
    // Too small for large pages, and so one behind the other in one map.
    for (int i = 0; i < 5; ++i) blocks.push_back(Take(cache, 3 * kMega / 2));
    if (!UseUpMaps()) _exit(2);
    for (size_t i = 1; i < 4; ++i) cache.Put(blocks[i].at, blocks[i].granted);
    cache.Clear();
    size_t left = 0;
    for (size_t i = 1; i < 4; ++i) left += Resident(blocks[i].at, blocks[i].granted);
    _exit(left > 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "any number of maps";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ms
