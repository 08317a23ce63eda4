// Pages in memory: each block is read once, what lies in two or is not kept is nobody's.
#include "dataset/mindrecord/kept_blocks.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace ms {
namespace {

constexpr uint64_t kBlock = KeptBlocks::kBlock;

// A file in which each byte tells its place, and how often it was read.
struct File {
  std::atomic<int> reads = 0;
  KeptBlocks::Read Reader() {
    return [this](uint64_t offset, uint64_t size) {
      ++reads;
      std::string bytes;
      for (uint64_t i = offset; i < offset + size; ++i) bytes.push_back(static_cast<char>(i % 251));
      return bytes;
    };
  }
};

bool IsFrom(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (bytes.size() != size) return false;
  for (uint64_t i = 0; i < size; ++i) {
    if (bytes[i] != static_cast<char>((offset + i) % 251)) return false;
  }
  return true;
}

TEST(KeptBlocks, EachIsReadOnce) {
  File file;
  KeptBlocks kept;
  kept.Keep(1000, 2 * kBlock + 10);
  EXPECT_TRUE(IsFrom(kept.Get(0, 0, 7, file.Reader()), 1000, 7));
  EXPECT_TRUE(IsFrom(kept.Get(0, kBlock - 7, 7, file.Reader()), 1000 + kBlock - 7, 7));
  EXPECT_EQ(file.reads, 1);
  EXPECT_TRUE(IsFrom(kept.Get(0, 2 * kBlock, 10, file.Reader()), 1000 + 2 * kBlock, 10));
  EXPECT_EQ(file.reads, 2);
}

TEST(KeptBlocks, WhatLiesInTwoOrBehindThePageIsNotThere) {
  File file;
  KeptBlocks kept;
  kept.Keep(0, kBlock + 10);
  EXPECT_TRUE(kept.Get(0, kBlock - 3, 4, file.Reader()).empty());
  EXPECT_TRUE(kept.Get(0, kBlock + 5, 6, file.Reader()).empty());
  EXPECT_TRUE(kept.Get(0, 5, 0, file.Reader()).empty());
  EXPECT_EQ(file.reads, 0);
}

TEST(KeptBlocks, PagesAreCountedWithThoseThatAreLeftOut) {
  File file;
  KeptBlocks kept;
  kept.LeaveOut();
  kept.Keep(500, 20);
  EXPECT_TRUE(kept.Get(0, 0, 1, file.Reader()).empty());
  EXPECT_TRUE(IsFrom(kept.Get(1, 2, 3, file.Reader()), 502, 3));
}

TEST(KeptBlocks, AFailureLeavesTheBlockToTheNext) {
  File file;
  KeptBlocks kept;
  kept.Keep(0, 20);
  auto fails = [](uint64_t, uint64_t) -> std::string { throw std::runtime_error("gone"); };
  EXPECT_THROW(kept.Get(0, 0, 5, fails), std::runtime_error);
  EXPECT_TRUE(IsFrom(kept.Get(0, 0, 5, file.Reader()), 0, 5));
}

TEST(KeptBlocks, SeveralShareTheRoom) {
  File file;
  KeptBlocks::Room room{static_cast<int64_t>(2 * kBlock + 5)};
  auto first = std::make_unique<KeptBlocks>(room);
  KeptBlocks second(room);
  first->Keep(0, 4 * kBlock);
  second.Keep(0, 10);
  EXPECT_TRUE(IsFrom(first->Get(0, 0, 5, file.Reader()), 0, 5));
  EXPECT_TRUE(IsFrom(first->Get(0, kBlock, 5, file.Reader()), kBlock, 5));
  EXPECT_TRUE(first->Get(0, 2 * kBlock, 5, file.Reader()).empty());
  EXPECT_TRUE(second.Get(0, 0, 5, file.Reader()).empty());
  EXPECT_EQ(file.reads, 2);
  EXPECT_TRUE(IsFrom(first->Get(0, 7, 5, file.Reader()), 7, 5));
  auto fails = [](uint64_t, uint64_t) -> std::string { throw std::runtime_error("gone"); };
  first.reset();
  EXPECT_THROW(second.Get(0, 0, 5, fails), std::runtime_error);
  EXPECT_EQ(room, static_cast<int64_t>(2 * kBlock + 5));
  EXPECT_TRUE(IsFrom(second.Get(0, 0, 5, file.Reader()), 0, 5));
}

TEST(KeptBlocks, ThreadsMayAskForTheSame) {
  File file;
  KeptBlocks kept;
  kept.Keep(0, 16 * kBlock);
  std::vector<std::thread> threads;
  std::atomic<bool> right = true;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (uint64_t block = 0; block < 16; ++block) {
        if (!IsFrom(kept.Get(0, block * kBlock, 9, file.Reader()), block * kBlock, 9))
          right = false;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(right);
  EXPECT_GE(file.reads, 16);
}

}  // namespace
}  // namespace ms
