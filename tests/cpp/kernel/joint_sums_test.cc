// Sums that runs begin, and what becomes of those that nobody waits for.
#include "kernel/joint_sums.h"

#include <gtest/gtest.h>

#include <thread>

namespace ms {
namespace {

// Two members that have the same, so that a sum is twice that.
class Twice : public Group {
 public:
  Twice(std::string name, bool takes_time)
      : Group(std::move(name), {0, 1}, 0), takes_time_(takes_time) {}
  bool takes_time() const override { return takes_time_; }
  void AllReduce(const Exchange&, const void* in, void* out, int64_t count, DType,
                 Reduction) override {
    for (int64_t i = 0; i < count; ++i)
      static_cast<float*>(out)[i] = 2 * static_cast<const float*>(in)[i];
  }
  void Broadcast(const Exchange&, void*, int64_t, int) override {}
  void ReduceScatter(const Exchange&, const void*, void*, Counts, DType, Reduction) override {}
  void AllGather(const Exchange&, const void*, void*, Counts) override {}
  void AllToAll(const Exchange&, const void*, Counts, void*, Counts) override {}
  void Barrier(const Exchange&) override {}
  void Send(const Exchange&, const void*, int64_t, DType, int, int) override {}
  void Receive(const Exchange&, void*, int64_t, DType, int, int) override {}

 private:
  bool takes_time_;
};

std::shared_ptr<const JointSum> SumOfTwo(const std::string& group, bool takes_time) {
  if (!HasGroup(group)) AddGroup(group, std::make_shared<Twice>(group, takes_time));
  return std::make_shared<const JointSum>(
      JointSum{group, {1, 1}, {DType::kFloat32, DType::kFloat32}});
}

class JointSums : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, JointSums, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Hidden" : "AtTheEnd"; });

// As where Python code that a graph calls runs another graph, which fails.
TEST_P(JointSums, OfARunInsideAreItsOwn) {
  auto sum = SumOfTwo(GetParam() ? "hidden" : "plain", GetParam());
  auto other = SumOfTwo(GetParam() ? "other hidden" : "other plain", GetParam());
  float data[] = {1, 2}, inner = 5;
  SumScope scope;
  StartSum(sum, 0, &data[0], 0);
  {
    SumScope inside;
    StartSum(other, 1, &inner, 0);
    AbandonSums();
  }
  StartSum(sum, 1, &data[1], 0);
  AwaitSums(sum->group);
  EXPECT_EQ(data[0], 2);
  EXPECT_EQ(data[1], 4);
  EXPECT_EQ(inner, 5);
}

TEST_P(JointSums, EndWithTheirScope) {
  auto sum = SumOfTwo(GetParam() ? "hidden" : "plain", GetParam());
  float data[] = {1, 2};
  for (int round = 0; round < 2; ++round) {
    SumScope scope;
    StartSum(sum, 0, &data[0], 0);
  }
  SumScope scope;
  StartSum(sum, 0, &data[0], 0);
  StartSum(sum, 1, &data[1], 0);
  AwaitSums(sum->group);
  EXPECT_EQ(data[0], 2);
  EXPECT_EQ(data[1], 4);
}

// After two runs the members agree again, at the end of the second one.
TEST_P(JointSums, AreMadeOnceThoughTheirBucketsChange) {
  SumOfTwo(GetParam() ? "hidden" : "plain", GetParam());
  auto sum = std::make_shared<const JointSum>(
      JointSum{GetParam() ? "hidden" : "plain", {1, 1, 1}, std::vector<DType>(3, DType::kFloat32)});
  for (int run = 0; run < 4; ++run) {
    SetBucketWish(run == 0 ? BucketWish{{}, 1 << 20} : BucketWish{{1, 2}, 0});
    float data[] = {1, 2, 3};
    SumScope scope;
    for (size_t i = 0; i < 3; ++i) StartSum(sum, i, &data[i], 0);
    AwaitSums(sum->group);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(data[i], 2.0f * static_cast<float>(i + 1)) << run;
  }
  SetBucketWish({});
}

// Each group has its own thread: what is summed in one does not wait for another one.
TEST_P(JointSums, OfTwoGroupsGoOnBesideEachOther) {
  auto make = [&](const std::string& group) {
    SumOfTwo(group, GetParam());
    return std::make_shared<const JointSum>(
        JointSum{group, {1, 1}, {DType::kFloat32, DType::kFloat32}, true});
  };
  auto one = make(GetParam() ? "hidden one" : "plain one");
  auto two = make(GetParam() ? "hidden two" : "plain two");
  float a[] = {1, 2}, b[] = {3, 4};
  SumScope scope;
  StartSum(one, 0, &a[0], 0);
  StartSum(two, 0, &b[0], 0);
  StartSum(two, 1, &b[1], 0);
  AwaitSums(two->group);
  EXPECT_EQ(b[1], 8);
  StartSum(one, 1, &a[1], 0);
  AwaitSums(one->group);
  EXPECT_EQ(a[0], 2);
  EXPECT_EQ(a[1], 4);
}

// The thread of a device, which leaves out what follows an error: nothing is under way meanwhile.
TEST_P(JointSums, WithoutAScopeStartAnewAfterAnError) {
  auto sum = SumOfTwo(GetParam() ? "hidden" : "plain", GetParam());
  float lost[] = {1, 2}, data[] = {1, 2};
  std::thread device([&] {
    StartSum(sum, 0, &lost[0], 0);
    StartSum(sum, 0, &data[0], 0);
    StartSum(sum, 1, &data[1], 0);
    AwaitSums(sum->group);
  });
  device.join();
  EXPECT_EQ(lost[0], 1);
  EXPECT_EQ(data[0], 2);
  EXPECT_EQ(data[1], 4);
}

}  // namespace
}  // namespace ms
