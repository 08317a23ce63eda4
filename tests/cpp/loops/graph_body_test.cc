// A graph of elementwise ops as one tile program.
#include "loops/graph_body.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/cpu/codegen/tile_program.h"
#include "backends/cpu/isa/tables.h"
#include "ir/emitter.h"
#include "ops/all.h"

namespace ms::loops {
namespace {

class GraphBody : public testing::Test {
 protected:
  static void SetUpTestSuite() { SetOpSource(DefineAllOps); }

  Term Input(const Type& type) { return emitter_.Wrap({graph_->AddParameter(type, "x"), 0}); }
  Term Call(const char* op, const Terms& in, const NamedAttrs& attrs = {}) {
    return emitter_.Call(op, in, attrs);
  }
  // Runs the graph as one program.
  std::vector<Tensor> Run(const std::vector<Tensor>& in) {
    LoopBody body;
    EXPECT_EQ(BodyOfGraph(*graph_, &body), "");
    std::vector<Tensor> out;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const Tensor& t : in) inputs.push_back(t.raw());
    for (const Type& t : graph_->OutputTypes()) out.emplace_back(t.dtype(), t.shape());
    for (const Tensor& t : out) outputs.push_back(t.raw());
    cpu::TileProgram program;
    EXPECT_EQ(program.Compile(body, graph_->InputTypes(), out[0].shape(), cpu::Vectors()), "");
    program.Run(inputs.data(), outputs.data(), 0, program.size());
    return out;
  }

  Module module_;
  Graph* graph_ = module_.NewGraph("body");
  GraphEmitter emitter_{graph_};
};

TEST_F(GraphBody, JoinsOpsAndConstants) {
  Term x = Input(Type(DType::kFloat32, {2, 3}));
  Term y = Input(Type(DType::kFloat32, {3}));
  Term s = Call("GeLU", {x * y + 1.0});
  graph_->SetOutputs({s.var, Call("Greater", {s, y}).var});
  Tensor a = Tensor::FromVector<float>({-1, 0, 1, 2, 3, 4}, {2, 3});
  Tensor b = Tensor::FromVector<float>({1, 2, 3}, {3});
  std::vector<Tensor> out = Run({a, b});
  for (int i = 0; i < 6; ++i) {
    float v = a.data<float>()[i] * b.data<float>()[i % 3] + 1;
    float gelu = 0.5f * v * (1 + std::tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
    EXPECT_NEAR(out[0].data<float>()[i], gelu, 1e-5);
    EXPECT_EQ(out[1].data<bool>()[i], gelu > b.data<float>()[i % 3]);
  }
}

TEST_F(GraphBody, RoundsHalvesLikeSingleOps) {
  Term x = Input(Type(DType::kFloat16, {1}));
  Term one = emitter_.Scalar(1, DType::kFloat16);
  graph_->SetOutputs({((x + one) - x).var});
  EXPECT_EQ(Run({Tensor::Full(DType::kFloat16, {1}, 2048)})[0].Item(), 0);
}

TEST_F(GraphBody, RefusesOtherOps) {
  Term x = Input(Type(DType::kFloat32, {2, 3}));
  graph_->SetOutputs({Reshape(x, {3, 2}).var});
  LoopBody body;
  EXPECT_EQ(BodyOfGraph(*graph_, &body), "the op 'Reshape' is not elementwise");
}

}  // namespace
}  // namespace ms::loops
