// Updates of many parameters as one launch: same values, no more memory than a batch of gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "driver/compile.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "runtime/machine.h"
#include "runtime/testing.h"

namespace ms::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<RtValue> Execute(const Executable& executable, const std::vector<Tensor>& inputs) {
  std::vector<RtValue> outputs;
  executable.Run(inputs, &outputs, nullptr);
  return outputs;
}

// The program of a module whose updates are grouped.
std::shared_ptr<const Program> Grouped(Module& module) {
  EXPECT_TRUE(GroupUpdates(module));
  Verify(module);
  return BuildProgram(module, Device());
}

Tensor Random(int64_t n, std::mt19937& random) {
  Tensor t = Filled(n, 0);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < n; ++i) t.data<float>()[i] = uniform(random);
  return t;
}

float First(const RtValue& value) { return value.tensor().data<float>()[0]; }

Tensor Copy(const Tensor& from) {
  Tensor t(from.dtype(), from.shape());
  std::memcpy(t.raw(), from.raw(), from.bytes());
  return t;
}

Term Scan(Builder& b, const Term& x) { return b.Op("CumSum", {x}, {{"axis", int64_t{0}}}); }

TEST(GroupUpdates, UpdatesRunAsOneLaunchInPlace) {
  Module module;
  Builder b(module, "main");
  Term rate = b.In(kScalar, "rate");
  Terms outputs;
  for (int i = 0; i < 3; ++i) {
    Term w = b.In(Vector(5000 + i), "w"), x = b.In(Vector(5000 + i), "x");
    outputs.push_back(w - (Scan(b, x) + w * 0.5) * rate);
    b.graph->updates.emplace_back(i, 1 + 2 * i);
  }
  b.Return(outputs);
  module.set_main(b.graph);
  Executable executable(Grouped(module));
  std::string text = Print(executable.program());
  EXPECT_THAT(text, HasSubstr("group of 12 launches in 3 chains"));
  std::vector<Tensor> inputs{Value(0.25)};
  for (int i = 0; i < 3; ++i)
    inputs.insert(inputs.end(), {Filled(5000 + i, 2), Filled(5000 + i, 1)});
  auto out = Execute(executable, inputs);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(out[i].tensor().raw(), inputs[1 + 2 * i].raw());
    for (int64_t k : {0, 4095, 4096, 4999})
      EXPECT_FLOAT_EQ(out[i].tensor().data<float>()[k], 2 - (static_cast<float>(k) + 2) * 0.25f);
  }
}

// A parameter that two updates read, an old value that another update needs, a value that is
// returned beside its use: what must not run side by side does not.
TEST(GroupUpdates, UpdatesThatShareValuesAreOneChain) {
  Module module;
  Builder b(module, "main");
  Term v = b.In(Vector(9000), "v"), w = b.In(Vector(9000), "w"), u = b.In(Vector(9000), "u");
  Term sum = v + w;
  b.Return({w * 2.0, v + w, u - sum, sum});
  b.graph->updates = {{0, 0}, {1, 1}, {2, 2}};
  module.set_main(b.graph);
  Executable executable(Grouped(module));
  std::mt19937 random(1);
  std::vector<Tensor> in{Random(9000, random), Random(9000, random), Random(9000, random)};
  std::vector<Tensor> old{Copy(in[0]), Copy(in[1]), Copy(in[2])};
  auto out = Execute(executable, in);
  for (int64_t i = 0; i < 9000; ++i) {
    float a = old[0].data<float>()[i], c = old[1].data<float>()[i], d = old[2].data<float>()[i];
    ASSERT_EQ(out[0].tensor().data<float>()[i], c * 2);
    ASSERT_EQ(out[1].tensor().data<float>()[i], a + c);
    ASSERT_EQ(out[2].tensor().data<float>()[i], d - (a + c));
    ASSERT_EQ(out[3].tensor().data<float>()[i], a + c);
  }
}

TEST(GroupUpdates, ABatchOfGradientsIsSmall) {
  Module module;
  Builder b(module, "main");
  constexpr int kLayers = 64, kSize = 1 << 16;
  Terms outputs;
  Term x = b.In(Vector(kSize), "x");
  for (int i = 0; i < kLayers; ++i) {
    Term w = b.In(Vector(kSize), "w");
    outputs.push_back(w - Scan(b, x * static_cast<double>(i)));
    b.graph->updates.emplace_back(i, i + 1);
  }
  b.Return(outputs);
  module.set_main(b.graph);
  Executable executable(Grouped(module));
  EXPECT_LE(executable.memory().arena, size_t{kLayers / 16 + 3} * 4 * kSize);
  EXPECT_THAT(Print(executable.program()), HasSubstr("group of 5 launches"));
}

TEST(GroupUpdates, AnUpdateWaitsForReadersOfTheOldValue) {
  Module module;
  Builder b(module, "main");
  Term w = b.In(Vector(8), "w");
  Term next = w + w * 1.0;
  Term late =
      b.Op("CumSum", {w}, {{"axis", int64_t{0}}});  // written after the update, reads the old value
  b.Return({next, late});
  b.graph->updates = {{0, 0}};
  module.set_main(b.graph);
  Tensor tw = Filled(8, 1);
  auto out = Execute(Executable(Grouped(module)), {tw});
  EXPECT_EQ(out[0].tensor().raw(), tw.raw());
  EXPECT_FLOAT_EQ(First(out[0]), 2);
  EXPECT_FLOAT_EQ(out[1].tensor().data<float>()[7], 8);
}

