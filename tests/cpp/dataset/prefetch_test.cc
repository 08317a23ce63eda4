// Rows made ready ahead: in order for any number of workers, failures at their place, and an end
// that another thread brings about.
#include "dataset/prefetch.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "dataset/pipelines.h"
#include "dataset/texts/operations.h"

namespace ms::dataset {
namespace {

using namespace std::chrono_literals;

class Function : public Step {
 public:
  explicit Function(std::function<void(Row&)> function) : function_(std::move(function)) {}
  void Run(std::span<Row> rows, size_t) const override {
    for (Row& row : rows) function_(row);
  }

 private:
  std::function<void(Row&)> function_;
};

NodeRef Mapped(const NodeRef& child, std::function<void(Row&)> function) {
  return MakeMap(child, std::make_shared<Function>(std::move(function)), true);
}

std::unique_ptr<Prefetcher> Prefetched(const NodeRef& node, int workers, int grain = 4,
                                       bool shared = false) {
  PrefetchOptions options;
  options.workers = workers;
  options.grain = grain;
  options.shared = shared;
  CursorRef cursor = Opened(node, 7);
  return std::make_unique<Prefetcher>(std::move(cursor), options);
}

std::vector<int64_t> Taken(Prefetcher& rows) {
  std::vector<int64_t> numbers;
  for (Row row; rows.Next(&row);) numbers.push_back(IntegerOf(row.values[0], "the row"));
  return numbers;
}

TEST(Prefetch, TheOrderIsThatOfOneThread) {
  NodeRef node = MakeShuffle(MakeRepeat(Counted(100, true), 3), 16);
  std::vector<int64_t> expected = Taken(*Prefetched(node, 0));
  EXPECT_EQ(expected.size(), 300U);
  for (int workers : {1, 2, 5}) EXPECT_EQ(Taken(*Prefetched(node, workers)), expected);
  for (int grain : {1, 4}) EXPECT_EQ(Taken(*Prefetched(node, 1, grain, true)), expected);
}

TEST(Prefetch, OnlyRowsOfLittleWorkAreHandedOverTogether) {
  auto brief = MakeMapStep({MakeTruncate("Truncate", 1)}, {0}, {{true, 0}});
  EXPECT_FALSE(MakeMap(Counted(3), std::move(brief), true)->Coarse());
  EXPECT_TRUE(Mapped(Counted(3), [](Row&) {})->Coarse());
}

TEST(Prefetch, AFailureComesAtItsPlace) {
  NodeRef node = Mapped(Counted(50), [](Row& row) {
    if (IntegerOf(row.values[0], "the row") == 21) Throw(ErrorKind::kValue, "not this one");
  });
  for (int workers : {0, 1, 3, -1}) {
    auto rows = workers < 0 ? Prefetched(node, 1, 1, true) : Prefetched(node, workers);
    Row row;
    for (int64_t i = 0; i < 21; ++i) {
      ASSERT_TRUE(rows->Next(&row));
      EXPECT_EQ(IntegerOf(row.values[0], "the row"), i);
    }
    EXPECT_THROW(rows->Next(&row), Error);
    EXPECT_FALSE(rows->Next(&row));
  }
}

TEST(Prefetch, RowsMadeTogetherFailAtTheirPlaceToo) {
  NodeRef node = Mapped(Counted(50), [](Row& row) {
    if (IntegerOf(row.values[0], "the row") == 21) Throw(ErrorKind::kValue, "not this one");
  });
  for (int workers : {0, 1, 3}) {
    PrefetchOptions options;
    options.workers = workers;
    options.grain = 8;
    options.together = true;
    Prefetcher rows(Opened(node, 7), options);
    Row row;
    for (int64_t i = 0; i < 21; ++i) {
      ASSERT_TRUE(rows.Next(&row));
      EXPECT_EQ(IntegerOf(row.values[0], "the row"), i);
    }
    EXPECT_THROW(rows.Next(&row), Error);
    EXPECT_FALSE(rows.Next(&row));
  }
}

TEST(Prefetch, AQueueHasAPartOfTheMemory) {
  EXPECT_EQ(QueueBytes(size_t{8} << 30), size_t{256} << 20);
  EXPECT_EQ(QueueBytes(size_t{1} << 20), size_t{4} << 20);
  EXPECT_EQ(QueueBytes(SIZE_MAX), size_t{1} << 30);
}

TEST(Prefetch, PatienceEnds) {
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future();
  NodeRef node = Mapped(Counted(3), [gone](Row&) { gone.wait(); });
  auto rows = Prefetched(node, 1);
  Row row;
  EXPECT_EQ(rows->Next(&row, 1ms), Prefetcher::Got::kNothingYet);
  go.set_value();
  EXPECT_TRUE(rows->Next(&row));
}

TEST(Prefetch, AnotherThreadMayStopIt) {
  std::promise<void> entered, go;
  std::shared_future<void> gone = go.get_future();
  auto once = std::make_shared<std::once_flag>();
  NodeRef node = Mapped(Counted(100), [&entered, gone, once](Row&) {
    std::call_once(*once, [&] { entered.set_value(); });
    gone.wait();
  });
  std::shared_ptr<Prefetcher> rows = Prefetched(node, 2);
  std::promise<bool> refused;
  std::thread taker([&refused, rows] {
    Row row;
    try {
      rows->Next(&row);
      refused.set_value(false);
    } catch (const Error&) {
      refused.set_value(true);
    }
  });
  entered.get_future().wait();
  std::thread stopper([rows] { rows->Stop(); });
  EXPECT_TRUE(refused.get_future().get());
  go.set_value();
  stopper.join();
  taker.join();
}

// What a node holds, such as the processes of its workers, goes with the last iterator: at once,
// not when a thread that has ended is done with its stack.
TEST(Prefetch, NothingIsHeldAfterIt) {
  for (int i = 0; i < 3000; ++i) {
    auto held = std::make_shared<int>();
    NodeRef node = Mapped(Counted(20), [held](Row&) {});
    auto rows = Prefetched(node, 3, 1);
    node.reset();
    Row row;
    ASSERT_TRUE(rows->Next(&row));
    row = {};
    rows.reset();
    ASSERT_EQ(held.use_count(), 1) << "in round " << i;
  }
}

TEST(Prefetch, NumbersMayChangeOnTheWay) {
  NodeRef node = Mapped(Counted(400), [](Row&) {});
  auto rows = Prefetched(node, 1);
  Row row;
  for (int64_t i = 0; i < 400; ++i) {
    if (i == 40) rows->Tune(4, 3);
    if (i == 200) rows->Tune(1, 64);
    ASSERT_TRUE(rows->Next(&row));
    EXPECT_EQ(IntegerOf(row.values[0], "the row"), i);
  }
  EXPECT_FALSE(rows->Next(&row));
  PrefetchFacts facts = rows->Facts();
  EXPECT_EQ(facts.given, 400);
  EXPECT_EQ(facts.workers, 1);
  EXPECT_EQ(facts.items, 64);
  EXPECT_GE(facts.depth, facts.given);
  EXPECT_EQ(node->spent()->rows, 400);
}

TEST(Prefetch, WhatIsReadyIsCountedInRows) {
  PrefetchOptions options{.workers = 1, .items = 64, .grain = 16};
  Prefetcher rows(Opened(Counted(64), 7), options);
  Row row;
  while (rows.Next(&row)) {
  }
  EXPECT_GE(rows.Facts().depth, 16 * rows.Facts().given);
}

// Cheap rows, whose pieces have grown, and large ones behind them, of which the last fails.
TEST(Prefetch, LargeRowsAmongCheapOnesKeepToTheBytes) {
  constexpr int64_t kCheap = 20'000, kAll = kCheap + 200;
  constexpr size_t kLarge = 1 << 20;
  std::atomic<int64_t> made = 0;
  NodeRef node = Mapped(Counted(kAll), [&](Row& row) {
    int64_t number = IntegerOf(row.values[0], "the row");
    if (number == kAll - 1) Throw(ErrorKind::kValue, "row {}", number);
    if (number < kCheap) return;
    row.values.push_back(Value::Make(Element::Of(DType::kUInt8), MakeDims({kLarge})));
    ++made;
  });
  PrefetchOptions options{.workers = 2, .items = 16, .bytes = 12 * kLarge, .grain = 16};
  Prefetcher rows(Opened(node, 7), options);
  Row row;
  int64_t most = 0;
  for (int64_t i = 0; i < kAll - 1; ++i) {
    ASSERT_TRUE(rows.Next(&row));
    ASSERT_EQ(IntegerOf(row.values[0], "the row"), i);
    if (i < kCheap) continue;
    EXPECT_EQ(row.values.size(), 2);
    if (i == kCheap) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    most = std::max(most, made - (i - kCheap));
  }
  EXPECT_THROW(rows.Next(&row), Error);
  // Pieces of a third of the bytes and a row: two may be under way when the queue is found to have
  // room, and the taker has one.
  EXPECT_LE(most, 12 + 3 * (12 / 3 + 1));
}

TEST(Prefetch, FewRowsAheadArePiecesOfAFewRows) {
  std::atomic<int64_t> made = 0;
  NodeRef node = Mapped(Counted(400), [&](Row&) { ++made; });
  PrefetchOptions options{.workers = 2, .items = 1, .grain = 4};
  Prefetcher rows(Opened(node, 7), options);
  Row row;
  for (int64_t given = 1; rows.Next(&row); ++given) EXPECT_LE(made, (given + 3) / 4 * 4 + 4);
  EXPECT_EQ(made, 400);
}

// How many of the last 100 rows the taker made, who does `between` after each.
int MadeByTaker(int64_t count, const std::function<void()>& work,
                const std::function<void()>& between) {
  std::thread::id taker = std::this_thread::get_id();
  std::atomic<int> made = 0;
  NodeRef node = Mapped(Counted(count), [&](Row& row) {
    work();
    bool late = IntegerOf(row.values[0], "the row") >= count - 100;
    if (late && std::this_thread::get_id() == taker) ++made;
  });
  auto rows = Prefetched(node, 1, 1, true);
  Row row;
  for (int64_t i = 0; rows->Next(&row); ++i) {
    EXPECT_EQ(IntegerOf(row.values[0], "the row"), i);
    between();
  }
  return made;
}

TEST(Prefetch, WhoTakesRowsAtOnceMakesThem) {
  auto nothing = [] {};
  auto pause = [] { std::this_thread::sleep_for(3ms); };
  EXPECT_GT(MadeByTaker(20000, nothing, nothing), 0);
  EXPECT_EQ(MadeByTaker(150, nothing, pause), 0);  // a training step: rows are made meanwhile
  EXPECT_EQ(MadeByTaker(150, pause, nothing), 0);  // much to wait for
}

TEST(Prefetch, LittleIsMadeAhead) {
  std::atomic<int> made = 0;
  {
    NodeRef node = Mapped(Counted(10000), [&made](Row&) { ++made; });
    auto rows = Prefetched(node, 2, 1);
    Row row;
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(rows->Next(&row));
  }
  EXPECT_LE(made, 10 + 16 + 2);
}

}  // namespace
}  // namespace ms::dataset
