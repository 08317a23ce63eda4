// Fields of MindRecord rows as columns: alone and joined, of one width and shape, and what is
// neither.
#include "dataset/mindrecord/record_column.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"

namespace ms {
namespace {

using dataset::Dims;
using dataset::Kind;
using dataset::Value;

RecordValue Content(std::string bytes, std::vector<int64_t> dims = {}) {
  RecordValue value;
  value.bytes = std::move(bytes);
  value.dims = std::move(dims);
  return value;
}

RecordValue Number(int64_t integer, double real) {
  RecordValue value;
  value.integer = integer;
  value.real = real;
  return value;
}

std::string BytesOf(const Value& value) {
  return std::string(reinterpret_cast<const char*>(value.data), value.bytes());
}

Value Joined(const RecordField& field, const std::vector<RecordValue>& values) {
  RecordColumn column(field, values.size());
  for (const RecordValue& value : values) EXPECT_TRUE(column.Add(value));
  return std::move(column).Take();
}

Value Alone(const RecordField& field, const RecordValue& value) {
  RecordColumn column(field, std::nullopt);
  EXPECT_TRUE(column.Add(value));
  return std::move(column).Take();
}

TEST(RecordColumn, NumbersHaveTheTypeOfTheField) {
  Value ints = Joined({"a", RecordType::kInt32, {}}, {Number(-7, 0), Number(1 << 30, 0)});
  EXPECT_EQ(*ints.dims, Dims{2});
  EXPECT_EQ(ints.as<int32_t>()[0], -7);
  EXPECT_EQ(ints.as<int32_t>()[1], 1 << 30);
  EXPECT_EQ(*Alone({"a", RecordType::kInt64, {}}, Number(INT64_MIN, 0)).as<int64_t>(), INT64_MIN);
  EXPECT_EQ(*Alone({"a", RecordType::kFloat32, {}}, Number(0, 0.1)).as<float>(), 0.1f);
  Value real = Alone({"a", RecordType::kFloat64, {}}, Number(0, 0.1));
  EXPECT_EQ(*real.as<double>(), 0.1);
  EXPECT_TRUE(real.dims->empty());
}

TEST(RecordColumn, BytesAreAsWideAsTheLongestAndNeverEmpty) {
  RecordField field{"a", RecordType::kBytes, {}};
  Value value = Joined(field, {Content("ab"), Content(""), Content("abcd"), Content("x")});
  EXPECT_EQ(value.element.kind, Kind::kBytes);
  EXPECT_EQ(value.element.size, 4u);
  EXPECT_EQ(*value.dims, (Dims{4, 1}));
  EXPECT_EQ(BytesOf(value), std::string("ab\0\0\0\0\0\0abcdx\0\0\0", 16));
  Value none = Alone(field, Content(""));
  EXPECT_EQ(none.element.size, 1u);
  EXPECT_EQ(*none.dims, Dims{1});
  EXPECT_EQ(BytesOf(none), std::string(1, '\0'));
  EXPECT_EQ(BytesOf(Joined(field, {Content(""), Content("")})), std::string(2, '\0'));
}

TEST(RecordColumn, TextsAreMendedAndAsWideAsTheLongest) {
  RecordField field{"a", RecordType::kString, {}};
  Value value = Joined(field, {Content("a"), Content("\xC3\xA9z"), Content("\xFF")});
  EXPECT_EQ(value.element.kind, Kind::kText);
  EXPECT_EQ(value.element.size, 8u);
  EXPECT_EQ(*value.dims, Dims{3});
  uint32_t points[6];
  std::memcpy(points, value.data, sizeof(points));
  EXPECT_EQ(std::vector<uint32_t>(points, points + 6),
            (std::vector<uint32_t>{'a', 0, 0xE9, 'z', 0xFFFD, 0}));
  EXPECT_TRUE(Alone(field, Content("a")).dims->empty());
}

TEST(RecordColumn, ArraysAreJoinedWhereTheirShapesAreOne) {
  RecordField field{"a", RecordType::kFloat32, std::vector<int64_t>{-1, 2}};
  float numbers[] = {1, 2, 3, 4};
  std::string bytes(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  Value value = Joined(field, {Content(bytes, {2, 2}), Content(bytes, {2, 2})});
  EXPECT_EQ(*value.dims, (Dims{2, 2, 2}));
  EXPECT_EQ(BytesOf(value), bytes + bytes);
  RecordColumn column(field, 2);
  EXPECT_TRUE(column.Add(Content(bytes, {2, 2})));
  EXPECT_FALSE(column.Add(Content(bytes.substr(8), {1, 2})));
  EXPECT_EQ(*Alone(field, Content("", {0, 2})).dims, (Dims{0, 2}));
}

TEST(RecordColumn, AnArrayOfAnotherSizeThanItsShapeIsAnError) {
  RecordField field{"lengths", RecordType::kInt64, std::vector<int64_t>{2}};
  for (size_t size : {0, 8, 15, 24}) {
    RecordColumn column(field, std::nullopt);
    try {
      column.Add(Content(std::string(size, 'x'), {2}));
      ADD_FAILURE() << size << " bytes were taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      EXPECT_EQ(error.message(),
                fmt::format("The field 'lengths' of a MindRecord file must have 16 bytes, but has "
                            "{}.",
                            size));
    }
  }
}

TEST(RecordColumn, WhatWasReadIsTakenFromTheReader) {
  std::string memory = "of the reader";
  RecordValue value = Content("older");
  value.content = std::string_view(memory).substr(3, 3);
  EXPECT_EQ(BytesOf(Alone({"a", RecordType::kBytes, {}}, value)), "the");
}

}  // namespace
}  // namespace ms
