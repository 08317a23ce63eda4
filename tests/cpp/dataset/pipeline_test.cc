// The engine of the data pipeline without the language above it: permutations, values, the order of
// rows over workers, positions, batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "dataset/batching.h"
#include "dataset/operators.h"
#include "dataset/prefetch.h"
#include "dataset/sources.h"

namespace ms::dataset {
namespace {

// Makes the row of an index: the index itself; fails at `bad`.
class NumberStep : public Step {
 public:
  explicit NumberStep(int64_t bad = -1) : bad_(bad) {}
  void Run(std::span<Row> rows, size_t depth) const override {
    for (Row& row : rows) {
      int64_t number = row.pending[depth].number;
      if (number == bad_) throw std::runtime_error("bad row");
      row.values = {Value::Scalar<int64_t>(number)};
    }
  }

 private:
  int64_t bad_;
};

NodeRef Numbers(int64_t count, bool shuffled = false, int64_t bad = -1) {
  auto order = MakeRegularOrder({count, 0, 1, count, shuffled, false});
  return MakeSequence(std::move(order), std::make_shared<NumberStep>(bad), true, false);
}

RunRef RunOf(const NodeRef& node, uint64_t seed = 7) {
  return std::make_shared<Run>(*node, seed, true);
}

std::vector<int64_t> Taken(Prefetcher& rows) {
  std::vector<int64_t> taken;
  Row row;
  while (rows.Next(&row)) taken.push_back(*row.values[0].as<int64_t>());
  return taken;
}

std::vector<int64_t> Stream(const NodeRef& node, int workers, int64_t epoch = 0, int64_t skip = 0) {
  CursorRef cursor = node->Open(RunOf(node), epoch);
  EXPECT_EQ(cursor->Skip(skip), skip);
  PrefetchOptions options;
  options.workers = workers;
  options.grain = 3;
  Prefetcher rows(std::move(cursor), options);
  return Taken(rows);
}

TEST(Permutation, HasEachNumberOnce) {
  for (int64_t size : {1, 2, 3, 100, 65536, 65537, 100000}) {
    Permutation permutation(size, 5);
    std::vector<bool> seen(static_cast<size_t>(size), false);
    for (int64_t i = 0; i < size; ++i) {
      int64_t number = permutation[i];
      ASSERT_TRUE(number >= 0 && number < size) << size;
      ASSERT_FALSE(seen[static_cast<size_t>(number)]) << size;
      seen[static_cast<size_t>(number)] = true;
    }
  }
}

TEST(Permutation, DependsOnTheKeyAlone) {
  for (int64_t size : {50, 70000}) {
    Permutation one(size, 1), same(size, 1), other(size, 2);
    int64_t equal = 0;
    for (int64_t i = 0; i < size; ++i) {
      EXPECT_EQ(one[i], same[i]);
      equal += one[i] == other[i];
    }
    EXPECT_LT(equal, size / 5);
  }
}

TEST(Values, CountAndSay) {
  Value value = Value::Make(Element::Of(DType::kFloat32), MakeDims({2, 3}));
  EXPECT_EQ(value.count(), 6);
  EXPECT_EQ(value.bytes(), 24U);
  EXPECT_EQ(value.element.name(), "float32");
  EXPECT_EQ(ToString(*value.dims), "[2, 3]");
  EXPECT_EQ(IntegerOf(Value::Scalar<uint8_t>(200), "it"), 200);
  EXPECT_EQ(IntegerOf(Value::Scalar<int64_t>(-5), "it"), -5);
  EXPECT_THROW(IntegerOf(value, "it"), Error);
}

TEST(Pipeline, TheStreamIsTheSameForAnyNumberOfWorkers) {
  for (const NodeRef& node : {Numbers(50), Numbers(50, true), MakeShuffle(Numbers(50), 10),
                              MakeRepeat(Numbers(20, true), 3)}) {
    std::vector<int64_t> expected = Stream(node, 0);
    for (int workers : {1, 2, 4}) EXPECT_EQ(Stream(node, workers), expected);
  }
  EXPECT_EQ(Stream(Numbers(3), 2), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Pipeline, EpochsDifferWhereChanceDecides) {
  NodeRef node = Numbers(50, true);
  EXPECT_NE(Stream(node, 1, 0), Stream(node, 1, 1));
  std::vector<int64_t> sorted = Stream(node, 2, 1), all(50);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
}

TEST(Pipeline, APositionIsTakenUpAgain) {
  for (const NodeRef& node :
       {Numbers(30, true), MakeShuffle(Numbers(30), 7), MakeWindow(Numbers(30, true), 4, 20, false),
        MakeConcat({Numbers(11, true), Numbers(9)})}) {
    std::vector<int64_t> whole = Stream(node, 0);
    for (size_t done = 0; done <= whole.size(); ++done) {
      std::vector<int64_t> rest(whole.begin() + static_cast<std::ptrdiff_t>(done), whole.end());
      EXPECT_EQ(Stream(node, 2, 0, static_cast<int64_t>(done)), rest);
    }
  }
}

TEST(Pipeline, SkipSaysHowManyRowsThereWere) {
  NodeRef node = Numbers(5);
  EXPECT_EQ(node->Open(RunOf(node), 0)->Skip(100), 5);
}

TEST(Pipeline, AFailureComesAtItsPlace) {
  for (int workers : {0, 1, 4}) {
    NodeRef node = Numbers(20, false, 13);
    PrefetchOptions options;
    options.workers = workers;
    options.grain = 4;
    Prefetcher rows(node->Open(RunOf(node), 0), options);
    Row row;
    for (int64_t i = 0; i < 13; ++i) {
      ASSERT_TRUE(rows.Next(&row));
      EXPECT_EQ(*row.values[0].as<int64_t>(), i);
    }
    EXPECT_THROW(rows.Next(&row), std::runtime_error);
    EXPECT_FALSE(rows.Next(&row));
  }
}

TEST(Batches, JoinRowsInOrder) {
  for (bool drop : {false, true}) {
    BatchOptions options;
    options.size = 4;
    options.drop_remainder = drop;
    options.columns = {"x"};
    NodeRef node = MakeBatch(Numbers(10), options);
    EXPECT_EQ(node->Size(), drop ? 2 : 3);
    PrefetchOptions ahead;
    ahead.workers = 2;
    Prefetcher rows(node->Open(RunOf(node), 0), ahead);
    Row row;
    int64_t next = 0;
    while (rows.Next(&row)) {
      const Value& batch = row.values[0];
      EXPECT_EQ(*batch.dims, Dims({std::min<int64_t>(4, 10 - next)}));
      for (int64_t i = 0; i < batch.count(); ++i) EXPECT_EQ(batch.as<int64_t>()[i], next++);
    }
    EXPECT_EQ(next, drop ? 8 : 10);
  }
}

TEST(Shards, ShareTheRowsEqually) {
  std::multiset<int64_t> seen;
  for (int64_t shard = 0; shard < 3; ++shard) {
    auto order = MakeRegularOrder({10, shard, 3, 4, true, true});
    NodeRef node = MakeSequence(std::move(order), std::make_shared<NumberStep>(), true, false);
    for (int64_t row : Stream(node, 1)) seen.insert(row);
  }
  EXPECT_EQ(seen.size(), 12U);
  for (int64_t row = 0; row < 10; ++row) EXPECT_GE(seen.count(row), 1U);
}

}  // namespace
}  // namespace ms::dataset
