// Batch normalisation over pixels with what follows it.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

bool Join(Module& module) {
  bool changed = JoinNormRelu(module);
  return RemoveDeadCode(module) || changed;
}

std::string Net(const std::string& body, const std::string& results) {
  return "graph main(x: Float32[2, 5, 6, 8], s: Float32[8], r: Float32[2, 5, 6, 8]) -> (" +
         results + ") {\n" + body + "\n}\n";
}

void Becomes(const std::string& before, const std::string& after,
             const std::string& results = "Float32[2, 5, 6, 8]") {
  ExpectPass(Join, Net(before, results), Net(after, results));
}

const std::string kNorm = "%0, %1, %2, %3, %4 = BatchNorm(x, s, s, s, s, data_format=\"NHWC\")\n";
const std::string kTwo = "Float32[2, 5, 6, 8], Float32[2, 5, 6, 8]";

TEST(JoinNorm, Activations) {
  Becomes(kNorm + "%5 = ReLU(%0)\nreturn %5",
          "%0, %1, %2, %3, %4 = BatchNormRelu(x, s, s, s, s)\nreturn %0");
  Becomes(kNorm + "%5 = ReLU6(%0)\nreturn %5",
          "%0, %1, %2, %3, %4 = BatchNormRelu(x, s, s, s, s, activation=\"relu6\")\nreturn %0");
  Becomes(kNorm + "%5 = Add(r, %0)\n%6 = ReLU(%5)\nreturn %6",
          "%0, %1, %2, %3, %4 = BatchNormAddRelu(x, s, s, s, s, r)\nreturn %0");
}

TEST(JoinNorm, GradientsOfReLU) {
  Becomes(kNorm +
              "%5 = ReLU(%0)\n%6 = ReluGrad(r, %5)\n"
              "%7, %8, %9 = BatchNormGrad(%6, x, s, %3, %4, data_format=\"NHWC\")\nreturn %5, %7",
          "%0, %1, %2, %3, %4 = BatchNormRelu(x, s, s, s, s)\n"
          "%5, %6, %7 = BatchNormReluGrad(r, x, s, s, %3, %4)\nreturn %0, %5",
          kTwo);
  Becomes(kNorm +
              "%5 = ReLU6(%0)\n%6 = ReLU6Grad(r, %0)\n"
              "%7, %8, %9 = BatchNormGrad(%6, x, s, %3, %4, data_format=\"NHWC\")\nreturn %5, %7",
          "%0, %1, %2, %3, %4 = BatchNormRelu(x, s, s, s, s, activation=\"relu6\")\n"
          "%5, %6, %7 = BatchNormReluGrad(r, x, s, s, %3, %4, activation=\"relu6\")\n"
          "return %0, %5",
          kTwo);
}

TEST(JoinNorm, TheGradientOfAShortcutIsAResult) {
  Becomes(kNorm +
              "%5 = Add(%0, r)\n%6 = ReLU(%5)\n%7 = ReluGrad(x, %6)\n"
              "%8, %9, %10 = BatchNormGrad(%7, x, s, %3, %4, data_format=\"NHWC\")\n"
              "%11 = Neg(%7)\nreturn %8, %11",
          "%0, %1, %2, %3, %4 = BatchNormAddRelu(x, s, s, s, s, r)\n"
          "%5, %6, %7, %8 = BatchNormAddReluGrad(x, %0, x, s, %3, %4)\n%9 = Neg(%8)\n"
          "return %5, %9",
          kTwo);
}

// The gradient still reads what comes before ReLU6: one normalisation serves both.
TEST(JoinNorm, NothingIsNormalisedTwiceForAGradientThatIsSpread) {
  std::string body = kNorm +
                     "%5 = ReLU6(%0)\n%6 = ReLU6Grad(s, %0)\n"
                     "%7, %8, %9 = BatchNormGrad(%6, x, s, %3, %4, data_format=\"NHWC\")\n"
                     "return %5, %7";
  Becomes(body, body, kTwo);
}

TEST(JoinNorm, WhatIsReadElsewhereStays) {
  for (const char* rest :
       {"%5 = ReLU(%0)\nreturn %5, %0", "%5 = ReLU6(%0)\n%6 = Neg(%0)\nreturn %5, %6",
        "%5 = Add(%0, %0)\n%6 = ReLU(%5)\nreturn %6, %5",
        "%5 = Neg(r)\n%6 = Add(%0, %5)\n%7 = ReLU(%6)\nreturn %7, %7"}) {
    Becomes(kNorm + rest, kNorm + rest, kTwo);
  }
  std::string plain =
      "graph main(x: Float32[2, 8, 5, 6], s: Float32[8]) -> (Float32[2, 8, 5, 6]) {\n"
      "%0, %1, %2, %3, %4 = BatchNorm(x, s, s, s, s)\n%5 = ReLU(%0)\nreturn %5\n}\n";
  ExpectPass(Join, plain, plain);
}

}  // namespace
}  // namespace ms
