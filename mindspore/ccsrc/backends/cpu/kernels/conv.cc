// Convolution and its gradients by oneDNN. Which layout it works in is decided once: its own
// blocked one, with conversions at the border, or the dense one, where converting would cost more
// than it gains.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/conv_few.h"
#include "backends/cpu/kernels/conv_parts.h"
#include "backends/cpu/kernels/conv_problem.h"
#include "backends/cpu/kernels/conv_reference.h"
#include "backends/cpu/kernels/in_float32.h"

namespace ms::cpu {
namespace {

using Type = memory::data_type;

enum class Pass { kForward, kInputGrad, kFilterGrad };

// From measurements of the shapes of LeNet and ResNet-50: a 1x1 convolution over large images is a
// matrix product that needs no other layout, everything else gains more than the conversion costs.
std::vector<Layout> Preferences(const ConvGeometry& g, Pass pass) {
  if (g.channels_last) return {Layout::kChannelsLast, Layout::kBlocked};
  std::vector<Layout> others{Layout::kBlocked, Layout::kChannelsLast, Layout::kDense};
  bool padded = g.depth.padded() || g.height.padded() || g.width.padded();
  if (g.taps() != 1 || padded || g.groups != 1) return others;
  bool unit_stride = g.unit();
  int64_t area = g.positions();
  bool dense = false;
  if (pass == Pass::kForward) dense = unit_stride && area >= 784;
  if (pass == Pass::kInputGrad) dense = area >= (unit_stride ? 784 : 196);
  if (pass == Pass::kFilterGrad) dense = unit_stride && area >= 3136;
  if (dense) others.insert(others.begin(), Layout::kDense);
  return others;
}

using ForwardDesc = dnnl::convolution_forward::primitive_desc;

ForwardDesc MakeForward(const Problem& p, Layout layout) {
  return ForwardDesc(OneDnnEngine(), dnnl::prop_kind::forward_training, kDirect,
                     p.Image(p.x, layout), Desc(p.w, p.type, Tag::any), p.Image(p.y, layout),
                     p.strides, p.dilates, p.pad_low, p.pad_high, UserScratchpad());
}

// Whether oneDNN fell back to narrower vectors than this processor has, which odd channel counts
// may cause.
bool Narrow(const char* implementation) {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core &&
         std::string_view(implementation).find("avx2") != std::string_view::npos;
}

struct Candidate {
  std::unique_ptr<Kernel> kernel;
  bool narrow = false;
};

// For AVX2, oneDNN 2023.2 sums up parts of its workspace that it has not filled: of few channels
// that lie last, of which a 1x1 filter leaves pixels out.
bool SumsWhatIsNotThere(const Problem& p, Layout layout, std::string_view implementation) {
  return layout == Layout::kChannelsLast && !p.g.unit() &&
         implementation.find("1x1:avx2") != std::string_view::npos;
}

Candidate TryForward(const Problem& p, Layout layout) {
  ForwardDesc pd = MakeForward(p, layout);
  return {PrimitiveKernel(dnnl::convolution_forward(pd), pd.scratchpad_desc(),
                          {InputOperand(DNNL_ARG_SRC, 0, p.dense_x, pd.src_desc()),
                           InputOperand(DNNL_ARG_WEIGHTS, 1, p.dense_w, pd.weights_desc()),
                           OutputOperand(DNNL_ARG_DST, 0, p.dense_y, pd.dst_desc())},
                          ConvCost(p.g)),
          Narrow(pd.impl_info_str())};
}

Candidate TryInputGrad(const Problem& p, Layout layout) {
  dnnl::convolution_backward_data::primitive_desc pd(
      OneDnnEngine(), kDirect, p.Image(p.x, layout), Desc(p.w, p.type, Tag::any),
      p.Image(p.y, layout), p.strides, p.dilates, p.pad_low, p.pad_high, MakeForward(p, layout),
      UserScratchpad());
  return {PrimitiveKernel(dnnl::convolution_backward_data(pd), pd.scratchpad_desc(),
                          {InputOperand(DNNL_ARG_DIFF_DST, 0, p.dense_y, pd.diff_dst_desc()),
                           InputOperand(DNNL_ARG_WEIGHTS, 1, p.dense_w, pd.weights_desc()),
                           OutputOperand(DNNL_ARG_DIFF_SRC, 0, p.dense_x, pd.diff_src_desc())},
                          ConvCost(p.g)),
          Narrow(pd.impl_info_str())};
}

Candidate TryFilterGrad(const Problem& p, Layout layout) {
  dnnl::convolution_backward_weights::primitive_desc pd(
      OneDnnEngine(), kDirect, p.Image(p.x, layout), Desc(p.w, p.type, Tag::any),
      p.Image(p.y, layout), p.strides, p.dilates, p.pad_low, p.pad_high, MakeForward(p, layout),
      UserScratchpad());
  if (SumsWhatIsNotThere(p, layout, pd.impl_info_str())) {
    throw dnnl::error(dnnl_unimplemented, "the gradient of strided 1x1 filters is not right");
  }
  return {
      PrimitiveKernel(dnnl::convolution_backward_weights(pd), pd.scratchpad_desc(),
                      {InputOperand(DNNL_ARG_DIFF_DST, 0, p.dense_y, pd.diff_dst_desc()),
                       InputOperand(DNNL_ARG_SRC, 1, p.dense_x, pd.src_desc()),
                       OutputOperand(DNNL_ARG_DIFF_WEIGHTS, 0, p.dense_w, pd.diff_weights_desc())},
                      ConvCost(p.g)),
      Narrow(pd.impl_info_str())};
}

KernelChoice MakeConvolution(const KernelRequest& r, Pass pass, const Shape& x, const Shape& w) {
  Type type;
  if (!OneDnnType(r.dtype(0), &type)) return No("needs Float32, got {}", Name(r.dtype(0)));
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, x, w);
  if (x.empty() || w.empty() || g.Output().empty()) return No("needs elements, got none");
  Problem problem(g, type);
  std::string reason;
  Candidate narrow;
  for (Layout layout : Preferences(g, pass)) {
    try {
      Candidate found = pass == Pass::kForward     ? TryForward(problem, layout)
                        : pass == Pass::kInputGrad ? TryInputGrad(problem, layout)
                                                   : TryFilterGrad(problem, layout);
      if (!found.narrow) return std::move(found.kernel);
      if (!narrow.kernel) narrow = std::move(found);
    } catch (const dnnl::error& error) {
      reason = error.what();
    }
  }
  if (narrow.kernel) return std::move(narrow.kernel);
  return No("oneDNN has no such primitive ({})", reason);
}

// The image and the weight among the operands of a convolution or gradient.
std::pair<Shape, Shape> ImageAndWeight(const KernelRequest& r) {
  if (r.op.name == "Conv2D") return {r.shape(0), r.shape(1)};
  if (r.op.name == "Conv2DBackpropInput") return {r.out[0].shape(), r.shape(1)};
  return {r.shape(1), r.out[0].shape()};
}

KernelChoice Forward(const KernelRequest& r) {
  return MakeConvolution(r, Pass::kForward, r.shape(0), r.shape(1));
}
KernelChoice InputGrad(const KernelRequest& r) {
  return MakeConvolution(r, Pass::kInputGrad, r.out[0].shape(), r.shape(1));
}
// Of a 1x1 filter on images with the channels last: the product of two matrices of pixels, for
// which neither has to be rearranged.
KernelChoice PointwiseFilterGrad(const KernelRequest& r) {
  if (r.dtype(0) != DType::kFloat32) return No("needs Float32, got {}", Name(r.dtype(0)));
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, r.shape(1), r.out[0].shape());
  if (!g.unit()) return No("needs a 1x1 kernel");
  if (!g.channels_last || g.groups != 1) return No("needs the channels last, in one group");
  int64_t pixels = g.batch * g.positions();
  if (pixels == 0) return No("needs elements, got none");
  return FunctionKernel(
      [g, pixels](const KernelArgs& args) {
        Sgemm(true, false, g.out_channels, g.in_channels, pixels,
              static_cast<const float*>(args.in[0]), g.out_channels,
              static_cast<const float*>(args.in[1]), g.in_channels,
              static_cast<float*>(args.out[0]));
      },
      ConvCost(g));
}

