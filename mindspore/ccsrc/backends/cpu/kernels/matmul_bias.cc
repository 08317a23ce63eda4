// Matrix products with bias and activation as oneDNN's post-operations, and the packing of a matrix
// that stays the same.
#include <string>

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels/matmul_packed.h"

namespace ms::cpu {
namespace {

using dnnl::memory;
using MatMulDesc = dnnl::matmul::primitive_desc;

// [m, k] by [k, n], as oneDNN sees it.
struct Product {
  memory::dim m, n, k;
  memory::data_type type;
  Desc Packed() const {  // the layout of the second matrix that oneDNN chooses
    Desc any({k, n}, type, Tag::any);
    return MatMulDesc(OneDnnEngine(), Desc({m, k}, type, Tag::ab), any, Desc({m, n}, type, Tag::ab),
                      UserScratchpad())
        .weights_desc();
  }
};

Product MakeProduct(const Shape& x, bool transpose_a, const Shape& y, bool transpose_b,
                    memory::data_type type) {
  return {x[transpose_a ? 1 : 0], y[transpose_b ? 0 : 1], x[transpose_a ? 0 : 1], type};
}

dnnl::primitive_attr Attributes(const std::string& activation) {
  dnnl::primitive_attr attr = UserScratchpad();
  dnnl::post_ops after;
  AppendActivation(after, activation);
  attr.set_post_ops(after);
  return attr;
}

KernelChoice MatMulBias(const KernelRequest& r) {
  memory::data_type type;
  if (!OneDnnType(r.dtype(0), &type)) return No("needs Float32, got {}", Name(r.dtype(0)));
  bool ta = r.attr<bool>("transpose_a"), tb = r.attr<bool>("transpose_b");
  const auto& plain = r.attr<Ints>("y_shape");
  bool packed = !plain.empty();
  if (!packed && r.in.size() == 2) return No("needs a packed matrix");
  Shape y_shape = packed ? Shape(plain) : r.shape(1);
  if (r.shape(0).empty() || y_shape.empty()) return No("needs elements, got none");
  return AskOneDnn([&]() -> KernelChoice {
    Product p = MakeProduct(r.shape(0), ta, y_shape, tb, type);
    Desc x = OperandDesc(r.shape(0), 2, ta, type);
    Desc y = packed ? p.Packed() : OperandDesc(y_shape, 2, tb, type);
    if (packed && Elements(y, r.dtype(1)) != r.shape(1).size()) {
      return No("needs a matrix that is packed for this product");
    }
    Desc z = OperandDesc(r.out[0].shape(), 2, false, type);
    Desc bias({1, p.n}, type, memory::dims{p.n, 1});
    dnnl::primitive_attr attr = Attributes(r.attr<std::string>("activation"));
    bool biased = r.in.size() == 3;
    MatMulDesc pd = biased ? MatMulDesc(OneDnnEngine(), x, y, bias, z, attr)
                           : MatMulDesc(OneDnnEngine(), x, y, z, attr);
    std::vector<Operand> operands{InputOperand(DNNL_ARG_SRC, 0, x, x),
                                  InputOperand(DNNL_ARG_WEIGHTS, 1, y, y),
                                  OutputOperand(DNNL_ARG_DST, 0, z, z)};
    if (biased) operands.push_back(InputOperand(DNNL_ARG_BIAS, 2, bias, bias));
    double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    return Activated(
        PrimitiveKernel(dnnl::matmul(pd), pd.scratchpad_desc(), operands, work * kNsPerProduct),
        r.attr<std::string>("activation"), r.out[0]);
  });
}

KernelChoice PackMatrix(const KernelRequest& r) {
  memory::data_type type;
  DType dtype = r.out[0].dtype();
  if (!OneDnnType(dtype, &type)) return No("needs a type it computes with, got {}", Name(dtype));
  if (r.shape(0).empty()) return No("needs elements, got none");
  return AskOneDnn([&]() -> KernelChoice {
    bool tb = r.attr<bool>("transpose_b");
    Product p{r.attr<int64_t>("rows"), r.shape(0)[tb ? 0 : 1], r.shape(0)[tb ? 1 : 0], type};
    return PackKernel(r, OperandDesc(r.shape(0), 2, tb, memory::data_type::f32), p.Packed());
  });
}

}  // namespace

// Where MatMul has a quicker kernel than the primitive, that and a pass over its result are less.
bool TakesBias(const KernelRequest& r, bool packed) {
  memory::data_type type;
  if (!OneDnnType(r.dtype(0), &type) || type != memory::data_type::f32) return false;
  Products p(r);
  bool ta = r.attr<bool>("transpose_a"), tb = r.attr<bool>("transpose_b");
  Aliasing slow = RowsThatAlias(p, ta, tb);
  bool plain_is_slow = slow.b || CopiesMuch(p, ta, tb);
  return p.Work() > kSmallProduct && !slow.a && (packed || !plain_is_slow);
}

// With few rows, what counts is to read the matrix: packed it takes 0.4 (one row) to 0.95 (128) of
// the time, with more rows nearly what the plain one takes.
int64_t PackedMatrix(const KernelRequest& r) {
  constexpr int64_t kFewRows = 128;
  memory::data_type type;
  if (!OneDnnType(r.dtype(0), &type)) return 0;
  Products p(r);
  if (p.Work() <= kSmallProduct || p.m > kFewRows) return 0;
  try {
    return Elements(Product{p.m, p.n, p.k, type}.Packed(), r.dtype(1));
  } catch (const dnnl::error&) {
    return 0;
  }
}

void AddMatMulBias(KernelTable& table) {
  for (const char* op : {"MatMulBias", "MatMulPacked"}) table.For(op).Try("onednn", MatMulBias);
  table.For("PackMatrix").Try("onednn", PackMatrix);
}

}  // namespace ms::cpu