// Gradients made one after the other and applied at the end of the program must not all live until
// then.
TEST(GroupUpdates, GradientsDieEarly) {
  Module module;
  Builder b(module, "main");
  constexpr int kLayers = 10, kSize = 1 << 15;
  Terms weights, gradients, outputs;
  for (int i = 0; i < kLayers; ++i) weights.push_back(b.In(Vector(kSize), fmt::format("w{}", i)));
  Term carry = b.In(Vector(kSize), "x");
  for (int i = 0; i < kLayers; ++i) {
    gradients.push_back(b.Op("CumSum", {carry}, {{"axis", int64_t{0}}}));
    carry = b.Op("CumSum", {weights[static_cast<size_t>(i)] * carry}, {{"axis", int64_t{0}}});
  }
  for (int i = 0; i < kLayers; ++i) {
    size_t k = static_cast<size_t>(i);
    outputs.push_back(weights[k] - gradients[k] * 0.1);
    b.graph->updates.emplace_back(i, i);
  }
  outputs.push_back(carry);
  b.Return(outputs);
  module.set_main(b.graph);
  Executable executable(Grouped(module));
  EXPECT_LE(executable.memory().feature_maps, 4u * 4 * kSize);
  std::vector<Tensor> inputs;
  for (int i = 0; i <= kLayers; ++i) inputs.push_back(Filled(kSize, i == kLayers ? 1 : 0.001));
  auto out = Execute(executable, inputs);
  for (int i = 0; i < kLayers; ++i)
    EXPECT_EQ(out[static_cast<size_t>(i)].tensor().raw(), inputs[static_cast<size_t>(i)].raw());
  EXPECT_NEAR(First(out[0]), 0.001 - 0.1, 1e-6);
  EXPECT_NEAR(out[0].tensor().data<float>()[9], 0.001 - 1.0, 1e-5);
}

// Sums of what was made before, of parameters and of single numbers; some sums are reduced to other
// sizes, cast, looked at again, or returned.
class RandomUpdates {
 public:
  explicit RandomUpdates(uint32_t seed) : random_(seed) {}

  void Build(Builder& b) {
    int count = Pick(2, 6);
    for (int i = 0; i < count; ++i) {
      sizes_.push_back(kSizes[static_cast<size_t>(Pick(0, 4))]);
      parameters_.push_back(b.In(Vector(sizes_.back()), "w"));
    }
    std::vector<Terms> made(static_cast<size_t>(count));
    Terms outputs(static_cast<size_t>(count));
    for (int step = 0; step < 14; ++step) {
      size_t k = static_cast<size_t>(Pick(0, count - 1));
      made[k].push_back(Next(b, k, made));
    }
    Terms extra;
    for (size_t k = 0; k < made.size(); ++k) {
      outputs[k] = made[k].empty() ? parameters_[k] * 2.0 : made[k].back();
      if (Pick(0, 5) == 0 && !made[k].empty()) extra.push_back(made[k].front());
    }
    outputs.insert(outputs.end(), extra.begin(), extra.end());
    b.Return(outputs);
    for (int i = 0; i < count; ++i) b.graph->updates.emplace_back(i, i);
  }

  std::vector<Tensor> Inputs() {
    std::vector<Tensor> inputs;
    for (int64_t n : sizes_) inputs.push_back(Random(n, random_));
    return inputs;
  }

 private:
  static constexpr int64_t kSizes[] = {1, 3, 700, 4097, 4097};

  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  // A value of parameter k's size.
  Term Any(size_t k, const std::vector<Terms>& made) {
    for (int tries = 0; tries < 4; ++tries) {
      size_t from = static_cast<size_t>(Pick(0, static_cast<int>(parameters_.size()) - 1));
      if (sizes_[from] != sizes_[k]) continue;
      if (made[from].empty()) return parameters_[from];
      return made[from][static_cast<size_t>(Pick(0, static_cast<int>(made[from].size()) - 1))];
    }
    return parameters_[k];
  }

  Term Next(Builder& b, size_t k, const std::vector<Terms>& made) {
    Term x = Any(k, made), y = Any(k, made);
    switch (Pick(0, 6)) {
      case 0:
        return x + y;
      case 1:
        return x - y * 0.5;
      case 2:
        return Scan(b, x);
      case 3:
        return CastTo(CastTo(x, DType::kFloat64) + 1.0, DType::kFloat32);
      case 4:
        return Reshape(Reshape(x, Shape{1, sizes_[k]}) * 2.0, Shape{sizes_[k]});
      case 5:
        for (size_t i = 0; i < sizes_.size(); ++i) {
          if (sizes_[i] == 1) return x * (made[i].empty() ? parameters_[i] : made[i].back());
        }
        return x * y;
      default:
        return parameters_[k] + x;
    }
  }

  std::mt19937 random_;
  std::vector<int64_t> sizes_;
  Terms parameters_;
};

TEST(GroupUpdates, RandomUpdatesEqualThoseThatRunOneByOne) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Module module, plain;
    Builder b(module, "main"), p(plain, "main");
    RandomUpdates updates(seed), same(seed);
    updates.Build(b);
    same.Build(p);
    p.graph->updates.clear();
    module.set_main(b.graph);
    plain.set_main(p.graph);
    GroupUpdates(module);
    Verify(module);
    Executable grouped(BuildProgram(module, Device())), reference(BuildProgram(plain, Device()));
    EXPECT_THAT(Print(reference.program()), Not(HasSubstr("group")));
    std::vector<Tensor> inputs = updates.Inputs(), copies;
    for (const Tensor& t : inputs) copies.push_back(Copy(t));
    auto expected = Execute(reference, copies), actual = Execute(grouped, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      const Tensor &e = expected[i].tensor(), &a = actual[i].tensor();
      ASSERT_EQ(std::memcmp(e.raw(), a.raw(), e.bytes()), 0) << "output " << i;
    }
  }
}

}  // namespace
}  // namespace ms::testing