KernelChoice FilterGrad(const KernelRequest& r) {
  return MakeConvolution(r, Pass::kFilterGrad, r.shape(1), r.out[0].shape());
}
KernelChoice ShortFilterGrad(const KernelRequest& r) {
  return FilterGradInParts(r, [&](const Shape& images) {
    return MakeConvolution(r, Pass::kFilterGrad, images, r.out[0].shape());
  });
}

}  // namespace

// With few channels, vectors along the channels would be mostly empty; oneDNN then does better with
// images it has converted to its own layouts.
bool PrefersChannelsLast(const KernelRequest& r) {
  Type type;
  if (!OneDnnType(r.dtype(0), &type)) return false;
  auto [x, w] = ImageAndWeight(r);
  if (x.empty() || w.empty()) return false;
  ConvGeometry g = MakeConvGeometry(r.op, r.attrs, x, w);
  if (g.Output().empty()) return false;
  if (g.groups == g.in_channels && g.groups == g.out_channels) return g.groups % 8 == 0;
  int64_t in = g.in_channels / g.groups, out = g.out_channels / g.groups;
  return out % 8 == 0 && (in % 8 == 0 || (in <= 4 && out % 16 == 0 && g.groups == 1));
}

void AddConv(KernelTable& table) {
  auto add = [&](const std::string& op, const KernelMaker& onednn, const KernelMaker& reference) {
    table.For(op)
        .Try("onednn", onednn)
        .Try("onednn in float32", InFloat32(onednn))
        .Try("reference", reference)
        .Try("reference in float32", InFloat32(reference));
  };
  table.For("Conv2DBackpropFilter")
      .Try("product", PointwiseFilterGrad)
      .Try("few channels", FewChannelsFilterGrad)
      .Try("onednn in parts", ShortFilterGrad);
  for (std::string op : {"Conv2D", "Conv3D"}) {
    add(op, Forward, ReferenceConv);
    add(op + "BackpropInput", InputGrad, ReferenceConvInputGrad);
    add(op + "BackpropFilter", FilterGrad, ReferenceConvFilterGrad);
  }
}

}  // namespace ms::cpu
