// Values: their sizes, and sizes that no memory has.
#include "dataset/value.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ms::dataset {
namespace {

TEST(Value, CountsElements) {
  EXPECT_EQ(CountOf({}), 1);
  EXPECT_EQ(CountOf({2, 3, 4}), 24);
  EXPECT_EQ(CountOf({INT64_MAX}), INT64_MAX);
}

TEST(Value, AnEmptyAxisMakesAllEmpty) {
  EXPECT_EQ(CountOf({0, INT64_MAX, INT64_MAX}), 0);
  EXPECT_EQ(CountOf({INT64_MAX, INT64_MAX, 0}), 0);
  Value value = Value::Make(Element::Of(DType::kFloat64), MakeDims({INT64_MAX, INT64_MAX, 0}));
  EXPECT_EQ(value.bytes(), 0U);
}

TEST(Value, RefusesSizesThatWrapAround) {
  EXPECT_THROW(CountOf({65536, 65536, 65536, 65536}), Error);
  EXPECT_THROW(CountOf({INT64_MAX, 2}), Error);
  for (const Dims& dims : {Dims{65536, 65536, 65536, 65536}, Dims{INT64_MAX}, Dims{INT64_MAX / 8}})
    EXPECT_THROW(Value::Make(Element::Of(DType::kComplex128), MakeDims(dims)), Error);
}

TEST(Value, IntegersOfEveryType) {
  EXPECT_EQ(IntegerOf(Value::Scalar<int8_t>(-5), "it"), -5);
  EXPECT_EQ(IntegerOf(Value::Scalar<uint32_t>(UINT32_MAX), "it"), int64_t{UINT32_MAX});
  EXPECT_EQ(IntegerOf(Value::Scalar<bool>(true), "it"), 1);
  EXPECT_THROW(IntegerOf(Value::Scalar<float>(1), "it"), Error);
}

}  // namespace
}  // namespace ms::dataset
