// Which convolutions go to the channels-last form, what follows them, and where conversions stay.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;

bool Place(Module& module) {
  Layouts layouts;
  layouts.channels_last = [](const KernelRequest& r) { return r.in[0].shape()[1] >= 8; };
  bool changed = PlaceChannelsLast(module, layouts);
  return RemoveDeadCode(module) || changed;
}

constexpr const char* kPlain = "out_channel=8, kernel_size=[3], pad_mode=\"same\"";
constexpr const char* kLast =
    "out_channel=8, kernel_size=[3], pad_mode=\"same\", data_format=\"NHWC\", "
    "weight_format=\"OIHW\"";

// A graph of an image and a weight; {0} in `body` stands for the attributes of the convolution.
std::string Net(const std::string& body, const char* attrs, const std::string& result) {
  return "graph main(x: Float32[2, 8, 5, 6], w: Float32[8, 8, 3, 3], b: Float32[8]) -> (" + result +
         ") {\n" + fmt::format(fmt::runtime(body), attrs) + "\n}\n";
}

void Becomes(const std::string& before, const std::string& after,
             const std::string& result = "Float32[2, 8, 5, 6]") {
  ExpectPass(Place, Net(before, kPlain, result), Net(after, kLast, result));
}

const std::string kIn = "%0 = Transpose(x, perm=[0, 2, 3, 1])\n%1 = Conv2D(%0, w, {0})\n";

TEST(Layout, ElementwiseWorkAndSecondConvolutionsStayInside) {
  Becomes(
      "%0 = Conv2D(x, w, {0})\n%1 = ReLU(%0)\n%2 = Conv2D(%1, w, {0})\n%3 = Add(%2, x)\n"
      "return %3",
      kIn +
          "%2 = ReLU(%1)\n%3 = Conv2D(%2, w, {0})\n%4 = Add(%3, %0)\n"
          "%5 = Transpose(%4, perm=[0, 3, 1, 2])\nreturn %5");
}

TEST(Layout, ChannelNumbersBecomeTheLastAxis) {
  Becomes(
      "%0 = Conv2D(x, w, {0})\n%1 = Reshape(b, shape=[1, 8, 1, 1])\n%2 = Add(%0, %1)\nreturn %2",
      kIn +
          "%2 = Reshape(b, shape=[1, 8, 1, 1])\n%3 = Reshape(%2, shape=[1, 1, 1, 8])\n"
          "%4 = Add(%1, %3)\n%5 = Transpose(%4, perm=[0, 3, 1, 2])\nreturn %5");
}

TEST(Layout, AxesFollow) {
  Becomes(
      "%0 = Conv2D(x, w, {0})\n%1 = Concat(%0, x, axis=1)\n%2 = ReduceSum(%1, axis=[2, 3])\n"
      "return %2",
      kIn + "%2 = Concat(%1, %0, axis=3)\n%3 = ReduceSum(%2, axis=[1, 2])\nreturn %3",
      "Float32[2, 16]");
  Becomes(
      "%0 = Conv2D(x, w, {0})\n%1 = Pad(%0, paddings=[0, 0, 1, 2, 3, 4, 5, 6])\n"
      "%2 = ReduceMax(%1, axis=[1], keep_dims=true)\nreturn %2",
      kIn +
          "%2 = Pad(%1, paddings=[0, 0, 3, 4, 5, 6, 1, 2])\n"
          "%3 = ReduceMax(%2, axis=[3], keep_dims=true)\n"
          "%4 = Reshape(%3, shape=[2, 1, 12, 17])\nreturn %4",
      "Float32[2, 1, 12, 17]");
}

TEST(Layout, WhatWorksAlongAxesTakesThemAlong) {
  Becomes("%0 = Conv2D(x, w, {0})\n%1 = Softmax(%0, axis=[1])\n%2 = Argmax(%1, axis=-3)\nreturn %2",
          kIn + "%2 = Softmax(%1, axis=[3])\n%3 = Argmax(%2, axis=3)\nreturn %3", "Int32[2, 5, 6]");
  Becomes("%0 = Conv2D(x, w, {0})\n%1 = Sub(%0, x)\n%2, %3 = Sort(%1, axis=2)\nreturn %3",
          kIn +
              "%2 = Sub(%1, %0)\n%3, %4 = Sort(%2, axis=1)\n"
              "%5 = Transpose(%4, perm=[0, 3, 1, 2])\nreturn %5",
          "Int32[2, 8, 5, 6]");
  Becomes("%0 = Conv2D(x, w, {0})\n%1 = Tile(%0, dims=[1, 2, 3, 4])\n%2 = ReduceSum(%1)\nreturn %2",
          kIn + "%2 = Tile(%1, dims=[1, 3, 4, 2])\n%3 = ReduceSum(%2)\nreturn %3", "Float32[]");
}

