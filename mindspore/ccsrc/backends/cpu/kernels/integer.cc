// Matrix products and convolutions of bytes, with sums of 32 bits, by oneDNN where the processor
// has instructions for them. Without these oneDNN's sums of pairs may saturate: then by way of
// Float64.
#include "backends/cpu/kernels/integer.h"

#include "backends/cpu/kernels/conv_problem.h"
#include "backends/cpu/kernels/conv_reference.h"
#include "backends/cpu/kernels/in_float32.h"
#include "backends/cpu/kernels/matmul_loops.h"
#include "backends/cpu/kernels/matmul_packed.h"

namespace ms::cpu {
namespace {

constexpr auto kByte = memory::data_type::s8;
constexpr auto kSum = memory::data_type::s32;

bool MultipliesBytes() {
  static const bool exact = [] {
    dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
    return isa == dnnl::cpu_isa::avx2_vnni || isa >= dnnl::cpu_isa::avx512_core_vnni;
  }();
  return exact;
}

KernelChoice IntegerMatMul(const KernelRequest& r) {
  if (!MultipliesBytes()) return No("needs a processor that multiplies bytes");
  if (r.shape(0).empty() || r.shape(1).empty()) return No("needs elements, got none");
  return AskOneDnn([&]() -> KernelChoice {
    const Shape& out = r.out[0].shape();
    Desc a = OperandDesc(r.shape(0), out.rank(), r.attr<bool>("transpose_a"), kByte);
    Desc b = OperandDesc(r.shape(1), out.rank(), r.attr<bool>("transpose_b"), kByte);
    Desc c = OperandDesc(out, out.rank(), false, kSum);
    dnnl::matmul::primitive_desc pd(OneDnnEngine(), a, b, c, UserScratchpad());
    constexpr double kFaster = 4;  // than products of Float32
    return PrimitiveKernel(
        dnnl::matmul(pd), pd.scratchpad_desc(),
        {InputOperand(DNNL_ARG_SRC, 0, a, a), InputOperand(DNNL_ARG_WEIGHTS, 1, b, b),
         OutputOperand(DNNL_ARG_DST, 0, c, c)},
        Products(r).Work() * kNsPerProduct / kFaster);
  });
}

// oneDNN works on bytes with the channels last.
KernelChoice IntegerConv(const KernelRequest& r) {
  if (r.dtype(0) != DType::kInt8) return No("needs Int8, got {}", Name(r.dtype(0)));
  if (!MultipliesBytes()) return No("needs a processor that multiplies bytes");
  if (r.shape(0).empty() || r.shape(1).empty() || r.out[0].shape().empty()) {
    return No("needs elements, got none");
  }
  return AskOneDnn([&]() -> KernelChoice {
    Problem p(MakeConvGeometry(r.op, r.attrs, r.shape(0), r.shape(1)), kByte);
    Desc y(p.y, kSum, p.g.channels_last ? Tag::nhwc : Tag::nchw);
    dnnl::convolution_forward::primitive_desc pd(
        OneDnnEngine(), dnnl::prop_kind::forward_inference, kDirect, Desc(p.x, kByte, Tag::nhwc),
        Desc(p.w, kByte, Tag::any), Desc(p.y, kSum, Tag::nhwc), p.strides, p.dilates, p.pad_low,
        p.pad_high, UserScratchpad());
    return PrimitiveKernel(dnnl::convolution_forward(pd), pd.scratchpad_desc(),
                           {InputOperand(DNNL_ARG_SRC, 0, p.dense_x, pd.src_desc()),
                            InputOperand(DNNL_ARG_WEIGHTS, 1, p.dense_w, pd.weights_desc()),
                            OutputOperand(DNNL_ARG_DST, 0, y, pd.dst_desc())},
                           ConvCost(p.g) / 4);
  });
}

}  // namespace

void AddInteger(KernelTable& table) {
  table.For("MatMulInteger")
      .Try("onednn", IntegerMatMul)
      .Try("panels in float64", InFloat64(PanelMatMul));
  table.For("Conv2D")
      .Try("onednn integers", IntegerConv)
      .Try("reference in float64", InFloat64(ReferenceConv));
}

}  // namespace ms::cpu
