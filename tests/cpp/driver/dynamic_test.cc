// Programs of dynamic sizes: numbers take the place of symbols, shapes that do not fit are named,
// and plans are kept for the latest sizes only.
#include "driver/dynamic.h"

#include <gmock/gmock.h>

#include "driver/compile.h"
#include "ir/op.h"
#include "runtime/testing.h"

namespace ms::testing {
namespace {

const Dim n = Dim::Symbol(0);
const CompileOptions kTest{"Test"};

// x * x / n of x [n, 3]; the division is by a SizeScalar.
std::shared_ptr<Module> Squares() {
  auto module = std::make_shared<Module>();
  Builder b(*module, "squares");
  Term x = b.In(Type(DType::kFloat32, {n, Dim(3)}), "x");
  b.Return({x * x / n});
  module->set_main(b.graph);
  return module;
}

DimScope ScopeOf(int64_t hint) {
  DimScope scope;
  scope.hints = {hint};
  return scope;
}

TEST(Dynamic, OneCompileServesAllSizes) {
  auto executable = Compile(Squares(), kTest, ScopeOf(4));
  ASSERT_NE(executable->dynamic(), nullptr);
  size_t runs = PassRuns();
  for (int64_t rows = 1; rows <= 20; ++rows) {
    Tensor x = Tensor::Full(DType::kFloat32, {rows, 3}, 2);
    std::vector<RtValue> outputs;
    executable->Run(std::span(&x, 1), &outputs, nullptr);
    EXPECT_EQ(outputs[0].tensor().shape(), (Shape{rows, 3}));
    EXPECT_FLOAT_EQ(outputs[0].tensor().data<float>()[2], 4.0f / static_cast<float>(rows));
  }
  EXPECT_EQ(PassRuns(), runs);
  EXPECT_EQ(executable->dynamic()->planned(), 20u);
}

TEST(Dynamic, NamesTheInputThatDoesNotFit) {
  auto executable = Compile(Squares(), kTest, ScopeOf(4));
  Tensor wide = Tensor::Full(DType::kFloat32, {2, 4}, 1);
  std::vector<RtValue> outputs;
  try {
    executable->Run(std::span(&wide, 1), &outputs, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("dimension 1 of 'x' must be 3"));
  }
}

TEST(Dynamic, HintsAreAPartOfWhatIsCached) {
  EXPECT_EQ(Compile(Squares(), kTest, ScopeOf(4)), Compile(Squares(), kTest, ScopeOf(4)));
  EXPECT_NE(Compile(Squares(), kTest, ScopeOf(4)), Compile(Squares(), kTest, ScopeOf(1)));
}

TEST(Dynamic, SpecialiseLeavesNoSymbol) {
  auto known = Specialise(*Squares(), Ints{5});
  EXPECT_FALSE(HasSymbols(*known));
  for (const Node* node : known->main()->nodes()) {
    for (const Type& type : node->outputs) EXPECT_FALSE(type.shape().symbolic());
    if (node->attrs) {
      EXPECT_FALSE(HasSymbols(*node->attrs));
    }
  }
}

}  // namespace
}  // namespace ms::testing
