// Convolution and its gradients by oneDNN. Which layout it works in is decided once: its own
// blocked one, with conversions at the border, or the dense one, where converting would cost more
// than it gains.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/conv_reference.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/onednn.h"
#include "ops/window.h"

namespace ms::cpu {
namespace {

using Type = dnnl::memory::data_type;
using dnnl::memory;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

enum class Pass { kForward, kInputGrad, kFilterGrad };
enum class Layout { kBlocked, kDense, kChannelsLast };

// A convolution in oneDNN's terms.
struct Problem {
  ConvGeometry g;
  Type type;
  memory::dims x, w, y, strides, dilates, pad_low, pad_high;
  Desc dense_x, dense_w, dense_y;

  Problem(const ConvGeometry& geometry, Type data_type) : g(geometry), type(data_type) {
    const Window& h = g.height;
    const Window& v = g.width;
    int64_t in = g.in_channels / g.groups;
    int64_t out = g.out_channels / g.groups;
    x = {g.batch, g.in_channels, h.size, v.size};
    y = {g.batch, g.out_channels, h.out, v.out};
    strides = {h.stride, v.stride};
    dilates = {h.dilation - 1, v.dilation - 1};
    pad_low = {h.pad_before, v.pad_before};
    pad_high = {h.pad_after, v.pad_after};
    Tag tag = g.channels_last ? Tag::nhwc : Tag::nchw;
    dense_x = Desc(x, type, tag);
    dense_y = Desc(y, type, tag);
    if (g.groups > 1) {
      w = {g.groups, out, in, h.kernel, v.kernel};
      int64_t filter = in * h.kernel * v.kernel;
      dense_w = g.channels_last
                    ? Desc(w, type, memory::dims{out * filter, filter, 1, v.kernel * in, in})
                    : Desc(w, type, Tag::goihw);
    } else {
      w = {out, in, h.kernel, v.kernel};
      dense_w = Desc(w, type, g.channels_last ? Tag::ohwi : Tag::oihw);
    }
  }

  Desc Image(const memory::dims& dims, Layout layout) const {
    Tag tag = layout == Layout::kBlocked ? Tag::any
              : layout == Layout::kDense ? Tag::nchw
                                         : Tag::nhwc;
    return Desc(dims, type, tag);
  }
};

// From measurements of the shapes of LeNet and ResNet-50: a 1x1 convolution over large images is a
// matrix product that needs no other layout, everything else gains more than the conversion costs.
std::vector<Layout> Preferences(const ConvGeometry& g, Pass pass) {
  if (g.channels_last) return {Layout::kChannelsLast, Layout::kBlocked};
  std::vector<Layout> others{Layout::kBlocked, Layout::kChannelsLast, Layout::kDense};
  bool pointwise = g.height.kernel == 1 && g.width.kernel == 1 && !g.height.padded() &&
                   !g.width.padded() && g.groups == 1;
  if (!pointwise) return others;
  bool unit_stride = g.height.stride == 1 && g.width.stride == 1;
  int64_t area = g.height.out * g.width.out;
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

double Cost(const ConvGeometry& g) { return g.Work() / 50; }

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

Candidate TryForward(const Problem& p, Layout layout) {
  ForwardDesc pd = MakeForward(p, layout);
  return {PrimitiveKernel(dnnl::convolution_forward(pd), pd.scratchpad_desc(),
                          {InputOperand(DNNL_ARG_SRC, 0, p.dense_x, pd.src_desc()),
                           InputOperand(DNNL_ARG_WEIGHTS, 1, p.dense_w, pd.weights_desc()),
                           OutputOperand(DNNL_ARG_DST, 0, p.dense_y, pd.dst_desc())},
                          Cost(p.g)),
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
                          Cost(p.g)),
          Narrow(pd.impl_info_str())};
}

Candidate TryFilterGrad(const Problem& p, Layout layout) {
  dnnl::convolution_backward_weights::primitive_desc pd(
      OneDnnEngine(), kDirect, p.Image(p.x, layout), Desc(p.w, p.type, Tag::any),
      p.Image(p.y, layout), p.strides, p.dilates, p.pad_low, p.pad_high, MakeForward(p, layout),
      UserScratchpad());
  return {
      PrimitiveKernel(dnnl::convolution_backward_weights(pd), pd.scratchpad_desc(),
                      {InputOperand(DNNL_ARG_DIFF_DST, 0, p.dense_y, pd.diff_dst_desc()),
                       InputOperand(DNNL_ARG_SRC, 1, p.dense_x, pd.src_desc()),
                       OutputOperand(DNNL_ARG_DIFF_WEIGHTS, 0, p.dense_w, pd.diff_weights_desc())},
                      Cost(p.g)),
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

KernelChoice Forward(const KernelRequest& r) {
  return MakeConvolution(r, Pass::kForward, r.shape(0), r.shape(1));
}
KernelChoice InputGrad(const KernelRequest& r) {
  return MakeConvolution(r, Pass::kInputGrad, r.out[0].shape(), r.shape(1));
}
KernelChoice FilterGrad(const KernelRequest& r) {
  return MakeConvolution(r, Pass::kFilterGrad, r.shape(1), r.out[0].shape());
}

}  // namespace

void AddConv(KernelTable& table) {
  auto add = [&](const char* op, const KernelMaker& onednn, const KernelMaker& reference) {
    table.For(op)
        .Try("onednn", onednn)
        .Try("onednn in float32", InFloat32(onednn))
        .Try("reference", reference)
        .Try("reference in float32", InFloat32(reference));
  };
  add("Conv2D", Forward, ReferenceConv);
  add("Conv2DBackpropInput", InputGrad, ReferenceConvInputGrad);
  add("Conv2DBackpropFilter", FilterGrad, ReferenceConvFilterGrad);
}

}  // namespace ms::cpu
