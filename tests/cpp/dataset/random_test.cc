// Random orders: permutations of every size, the same for the same key.
#include "dataset/random.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dataset/pipelines.h"

namespace ms::dataset {
namespace {

std::vector<int64_t> Order(int64_t size, uint64_t key) {
  Permutation permutation(size, key);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < size; ++i) order.push_back(permutation[i]);
  return order;
}

TEST(Permutation, EveryNumberComesOnce) {
  for (int64_t size : {1, 2, 3, 17, 256, 1000, 4095, 4096, 4097, 65537, 100003}) {
    std::vector<int64_t> order = Order(size, 5);
    if (size > 100) {
      EXPECT_NE(Order(size, 6), order);
    }
    EXPECT_EQ(Order(size, 5), order);
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i) << size;
  }
}

TEST(Permutation, EveryPlaceIsEquallyLikely) {
  constexpr int64_t kSize = 10;
  constexpr int kKeys = 20000;
  std::vector<int> seen(kSize);
  for (uint64_t key = 0; key < kKeys; ++key)
    ++seen[static_cast<size_t>(Permutation(kSize, key)[3])];
  // Eight standard deviations of a count around its mean of 2000.
  for (int count : seen) EXPECT_NEAR(count, kKeys / kSize, 8 * 42);
}

TEST(Shuffle, EpochsDifferAndSeedsDecide) {
  NodeRef node = MakeShuffle(Counted(200), 200);
  auto epoch = [&](uint64_t seed, int64_t number) {
    CursorRef cursor = Opened(node, seed, number);
    std::vector<int64_t> rows;
    for (Row row; cursor->Next(&row);) {
      Resolve(row);
      rows.push_back(IntegerOf(row.values[0], "the row"));
    }
    return rows;
  };
  EXPECT_EQ(epoch(1, 0), epoch(1, 0));
  EXPECT_NE(epoch(1, 0), epoch(1, 1));
  EXPECT_NE(epoch(1, 0), epoch(2, 0));
}

TEST(Shuffle, SkippedRowsAreThoseThatComeFirst) {
  NodeRef buffered = MakeShuffle(MakeRepeat(Counted(20, true), 2), 8);
  NodeRef permuted = MakeShuffle(Counted(40), 100);
  for (const NodeRef& node : {buffered, permuted}) {
    std::vector<int64_t> all;
    CursorRef whole = Opened(node, 3);
    for (Row row; whole->Next(&row);) {
      Resolve(row);
      all.push_back(IntegerOf(row.values[0], "the row"));
    }
    for (int64_t skip : {0, 1, 7, 8, 9, 39, 40, 50}) {
      CursorRef cursor = Opened(node, 3);
      int64_t skipped = std::min<int64_t>(skip, static_cast<int64_t>(all.size()));
      EXPECT_EQ(cursor->Skip(skip), skipped);
      for (Row row; cursor->Next(&row); ++skipped) {
        Resolve(row);
        ASSERT_EQ(IntegerOf(row.values[0], "the row"), all[static_cast<size_t>(skipped)]);
      }
      EXPECT_EQ(skipped, static_cast<int64_t>(all.size()));
    }
  }
}

}  // namespace
}  // namespace ms::dataset
