// Pooling, and windows side by side, by kernels written by hand: all paddings, dilations and
// layouts, in a fixed order of sums. cuDNN's have no dilation and no padding on one side alone.
#include <ms_cuda_texts.h>  // made when this is built

#include "backends/cuda/codegen/scalar_text.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "ops/window.h"

namespace ms::cuda {
namespace {

constexpr size_t kNumbers = 32;  // of struct Numbers in device/pooling.cuh
using Numbers = std::vector<long long>;

Numbers NumbersOf(int64_t channels, bool channels_last) {
  Numbers n(kNumbers);
  n[1] = channels;
  n[2] = channels_last;
  return n;
}

void SetAlong(Numbers& n, size_t dimension, const Window& w) {
  const int64_t all[] = {
      w.size, w.out, w.kernel, w.stride, w.dilation, w.pad_before, w.size + w.pad_after};
  std::copy(std::begin(all), std::end(all),
            n.begin() + 8 + static_cast<std::ptrdiff_t>(8 * dimension));
}

void SetAlongAll(Numbers& n, const PoolGeometry& g) {
  SetAlong(n, 0, g.depth);
  SetAlong(n, 1, g.height);
  SetAlong(n, 2, g.width);
}

Numbers Fixed(const KernelRequest& r, const Shape& input) {
  PoolGeometry g = MakePoolGeometry(r.op, r.attrs, input);
  Numbers n = NumbersOf(g.channels, g.channels_last);
  if (r.op.AttrIndex("count_include_pad") >= 0) {
    n[3] = r.attr<bool>("count_include_pad");
    n[4] = r.attr<int64_t>("divisor_override");
  }
  SetAlongAll(n, g);
  return n;
}

// Windows that cover the image, of `rank` dimensions, as evenly as they can.
Numbers Adaptive(int rank, const Shape& input, const Shape& output) {
  Numbers n = NumbersOf(input[-rank - 1], false);
  n[5] = 1;
  for (int i = 0; i < 3; ++i) {
    Window w;
    if (i >= 3 - rank) {
      w.size = input[i - 3];
      w.out = output[i - 3];
    }
    SetAlong(n, static_cast<size_t>(i), w);
  }
  return n;
}

// Divisions of 64 bits are slow, and kernels divide to find their place.
std::string IndexText(const KernelRequest& r) {
  constexpr int64_t kMost = (int64_t{1} << 31) - (int64_t{1} << 24);  // loops step beyond the end
  bool wide = r.shape(0).size() >= kMost || r.out[0].shape().size() >= kMost;
  return wide ? "typedef long long Index;\n" : "typedef int Index;\n";
}

// A kernel function that takes the inputs, the outputs and the numbers.
KernelChoice Pooling(const KernelRequest& r, const char* function, Numbers numbers,
                     const char* more = "") {
  int64_t elements = r.out[0].shape().size();
  if (r.shape(0).empty() || elements == 0) return No("needs elements, got none");
  numbers[0] = elements;
  std::string body = fmt::format("{}<{}, {}>({}{}, n);", function, MemoryType(r.dtype(0)),
                                 RegisterType(r.dtype(0)), NamesText(r), more);
  return FunctionKernel(
      [inputs = r.in.size(), outputs = r.out.size(), numbers,
       program = Program::Of(IndexText(r) + kPoolingText + EntryText(0, ArgumentsText(r), body),
                             1)](const KernelArgs& args) {
        LaunchText(StreamOf(args), *program, 0, BlocksFor(numbers[0]),
                   AddressesOf(args, inputs, outputs), numbers);
      },
      3000);
}

// Windows side by side, and back.
KernelMaker Columns(const char* function, bool back) {
  return [=](const KernelRequest& r) {
    PoolGeometry g = MakeUnfoldGeometry(r.op, r.attrs, back ? r.out[0].shape() : r.shape(0));
    Numbers n = NumbersOf(g.channels, false);
    SetAlongAll(n, g);
    return Pooling(r, function, n);
  };
}

KernelMaker Over(const char* function, size_t image, const char* more = "") {
  return [=](const KernelRequest& r) {
    return Pooling(r, function, Fixed(r, image < r.in.size() ? r.shape(image) : r.out[0].shape()),
                   more);
  };
}
constexpr size_t kResult = 9;  // the image is what is written

}  // namespace

void AddPooling(KernelTable& table) {
  for (std::string rank : {"", "3D"}) {
    table.For("MaxPool" + rank).Try("text", Over("MaxPool", 0, ", (int32_t*)0"));
    table.For("MaxPool" + rank + "WithArgmax").Try("text", Over("MaxPool", 0));
    table.For("MaxPool" + rank + "Grad").Try("text", Over("MaxPoolGrad", 0));
    table.For("MaxPool" + rank + "GradGrad").Try("text", Over("AtMaxima", 0));
    table.For("AvgPool" + rank).Try("text", Over("AvgPool", 0));
    table.For("AvgPool" + rank + "Grad").Try("text", Over("AvgPoolGrad", kResult));
  }
  table.For("Unfold").Try("text", Columns("Unfold", false));
  table.For("Fold").Try("text", Columns("Fold", true));
  for (int rank : {2, 3}) {
    std::string mean = fmt::format("AdaptiveAvgPool{}D", rank);
    table.For(mean).Try("text", [rank](const KernelRequest& r) {
      return Pooling(r, "AvgPool", Adaptive(rank, r.shape(0), r.out[0].shape()));
    });
    table.For(mean + "Grad").Try("text", [rank](const KernelRequest& r) {
      return Pooling(r, "AvgPoolGrad", Adaptive(rank, r.out[0].shape(), r.shape(0)));
    });
    table.For(fmt::format("AdaptiveMaxPool{}D", rank)).Try("text", [rank](const KernelRequest& r) {
      return Pooling(r, "MaxPool", Adaptive(rank, r.shape(0), r.out[0].shape()));
    });
  }
}

}  // namespace ms::cuda