TEST(Layout, EntriesForOtherAxesAndPiecesWithoutOneGetPlainImages) {
  Becomes("%0 = Conv2D(x, w, {0})\n%1 = Tile(%0, dims=[2])\nreturn %1",
          kIn + "%2 = Transpose(%1, perm=[0, 3, 1, 2])\n%3 = Tile(%2, dims=[2])\nreturn %3",
          "Float32[2, 8, 5, 12]");
  Becomes("%0 = Conv2D(x, w, {0})\n%1, %2 = Unstack(%0)\nreturn %1",
          kIn + "%2 = Transpose(%1, perm=[0, 3, 1, 2])\n%3, %4 = Unstack(%2)\nreturn %3",
          "Float32[8, 5, 6]");
}

// [N, C, H] of [N, H, C] is another order of elements.
TEST(Layout, ReductionsThatChangeTheOrderGetPlainImages) {
  Becomes("%0 = Conv2D(x, w, {0})\n%1 = ReduceSum(%0, axis=[3])\nreturn %1",
          kIn + "%2 = Transpose(%1, perm=[0, 3, 1, 2])\n%3 = ReduceSum(%2, axis=[3])\nreturn %3",
          "Float32[2, 8, 5]");
}

TEST(Layout, PoolsAndNormsTakeTheFormat) {
  Becomes(
      "%0 = Conv2D(x, w, {0})\n%1 = BatchNormInference(%0, b, b, b, b)\n"
      "%2 = MaxPool(%1, kernel_size=[1, 1, 2, 3])\nreturn %2",
      kIn +
          "%2 = BatchNormInference(%1, b, b, b, b, data_format=\"NHWC\")\n"
          "%3 = MaxPool(%2, kernel_size=[1, 2, 3, 1], data_format=\"NHWC\")\n"
          "%4 = Transpose(%3, perm=[0, 3, 1, 2])\nreturn %4",
      "Float32[2, 8, 4, 4]");
}

TEST(Layout, GradientsShareConversions) {
  std::string size = ", input_size=[2, 8, 5, 6]", moved = ", input_size=[2, 5, 6, 8]";
  std::string filter = ", filter_size=[8, 8, 3, 3]";
  Becomes("%0 = Conv2D(x, w, {0})\n%1 = Conv2DBackpropInput(%0, w, {0}" + size +
              ")\n%2 = Conv2DBackpropFilter(%0, x, {0}" + filter + ")\nreturn %1, %2",
          kIn + "%2 = Conv2DBackpropInput(%1, w, {0}" + moved +
              ")\n%3 = Transpose(%2, perm=[0, 3, 1, 2])\n%4 = Conv2DBackpropFilter(%1, %0, {0}" +
              filter + ")\nreturn %3, %4",
          "Float32[2, 8, 5, 6], Float32[8, 8, 3, 3]");
}

TEST(Layout, WhatTheDeviceDoesNotWantStays) {
  std::string text =
      "graph main(x: Float32[2, 3, 5, 6], w: Float32[8, 3, 3, 3]) -> (Float32[2, 8, 3, 4]) {\n"
      "%0 = Conv2D(x, w, out_channel=8, kernel_size=[3])\n%1 = ReLU(%0)\nreturn %1\n}\n";
  ExpectPass(Place, text, text);
}

// The random numbers of an image belong to its places.
TEST(Layout, RandomWorkGetsPlainImages) {
  Becomes("%0 = Conv2D(x, w, {0})\n%1, %2 = Dropout(%0, keep_prob=0.5)\nreturn %1",
          kIn +
              "%2 = Transpose(%1, perm=[0, 3, 1, 2])\n%3, %4 = Dropout(%2, keep_prob=0.5)\n"
              "return %3");
}

}  // namespace
}  // namespace ms
