// Accuracy of the float polynomials against float64 on 10^6 points, for every instruction set of
// this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/isa/tables.h"

namespace ms::cpu {
namespace {

constexpr int kPoints = 1000000;

struct Function {
  const char* name;
  ScalarOp op;
  double (*exact)(double);
  double low;
  double high;
  double ulps;
};

double ExactSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Function kFunctions[] = {
    {"exp", ScalarOp::kExp, std::exp, -103, 88.7, 2},
    {"exp", ScalarOp::kExp, std::exp, -1, 1, 2},
    {"log", ScalarOp::kLog, std::log, 1e-38, 3, 2},
    {"log", ScalarOp::kLog, std::log, 1e-3, 1e5, 2},
    {"tanh", ScalarOp::kTanh, std::tanh, -10, 10, 2},
    {"tanh", ScalarOp::kTanh, std::tanh, -1, 1, 2},
    {"erf", ScalarOp::kErf, std::erf, -5, 5, 2},
    {"erf", ScalarOp::kErf, std::erf, -1.1, 1.1, 2},
    {"sigmoid", ScalarOp::kSigmoid, ExactSigmoid, -87, 100, 2},
    {"sigmoid", ScalarOp::kSigmoid, ExactSigmoid, -10, 10, 2},
    {"sin", ScalarOp::kSin, std::sin, -1e6, 1e6, 2},
    {"cos", ScalarOp::kCos, std::cos, -1000, 1000, 2},
    {"expm1", ScalarOp::kExpm1, std::expm1, -20, 88.7, 2},
    {"expm1", ScalarOp::kExpm1, std::expm1, -1, 1, 2},
    {"log1p", ScalarOp::kLog1p, std::log1p, -0.99999, 100, 2},
    {"tan", ScalarOp::kTan, std::tan, -10, 10, 2},
    {"tan", ScalarOp::kTan, std::tan, -1e6, 1e6, 2},
    {"atan", ScalarOp::kAtan, std::atan, -1.5, 1.5, 2},
    {"atan", ScalarOp::kAtan, std::atan, -1000, 1000, 2},
};

double Ulps(float got, double exact) {
  float rounded = static_cast<float>(exact);
  double unit = std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity()) -
                std::fabs(rounded);
  return std::fabs(got - exact) / unit;
}

class VectorMath : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > MachineIsa()) GTEST_SKIP() << "not on this processor";
    table_ = MakeVectors(GetParam());
  }
  std::vector<float> Apply(ScalarOp op, const std::vector<float>& x) const {
    std::vector<float> y(x.size());
    table_.Get(op, DType::kFloat32)(y.data(), x.data(), x.data(), x.data(),
                                    static_cast<int64_t>(x.size()));
    return y;
  }
  VectorTable table_;
};

TEST_P(VectorMath, IsWithinTwoUlps) {
  for (const Function& f : kFunctions) {
    std::vector<float> x(kPoints);
    for (int i = 0; i < kPoints; ++i)
      x[i] = static_cast<float>(f.low + (f.high - f.low) * i / (kPoints - 1));
    std::vector<float> y = Apply(f.op, x);
    double worst = 0;
    float where = 0;
    for (int i = 0; i < kPoints; ++i) {
      double ulps = Ulps(y[i], f.exact(x[i]));
      if (!(ulps <= worst)) {
        worst = ulps;
        where = x[i];
      }
    }
    EXPECT_LE(worst, f.ulps) << f.name << " at " << where;
  }
}

TEST_P(VectorMath, KeepsSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0f, -0.0f, inf, -inf, nan, 1e-40f, 3e38f, -3e38f, -1.0f, -2.0f};
  for (const Function& f : kFunctions) {
    std::vector<float> y = Apply(f.op, x);
    for (size_t i = 0; i < x.size(); ++i) {
      float exact = static_cast<float>(f.exact(x[i]));
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(y[i])) << f.name << "(" << x[i] << ")";
      } else {
        EXPECT_FLOAT_EQ(y[i], exact) << f.name << "(" << x[i] << ")";
      }
    }
  }
}

struct BinaryFunction {
  const char* name;
  ScalarOp op;
  double (*exact)(double, double);
  double low_x, high_x, low_y, high_y;
  double ulps;
};

const BinaryFunction kBinaryFunctions[] = {
    {"pow", ScalarOp::kPow, std::pow, 0, 10, -5, 5, 1},
    {"pow", ScalarOp::kPow, std::pow, 0.99, 1.01, -9000, 9000, 1},
    {"pow", ScalarOp::kPow, std::pow, 0, 1e38, -1.2, 1, 1},
    {"atan2", ScalarOp::kAtan2, std::atan2, -3, 3, -3, 3, 2},
    {"atan2", ScalarOp::kAtan2, std::atan2, -1e-3, 1e-3, -1e4, 1e4, 2},
    {"fmod", ScalarOp::kTruncMod, std::fmod, -1e3, 1e3, -3, 3, 0},
    {"fmod", ScalarOp::kTruncMod, std::fmod, -1e30, 1e30, -1e20, 1e25, 0},
};

