// Batches: joined, padded, cut short, left out.
#include "dataset/batching.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "dataset/pipelines.h"

namespace ms::dataset {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

Lists Batches(const NodeRef& node) {
  CursorRef cursor = Opened(node);
  Lists lists;
  for (Row row; cursor->Next(&row);) {
    Resolve(row);
    lists.push_back(Numbers(row.values[0]));
  }
  return lists;
}

NodeRef Batched(const NodeRef& child, int64_t size, bool drop) {
  BatchOptions options;
  options.size = size;
  options.drop_remainder = drop;
  options.columns = {"x"};
  return MakeBatch(child, std::move(options));
}

// Rows of one and two elements, padded.
template <class T>
Value Padded(T fill, const Dims& shape, DType dtype = DType::kInt64) {
  BatchOptions options;
  options.size = 2;
  options.columns = {"x"};
  options.padding.emplace();
  options.padding->columns["x"] = {shape, Value::Scalar<T>(fill)};
  Value rows = Value::Make(Element::Of(dtype), MakeDims({2, 1}));
  std::memset(rows.memory(), 0, rows.bytes());
  NodeRef source = MakeSequence(MakeRegularOrder({2, 0, 1, 2, false, false}),
                                MakeColumnStep({MakeArrayColumn(std::move(rows))}), false, false);
  NodeRef node = MakeBatch(source, std::move(options));
  Row row;
  Opened(node)->Next(&row);
  Resolve(row);
  return row.values[0];
}

template <class T>
std::string Refusal(T fill, const Dims& shape, DType dtype) {
  try {
    Padded(fill, shape, dtype);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Batching, JoinsRows) {
  EXPECT_EQ(Batches(Batched(Counted(5), 2, false)), (Lists{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(Batches(Batched(Counted(5), 2, true)), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(Batches(Batched(Counted(2), 9, false)), (Lists{{0, 1}}));
  EXPECT_EQ(Batches(Batched(Counted(2), 9, true)), Lists{});
}

TEST(Batching, SkippedBatchesAreThoseThatComeFirst) {
  for (bool drop : {false, true}) {
    NodeRef node = Batched(MakeRepeat(Counted(7), 2), 3, drop);
    Lists all = Batches(node);
    EXPECT_EQ(*node->Size(), static_cast<int64_t>(all.size()));
    for (size_t skip = 0; skip <= all.size() + 1; ++skip) {
      CursorRef cursor = Opened(node);
      size_t skipped = std::min(skip, all.size());
      EXPECT_EQ(cursor->Skip(static_cast<int64_t>(skip)), static_cast<int64_t>(skipped));
      Row row;
      ASSERT_EQ(cursor->Next(&row), skipped < all.size());
      if (skipped == all.size()) continue;
      Resolve(row);
      EXPECT_EQ(Numbers(row.values[0]), all[skipped]);
    }
  }
}

TEST(Batching, PadsWithExactlyTheValue) {
  int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_EQ(Numbers(Padded(odd, {2})), (std::vector<int64_t>{0, odd, 0, odd}));
  EXPECT_EQ(Numbers(Padded(INT64_MIN, {2}))[1], INT64_MIN);
  EXPECT_EQ(Padded(UINT64_MAX, {2}, DType::kUInt64).as<uint64_t>()[1], UINT64_MAX);
  EXPECT_EQ(Padded(-3.0, {2}, DType::kInt8).as<int8_t>()[1], -3);
  EXPECT_EQ(float{Padded(0.5, {2}, DType::kFloat16).as<Half>()[1]}, 0.5f);
}

TEST(Batching, RefusesPaddingThatTheTypeCannotHold) {
  EXPECT_NE(Refusal(300, {2}, DType::kUInt8).find("uint8 can hold, but got 300"),
            std::string::npos);
  EXPECT_NE(Refusal(-1, {2}, DType::kUInt64), "");
  EXPECT_NE(Refusal(0x1p63, {2}, DType::kInt64), "");
  EXPECT_NE(Refusal(0x1p64, {2}, DType::kUInt64), "");
  EXPECT_NE(Refusal(0.5, {2}, DType::kInt32), "");
  EXPECT_NE(Refusal(1e300, {2}, DType::kInt32), "");
  EXPECT_NE(Refusal(std::numeric_limits<double>::quiet_NaN(), {2}, DType::kInt32), "");
  EXPECT_NE(Refusal(1e39, {2}, DType::kFloat32), "");
  EXPECT_EQ(Refusal(std::numeric_limits<double>::infinity(), {2}, DType::kFloat32), "");
}

TEST(Batching, RefusesExtentsThatWrapAround) {
  for (int64_t extent : {INT64_MAX, INT64_MAX / 2, INT64_MAX / 8}) {
    std::string text = Refusal(0, {extent}, DType::kInt64);
    EXPECT_NE(text.find("For 'padded_batch', column 'x'"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ms::dataset
