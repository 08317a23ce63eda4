// Convolution with bias, addition and activation as oneDNN's post-operations, and the packing of
// its weight.
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/conv_problem.h"

namespace ms::cpu {
namespace {

using ForwardDesc = dnnl::convolution_forward::primitive_desc;

// What decides which primitive runs, and with it the layout of a packed weight.
struct Epilogue {
  std::string activation;
  bool adds = false;
};

ForwardDesc MakePrimitive(const Problem& p, const Epilogue& e) {
  dnnl::post_ops after;
  if (e.adds) after.append_binary(dnnl::algorithm::binary_add, p.dense_y);
  AppendActivation(after, e.activation);
  dnnl::primitive_attr attr = UserScratchpad();
  attr.set_post_ops(after);
  Layout layout = p.g.channels_last ? Layout::kChannelsLast : Layout::kBlocked;
  Desc y = p.g.channels_last ? p.Image(p.y, layout) : p.dense_y;  // as the addend
  return ForwardDesc(OneDnnEngine(), dnnl::prop_kind::forward_inference, kDirect,
                     p.Image(p.x, layout), Desc(p.w, p.type, Tag::any),
                     Desc({p.g.out_channels}, p.type, Tag::a), y, p.strides, p.dilates, p.pad_low,
                     p.pad_high, attr);
}

// The convolution whose images have shape `x`; the weight may be packed.
ConvGeometry Geometry(const KernelRequest& r, const Shape& x, const Shape& weight) {
  bool packed = r.attr<std::string>("weight_format") == "packed" && r.op.name != "PackWeight";
  return MakeConvGeometry(r.op, r.attrs, x, packed ? Shape(r.attr<Ints>("filter_size")) : weight);
}

KernelChoice ConvBias(const KernelRequest& r) {
  memory::data_type type;
  if (!OneDnnType(r.dtype(0), &type)) return No("needs Float32, got {}", Name(r.dtype(0)));
  ConvGeometry g = Geometry(r, r.shape(0), r.shape(1));
  if (r.shape(0).empty() || r.shape(1).empty() || g.Output().empty()) {
    return No("needs elements, got none");
  }
  Problem p(g, type);
  Epilogue e{r.attr<std::string>("activation"), r.in.size() == 4};
  return AskOneDnn([&]() -> KernelChoice {
    ForwardDesc pd = MakePrimitive(p, e);
    bool packed = r.attr<std::string>("weight_format") == "packed";
    Desc given = packed ? pd.weights_desc() : p.dense_w;
    if (packed && Elements(given, r.dtype(0)) != r.shape(1).size()) {
      return No("needs a weight that is packed for this convolution");
    }
    Desc bias = pd.bias_desc();
    std::vector<Operand> operands{InputOperand(DNNL_ARG_SRC, 0, p.dense_x, pd.src_desc()),
                                  InputOperand(DNNL_ARG_WEIGHTS, 1, given, pd.weights_desc()),
                                  InputOperand(DNNL_ARG_BIAS, 2, bias, bias),
                                  OutputOperand(DNNL_ARG_DST, 0, p.dense_y, pd.dst_desc())};
    if (e.adds) {
      operands.push_back(InputOperand(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, 3,
                                      p.dense_y, p.dense_y));
    }
    return Activated(
        PrimitiveKernel(dnnl::convolution_forward(pd), pd.scratchpad_desc(), operands, ConvCost(g)),
        e.activation, r.out[0]);
  });
}

KernelChoice PackWeight(const KernelRequest& r) {
  memory::data_type type;
  DType dtype = r.out[0].dtype();
  if (!OneDnnType(dtype, &type)) return No("needs a type it computes with, got {}", Name(dtype));
  ConvGeometry g = Geometry(r, Shape(r.attr<Ints>("input_size")), r.shape(0));
  Problem p(g, type);
  Epilogue e{r.attr<std::string>("activation"), r.attr<bool>("adds")};
  return AskOneDnn([&]() -> KernelChoice {
    return PackKernel(r, Problem(g, memory::data_type::f32).dense_w,
                      MakePrimitive(p, e).weights_desc());
  });
}

}  // namespace

int64_t PackedSize(const KernelRequest& r) {
  memory::data_type type;
  if (!OneDnnType(r.dtype(0), &type) || r.shape(0).empty() || r.shape(1).empty()) return 0;
  ConvGeometry g = Geometry(r, r.shape(0), r.shape(1));
  if (!g.channels_last || g.Output().empty()) return 0;
  try {
    ForwardDesc pd =
        MakePrimitive(Problem(g, type), {r.attr<std::string>("activation"), r.in.size() == 4});
    return Elements(pd.weights_desc(), r.dtype(0));
  } catch (const dnnl::error&) {
    return 0;
  }
}

void AddConvBias(KernelTable& table) {
  table.For("Conv2DBias").Try("onednn", ConvBias);
  table.For("Conv2DBiasAdd").Try("onednn", ConvBias);
  table.For("PackWeight").Try("onednn", PackWeight);
}

}  // namespace ms::cpu
