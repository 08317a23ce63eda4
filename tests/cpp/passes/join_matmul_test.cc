// Products of matrices with the bias and the activation that follow, and packed matrices.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

Layouts AnyLayout(bool packs) {
  Layouts layouts;
  layouts.joins = [](const std::string&) { return true; };
  layouts.takes_bias = [](const KernelRequest&, bool) { return true; };
  if (packs) layouts.packed_matrix = [](const KernelRequest& r) { return r.in[1].shape().size(); };
  return layouts;
}

std::string Net(const std::string& body, const std::string& result = "Float32[2, 4]") {
  return "graph main(x: Float32[2, 3], w: Float32[4, 3], b: Float32[4]) -> (" + result + ") {\n" +
         body + "\n}\n";
}

// Inputs 1 and 2 are Parameters.
void Becomes(const std::string& before, const std::string& after, bool packs = false) {
  auto pass = [&](Module& m) {
    bool changed = JoinMatMulBias(m, AnyLayout(packs), {1, 2});
    return RemoveDeadCode(m) || changed;
  };
  ExpectPass(pass, before, after);
}

TEST(JoinMatMulBias, BiasAndActivationFollow) {
  Becomes(Net("%0 = MatMul(x, w, transpose_b=true)\n%1 = Reshape(b, shape=[1, 4])\n"
              "%2 = Add(%1, %0)\n%3 = GeLU(%2, approximate=\"none\")\nreturn %3"),
          Net("%0 = MatMulBias(x, w, b, transpose_b=true, activation=\"gelu\")\nreturn %0"));
}

TEST(JoinMatMulBias, ReshapesMoveBehind) {
  Becomes(Net("%0 = MatMul(x, w, transpose_b=true)\n%1 = Reshape(%0, shape=[1, 2, 4])\n"
              "%2 = Add(%1, b)\n%3 = Reshape(%2, shape=[2, 1, 4])\n%4 = ReLU(%3)\nreturn %4",
              "Float32[2, 1, 4]"),
          Net("%0 = MatMulBias(x, w, b, transpose_b=true, activation=\"relu\")\n"
              "%1 = Reshape(%0, shape=[2, 1, 4])\nreturn %1",
              "Float32[2, 1, 4]"));
}

TEST(JoinMatMulBias, BiasAlone) {
  Becomes(Net("%0 = MatMul(x, w, transpose_b=true)\n%1 = Add(%0, b)\nreturn %1"),
          Net("%0 = MatMulBias(x, w, b, transpose_b=true)\nreturn %0"));
}

TEST(JoinMatMulBias, WhatOtherWorkReadsStays) {
  for (const char* body : {"%1 = Add(%0, b)\n%2 = ReLU(%1)\n%3 = ReluGrad(%1, %2)\nreturn %3",
                           "%1 = Add(%0, b)\n%2 = Reshape(%1, shape=[1, 2, 4])\n%3 = Exp(%2)\n"
                           "%4 = Reshape(%3, shape=[2, 4])\nreturn %4",
                           "%1 = Add(%0, b)\n%2 = Mul(%0, %1)\nreturn %2"}) {
    std::string text = Net(std::string("%0 = MatMul(x, w, transpose_b=true)\n") + body);
    Becomes(text, text);
  }
}

TEST(JoinMatMulBias, ActivationsThatTheDeviceDoesNotJoinStay) {
  Layouts layouts = AnyLayout(true);
  layouts.joins = [](const std::string& name) { return name != "silu"; };
  auto pass = [&](Module& m) {
    bool changed = JoinMatMulBias(m, layouts, {1, 2});
    return RemoveDeadCode(m) || changed;
  };
  ExpectPass(pass,
             Net("%0 = MatMul(x, w, transpose_b=true)\n%1 = Add(%0, b)\n%2 = SiLU(%1)\nreturn %2"),
             Net("%0 = PackMatrix(w, transpose_b=true, rows=2, size=12)\n"
                 "%1 = MatMulBias(x, %0, b, transpose_b=true, y_shape=[4, 3])\n"
                 "%2 = SiLU(%1)\nreturn %2"));
}

TEST(JoinMatMulBias, AnAdditionOfRowsIsNoBias) {
  std::string rows = Net("%0 = MatMul(x, w, transpose_b=true)\n%1 = Add(%0, %0)\nreturn %1");
  Becomes(rows, rows);
  std::string columns =
      "graph main(x: Float32[4, 3], w: Float32[4, 3], b: Float32[4]) -> (Float32[4, 4]) {\n"
      "%0 = MatMul(x, w, transpose_b=true)\n%1 = Reshape(b, shape=[4, 1])\n"
      "%2 = Add(%0, %1)\nreturn %2\n}\n";
  Becomes(columns, columns);
}

TEST(JoinMatMulBias, SteadyMatricesArePacked) {
  Becomes(Net("%0 = MatMul(x, w, transpose_b=true)\n%1 = Add(%0, b)\nreturn %1"),
          Net("%0 = PackMatrix(w, transpose_b=true, rows=2, size=12)\n"
              "%1 = MatMulBias(x, %0, b, transpose_b=true, y_shape=[4, 3])\nreturn %1"),
          true);
  Becomes(Net("%0 = MatMul(x, w, transpose_b=true)\nreturn %0"),
          Net("%0 = PackMatrix(w, transpose_b=true, rows=2, size=12)\n"
              "%1 = MatMulPacked(x, %0, transpose_b=true, y_shape=[4, 3])\nreturn %1"),
          true);
  std::string computed =
      Net("%0 = Reshape(x, shape=[3, 2])\n%1 = MatMul(x, %0)\n%2 = MatMul(%1, x)\nreturn %2",
          "Float32[2, 3]");
  Becomes(computed, computed, true);
}

TEST(JoinMatMulBias, CastMatricesArePackedFromTheirSource) {
  auto net = [](const std::string& body) {
    return "graph main(x: BFloat16[2, 3], w: Float32[4, 3], b: BFloat16[4]) -> (BFloat16[2, 4]) "
           "{\n" +
           body + "\n}\n";
  };
  Layouts layouts = AnyLayout(true);
  layouts.takes_bias = [](const KernelRequest& r, bool) { return r.dtype(0) == DType::kFloat32; };
  auto pass = [&](Module& m) {
    bool changed = JoinMatMulBias(m, layouts, {1, 2});
    return RemoveDeadCode(m) || changed;
  };
  ExpectPass(
      pass,
      net("%0 = Cast(w, dtype=BFloat16)\n%1 = MatMul(x, %0, transpose_b=true)\n%2 = Add(%1, b)\n"
          "return %2"),
      net("%0 = PackMatrix(w, transpose_b=true, rows=2, size=12, dtype=BFloat16)\n"
          "%1 = MatMulPacked(x, %0, transpose_b=true, y_shape=[4, 3])\n%2 = Add(%1, b)\n"
          "return %2"));
}

TEST(SplitSteadyPart, LargeCastsAreKept) {
  auto module = Parse(
      "graph main(x: BFloat16[2, 128], w: Float32[64, 128]) -> (BFloat16[2, 64]) {\n"
      "%0 = Cast(w, dtype=BFloat16)\n%1 = MatMul(x, %0, transpose_b=true)\nreturn %1\n}\n");
  auto part = SplitSteadyPart(*module, {1});
  ASSERT_TRUE(part);
  RemoveDeadCode(*module);
  Verify(*module);
  EXPECT_EQ(part->main()->outputs().size(), 1u);
  EXPECT_EQ(module->main()->inputs().size(), 3u);
}

}  // namespace
}  // namespace ms