TEST_P(VectorMath, BinaryFunctionsAreExactEnough) {
  std::mt19937_64 random(7);
  for (const BinaryFunction& f : kBinaryFunctions) {
    std::uniform_real_distribution<double> xs(f.low_x, f.high_x), ys(f.low_y, f.high_y);
    std::vector<float> x(kPoints), y(kPoints), z(kPoints);
    for (int i = 0; i < kPoints; ++i) {
      x[i] = static_cast<float>(xs(random));
      y[i] = static_cast<float>(ys(random));
    }
    table_.Get(f.op, DType::kFloat32)(z.data(), x.data(), y.data(), nullptr, kPoints);
    double worst = 0;
    int where = 0;
    for (int i = 0; i < kPoints; ++i) {
      double exact = f.exact(x[i], y[i]);
      double ulps = static_cast<float>(exact) == z[i] ? 0 : Ulps(z[i], exact);
      if (!(ulps <= worst)) worst = ulps, where = i;
    }
    EXPECT_LE(worst, f.ulps) << f.name << " at " << x[where] << ", " << y[where];
  }
}

// Every pair of special values, among ordinary ones and alone, written over an input.
TEST_P(VectorMath, BinaryFunctionsKeepSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {0.0f,  -0.0f,  inf,   -inf,  std::nanf(""), 1e-40f, -1e-40f,
                                      3e38f, -3e38f, 1.0f,  -1.0f, 2.0f,          -2.0f,  0.5f,
                                      -0.5f, 3.0f,   -3.0f, 1e10f, 5.5f};
  std::vector<float> x, y;
  for (float a : special) {
    for (float b : special) x.push_back(a), y.push_back(b);
  }
  auto n = static_cast<int64_t>(x.size());
  for (const BinaryFunction& f : kBinaryFunctions) {
    std::vector<float> all = x;
    table_.Get(f.op, DType::kFloat32)(all.data(), all.data(), y.data(), nullptr, n);
    for (size_t i = 0; i < x.size(); ++i) {
      float one = 0;
      table_.Get(f.op, DType::kFloat32)(&one, &x[i], &y[i], nullptr, 1);
      auto exact = static_cast<float>(f.exact(x[i], y[i]));
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(one) && std::isnan(all[i])) << f.name << x[i] << ", " << y[i];
        continue;
      }
      EXPECT_EQ(std::signbit(one), std::signbit(exact)) << f.name << x[i] << ", " << y[i];
      EXPECT_FLOAT_EQ(one, exact) << f.name << x[i] << ", " << y[i];
      EXPECT_EQ(one, all[i]) << f.name << x[i] << ", " << y[i];
    }
  }
}

TEST_P(VectorMath, FloatToIntegerIsDefined) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {std::nanf(""), inf, -inf, 3e9f, -3e9f, 2.9f, -2.9f, 300.0f};
  std::vector<int32_t> wide(x.size());
  std::vector<uint8_t> narrow(x.size());
  auto run = [&](DType to, void* out) {
    table_.Cast(DType::kFloat32, to)(out, x.data(), x.data(), x.data(),
                                     static_cast<int64_t>(x.size()));
  };
  run(DType::kInt32, wide.data());
  run(DType::kUInt8, narrow.data());
  EXPECT_EQ(wide, (std::vector<int32_t>{INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 2,
                                        -2, 300}));
  EXPECT_EQ(narrow, (std::vector<uint8_t>{0, 0, 0, 0, 0, 2, 254, 44}));
}

TEST_P(VectorMath, HalfConversionsEqualTheScalarOnes) {
  std::vector<uint16_t> bits(65536);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(bits.size());
  std::vector<uint16_t> back(bits.size());
  const auto n = static_cast<int64_t>(bits.size());
  table_.Cast(DType::kFloat16, DType::kFloat32)(wide.data(), bits.data(), nullptr, nullptr, n);
  table_.Cast(DType::kFloat32, DType::kFloat16)(back.data(), wide.data(), nullptr, nullptr, n);
  for (size_t i = 0; i < bits.size(); ++i) {
    if (std::isnan(wide[i])) continue;
    ASSERT_EQ(wide[i], HalfBitsToFloat(bits[i]));
    ASSERT_EQ(back[i], bits[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, VectorMath, testing::Values(Isa::kBase, Isa::kAvx2, Isa::kAvx512));

}  // namespace
}  // namespace ms::cpu
