// Convolutions of inference with their epilogues, and what is prepared once.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

Layouts AnyLayout() {
  Layouts layouts;
  layouts.joins = [](const std::string&) { return true; };
  layouts.packed_size = [](const KernelRequest& r) { return r.in[1].shape().size(); };
  return layouts;
}

// Inputs 1 to 3 are Parameters.
bool Prepare(Module& module) {
  bool changed = PrepareConvolutions(module, AnyLayout(), {1, 2, 3});
  return RemoveDeadCode(module) || changed;
}

constexpr const char* kAttrs =
    "out_channel=4, kernel_size=[1], data_format=\"NHWC\", weight_format=\"OIHW\"";
constexpr const char* kPacked =
    "out_channel=4, kernel_size=[1], data_format=\"NHWC\", weight_format=\"packed\", "
    "filter_size=[4, 4, 1, 1]";

// {0} stands for the attributes of a plain convolution, {1} for those of one with a packed weight,
// {2} for those of the packing.
std::string Net(const std::string& body) {
  std::string pack = std::string(kAttrs) + ", input_size=[2, 5, 6, 4], size=16";
  return "graph main(x: Float32[2, 5, 6, 4], w: Float32[4, 4, 1, 1], b: Float32[4], "
         "v: Float32[4]) -> (Float32[2, 5, 6, 4]) {\n" +
         fmt::format(fmt::runtime(body), kAttrs, kPacked, pack) + "\n}\n";
}

void Becomes(const std::string& before, const std::string& after) {
  ExpectPass(Prepare, Net(before), Net(after));
}

TEST(PrepareConvolutions, NormalisationGoesIntoTheWeight) {
  Becomes(
      "%0 = Conv2D(x, w, {0})\n"
      "%1 = BatchNormInference(%0, b, b, b, v, epsilon=0.5, data_format=\"NHWC\")\n"
      "%2 = ReLU6(%1)\nreturn %2",
      "%0 = Constant(Float32[] [0.5])\n%1 = Add(v, %0)\n%2 = Rsqrt(%1)\n%3 = Mul(b, %2)\n"
      "%4 = Reshape(%3, shape=[4, 1, 1, 1])\n%5 = Mul(w, %4)\n%6 = Mul(b, %3)\n%7 = Sub(b, %6)\n"
      "%8 = PackWeight(%5, {2}, activation=\"relu6\")\n"
      "%9 = Conv2DBias(x, %8, %7, {1}, activation=\"relu6\")\nreturn %9");
}

TEST(PrepareConvolutions, BiasAdditionAndActivationFollow) {
  Becomes(
      "%0 = Conv2D(x, w, {0})\n%1 = Reshape(b, shape=[1, 1, 1, 4])\n%2 = Add(%0, %1)\n"
      "%3 = Neg(x)\n%4 = Add(%3, %2)\n%5 = ReLU(%4)\nreturn %5",
      "%0 = Reshape(b, shape=[1, 1, 1, 4])\n%1 = Neg(x)\n%2 = Reshape(%0, shape=[4])\n"
      "%3 = PackWeight(w, {2}, activation=\"relu\", adds=true)\n"
      "%4 = Conv2DBiasAdd(x, %3, %2, %1, {1}, activation=\"relu\")\nreturn %4");
}

TEST(PrepareConvolutions, BiasScaleAndNormalisationFoldInTheirOrder) {
  Becomes(
      "%0 = Conv2D(x, w, {0})\n%1 = Add(%0, b)\n%2 = Mul(v, %1)\n"
      "%3 = BatchNormInference(%2, b, b, b, v, epsilon=0.5, data_format=\"NHWC\")\n"
      "%4 = HSwish(%3)\nreturn %4",
      "%0 = Mul(b, v)\n%1 = Constant(Float32[] [0.5])\n%2 = Add(v, %1)\n%3 = Rsqrt(%2)\n"
      "%4 = Mul(b, %3)\n%5 = Sub(b, %0)\n%6 = Mul(v, %4)\n%7 = Mul(%5, %4)\n"
      "%8 = Sub(b, %7)\n%9 = Reshape(%6, shape=[4, 1, 1, 1])\n%10 = Mul(w, %9)\n"
      "%11 = PackWeight(%10, {2}, activation=\"hswish\")\n"
      "%12 = Conv2DBias(x, %11, %8, {1}, activation=\"hswish\")\nreturn %12");
}

