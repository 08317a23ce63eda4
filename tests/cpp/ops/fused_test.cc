// The op Fused: its text, its types, and what AnalyzeFused finds in bodies.
#include "ops/fused.h"

#include "ir/testing.h"
#include "ir/verify.h"

namespace ms {
namespace {

using Form = FusedBody::Form;
using Kind = FusedValue::Kind;

std::unique_ptr<Module> Body(const std::string& header, const std::string& lines) {
  return Parse("graph body(" + header + " {\n" + lines + "\n}\n");
}

std::string Refusal(const std::string& header, const std::string& lines) {
  FusedBody body;
  return AnalyzeFused(*Body(header, lines)->main(), &body);
}

const char kProgram[] = R"(
  graph main(x: Float32[4, 8], b: Float32[8]) -> (Float32[4, 8]) {
    %0 = Fused(x, b, body=@body)
    return %0
  }
  graph body(x: Float32[4, 8], b: Float32[8]) -> (Float32[4, 8]) {
    %0 = Add(x, b)
    %1 = Exp(%0)
    %2 = ReduceSum(%1, axis=[1], keep_dims=true)
    %3 = RealDiv(%1, %2)
    return %3
  })";

TEST(Fused, PrintsParsesAndVerifies) {
  auto module = Parse(kProgram);
  Verify(*module);
  EXPECT_TRUE(StructurallyEqual(*module, *Parse(Print(*module))));
  module->SweepGraphs();
  EXPECT_EQ(module->graphs().size(), 2u);
}

TEST(Fused, RefusesOtherInputs) {
  std::string text = kProgram;
  text.replace(text.find("b: Float32[8]"), 13, "b: Float32[4, 8]");
  EXPECT_THROW(Parse(text), Error);
}

TEST(Fused, AnalysesRows) {
  auto module = Parse(kProgram);
  FusedBody body;
  ASSERT_EQ(AnalyzeFused(*FusedGraph(*module->main()->outputs()[0].node), &body), "");
  EXPECT_EQ(body.form, Form::kRows);
  EXPECT_EQ(body.sizes, (Ints{4, 8}));
  EXPECT_EQ(body.reduced, (std::vector<bool>{false, true}));
  EXPECT_EQ(body.stages, 1);
  ASSERT_EQ(body.values.size(), 6u);
  EXPECT_EQ(body.values[1].strides, (Ints{0, 1}));
  EXPECT_EQ(body.values[4].kind, Kind::kReduce);
  EXPECT_TRUE(body.values[4].kept);
  EXPECT_EQ(body.values[5].stage, 1);
  ASSERT_EQ(body.outputs.size(), 1u);
  EXPECT_FALSE(body.outputs[0].kept);
}

TEST(Fused, MergesAxesAndReadsThroughViews) {
  FusedBody body;
  auto module = Body("x: Float32[2, 3, 4], y: Float32[4, 3, 2]) -> (Float32[24])",
                     "%0 = Transpose(y, perm=[2, 1, 0])\n%1 = Mul(x, %0)\n"
                     "%2 = Reshape(%1, shape=[24])\nreturn %2");
  ASSERT_EQ(AnalyzeFused(*module->main(), &body), "");
  EXPECT_EQ(body.form, Form::kElementwise);
  EXPECT_EQ(body.values[1].strides, (Ints{1, 2, 6}));
  module = Body("x: Float32[2, 3, 4], y: Float32[24]) -> (Float32[2, 3, 4])",
                "%0 = Reshape(y, shape=[2, 3, 4])\n%1 = Mul(x, %0)\nreturn %1");
  ASSERT_EQ(AnalyzeFused(*module->main(), &body), "");
  EXPECT_EQ(body.sizes, (Ints{24}));
  module = Body("x: Float32[6, 8]) -> (Float32[2, 3, 4])",
                "%0 = StridedSlice(x, begin=[1, 0], end=[4, 8], strides=[1, 1])\n"
                "%1 = Reshape(%0, shape=[3, 2, 4])\n%2 = Transpose(%1, perm=[1, 0, 2])\n"
                "%3 = Neg(%2)\nreturn %3");
  ASSERT_EQ(AnalyzeFused(*module->main(), &body), "");
  EXPECT_EQ(body.values[0].offset, 8);
  EXPECT_EQ(body.values[0].strides, (Ints{4, 8, 1}));
}

TEST(Fused, KnowsTheFormsOfReductions) {
  auto form = [](const std::string& axes, const std::string& shape) {
    FusedBody body;
    auto module = Body("x: Float32[2, 3, 4, 5]) -> (Float32" + shape + ")",
                       "%0 = ReduceSum(x, axis=" + axes + ", keep_dims=true)\nreturn %0");
    EXPECT_EQ(AnalyzeFused(*module->main(), &body), "");
    return body.form;
  };
  EXPECT_EQ(form("[2, 3]", "[2, 3, 1, 1]"), Form::kRows);
  EXPECT_EQ(form("[0, 1]", "[1, 1, 4, 5]"), Form::kColumns);
  EXPECT_EQ(form("[0, 2, 3]", "[1, 3, 1, 1]"), Form::kChannels);
  EXPECT_EQ(form("[]", "[1, 1, 1, 1]"), Form::kFull);
}

TEST(Fused, RefusesOtherBodies) {
  std::string header = "x: Float32[2, 3]) -> (Float32";
  EXPECT_EQ(Refusal(header + "[2])", "%0 = ReduceSum(x, axis=[1])\nreturn %0"),
            "a reduction drops its axes");
  EXPECT_EQ(Refusal(header + "[2, 3])", "%0 = Softmax(x)\nreturn %0"),
            "the op 'Softmax' is no view of an input");
  EXPECT_EQ(Refusal(header + "[1, 3])",
                    "%0 = ReduceSum(x, axis=[0], keep_dims=true)\n"
                    "%1 = ReduceSum(x, axis=[1], keep_dims=true)\n"
                    "%2 = ReduceMax(%1, axis=[0], keep_dims=true)\n"
                    "%3 = Mul(%0, %2)\nreturn %3"),
            "two reductions reduce different axes");
  EXPECT_EQ(Refusal(header + "[6])",
                    "%0 = Exp(x)\n%1 = Reshape(%0, shape=[6])\n"
                    "%2 = Exp(%1)\nreturn %2"),
            "an input of 'Exp' is no value of the body");
  EXPECT_EQ(Refusal("x: Float32[0, 3]) -> (Float32[0, 3])", "%0 = Exp(x)\nreturn %0"),
            "the space is empty");
}

}  // namespace
}  // namespace ms
