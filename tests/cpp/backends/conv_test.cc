// The kernels that the CPU chooses for convolution against the definition, over random geometries.
#include <thread>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/conv_reference.h"
#include "backends/kernel_runner.h"
#include "ops/window.h"

namespace ms::testing {
namespace {

struct Problem {
  Shape x, w;
  NamedAttrs attrs;
  std::string text;
};

// Every mode of padding, strides, dilations, groups and formats, odd sizes.
Problem RandomProblem(std::mt19937& random, int64_t most_inputs = 20) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int64_t groups = most_inputs > 1 && pick(0, 3) == 0 ? pick(2, 4) : 1;
  int64_t in = groups * pick(1, most_inputs);
  int64_t out = groups * pick(1, 20);
  Ints kernel{pick(1, 5), pick(1, 5)};
  Ints stride{pick(1, 3), pick(1, 3)};
  Ints dilation = pick(0, 2) == 0 ? Ints{pick(1, 3), pick(1, 3)} : Ints{1};
  const char* mode = std::array{"valid", "same", "pad"}[static_cast<size_t>(pick(0, 2))];
  Ints pad{0};
  if (mode == std::string("pad")) {
    pad = {pick(0, kernel[0]), pick(0, kernel[0]), pick(0, kernel[1]), pick(0, kernel[1])};
  }
  bool last = pick(0, 3) == 0;
  int64_t least = 13;  // no kernel above is larger
  int64_t n = pick(1, 4), h = pick(least, 24), w = pick(least, 24);
  Problem p;
  p.x = last ? Shape{n, h, w, in} : Shape{n, in, h, w};
  bool plain_weight = last && pick(0, 1) == 0;
  p.w = last && !plain_weight ? Shape{out, kernel[0], kernel[1], in / groups}
                              : Shape{out, in / groups, kernel[0], kernel[1]};
  p.attrs = {{"out_channel", out},
             {"kernel_size", kernel},
             {"stride", stride},
             {"dilation", dilation},
             {"group", groups},
             {"pad_mode", std::string(mode)},
             {"pad", pad},
             {"data_format", std::string(last ? "NHWC" : "NCHW")},
             {"weight_format", std::string(plain_weight ? "OIHW" : "")}};
  p.text = fmt::format("x {} w {} stride {} dilation {} {} {} group {}", p.x, p.w,
                       fmt::join(stride, ","), fmt::join(dilation, ","), mode, fmt::join(pad, ","),
                       groups);
  return p;
}

const KernelTable& Table() {
  static const auto* table = [] {
    auto* t = new KernelTable;
    cpu::AddConv(*t);
    return t;
  }();
  return *table;
}

void CompareWithReference(const Call& call, KernelChoice (*reference)(const KernelRequest&),
                          double tolerance, const std::string& what) {
  auto kernel = Table().Find(call.request(), "CPU");
  std::vector<Tensor> inputs = call.Inputs(17);
  Types wide;
  std::vector<Tensor> wide_inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    wide.emplace_back(DType::kFloat64, inputs[i].shape());
    wide_inputs.emplace_back(DType::kFloat64, inputs[i].shape());
    for (int64_t k = 0; k < inputs[i].size(); ++k) {
      wide_inputs[i].data<double>()[k] = At(inputs[i], k);
    }
  }
  Call exact = call;
  exact.in = wide;
  exact.out = {Type(DType::kFloat64, call.out[0].shape())};
  KernelChoice truth = reference(exact.request());
  ASSERT_TRUE(truth.kernel) << truth.refusal;
  ExpectNear(call.Run(*kernel, inputs)[0], exact.Run(*truth.kernel, wide_inputs)[0], tolerance,
             what);
}

void CompareAll(const Problem& p, DType dtype, double tolerance) {
  Type x(dtype, p.x), w(dtype, p.w);
  Call forward("Conv2D", {x, w}, p.attrs);
  const Type& y = forward.out[0];
  NamedAttrs input = p.attrs, filter = p.attrs;
  input.emplace_back("input_size", p.x.ToInts());
  filter.emplace_back("filter_size", p.w.ToInts());
  CompareWithReference(forward, cpu::ReferenceConv, tolerance, "forward " + p.text);
  CompareWithReference(Call("Conv2DBackpropInput", {y, w}, input), cpu::ReferenceConvInputGrad,
                       tolerance, "input gradient " + p.text);
  CompareWithReference(Call("Conv2DBackpropFilter", {y, x}, filter), cpu::ReferenceConvFilterGrad,
                       tolerance, "filter gradient " + p.text);
}

TEST(Conv, MatchesTheDefinitionInFloat32) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) CompareAll(RandomProblem(random), DType::kFloat32, 2e-4);
}

TEST(Conv, MatchesTheDefinitionOfOneChannel) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) CompareAll(RandomProblem(random, 1), DType::kFloat32, 2e-4);
}

// What lies behind a row meets no pixel of it.
TEST(Conv, ARowEndsWhereItEnds) {
  Call call(
      "Conv2DBackpropFilter",
      {Type(DType::kFloat32, {1, 2, 4, 19}), Type(DType::kFloat32, {1, 1, 6, 21})},
      {{"out_channel", int64_t{2}}, {"kernel_size", Ints{3}}, {"filter_size", Ints{2, 1, 3, 3}}});
  std::vector<Tensor> inputs = call.Inputs(5);
  inputs[1].data<float>()[20] = std::numeric_limits<float>::infinity();  // the end of the first row
  Tensor out = call.Run(*Table().Find(call.request(), "CPU"), inputs)[0];
  for (int64_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(std::isfinite(At(out, i)), i % 9 != 2) << i;
  }
}

TEST(Conv, MatchesTheDefinitionInHalfTypes) {
  std::mt19937 random(2);
  for (int i = 0; i < 8; ++i) {
    Problem p = RandomProblem(random);
    CompareAll(p, DType::kFloat16, 2e-2);
    CompareAll(p, DType::kBFloat16, 2e-1);
  }
}

TEST(Conv, PointwiseOverLargeImagesIsDense) {
  for (int64_t stride : {1, 2}) {
    Problem p;
    p.x = {2, 16, 57, 60};
    p.w = {24, 16, 1, 1};
    p.attrs = {{"out_channel", int64_t{24}}, {"kernel_size", Ints{1}}, {"stride", Ints{stride}}};
    CompareAll(p, DType::kFloat32, 2e-4);
  }
}

TEST(Conv, OneKernelRunsInManyThreads) {
  Call call("Conv2D", {Type(DType::kFloat32, {2, 8, 20, 20}), Type(DType::kFloat32, {12, 8, 3, 3})},
            {{"out_channel", int64_t{12}}, {"kernel_size", Ints{3}}});
  auto kernel = Table().Find(call.request(), "CPU");
  std::vector<Tensor> inputs = call.Inputs(3);
  Tensor wanted = call.Run(*kernel, inputs)[0];
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) ExpectNear(call.Run(*kernel, inputs)[0], wanted, 1e-5, "thread");
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace ms::testing
