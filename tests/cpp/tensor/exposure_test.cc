// Snapshots: they share memory where nobody outside may write to it.
#include "tensor/exposure.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ms
