// Tile programs against plain loops: broadcasting, half types, several outputs, writing in place.
#include "backends/cpu/codegen/tile_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backends/cpu/isa/tables.h"
#include "tensor/tensor.h"

namespace ms::cpu {
namespace {

ScalarNode Input(int index, DType dtype) {
  ScalarNode node{ScalarOp::kInput, dtype};
  node.input = index;
  return node;
}

ScalarNode Apply(ScalarOp op, DType dtype, int a, int b = -1, int c = -1) {
  ScalarNode node{op, dtype};
  node.args[0] = a;
  node.args[1] = b;
  node.args[2] = c;
  return node;
}

ScalarNode Number(double value, DType dtype) {
  ScalarNode node{ScalarOp::kConstant, dtype};
  node.value = value;
  return node;
}

Tensor Count(const Shape& shape, float first = 0) {
  Tensor t(DType::kFloat32, shape);
  std::iota(t.data<float>(), t.data<float>() + t.size(), first);
  return t;
}

constexpr DType kF32 = DType::kFloat32;

void Execute(const TileProgram& program, const std::vector<Tensor>& in,
             const std::vector<Tensor>& out) {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Tensor& t : in) inputs.push_back(t.raw());
  for (const Tensor& t : out) outputs.push_back(t.raw());
  // Two pieces, as two threads would.
  int64_t middle = program.size() / 3;
  program.Run(inputs.data(), outputs.data(), 0, middle);
  program.Run(inputs.data(), outputs.data(), middle, program.size());
}

struct BroadcastCase {
  Shape x;
  Shape y;
};

class Broadcasting : public testing::TestWithParam<BroadcastCase> {};

TEST_P(Broadcasting, EqualsIndexArithmetic) {
  const auto& [x_shape, y_shape] = GetParam();
  Shape shape;
  ASSERT_TRUE(Broadcast(x_shape, y_shape, &shape));
  Tensor x = Count(x_shape, 1);
  Tensor y = Count(y_shape, 1000);
  Tensor out(kF32, shape);
  loops::LoopBody body{{Input(0, kF32), Input(1, kF32), Apply(ScalarOp::kSub, kF32, 0, 1)}, {2}};
  TileProgram program;
  ASSERT_EQ(program.Compile(body, {Type(kF32, x_shape), Type(kF32, y_shape)}, shape, Vectors()),
            "");
  Execute(program, {x, y}, {out});

  auto element = [&](const Tensor& t, int64_t flat) {
    int64_t offset = 0;
    int64_t stride = 1;
    for (int axis = 1; axis <= t.shape().rank(); ++axis) {
      int64_t size = shape[shape.rank() - axis];
      int64_t own = t.shape()[t.shape().rank() - axis];
      offset += own == 1 ? 0 : (flat % size) * stride;
      stride *= own;
      flat /= size;
    }
    return t.data<float>()[offset];
  };
  for (int64_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out.data<float>()[i], element(x, i) - element(y, i)) << "at " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Broadcasting,
    testing::Values(BroadcastCase{{}, {}}, BroadcastCase{{5}, {}}, BroadcastCase{{1}, {7}},
                    BroadcastCase{{4, 3}, {3}}, BroadcastCase{{4, 1}, {1, 3}},
                    BroadcastCase{{70, 50}, {70, 1}}, BroadcastCase{{3000}, {3000}},
                    BroadcastCase{{2, 3, 40, 40}, {3, 1, 1}},
                    BroadcastCase{{2, 1, 4, 1, 5}, {3, 1, 6, 1}},
                    BroadcastCase{{2, 1, 2, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2, 1, 2}},
                    BroadcastCase{{1, 1, 1}, {2, 3, 4}}, BroadcastCase{{0, 3}, {3}}));

TEST(TileProgram, FusedBodyHasSeveralOutputs) {
  // s = (x + 1) * y; outputs s, s > 10 and exp(x + 1), over more than one tile.
  loops::LoopBody body{
      {Input(0, kF32), Number(1, kF32), Apply(ScalarOp::kAdd, kF32, 0, 1), Input(1, kF32),
       Apply(ScalarOp::kMul, kF32, 2, 3), Number(10, kF32),
       Apply(ScalarOp::kGreater, DType::kBool, 4, 5), Apply(ScalarOp::kExp, kF32, 2)},
      {4, 6, 7}};
  Shape shape{5000};
  Tensor x = Tensor::Full(kF32, shape, 0.5);
  Tensor y = Count(shape);
  std::vector<Tensor> out{Tensor(kF32, shape), Tensor(DType::kBool, shape), Tensor(kF32, shape)};
  TileProgram program;
  ASSERT_EQ(program.Compile(body, {Type(kF32, shape), Type(kF32, shape)}, shape, Vectors()), "");
  Execute(program, {x, y}, out);
  for (int64_t i = 0; i < shape.size(); ++i) {
    float s = 1.5f * y.data<float>()[i];
    ASSERT_EQ(out[0].data<float>()[i], s);
    ASSERT_EQ(out[1].data<bool>()[i], s > 10);
    ASSERT_NEAR(out[2].data<float>()[i], std::exp(1.5f), 1e-6);
  }
  EXPECT_TRUE(program.MayOverwrite(0, 0));
}

TEST(TileProgram, KnowsWhichInputsAreStillNeeded) {
  loops::LoopBody body{{Input(0, kF32), Input(1, kF32), Apply(ScalarOp::kNeg, kF32, 0),
                        Apply(ScalarOp::kMul, kF32, 0, 1)},
                       {2, 3}};
  TileProgram program;
  ASSERT_EQ(program.Compile(body, {Type(kF32, {9}), Type(kF32, {9})}, {9}, Vectors()), "");
  EXPECT_FALSE(program.MayOverwrite(0, 0));
  EXPECT_FALSE(program.MayOverwrite(0, 1));
  EXPECT_TRUE(program.MayOverwrite(1, 0));
  EXPECT_TRUE(program.MayOverwrite(1, 1));
}

TEST(TileProgram, WritesOverItsInput) {
  loops::LoopBody body{{Input(0, kF32), Input(1, kF32), Apply(ScalarOp::kTanh, kF32, 0),
                        Apply(ScalarOp::kMul, kF32, 2, 1), Apply(ScalarOp::kAdd, kF32, 3, 0)},
                       {4}};
  Shape shape{4097};
  Tensor x = Count(shape, -2000);
  Tensor y = Tensor::Full(kF32, shape, 2);
  Tensor kept = x.Copy();
  TileProgram program;
  ASSERT_EQ(program.Compile(body, {Type(kF32, shape), Type(kF32, shape)}, shape, Vectors()), "");
  ASSERT_TRUE(program.MayOverwrite(0, 0));
  Execute(program, {x, y}, {x});
  for (int64_t i = 0; i < shape.size(); ++i) {
    float v = kept.data<float>()[i];
    ASSERT_NEAR(x.data<float>()[i], std::tanh(v) * 2 + v, 1e-4);
  }
}

TEST(TileProgram, HalfTypesComputeInFloat) {
  // 2048 + 1 is not a Float16, but the sum 2048 + 1 - 2048 is exact in float.
  constexpr DType h = DType::kFloat16;
  loops::LoopBody body{
      {Input(0, h), Number(1, h), Apply(ScalarOp::kAdd, h, 0, 1), Apply(ScalarOp::kSub, h, 2, 0)},
      {3}};
  Shape shape{33};
  Tensor x = Tensor::Full(h, shape, 2048);
  Tensor out(h, shape);
  TileProgram program;
  ASSERT_EQ(program.Compile(body, {Type(h, shape)}, shape, Vectors()), "");
  Execute(program, {x}, {out});
  for (int64_t i = 0; i < shape.size(); ++i)
    ASSERT_EQ(static_cast<float>(out.data<Half>()[i]), 1.0f);
}

TEST(TileProgram, CastToHalfRoundsInsideABody) {
  constexpr DType h = DType::kFloat16;
  loops::LoopBody body{
      {Input(0, kF32), Apply(ScalarOp::kCast, h, 0), Apply(ScalarOp::kCast, kF32, 1)}, {2}};
  Tensor x = Tensor::Full(kF32, {3}, 2049);
  Tensor out(kF32, {3});
  TileProgram program;
  ASSERT_EQ(program.Compile(body, {Type(kF32, {3})}, {3}, Vectors()), "");
  Execute(program, {x}, {out});
  EXPECT_EQ(out.data<float>()[0], 2048.0f);
}

TEST(TileProgram, LongBodiesReuseRegistersOrRefuse) {
  loops::LoopBody chain{{Input(0, kF32)}, {}};
  for (int i = 0; i < 500; ++i) chain.nodes.push_back(Apply(ScalarOp::kNeg, kF32, i));
  chain.outputs = {500};
  TileProgram program;
  EXPECT_EQ(program.Compile(chain, {Type(kF32, {9})}, {9}, Vectors()), "");

  loops::LoopBody wide{{Input(0, kF32)}, {}};
  for (int i = 0; i < 300; ++i) wide.nodes.push_back(Number(i, kF32));
  for (int i = 0; i < 300; ++i)
    wide.nodes.push_back(Apply(ScalarOp::kAdd, kF32, i == 0 ? 0 : 300 + i, i + 1));
  wide.outputs = {600};
  TileProgram refused;
  EXPECT_NE(refused.Compile(wide, {Type(kF32, {9})}, {9}, Vectors()), "");
}

TEST(TileProgram, IntegerDivisionNeverTraps) {
  constexpr DType t = DType::kInt32;
  for (ScalarOp op :
       {ScalarOp::kFloorDiv, ScalarOp::kFloorMod, ScalarOp::kTruncDiv, ScalarOp::kTruncMod}) {
    loops::LoopBody body{{Input(0, t), Input(1, t), Apply(op, t, 0, 1)}, {2}};
    Tensor x = Tensor::FromVector<int32_t>({INT32_MIN, 7, -7, 0}, {4});
    Tensor y = Tensor::FromVector<int32_t>({-1, 0, 0, 0}, {4});
    Tensor out(t, {4});
    TileProgram program;
    ASSERT_EQ(program.Compile(body, {Type(t, {4}), Type(t, {4})}, {4}, Vectors()), "");
    Execute(program, {x, y}, {out});
    bool quotient = op == ScalarOp::kFloorDiv || op == ScalarOp::kTruncDiv;
    EXPECT_EQ(out.data<int32_t>()[0], quotient ? INT32_MIN : 0);
    for (int i = 1; i < 4; ++i) EXPECT_EQ(out.data<int32_t>()[i], 0);
  }
}

}  // namespace
}  // namespace ms::cpu
