// Snapshots: they share memory where nobody outside may write to it.
#include "tensor/exposure.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace ms {
namespace {

TEST(Snapshot, SharesMemoryAndKeepsItFromWriters) {
  Tensor tensor = Tensor::FromVector<float>({1, 2}, Shape{2});
  {
    Tensor snapshot = Snapshot(tensor);
    EXPECT_EQ(snapshot.raw(), tensor.raw());
    EXPECT_FALSE(tensor.unique());
    Tensor writer = tensor;
    writer.MakeUnique();
    writer.data<float>()[0] = 7;
    EXPECT_EQ(snapshot.data<float>()[0], 1);
  }
  EXPECT_TRUE(tensor.unique());
}

TEST(Snapshot, OutlivesTheTensor) {
  Tensor snapshot;
  {
    Tensor tensor = Tensor::FromVector<float>({1, 2, 3, 4}, Shape{4});
    snapshot = Snapshot(tensor.Piece(1, Shape{2}));
  }
  EXPECT_EQ(snapshot.shape(), (Shape{2}));
  EXPECT_EQ(snapshot.data<float>()[0], 2);
}

TEST(Snapshot, CopiesWhatIsExposedOrForeign) {
  Tensor tensor = Tensor::FromVector<float>({1}, Shape{1});
  Expose(tensor);
  EXPECT_NE(Snapshot(tensor).raw(), tensor.raw());
  Conceal(tensor);
  EXPECT_EQ(Snapshot(tensor).raw(), tensor.raw());
  float memory = 5;
  Tensor foreign(DType::kFloat32, Shape{1}, Buffer::Wrap(&memory, sizeof(memory), [] {}));
  Tensor snapshot = Snapshot(foreign);
  memory = 6;
  EXPECT_EQ(*snapshot.data<float>(), 5);
}

TEST(BeingWritten, IsToBeWaitedForByOtherThreads) {
  Tensor tensor = Tensor::FromVector<float>({1}, Shape{1}), other = tensor.Copy();
  EXPECT_FALSE(AnyBeingWritten());
  auto written = std::make_unique<BeingWritten>(true);
  written->Add(tensor);
  EXPECT_TRUE(AnyBeingWritten());
  EXPECT_TRUE(WritesTo({&tensor, 1}).empty());  // by this thread
  std::thread reader([&] {
    EXPECT_TRUE(WritesTo({&other, 1}).empty());
    std::vector<uint64_t> writes = WritesTo({&tensor, 1});
    ASSERT_EQ(writes.size(), 1u);
    EXPECT_FALSE(AwaitWrites(writes, std::chrono::milliseconds(1)));
    written.reset();
    EXPECT_TRUE(AwaitWrites(writes, std::chrono::milliseconds(1)));
  });
  reader.join();
  EXPECT_FALSE(AnyBeingWritten());
}

TEST(BeingWritten, ThatNeedsOthersToEndIsNotWaitedFor) {
  Tensor tensor = Tensor::FromVector<float>({1}, Shape{1});
  BeingWritten written(false);
  written.Add(tensor);
  std::thread([&] { EXPECT_TRUE(WritesTo({&tensor, 1}).empty()); }).join();
  EXPECT_NE(Snapshot(tensor).raw(), tensor.raw());
}

}  // namespace
}  // namespace ms