TEST(PrepareConvolutions, FoldsInFloat32ForBFloat16) {
  auto net = [](const std::string& body) {
    return "graph main(x: BFloat16[2, 5, 6, 4], w: Float32[4, 4, 1, 1], b: Float32[4], v: "
           "Float32[4]) -> (BFloat16[2, 5, 6, 4]) {\n" +
           fmt::format(fmt::runtime(body), kAttrs, kPacked,
                       std::string(kAttrs) + ", input_size=[2, 5, 6, 4], size=16") +
           "\n}\n";
  };
  ExpectPass(Prepare,
             net("%0 = Cast(w, dtype=BFloat16)\n%1 = Conv2D(x, %0, {0})\n"
                 "%2 = BatchNormInference(%1, b, b, b, v, epsilon=0.5, data_format=\"NHWC\")\n"
                 "return %2"),
             net("%0 = Constant(Float32[] [0.5])\n%1 = Add(v, %0)\n%2 = Rsqrt(%1)\n"
                 "%3 = Mul(b, %2)\n%4 = Reshape(%3, shape=[4, 1, 1, 1])\n%5 = Mul(w, %4)\n"
                 "%6 = Mul(b, %3)\n%7 = Sub(b, %6)\n%8 = Cast(%7, dtype=BFloat16)\n"
                 "%9 = PackWeight(%5, {2}, dtype=BFloat16)\n"
                 "%10 = Conv2DBias(x, %9, %8, {1})\nreturn %10"));
}

TEST(PrepareConvolutions, WeightsThatChangeStay) {
  Becomes(
      "%0 = Neg(x)\n%1 = Reshape(%0, shape=[240])\n%2 = Slice(%1, begin=[0], size=[16])\n"
      "%3 = Reshape(%2, shape=[4, 4, 1, 1])\n%4 = Conv2D(x, %3, {0})\nreturn %4",
      "%0 = Neg(x)\n%1 = Reshape(%0, shape=[240])\n%2 = Slice(%1, begin=[0], size=[16])\n"
      "%3 = Reshape(%2, shape=[4, 4, 1, 1])\n%4 = Conv2D(x, %3, {0})\nreturn %4");
}

TEST(SplitSteadyPart, LeavesWhatChanges) {
  auto module = Parse(
      Net("%0 = Neg(b)\n%1 = PackWeight(w, {2})\n%2 = Conv2DBias(x, %1, %0, {1})\nreturn %2"));
  auto part = SplitSteadyPart(*module, {1, 2, 3});
  ASSERT_TRUE(part);
  RemoveDeadCode(*module);
  Verify(*module);
  Verify(*part);
  EXPECT_TRUE(testing::SameGraphs(
      *module,
      "graph main(x: Float32[2, 5, 6, 4], w: Float32[4, 4, 1, 1], b: Float32[4], v: Float32[4], "
      "p: Float32[16], n: Float32[4]) -> (Float32[2, 5, 6, 4]) {\n%0 = Conv2DBias(x, p, n, " +
          std::string(kPacked) + ")\nreturn %0\n}\n"));
  EXPECT_EQ(part->main()->outputs().size(), 2u);
  EXPECT_EQ(part->main()->inputs().size(), 4u);
}

TEST(SplitSteadyPart, UpdatedParametersAreNotSteady) {
  auto module = Parse(
      Net("%0 = Neg(b)\n%1 = PackWeight(w, {2})\n%2 = Conv2DBias(x, %1, %0, {1})\nreturn %2"));
  module->main()->updates = {{0, 1}, {0, 2}, {0, 3}};
  EXPECT_FALSE(SplitSteadyPart(*module, {1, 2, 3}));
}

}  // namespace
}  // namespace ms
